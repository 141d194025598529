package compaction

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// Summarizer writes the prose that replaces a window of events. It receives copies of the events
// and returns text and usage; the service does everything else. It must be safe for concurrent use
// by different sessions. It may fail, panic or hang: the service gives a call up after
// Config.Timeout. A text that [summarizer.Check] refuses is a failure too. A Summarizer that
// implements [summarizer.InputLimiter] is given windows of at most that size.
//
// If the result names a model, the text is checked against the window, without a model. Exact values that the window has
// in no form, and corrections that are turned around, are in Request.Again of one more call, within the same time; what is
// wrong then, too, is cut out by whole sentences. A prompt may have values that are not in the request: a Summarizer tells
// them in a method Wording(summarizer.Request) string, as [summarizer.LLM] does.
type Summarizer interface {
	Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error)
}

// Off, as the value of a field, turns off its trigger or its reserve. Zero never does: it means the
// default.
const Off = -1

// Config says when to compact, how much stays raw, and who writes the summaries. The zero value of
// every number is its default. Config{Model: llm} is what is recommended: it compacts when that pays, and
// before the context window is full. [DefaultConfig] is the sliding window of ADR-009 instead: it compacts
// after every five turns, whatever that costs. A trigger is turned off with [Off] only; to turn off both,
// write it to InvocationThreshold and TokenThreshold.
type Config struct {
	// Model writes the summaries: normally the agent's own model. Required unless Summarizer is
	// set.
	Model model.LLM
	// Summarizer writes the summaries instead of Model. If nil, Model does.
	Summarizer Summarizer

	// InvocationThreshold is θ: after this many complete invocations (turns of the user) a window
	// is summarized. Off leaves the decision to the token trigger alone.
	//
	// 0 lets prices decide instead: a window is summarized when reading again and again what a summary would replace
	// costs more than the summary. A session that ends before that costs what it costs without compaction. See [Economy]
	// for the arithmetic. It goes by the prices that Registry has for AgentModel, or for Model if that is empty, and for
	// the model that writes summaries; by the growth of the prompt; by the cached tokens that the provider reports, if it
	// reports any; and by the time between calls: after 5 minutes a cache is taken to be empty. TokenThreshold,
	// SafetyRatio and the hard limit are upper bounds.
	//
	// If Registry has prices for only one of the two models, the other is taken to cost the same. If it has none, a
	// cached token is taken to cost a tenth of one that is not, and one of a summary eight times as much, because the
	// decision needs no more than these ratios; Logger is told once. [summarizer.Extractive] costs nothing.
	InvocationThreshold int
	// OverlapSize is ω: how many of the newest complete invocations always stay raw. The next
	// window begins with them. 0 means 2; the least is 1.
	OverlapSize int
	// TokenThreshold is the prompt size, in tokens, at which the token trigger fires, if that is
	// less than SafetyRatio of the effective window. 0 means that SafetyRatio alone decides. Off turns
	// the token trigger off, whatever SafetyRatio is.
	TokenThreshold int
	// SafetyRatio is ρ: the share of the effective window (ContextWindow less MaxOutputTokens) at
	// which the token trigger fires. It must be less than BlockRatio. 0 means 0.7, or, where prices decide, 0.95, and at
	// most 0.97 of BlockRatio: before that, a compaction that does not pay only costs. It is the same for every model:
	// only settings, which name a model, know its tier, see preset.ByTier. Off leaves the decision to
	// TokenThreshold, and turns the token trigger off if that is 0.
	SafetyRatio float64
	// BlockRatio is the share of the effective window at which the hard limit is, up to 1: no prompt
	// exceeds it without an attempt to make it smaller first, for which the turn waits. As long as
	// the provider has counted no prompt, the estimate is taken for a tenth too low, so the hard
	// limit is reached at ten elevenths of this. 0 means 0.98. It cannot be turned off.
	BlockRatio float64
	// ContextWindow is Λ, the context window of the *agent's* model, in tokens. 0 means the window
	// that Registry has for AgentModel, or for Model if AgentModel is empty. If it has none, the
	// service assumes 128,000 and logs a warning.
	ContextWindow int
	// AgentModel names the agent's model where Model is another, cheaper one. It is only used to
	// look up the context window. If it is empty, Model is the agent's model, and ContextWindow
	// also applies to Model as the summarizer if Registry does not have it.
	AgentModel string
	// AgentModelFunc returns the name of the model that a session's agent has now, for apps that
	// switch it while they run. It is called after every append, so it must be quick; "" means no
	// change. Where ContextWindow is 0, the limits follow. Not together with AgentModel.
	AgentModelFunc func(ctx context.Context, ref SessionRef) string
	// Registry has the windows, limits and prices of models. Use it for models that package tokens
	// lacks or has wrong figures for. If nil, the built-in table of package tokens is used.
	Registry *tokens.Registry
	// MaxOutputTokens is reserved for the model's reply, in tokens. The effective window is
	// ContextWindow less this. 0 means the longest reply of the agent's model in Registry, or 8,192
	// if it has none, but at most a tenth of the window. The same holds where AgentModelFunc names
	// a model and this is more than half of its window. Off reserves nothing.
	MaxOutputTokens int
	// Fixed returns how many tokens the instruction and the tools of an agent take up in each of its
	// prompts, estimated as package tokens does, or 0 if it does not know. agent is "" if it is not
	// known which agent speaks in the branch. Without it, the fixed part is not counted before the first
	// request is observed or the provider reports, and a new tool is not counted before the next.
	//
	// The latest knowledge counts. What [CompactionSessionService.ObserveRequest] or ObserveSent
	// measured replaces what Fixed returned, until Fixed returns another number than it did then. A
	// provider's count includes the fixed part; only what it has changed by since is added.
	//
	// Fixed is called after every append, so it must be quick, and must not call the service. A panic
	// means 0. If nil, nothing is known.
	Fixed func(ref SessionRef, agent, branch string) int
	// Fits says that somebody makes every request fit the context window before it is sent, as package budget does in
	// a stack. Views then show everything whole. If false, a view that is over the hard limit although all was
	// summarized that may be shows only the beginning and the end of what is largest in it.
	Fits bool
	// RetainEvents is the least number of newest events of a branch that the token trigger leaves
	// raw. At the hard limit it may leave fewer. 0 means 10.
	RetainEvents int
	// RetainTokens is the most that these events may take up together, in estimated tokens. If they are larger, fewer
	// stay raw: the newest, and with each response its call. Otherwise a few long results could fill the prompt up to
	// the token trigger again and again. 0 means half of the prompt size at which the token trigger fires, or of the
	// hard limit if that trigger is off; where prices decide, also half of what a compaction finds raw, so that no call pays
	// more for what stays raw than for what waits to be summarized. Off means no limit.
	RetainTokens int
	// MaxSummaries is how many summaries a branch may show. Before one more would exceed it, two
	// are merged; 1 is a rolling summary that is rewritten every time. If there is no room for the
	// tool rounds of a turn that is still running, each agent has one summary more for these, until
	// the first window after the turn. 0 means 5.
	MaxSummaries int
	// MaxSummaryTokens is the length, in tokens, that the summarizer is asked not to exceed. The
	// service asks for less if the window is small, or if MaxSummaries of that length would take up
	// more than half of the prompt that the token trigger allows, or more than 31 % of the hard limit. If a
	// summary is more than twice as long, the LLM summarizer asks once more. 0 means 500.
	MaxSummaryTokens int
	// MaxLedgerTokens is how many tokens of exact values, such as order numbers, dates and names, a branch
	// may show behind its newest summary: those of the summarized messages that the summaries do not say.
	// They are found without a model, and stored in the record. A branch shows fewer if this is more than
	// half of MaxSummaries summaries of MaxSummaryTokens, than an eighth of the prompt that the token
	// trigger allows, or than a twelfth of the hard limit; and a compaction uses at most half of the tokens
	// that it frees. A change takes effect with the next record of a session. 0 means 600. Off stores and shows none.
	MaxLedgerTokens int
	// MaxUserTokens is how many tokens of what the user said a branch may show word for word, in front of these values:
	// the texts of the user's summarized messages, which a model that writes a summary puts into other words. They are
	// stored in the record, at most 64 KiB, without sentences that may hold a secret. Where there are more, the first
	// message stays, then those that instruct or correct, the newest first, then the others. A branch shows fewer if this
	// is more than a twelfth of the prompt that the token trigger allows; and none where the extractive summarizer wrote
	// all summaries, which quotes the user, or where the user writes more than a quarter of what is stored. It gives way
	// before the values where a compaction would use more than half of what it frees. 0 means 1,000, or 2,000 where the
	// agent calls tools. Off stores and shows none.
	MaxUserTokens int
	// IsPerson reports whether a person wrote a message that ADK stores under the user's name. It must be pure, safe for
	// concurrent use, and fast. If it panics, the message counts as a program's. If it hangs, the record is stored without
	// values, as with Redact. If nil, the form tells: programs write command output and notices between tags, and notes in
	// brackets.
	IsPerson func(message *session.Event) bool
	// Redact returns a text without what must not be stored as an exact value or as the user's words, such as names of
	// patients. It gets the texts of messages before anything is taken from them, and what a record takes over from an
	// earlier one. It must be pure, safe for concurrent use, and fast. A text on which it panics is left out. If it takes
	// more than 5 seconds for a window, the record is stored without values. No later record takes what is left out,
	// whether it came from a message or from a record that was absorbed. While a call hangs, no session gets values. Keys,
	// tokens and card numbers are never taken, with or without it.
	//
	// Set it before the first session: records that were stored without it keep their values, and the prompt
	// shows them until a merge takes them over. If nil, texts are as they are.
	Redact func(text string) string
	// RecallTool is the name of a tool by which the agents can search earlier messages. The newest summary of a
	// branch then says so, in the same words each time. It is shown and never stored. If empty, no summary does.
	RecallTool string
	// RecallOffered reports whether the agents have RecallTool by now: no summary names it before. It must return soon,
	// because a view is locked meanwhile. If nil, they have it from the start.
	RecallOffered func() bool
	// PromptTemplate is the prompt for summaries; it must contain {{history}}. If empty, the
	// default is used. It has no effect with Summarizer, so setting both is refused.
	PromptTemplate string
	// Pack is the built-in wording of the prompt for summaries, such as summarizer.PackHandover. If empty, it is
	// summarizer.PackDefault. Checkpoints have their own. It has no effect with Summarizer or PromptTemplate, so
	// setting both is refused.
	Pack summarizer.Pack
	// Timeout bounds one summarizer call, and all the compaction that one AppendEvent may wait for.
	// 0 means 60 s.
	Timeout time.Duration
	// Synchronous compacts before AppendEvent returns, so that the very next prompt is smaller, at
	// the price of the wait. If false, compactions run in the background, except at the hard limit.
	Synchronous bool
	// CheckpointTool is the name of a tool by which the model reports a finished task, such as the one
	// of contexttool.MarkTaskDone. A call of it asks for a checkpoint of its branch, which the service
	// writes when the turn has ended, or, if the process ended before, after the next Get or append. It
	// does so with all automatic triggers off, too. Its argument "detail" becomes the note.
	//
	// The checkpoint covers the turns before the turn of the call, which stays raw. If these are less
	// than CheckpointTokens, the turn of the call is covered too, once the next turn has ended. A
	// checkpoint never covers later turns. If all of that is too little, the call stays a note. Several
	// calls in one turn lead to one checkpoint. If empty, no call has a meaning for the service.
	CheckpointTool string
	// CheckpointTokens is how many estimated tokens a checkpoint that the model asks for must replace at
	// least. It does not bind [CompactionSessionService.Checkpoint]. 0 means 2,000. Off means no
	// minimum; the summary must be shorter in any case.
	CheckpointTokens int
	// MaySummarize reports whether a background job may write a summary now. It is asked before each one, and
	// if it returns false, the job ends and the next append asks again. Compactions that a turn waits for,
	// and those by hand, do not ask: a turn must not fail for want of a summary. It must return soon, without
	// calling the service. If nil, jobs may always.
	MaySummarize func(ref SessionRef) bool
	// Lease takes a lease on a session for at most ttl, so that of many processes over one store only one pays for a
	// summary of the same events: with Redis, etcd or whatever the app has for locks. It is called in background jobs, when
	// a summary is about to be written; the session is read again after it, because another process may have been faster.
	// Compactions that a turn waits for, and those by hand, take none. What it returns, and what release must do, is told
	// at [Leaser]; a release that is nil does nothing.
	//
	// While ok is false, the session's background jobs write nothing, and the next append asks again. If Lease returns an
	// error, panics, or does not return within 5 s, the job goes on without a lease, and Logger is told once. ttl is 3 times
	// Timeout and 15 s, and 10 minutes more if the inner service is no [RecordAppender]: then the lease is kept until the
	// record is stored by this process's next append.
	//
	// If nil, the inner service is asked if it is a [Leaser]; otherwise there are no leases.
	Lease func(ctx context.Context, ref SessionRef, ttl time.Duration) (release func(), ok bool, err error)
	// Pin reports whether an event must stay raw forever. It must not change the event. If nil, no
	// event is pinned.
	Pin func(*session.Event) bool
	// Cut returns the form in which the view shows an event with tool responses: the event itself, or a
	// copy with shorter responses. Storage, Raw and the app's callbacks keep the whole event. Prompts,
	// sizes and summarizers have the form that is shown, so a result of 200 KB that is cut to 1 KB
	// counts as 1 KB. Events without tool responses are not passed to Cut.
	//
	// Cut must be a pure function of the session and the event: the same form every time and in every
	// process. It must not change the event, and must return soon and without calling the service,
	// because the view is locked meanwhile. A view calls it once for each event, when it begins to
	// show it. Only the Response maps of function responses may differ. If Cut panics, or returns
	// anything else, the event is shown as it is stored, and the Observer gets a [CutFailed]. If nil,
	// events are shown as they are stored.
	Cut func(ref SessionRef, ev *session.Event) *session.Event
	// Observer receives an observation of every compaction. If nil, nothing is reported.
	Observer func(ctx context.Context, o Observation)
	// Logger gets a line when a state changes, never for every turn, and never with content:
	//
	//   - Warn: compactions of a session begin to fail; Info: they work again
	//   - Warn: a summary is dropped because storage refuses it
	//   - Warn: no values are taken from messages, because Redact does not return or something panics; Info: they are again
	//   - Warn: a model's context window is assumed
	//   - Info: a model's prices are missing, so that their usual ratios decide
	//   - Warn: no lease on a session can be had; Info: it can again
	//   - Warn: records cannot be read
	//   - Warn: a provider's count of a prompt is far too high; Info: it is too low
	//
	// If nil, slog.Default() at that time is used.
	Logger *slog.Logger
	// TracerProvider traces compactions: one span for each, in the trace of the append that set it
	// off. If nil, OpenTelemetry's global provider at that time is used.
	TracerProvider trace.TracerProvider
	// OmitErrorText leaves the text of errors out of spans: a provider's error may quote the
	// prompt. If false, spans have its first 200 characters.
	OmitErrorText bool
	// MeterProvider counts and measures compactions. If nil, OpenTelemetry's global provider at
	// that time is used.
	MeterProvider metric.MeterProvider
}

