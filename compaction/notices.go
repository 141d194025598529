package compaction

import (
	"context"
	"fmt"
	"log/slog"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/record"
)

// newReporter makes the reporter for a policy.
func newReporter(p *policy) *telemetry.Reporter {
	cfg := telemetry.Config{
		TracerProvider: p.TracerProvider, MeterProvider: p.MeterProvider, Logger: p.Logger,
		Registry: p.Registry, OmitErrorText: p.OmitErrorText,
		Interval: p.InvocationThreshold, Overlap: p.OverlapSize, Retention: p.RetainEvents,
	}
	if p.Observer != nil {
		cfg.Observe = func(ctx context.Context, o telemetry.Observation) { p.Observer.Observe(ctx, observation(o)) }
	}
	return telemetry.New(cfg)
}

// reportUnreadable tells of the records that cannot be read, each once. The caller holds the session's
// slot.
func (s *CompactionSessionService) reportUnreadable(ctx context.Context, h *handle) {
	if h.view.State().Unreadable == 0 {
		return
	}
	found := 0
	for _, ev := range h.view.Raw() {
		_, err := record.From(ev)
		if err == nil || !h.state.learned.Events.FirstReport(ev) {
			continue
		}
		found++
		s.policy.reporter.Observe(ctx, telemetry.Observation{
			Outcome: telemetry.Unreadable, Session: telemetry.Session(h.state.ref), Branch: ev.Branch,
			Err: failure(fmt.Errorf("record in event %q is ignored: %w", ev.ID, err)),
		})
	}
	if found > 0 {
		s.policy.reporter.LogAbout(ctx, slog.LevelWarn, telemetry.Session(h.state.ref), "compaction records cannot be read: they hide nothing", slog.Int("records", found))
	}
}

// reportAssumed logs once for each model that its context window is assumed.
func (s *CompactionSessionService) reportAssumed(ctx context.Context, l *meter.Limits) {
	if !l.Assumed || !s.policy.automatic() {
		return
	}
	if _, told := s.policy.assumed.LoadOrStore(l.Model, true); !told {
		s.policy.reporter.Log(ctx, slog.LevelWarn, "the agent's model is not known, so its context window is assumed; set ContextWindow, AgentModel or Registry",
			slog.String("model", l.Model), slog.Int("context_window", l.ContextWindow))
	}
}

// reportDoubt reports a provider's count that cannot be right, once for each agent, and again after some
// that are believed.
func (s *CompactionSessionService) reportDoubt(ctx context.Context, h *handle, ev *session.Event) {
	d, news := h.meter.Doubt(ev)
	if !news {
		return
	}
	about := telemetry.Session(h.state.ref)
	attrs := []slog.Attr{slog.Int("reported", d.Counted), slog.Int("estimated", d.Estimated), slog.String("agent", ev.Author)}
	if !d.TooHigh { // it may be an agent that is shown little, which is in order
		s.policy.reporter.LogAbout(ctx, slog.LevelInfo, about, "a prompt is counted far below its estimate: the estimate is followed", attrs...)
		return
	}
	s.policy.reporter.LogAbout(ctx, slog.LevelWarn, about, "a prompt is counted at more than a compaction could change: the estimate is followed", attrs...)
	s.policy.reporter.Observe(ctx, telemetry.Observation{
		Outcome: telemetry.Misreported, Session: about, Branch: ev.Branch, InvocationID: ev.InvocationID, TokensBefore: d.Estimated,
		Reason: fmt.Sprintf("the provider counts %d tokens for a prompt of %s that is estimated at %d: instructions alone would exceed the hard limit of %d",
			d.Counted, ev.Author, d.Estimated, h.state.prompts.Limits().HardLimit),
	})
}
