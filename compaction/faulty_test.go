package compaction_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

var errBoom = errors.New("boom")

// summarizerFunc is a function as a compaction.Summarizer.
type summarizerFunc func(ctx context.Context, req summarizer.Request) (summarizer.Result, error)

func (f summarizerFunc) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	return f(ctx, req)
}

func prose(text string) summarizer.Result {
	return summarizer.Result{Content: genai.NewContentFromText(text, genai.RoleModel)}
}

// gated is an oracle whose answers wait until the test lets them go. It obeys its context.
type gated struct {
	compactiontest.Oracle
	asked chan struct{} // one for every call that has begun
	open  chan struct{} // closed, or sent to, to let calls go
}

func newGated() *gated {
	return &gated{asked: make(chan struct{}, 1000), open: make(chan struct{})}
}

func (g *gated) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	g.asked <- struct{}{}
	select {
	case <-g.open:
		return g.Oracle.Summarize(ctx, req)
	case <-ctx.Done():
		return summarizer.Result{}, ctx.Err()
	}
}

// tampered is an inner service whose appends go through a function.
type tampered struct {
	session.Service
	appendEvent func(ev *session.Event, store func() error) error
}

func (s *tampered) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	return s.appendEvent(ev, func() error { return s.Service.AppendEvent(ctx, sess, ev) })
}

// notes is an observer that remembers.
type notes struct {
	mu   sync.Mutex
	seen []compaction.Observation
}

func (n *notes) Observe(_ context.Context, o compaction.Observation) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen = append(n.seen, o)
}

func (n *notes) all() []compaction.Observation {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.seen)
}

func (n *notes) of(outcome compaction.Outcome) []compaction.Observation {
	return slices.DeleteFunc(n.all(), func(o compaction.Observation) bool { return o.Outcome != outcome })
}

func turns(n int) []*session.Event {
	return (&compactiontest.History{}).Turns(n, "agent").Events
}

func flush(t testing.TB, svc *compaction.CompactionSessionService) {
	t.Helper()
	if err := svc.Flush(t.Context(), ref); err != nil {
		t.Fatalf("Flush: %v", err)
	}
}

func status(t *testing.T, svc *compaction.CompactionSessionService) compaction.Status {
	t.Helper()
	got, err := svc.Status(t.Context(), ref)
	if err != nil {
		t.Fatalf("Status: %v", err)
	}
	return got
}

// manualOnly is the oracle's config without automatic triggers.
func manualOnly() (compaction.Config, *compactiontest.Oracle) {
	cfg, oracle := oracleConfig()
	cfg.InvocationThreshold, cfg.SafetyRatio = compaction.Off, compaction.Off
	return cfg, oracle
}

func compact(t *testing.T, svc *compaction.CompactionSessionService, opts compaction.CompactOptions) compaction.CompactResult {
	t.Helper()
	result, err := svc.Compact(t.Context(), ref, opts)
	if err != nil {
		t.Fatalf("Compact: %v", err)
	}
	return result
}

// wantFacts checks that a view shows the facts 1 to n.
func wantFacts(t *testing.T, view []*session.Event, n int) {
	t.Helper()
	facts := visibleFacts(view)
	for i := 1; i <= n; i++ {
		if !slices.Contains(facts, compactiontest.Fact(i)) {
			t.Errorf("%s of %d facts is not in the view", compactiontest.Fact(i), n)
		}
	}
}

// wantOnce checks that storage holds every event exactly once and nothing else but records.
func wantOnce(t *testing.T, svc *compaction.CompactionSessionService, events []*session.Event) {
	t.Helper()
	times := map[string]int{}
	for _, ev := range rawEvents(t, svc) {
		if !compaction.IsCompactionEvent(ev) {
			times[ev.ID]++
		}
	}
	for _, ev := range events {
		if times[ev.ID] != 1 {
			t.Errorf("event %s is stored %d times", ev.ID, times[ev.ID])
		}
		delete(times, ev.ID)
	}
	for id := range times {
		t.Errorf("event %s came from nowhere", id)
	}
}

// wantCoveredOnce checks that no event is covered by two records, and no record stored twice.
func wantCoveredOnce(t *testing.T, svc *compaction.CompactionSessionService) {
	t.Helper()
	covered, ids := map[string]string{}, map[string]bool{}
	for _, m := range records(t, rawEvents(t, svc)) {
		if ids[m.RecordID] {
			t.Errorf("record %s is stored twice", m.RecordID)
		}
		ids[m.RecordID] = true
		for _, r := range m.Covered {
			if other, twice := covered[r.ID]; twice && other != m.RecordID {
				t.Errorf("event %s is covered by %s and by %s", r.ID, other, m.RecordID)
			}
			covered[r.ID] = m.RecordID
		}
	}
}
