package compaction_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"google.golang.org/adk/platform"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/oracle"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// machine is a session that some processes share, driven at random; see model_actions_test.go for what
// can happen to it.
type machine struct {
	ctx       context.Context
	inner     session.Service
	durable   bool // ADK's database service: it sorts, refuses stale handles and cannot delete
	cfg       compaction.Config
	processes []*process
	handles   []*handle
	// history makes the events; facts are those of all that is stored.
	history compactiontest.History
	facts   []string
	clock   time.Time
	turn    int
	calls   int
	pending []pending
	// version counts what was appended by whomever, records of the service apart.
	version int
	seen    *tally
}

// pending is a call that has not been answered.
type pending struct{ id, agent, branch, invocation string }

// tally counts what happened in all runs, so that the test cannot pass by doing nothing.
type tally struct {
	views, records, merges, rounds, failures, crashes, strangers, stale, deleted, summaries int
	priced                                                                                  int // of records, where prices decide
}

func newMachine(t *rapid.T, inner session.Service, durable bool, seen *tally) *machine {
	m := &machine{inner: inner, durable: durable, clock: histories.Epoch, seen: seen}
	var ids atomic.Int64
	// IDs come in no order, and several records are made at one moment: nothing may depend on either.
	ctx := platform.WithUUIDProvider(context.Background(), func() string { n := ids.Add(1); return fmt.Sprintf("%02d-%d", n*37%100, n) })
	m.ctx = platform.WithTimeProvider(ctx, func() time.Time { return histories.Epoch.AddDate(1, 0, int(ids.Load()/8)) })
	m.cfg = compaction.Config{
		Summarizer:          &compactiontest.Oracle{},
		InvocationThreshold: cmp.Or(rapid.IntRange(0, 3).Draw(t, "threshold"), compaction.Off),
		OverlapSize:         rapid.IntRange(1, 2).Draw(t, "overlap"),
		SafetyRatio:         compaction.Off,
		TokenThreshold:      rapid.SampledFrom([]int{0, 150, 400}).Draw(t, "tokens"),
		RetainEvents:        rapid.IntRange(1, 4).Draw(t, "retain"),
		MaxSummaries:        rapid.IntRange(1, 3).Draw(t, "summaries"),
		Synchronous:         rapid.Bool().Draw(t, "synchronous"),
		RetainTokens:        rapid.SampledFrom([]int{0, 0, 1, 100, compaction.Off}).Draw(t, "retained tokens"),
	}
	if rapid.IntRange(0, 3).Draw(t, "economical") == 0 {
		// Summaries that may be of two tokens make windows of twenty worth one.
		m.cfg.InvocationThreshold, m.cfg.AgentModel, m.cfg.MaxSummaryTokens, m.cfg.Registry = 0, "priced", 2, prices(t)
	}
	m.start(t)
	m.create(t)
	return m
}

