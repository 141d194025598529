// Package compactor decides what is compacted when, and does it.
//
// An [Engine] serves all sessions of one service. After every append it checks whether something is
// due, and starts a job. A compactor owns one job on one session: it takes a snapshot, plans a
// step, carries the step out, and starts again. The plan is a pure function, and the only place
// that decides.
//
//	append -> AfterAppend: due? -> queue -> snapshot -> plan: summarize -> writer -> storage
//	                                        snapshot -> plan: nothing
package compactor

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/compaction/internal/queue"
	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/storage"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/internal/view"
)

// Config are the fields of compaction.Config that decisions follow from, with their defaults filled
// in. A trigger that is off is 0.
type Config struct {
	// Threshold and Overlap count invocations, Retain events, and MaxSummaries summaries of a
	// branch.
	Threshold, Overlap, Retain, MaxSummaries int
	// WindowTokens bounds what one summarizer call is given.
	WindowTokens int
	Timeout      time.Duration
	Synchronous  bool
	Pin          func(*session.Event) bool
	// CheckpointTool names the tool whose calls ask for a checkpoint, "" for none, and CheckpointTokens
	// is how many tokens such a checkpoint must replace at least.
	CheckpointTool   string
	CheckpointTokens int
	// MaySummarize, if not nil, is asked before each summary of a background job.
	MaySummarize func(adk.SessionRef) bool
	// Lease, if not nil, is taken before the first summary of a background job.
	Lease Lease
	// Redact is what texts go through before values are taken from them, nil for nothing. Shows is what
	// views show besides what is stored.
	Redact func(string) string
	// IsPerson reports whether a person wrote a message of the user, nil for what its form tells.
	IsPerson func(*session.Event) bool
	Shows    view.Options

	// Summarizer writes the summaries.
	Summarizer writer.Summarizer
	// Sizes are what limits follow from, and Limits those for the agent's model as it is known from
	// the start. ModelOf, if not nil, names the model that a session's agent has now.
	Sizes   meter.Config
	Limits  *meter.Limits
	ModelOf func(context.Context, adk.SessionRef) string
}

// automatic reports whether any trigger is on.
func (c *Config) automatic() bool {
	return c.Threshold > 0 || c.Limits.Threshold > 0 || c.Sizes.ByPrice
}

// idle reports whether the service never compacts unless somebody asks for it.
func (c *Config) idle() bool { return !c.automatic() && c.CheckpointTool == "" }

// Engine compacts the sessions of one service, and is safe for concurrent use.
type Engine struct {
	cfg      Config
	sessions *sessions.Sessions
	reporter *telemetry.Reporter
	storage  *storage.Storage
	queue    *queue.Queue
	values   *writer.Values
	leases   leases
	// assumed are the models whose window is assumed, and unpriced those whose prices are missing, once that has been
	// reported.
	assumed, unpriced sync.Map
}

// New returns an engine.
func New(cfg Config, s *sessions.Sessions, r *telemetry.Reporter, st *storage.Storage) *Engine {
	e := &Engine{cfg: cfg, sessions: s, reporter: r, storage: st, queue: queue.New(), values: writer.NewValues(cfg.Redact, cfg.IsPerson), leases: leases{take: cfg.Lease, reporter: r, needed: 2*cfg.Timeout + leaseMargin}}
	if cfg.ModelOf == nil {
		e.reportLimits(context.Background(), cfg.Limits)
	}
	return e
}

// AfterAppend checks whether the appended event makes a compaction due, and starts one. It never
// harms the turn that appended the event.
//
//	nothing is due                             it returns at once
//	a trigger is due                           a background job compacts after the turn
//	... and Synchronous, or the hard limit     the append waits until the compaction is done
func (e *Engine) AfterAppend(ctx context.Context, h *sessions.Handle, ev *session.Event, class adk.Class) {
	j := writer.Job{InvocationID: ev.InvocationID}
	defer e.survive(ctx, h.State, j)
	if invocation := adk.Invocation(ctx); invocation != nil {
		j.InvocationID = invocation.InvocationID()
		h.State.Started(ctx, j.InvocationID, h)
		expect(&e.reporter.Places, h.State, invocation)
	}
	if h.Listed || e.cfg.idle() {
		return
	}
	due := e.mayAnswer(h, ev, class)
	if e.cfg.automatic() {
		e.followModel(ctx, h.State)
		e.reporter.Misreport(ctx, h, ev, class)
		h.CatchUp()
		due = h.Turns.Add(ev.InvocationID, class) && e.cfg.Threshold > 0 || due
		switch h.Meter.Pressure(adk.Lane(ev), class) {
		case meter.OverLimit:
			due, j.Forced = true, true
		case meter.OverThreshold:
			due = true
		}
	}
	switch {
	case !due:
	case j.Forced || e.cfg.Synchronous:
		e.inline(ctx, h, j)
	default:
		e.background(ctx, h, j)
	}
}

