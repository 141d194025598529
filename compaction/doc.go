// Package compaction keeps the prompts of an ADK agent short over thousands of turns.
//
// It decorates any session.Service. Readers of a session get a view: summaries of old events, and
// recent events in full. Storage keeps the whole history; a compaction appends one record and
// changes nothing else.
//
//	svc, err := compaction.NewCompactionService(inner, compaction.Config{Model: llm})
//	// then runner.Config{SessionService: svc}
//
//	view = summaries of what records cover + all other events
//
// # When it compacts
//
// After every append the service checks whether a compaction is due, in each branch of the session.
// Prompts and windows are in tokens. The effective window is ContextWindow less MaxOutputTokens, the
// reserve for the reply.
//
//	by price    reading what a summary would replace costs more than the summary, see [Economy]
//	by turns    instead of that, if InvocationThreshold is set: a turn has ended, and so many began since the newest window
//	by tokens   prompt ≥ the lesser of SafetyRatio × effective window and TokenThreshold
//	hard limit  prompt ≥ BlockRatio × effective window
//	checkpoint  a turn has ended in which the model called CheckpointTool
//
// The hard limit acts before AppendEvent returns, so that the next prompt is smaller. The others run in
// the background; with Config.Synchronous none of them does. The last is off unless CheckpointTool is
// set. It goes before the others, and works with them off.
//
// By turns, with [DefaultConfig] (after 5 turns; the newest 2 stay in full), a chat of turns t1, t2, ... is shown to the
// model like this:
//
//	after t4    t1 t2 t3 t4
//	after t5    [summary of t1 to t3] t4 t5
//	after t9    [summary of t1 to t3] t4 t5 t6 t7 t8 t9
//	after t10   [summary of t1 to t3] [summary of t4 to t8] t9 t10
//
// A branch shows at most MaxSummaries summaries. Before one more would exceed that, two are merged.
//
// Config{Model: llm} is what is recommended: it goes by price, and a short chat, which is cheaper without a summary, gets
// none. DefaultConfig is for those who want the sliding window of ADR-009. [Off] turns a trigger off. A
// compaction never fails a turn: errors go to Config.Observer, and the history stays as it was.
//
// # Inner services
//
// Any session.Service works. If it also implements [RecordAppender], records are stored as soon as
// they are written. If it implements [PartialService], a turn reads only visible events. If it
// implements [Leaser], only one of several processes at a time pays for a summary of a session.
//
// All methods of a service and of its session handles are safe for concurrent use if the inner
// service's are.
//
// This package does not import a database. In particular it never imports the SQLite service of
// this module: its driver registers itself as "sqlite", and so does glebarez/sqlite, so one binary
// cannot hold both.
//
// # Telemetry
//
// Every compaction that a trigger sets off has one OpenTelemetry span named "compact_events
// <trigger>". The span belongs to the trace of the append that set the compaction off, even where
// the work runs in the background after the turn, and ends when the outcome is known. ADK's runner
// appends with the app's context. The parent is therefore the span that the app started around the
// run, and invoke_agent is a sibling; without a span of the app, the span begins a trace. If a
// summary waits, a second span, linked to the first, covers its storage.
//
// Attributes of spans. Those marked * share name and type with adk-python, or with the compaction
// of adk-go v2. Unknown values are left out.
//
//	gen_ai.operation.name                   *  "compact_events"
//	gen_ai.conversation.id                  *  ID of the session
//	gen_ai.system                           *  "gcp.gemini" or "gcp.vertex_ai": the provider that writes the summary
//	gcp.vertex.agent.invocation_id          *  invocation whose event set it off
//	gen_ai.compaction.trigger               *  invocations, tokens, manual, checkpoint or merge
//	gen_ai.compaction.summarizer_type       *  type of the summarizer, without package and pointer
//	gen_ai.compaction.event_count           *  int: events and summaries that it replaces
//	gen_ai.compaction.compaction_interval   *  int: Config.InvocationThreshold, if it is on
//	gen_ai.compaction.overlap_size          *  int: Config.OverlapSize, likewise
//	gen_ai.compaction.token_threshold       *  int: prompt tokens that set off the token trigger, if it is on
//	gen_ai.compaction.event_retention_size  *  int: Config.RetainEvents, likewise
//	gen_ai.compaction.branch                   branch of the events, unless it is the root's
//	gen_ai.compaction.inline                   bool: a turn waited for it
//	gen_ai.compaction.tokens_before            int: estimate of what it replaces
//	gen_ai.compaction.tokens_after             int: estimate of the summary
//	gen_ai.compaction.result_event_id       *  if stored: the event that holds the record
//	gen_ai.compaction.record_id                if stored: the record
//	gen_ai.compaction.start_timestamp       *  if stored: float64, Unix seconds of the first event it stands for
//	gen_ai.compaction.end_timestamp         *  if stored: likewise of the last
//	gen_ai.compaction.late_store               bool, only true: the summary is that of the linked span
//	gen_ai.compaction.declined              *  why there was nothing to gain
//	gen_ai.compaction.discarded                why the summary was not stored
//	error.type                                 if failed, with the status and an exception event: panic, timeout,
//	                                           canceled, hanging, too_long, unusable_summary, not_stored or _OTHER
//	gen_ai.request.model                       model that writes the summary
//	gen_ai.usage.input_tokens               *  int: of the summarizer's own calls, whatever the outcome
//	gen_ai.usage.output_tokens              *  int: likewise; candidates and thoughts
//	gen_ai.usage.cache_read.input_tokens    *  int: part of the input tokens
//	gen_ai.compaction.cost_usd                 float64: of these calls, if the registry has the price
//	gen_ai.compaction.kept                     if stored: float64, share of the window's exact values that the view has with it
//	gen_ai.compaction.invented                 if stored: int, values that were cut out because the window does not have them
//
// Metrics and their attributes, which take few values each: trigger and error.type are as above
// (trigger is "none" for a panic before it is known), outcome is an [Outcome], and
// gen_ai.token.type is input or output. An exporter for Prometheus turns the names into
// compaction_triggers_total, compaction_duration_seconds, compaction_compression_ratio and so on.
//
//	compaction.triggers           counter         trigger, outcome            compactions, by outcome
//	compaction.duration           histogram, s    trigger, outcome            time to summarize and store
//	compaction.compression_ratio  gauge           trigger                     newest record: tokens it stands for ÷ its own
//	compaction.kept               gauge           trigger                     share of its window's exact values that the view has with the newest record
//	compaction.invented           counter         trigger                     values that were cut out of summaries, because their windows do not have them
//	compaction.errors             counter         trigger, error.type         compactions that failed
//	compaction.summarizer.tokens  counter         trigger, gen_ai.token.type  used by the summarizer's own calls
//	compaction.summarizer.cost    counter, {USD}  trigger                     of these calls, if the registry has the price
package compaction