// Defaults of [DefaultConfig] and, but for the first, of zero fields.
const (
	defaultInvocationThreshold = 5     // ADR-009, as in adk-python's EventsCompactionConfig examples
	defaultOverlapSize         = 2     // ADR-009: at least 2 keeps references to the last exchange resolvable
	defaultSafetyRatio         = 0.7   // ADR-006 and ADR-009
	defaultBound               = 0.95  // the same where prices decide: airline chats at 8,000 cost 1.06 of none with it, 1.22 with 0.7
	defaultBoundShare          = 0.97  // of BlockRatio
	defaultBlockRatio          = 0.98  // ADR-006: at 98% nothing is sent before it is compacted
	defaultRetainEvents        = 10    // ADR-006: the last 10 messages in full
	defaultMaxSummaries        = 5     // ADR-009
	defaultMaxSummaryTokens    = 500   // ADR-009
	defaultUserTokens          = 1_000 // of the user's messages, recorded chats have 86% whole in their prompts then; 54% without, if the writer quotes none
	defaultUserTokensWithTools = 2_000 // the same of recorded coding agents: 91%, and 51% without
	defaultMaxLedgerTokens     = 600   // 84% of the facts asked for in recorded chats are in such a prompt, 60% without
	defaultCheckpointTokens    = 2000  // a task of fewer tokens costs a model call and saves next to nothing
	defaultTimeout             = 60 * time.Second
)

// DefaultConfig returns the sliding window of ADR-009. It compacts after every five turns and leaves the newest two raw,
// and it compacts at 0.7 of the effective window. Its other numbers are the defaults as explicit values. Model or
// Summarizer must still be set. A field that remains zero has a default that depends on the agent's model, or none.
func DefaultConfig() Config {
	return Config{
		InvocationThreshold: defaultInvocationThreshold,
		OverlapSize:         defaultOverlapSize,
		SafetyRatio:         defaultSafetyRatio,
		BlockRatio:          defaultBlockRatio,
		RetainEvents:        defaultRetainEvents,
		MaxSummaries:        defaultMaxSummaries,
		MaxSummaryTokens:    defaultMaxSummaryTokens,
		MaxLedgerTokens:     defaultMaxLedgerTokens,
		Timeout:             defaultTimeout,
	}
}
