// Package compaction keeps the prompts of an ADK agent short over thousands of turns.
//
// It decorates any session.Service. Readers of a session see a view of it: summaries of what is old,
// everything recent in full. Storage keeps the whole history; a compaction appends one record and
// changes nothing else.
//
//	svc, err := compaction.NewCompactionService(inner, cfg)
//	// then runner.Config{SessionService: svc}
//
// When is decided after every append: at the end of a turn by the number of invocations, and after
// every event but a call by the size of the prompt. The work is done in the background, or, with
// Config.Synchronous or at the hard limit of the context window, before AppendEvent returns. None of
// it ever fails a turn: what goes wrong is told to Config.Observer, and the history stays as it was.
//
// All session handles that a service gave out, and all its methods, are safe for concurrent use if
// the inner service's are.
//
// This package does not import a database. In particular it never imports the SQLite service of this
// module, whose driver registers itself as "sqlite" and so cannot share a binary with glebarez/sqlite.
//
// # Telemetry
//
// Every compaction that a trigger sets off is one OpenTelemetry span named "compact_events <trigger>",
// and is counted. No trigger, no span. The span is in the trace of whoever set the compaction off, also
// where it runs in the background after the turn, and ends when it is known what became of the summary.
// ADK's runner appends with the context that it was given: so the span stands below the one that the app
// started around the run, beside invoke_agent; without one it begins a trace. A summary that is stored
// later than it was written has a second span for that, linked to the first.
//
// Attributes of spans. Those marked * have name and type in common with adk-python, or with the
// compaction of adk-go v2. What is not known is left out.
//
//	gen_ai.operation.name                   *  "compact_events"
//	gen_ai.conversation.id                  *  ID of the session
//	gen_ai.system                           *  "gcp.gemini" or "gcp.vertex_ai": who writes the summary
//	gcp.vertex.agent.invocation_id          *  whose event set it off
//	gen_ai.compaction.trigger               *  invocations, tokens, manual, checkpoint or merge
//	gen_ai.compaction.summarizer_type       *  name of its type, without package and pointer
//	gen_ai.compaction.event_count           *  int: events and summaries that it replaces
//	gen_ai.compaction.compaction_interval   *  int: Config.InvocationThreshold, if it is on
//	gen_ai.compaction.overlap_size          *  int: Config.OverlapSize, likewise
//	gen_ai.compaction.token_threshold       *  int: prompt tokens that set off the token trigger, if it is on
//	gen_ai.compaction.event_retention_size  *  int: Config.RetainEvents, likewise
//	gen_ai.compaction.branch                   of the events, if not the root
//	gen_ai.compaction.inline                   bool: a turn waited for it
//	gen_ai.compaction.tokens_before            int: what it replaces, estimated
//	gen_ai.compaction.tokens_after             int: the summary, estimated
//	gen_ai.compaction.result_event_id       *  if stored: the event that holds the record
//	gen_ai.compaction.record_id                if stored: the record
//	gen_ai.compaction.start_timestamp       *  if stored: float64, Unix seconds of the first event it stands for
//	gen_ai.compaction.end_timestamp         *  if stored: likewise of the last
//	gen_ai.compaction.late_store               bool, only true: the summary is that of the linked span
//	gen_ai.compaction.declined              *  why there was nothing to gain
//	gen_ai.compaction.discarded                why the summary was not stored
//	error.type                                 if failed, beside the status and an exception event: panic, timeout,
//	                                           canceled, hanging, too_long, unusable_summary, not_stored or _OTHER
//	gen_ai.request.model                       that writes the summary
//	gen_ai.usage.input_tokens               *  int: of the summarizer's own calls, whatever became of the summary
//	gen_ai.usage.output_tokens              *  int: likewise; candidates and thoughts
//	gen_ai.usage.cache_read.input_tokens    *  int: part of the input tokens
//	gen_ai.compaction.cost_usd                 float64: of these calls, where package tokens has the price
//
// Metrics and their attributes. These take few values each: trigger and error.type as above (trigger
// none for a panic before it is known), outcome as in [Outcome], gen_ai.token.type is input or output. An exporter for Prometheus makes
// compaction_triggers_total, compaction_duration_seconds, compaction_compression_ratio and the like of
// the names.
//
//	compaction.triggers           counter         trigger, outcome            what triggers led to
//	compaction.duration           histogram, s    trigger, outcome            summarizing and storing
//	compaction.compression_ratio  gauge           trigger                     newest record: tokens it stands for / its own
//	compaction.errors             counter         trigger, error.type         failures
//	compaction.summarizer.tokens  counter         trigger, gen_ai.token.type  of the summarizer's own calls
//	compaction.summarizer.cost    counter, {USD}  trigger                     of these, where package tokens has the price
package compaction
