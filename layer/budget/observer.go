package budget

import (
	"context"
	"log/slog"

	"github.com/adk-go-ext/longsession/compaction"
)

// Kind is what an [Observation] is about.
type Kind string

const (
	// Sent: a request is about to be sent. Budget has its size.
	Sent Kind = "sent"
	// PrefixBroken: the request that is about to be sent does not extend the last one of the same
	// agent, so the provider's prompt cache ends where they differ. Break has the cause.
	PrefixBroken Kind = "prefix broken"
	// Noted: a note about the use of the window was written into a tool result. Reason is the note.
	Noted Kind = "noted"
	// CutByServer: twice in a row, the provider counted less than 60% of what was sent. It seems to
	// drop the beginning of the prompt without an error. Reported once, and again after a full
	// count.
	CutByServer Kind = "cut by server"
	// Misreported: the provider's count of a prompt is too high to be true, for example a sum over
	// several calls. It is ignored. Reported once, and again after some plausible counts.
	Misreported Kind = "misreported"
	// WindowAssumed: neither Config nor its Registry has the context window of the model. Reported
	// once for each model.
	WindowAssumed Kind = "window assumed"
)

// Kinds of observations about requests that were too large.
const (
	// Blocked: a request is over Block. Budget has its size before anything was done about it.
	Blocked Kind = "blocked"
	// Rebuilt: the session was compacted and the request built again. Removed is by how many
	// estimated tokens it became smaller.
	Rebuilt Kind = "rebuilt"
	// CompactedAhead: the session was compacted by [Meter.Ahead], because the next request would have been
	// over Block. Budget is the window and the components of the last request; Estimated is the size
	// that the next one would have had, and Removed by how many estimated tokens the view became smaller.
	CompactedAhead Kind = "compacted ahead"
	// Masked: as a last resort, all results but those of the newest round were masked. Removed has
	// the tokens. A usual batch is reported as PrefixBroken, with CauseMasked.
	Masked Kind = "masked"
	// Dropped: tool rounds were dropped from the request. Removed has the tokens.
	Dropped Kind = "dropped"
	// Shortened: texts, results, arguments or attachments of the request were cut to their beginning and
	// end. Removed has the tokens.
	Shortened Kind = "shortened"
	// ReplyLowered: the request asked for a longer reply than the window has room for. Its
	// MaxOutputTokens was lowered; Removed is by how much.
	ReplyLowered Kind = "reply lowered"
	// Refused: the model refused a request as too long. Err is its error. If another Refused of the
	// same request follows, the turn ends with an [*OverflowError]. If Err is an [*OverflowError]
	// itself, the request was not sent, because one part of it is larger than the window.
	Refused Kind = "refused"
	// Failed: something that the meter calls has failed, panicked or hung: the compactor, the
	// masker, a store. Reason says which; the request goes on without it. A panic of the meter itself is
	// reported too, once for each place, without a session.
	Failed Kind = "failed"
)

// Observation is one thing that happened. Fields that do not apply are zero.
//
// Config.Observer gets them one at a time, in the order in which things happened. They
// come from a goroutine of their own, a little later, so an observer that blocks, hangs or panics harms no
// turn. Up to 1,024 observations wait for it; those beyond are lost, and counted in
// [Observation.Missed]. The context has the values of the model call's, and is never canceled.
// [Meter.Flush] waits for the observer.
type Observation struct {
	Kind          Kind
	Session       compaction.SessionRef // zero for a model call outside of any session
	Agent, Branch string
	InvocationID  string
	Model         string

	// Budget is the window and the components of the request, with the provider's counts taken
	// into account.
	Budget Budget
	// Break is the broken prefix of PrefixBroken.
	Break *PrefixBreak
	// Counted and Estimated are a provider's count and the estimate for the same prompt, in tokens.
	Counted, Estimated int

	// Removed is by how many tokens a request was made smaller.
	Removed int

	Reason string
	Err    error
	// Missed is how many observations were lost in front of this one, because the observer was slow.
	Missed int
}

// observe passes an observation on to the observer. It never waits.
func (m *Meter) observe(ctx context.Context, o Observation) {
	if m.cfg.Observer != nil {
		m.outbox.Send(ctx, o, m.cfg.deliver)
	}
}

func (c *Config) deliver(ctx context.Context, o Observation, missed int) {
	o.Missed = missed
	c.Observer(ctx, o)
}

// Flush waits until the observer has received all observations so far. It returns only the context's
// error.
func (m *Meter) Flush(ctx context.Context) error { return m.outbox.Flush(ctx) }

// observation is an observation about a caller.
func (c caller) observation(kind Kind) Observation {
	return Observation{
		Kind: kind, Session: c.ref, Agent: c.agent, Branch: c.branch, InvocationID: c.invocation, Model: c.model,
	}
}

// log writes a line about a caller's session. A handler that panics does not harm our caller.
func (m *Meter) log(ctx context.Context, level slog.Level, msg string, c caller, attrs ...slog.Attr) {
	logger := m.cfg.Logger
	if logger == nil {
		logger = slog.Default()
	}
	defer m.logger.Survive("budget: Config.Logger")
	attrs = append([]slog.Attr{
		slog.String("app", c.ref.AppName), slog.String("session", c.ref.SessionID), slog.String("agent", c.agent), slog.String("model", c.model),
	}, attrs...)
	logger.LogAttrs(ctx, level, "longsession: "+msg, attrs...)
}
