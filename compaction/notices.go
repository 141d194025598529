package compaction

import (
	"context"
	"fmt"
	"log/slog"

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
func (s *CompactionSessionService) reportAssumed(ctx context.Context, l *limits) {
	if !l.assumed || !s.policy.automatic() {
		return
	}
	if _, told := s.policy.assumed.LoadOrStore(l.model, true); !told {
		s.policy.reporter.Log(ctx, slog.LevelWarn, "the agent's model is not known, so its context window is assumed; set ContextWindow, AgentModel or Registry",
			slog.String("model", l.model), slog.Int("context_window", l.window))
	}
}