// prices are those of a model, from any provider.
func prices(t *rapid.T) *tokens.Registry {
	input := rapid.SampledFrom([]float64{0.1, 2, 20}).Draw(t, "price")
	registry, err := tokens.NewRegistry(tokens.Model{
		Name: "priced", ContextWindow: 100_000, InputPrice: input, CachedInputPrice: input * rapid.SampledFrom([]float64{0, 0.1, 0.5, 1}).Draw(t, "cached"),
		OutputPrice: input * rapid.SampledFrom([]float64{1, 5}).Draw(t, "output"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

// start begins a process.
func (m *machine) start(t *rapid.T) *process {
	d := &disk{Service: m.inner}
	svc, err := compaction.NewCompactionService(d, m.cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{svc: svc, disk: d}
	m.processes = append(m.processes, p)
	return p
}

func (m *machine) create(t *rapid.T) {
	p := m.anyProcess(t)
	resp, err := p.svc.Create(m.ctx, &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	p.disk.read = nil
	m.handles, m.facts, m.pending = []*handle{open(resp.Session, p, m.version)}, nil, nil
}

func (m *machine) anyProcess(t *rapid.T) *process {
	return rapid.SampledFrom(m.processes).Draw(t, "process")
}
func (m *machine) anyHandle(t *rapid.T) *handle {
	return rapid.SampledFrom(m.handles).Draw(t, "handle")
}

// get opens a handle in a process.
func (m *machine) get(t *rapid.T, p *process) *handle {
	resp, err := p.svc.Get(m.ctx, getRequest())
	if err != nil {
		t.Fatal(err)
	}
	return open(resp.Session, p, m.version)
}

// append appends an event through a handle, as a runner does: one that ADK refuses as stale is fetched
// anew. Nothing but another's event may make a handle stale.
func (m *machine) append(t *rapid.T, h *handle, ev *session.Event) {
	err := h.by.svc.AppendEvent(m.ctx, h.sess, ev)
	if isStale(err) && m.durable && h.version < m.version {
		m.seen.stale++
		m.handles = slices.DeleteFunc(m.handles, func(other *handle) bool { return other == h })
		h = m.get(t, h.by)
		m.handles = append(m.handles, h)
		err = h.by.svc.AppendEvent(m.ctx, h.sess, ev)
	}
	if err != nil {
		t.Fatalf("append %s: %v", ev.ID, err)
	}
	m.version++
	clean := *ev
	clean.CustomMetadata = nil
	h.raw, h.version = append(h.raw, &clean), m.version
	m.facts = append(m.facts, histories.FactsIn(ev)...)
	if err := h.by.svc.Flush(m.ctx, ref); err != nil {
		t.Fatal(err)
	}
}

// check compares every open view, and what anybody would be given now, with the rules.
func (m *machine) check(t *rapid.T) {
	for _, p := range m.processes {
		fresh := m.get(t, p)
		m.compare(t, fresh)
		shown := visibleFacts(eventsOf(fresh.sess))
		for _, fact := range m.facts {
			// Where a threshold leaves little room, long summaries are cut.
			if m.cfg.TokenThreshold == 0 && !slices.Contains(shown, fact) {
				t.Fatalf("%s is in no event and no summary of the view:\n%s", fact, oracle.Tell(fresh.history()))
			}
		}
	}
	for _, h := range m.handles {
		m.compare(t, h)
	}
}

func (m *machine) compare(t *rapid.T, h *handle) {
	history, view := h.history(), h.view()
	if h.compared == len(history) && slices.Equal(h.shown, view) {
		return
	}
	h.compared, h.shown = len(history), view
	if err := oracle.Compare(history, view); err != nil {
		t.Fatal(err)
	}
	if err := compactiontest.Check(history, view); err != nil {
		t.Fatalf("%v\n%s", err, oracle.Tell(history))
	}
	m.seen.views++
	for _, ev := range view {
		if !slices.Contains(history, ev) {
			m.seen.summaries++
		}
	}
}

// count adds to the tally what a process has done.
func (m *machine) count(t *rapid.T, p *process) {
	m.seen.failures += p.disk.failed
	for _, ev := range p.disk.stored {
		r, err := record.From(ev)
		if err != nil {
			t.Fatal(err)
		}
		if m.cfg.InvocationThreshold == 0 && r.Trigger == record.TriggerTokens {
			m.seen.priced++
		}
		switch {
		case len(r.Covered) == 0:
			m.seen.merges++
		case r.MidTurn():
			m.seen.rounds++
		default:
			m.seen.records++
		}
	}
}

// TestEveryHandleShowsWhatTheRulesSay drives sessions at random through all that can happen to them
// and compares every open view after every step with a plain, slow reading of the rules. One in forty
// lies in ADK's database service, which is slow and refuses stale handles.
func TestEveryHandleShowsWhatTheRulesSay(t *testing.T) {
	t.Parallel()
	var seen tally
	testkit.CheckUntil(t, 2, func(r *rapid.T) {
		in := storages.InMemory()
		if rapid.IntRange(0, 39).Draw(r, "backend") == 39 && !testkit.Race {
			in = storages.Database(t)
		}
		m := newMachine(r, in.Open(t), in.Name == "database", &seen)
		r.Repeat(m.actions())
		for _, p := range m.processes {
			m.count(r, p)
		}
	}, seen.enough)
}

func (seen *tally) enough() error {
	if testkit.Brief() {
		return nil // fewer runs are too few to ask for anything
	}
	few := tally{views: 5000, records: 300, merges: 100, rounds: 10, failures: 100, crashes: 50, strangers: 50, stale: 1, deleted: 20, summaries: 5000, priced: 30}
	if seen.views < few.views || seen.records < few.records || seen.merges < few.merges || seen.rounds < few.rounds || seen.failures < few.failures ||
		seen.crashes < few.crashes || seen.strangers < few.strangers || seen.stale < few.stale || seen.deleted < few.deleted || seen.summaries < few.summaries || seen.priced < few.priced {
		return fmt.Errorf("too little happened: %+v, want at least %+v", *seen, few)
	}
	return nil
}