// expect notes which agent speaks next. The context of an append may be a fake that lacks an agent.
func expect(places *survive.Places, st *sessions.State, invocation agent.InvocationContext) {
	defer places.Survive("compaction: the agent that speaks next")
	st.Prompts.Expect(invocation.Agent().Name(), adk.LaneOf(invocation))
}

// background starts a job that runs after the turn. Its spans belong to the trace of the append
// that asked for it, whichever goroutine does the work.
func (e *Engine) background(ctx context.Context, h *sessions.Handle, j writer.Job) {
	caller := trace.SpanContextFromContext(ctx)
	e.queue.Background(ctx, h.State.Line, func(ctx context.Context) {
		e.compactDue(trace.ContextWithSpanContext(ctx, caller), h, j)
	})
}

// inline does the work before it returns, within the timeout, so that the next prompt is smaller. A
// turn at the hard limit that has waited in vain for another job is compacted without a model.
func (e *Engine) inline(ctx context.Context, h *sessions.Handle, j writer.Job) {
	j.Inline = true
	j.Deadline = time.Now().Add(e.cfg.Timeout)
	attempts := &h.State.Learned.Attempts
	turn := queue.Turn{
		Deadline: j.Deadline, AtLimit: j.Forced,
		Impatient: attempts.TriedInline(j.InvocationID),
		GivenUp:   func() { attempts.NoteInline(j.InvocationID) },
	}
	e.queue.Inline(ctx, h.State.Line, turn, func(preempted bool) {
		j.Extractive = preempted
		e.compactDue(ctx, h, j)
	})
}

// Flush waits until nothing runs and nothing is due for a session, and stores what waits.
func (e *Engine) Flush(ctx context.Context, ref adk.SessionRef) error {
	st := e.sessions.Of(ref)
	if err := st.Line.Wait(ctx); err != nil {
		return err
	}
	e.storage.StoreNow(ctx, st)
	if h, err := e.sessions.Handle(ctx, ref); err == nil && e.isDue(h) {
		e.background(ctx, h, writer.Job{})
		st = h.State // another one, if the session was created anew in the meantime
	}
	if err := st.Line.Wait(ctx); err != nil {
		return err
	}
	e.storage.StoreNow(ctx, st)
	return ctx.Err()
}

// Close starts no new work, waits for what is under way, and stores what waits.
func (e *Engine) Close(ctx context.Context) error {
	return e.queue.Close(ctx, func() {
		for _, st := range e.sessions.WithDrafts() {
			if ctx.Err() != nil {
				return
			}
			e.storage.StoreNow(ctx, st)
		}
	})
}

// Requested notes what an agent in a branch is sent, and what masking took out of it, in estimated
// tokens.
func (e *Engine) Requested(ref adk.SessionRef, branch, agent string, contents, fixed, masked int) {
	if st := e.sessions.Of(ref); st.Prompts.Requested(branch, agent, contents, fixed, masked) {
		e.storage.Remember(st)
	}
}

// followModel updates a session's limits to the model that its agent has now. If the caller's
// function panics, the limits stay as they are.
func (e *Engine) followModel(ctx context.Context, st *sessions.State) {
	if e.cfg.ModelOf == nil {
		return
	}
	defer e.reporter.Places.Survive("compaction: Config.ModelOf")
	model := e.cfg.ModelOf(ctx, st.Ref)
	if model == "" || model == st.Prompts.Limits().Model {
		return
	}
	l := e.cfg.Sizes.Limits(model)
	st.Prompts.SetLimits(l)
	e.reportLimits(ctx, l)
}

// reportLimits logs once for each model that its context window is assumed, and once that its prices are.
func (e *Engine) reportLimits(ctx context.Context, l *meter.Limits) {
	once := func(told *sync.Map, level slog.Level, message string, attrs ...slog.Attr) {
		if _, before := told.LoadOrStore(l.Model, true); !before {
			e.reporter.Log(ctx, level, message, append([]slog.Attr{slog.String("model", l.Model)}, attrs...)...)
		}
	}
	if l.Assumed && e.cfg.automatic() {
		once(&e.assumed, slog.LevelWarn, "the agent's model is not known, so its context window is assumed; set ContextWindow, AgentModel or Registry",
			slog.Int("context_window", l.ContextWindow))
	}
	if l.Prices.Assumed {
		once(&e.unpriced, slog.LevelInfo, "no prices are known for the agent's model, so their usual ratios decide when to compact; set them in Registry, or name the model in AgentModel")
	}
}

// survive keeps a panic, of a caller's Pin function above all, away from the turn.
func (e *Engine) survive(ctx context.Context, st *sessions.State, j writer.Job) {
	if cause := recover(); cause != nil {
		e.reporter.Fail(ctx, st, j, telemetry.Panicked(cause))
	}
}
