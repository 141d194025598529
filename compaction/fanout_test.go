package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
)

// Each turn asks agents of new names, so that branches end. The window of one is not worth much at the
// hard limit; those of all are.
func TestBranchesThatEndAreSummarizedToo(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "a long session in one goroutine")
	cfg, _ := oracleConfig()
	cfg.ContextWindow = 20_000
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h, highest := &compactiontest.History{}, 0
	for turn := range 20 {
		at, inv := len(h.Events), fmt.Sprint("inv", turn)
		h.Branch("").User(inv, "Ask all of them.")
		for worker := range 8 {
			h.Branch(fmt.Sprintf("fan.worker%d-%d", worker, turn)).Agent(inv, "worker", strings.Repeat("word ", 150))
		}
		h.Branch("").Agent(inv, "agent", "They have all answered.")
		appendAll(t, svc, sess, h.Events[at:]...)
		highest = max(highest, status(t, svc).PromptTokens)
	}
	if limit := status(t, svc).HardLimit; highest > limit {
		t.Errorf("prompts of up to %d tokens, the hard limit is %d", highest, limit)
	}
}

// refusing is an inner service that refuses records while it is told to.
type refusing struct {
	session.Service
	refuse bool
}

func (r *refusing) AppendEvent(ctx context.Context, s session.Session, ev *session.Event) error {
	if r.refuse && compaction.IsCompactionEvent(ev) {
		return errors.New("disk is full")
	}
	return r.Service.AppendEvent(ctx, s, ev)
}

func TestByHandWhatIsSummarizedAlreadyIsStoredFirst(t *testing.T) {
	t.Parallel()
	inner := &refusing{session.InMemoryService(), true}
	cfg, oracle := oracleConfig()
	svc := newService(t, inner, cfg)
	appendAll(t, svc, create(t, svc), turns(5)...)
	inner.refuse = false
	compact(t, svc, compaction.CompactOptions{})
	if got := status(t, svc); len(oracle.Requests()) != 1 || len(got.Summaries) != 1 {
		t.Errorf("%d summaries were paid for and %d are shown, want 1", len(oracle.Requests()), len(got.Summaries))
	}
}

// meanwhile is an inner service in which something happens while a record is stored.
type meanwhile struct {
	session.Service
	do func()
}

func (m *meanwhile) AppendEvent(ctx context.Context, s session.Session, ev *session.Event) error {
	if compaction.IsCompactionEvent(ev) && m.do != nil {
		do, done := m.do, make(chan struct{})
		m.do = nil
		go func() { defer close(done); do() }()
		select {
		case <-done:
		case <-time.After(50 * time.Millisecond): // it waits for the record, as it should
		}
		defer func() { go func() { <-done }() }()
	}
	return m.Service.AppendEvent(ctx, s, ev)
}

func TestARecordThatIsBeingStoredDoesNotReachASessionCreatedAnew(t *testing.T) {
	t.Parallel()
	inner := &meanwhile{Service: session.InMemoryService()}
	cfg, _ := oracleConfig()
	svc := newService(t, inner, cfg)
	sess := create(t, svc)
	anew := make(chan struct{})
	inner.do = func() {
		defer close(anew)
		if err := svc.Delete(t.Context(), &session.DeleteRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
			t.Error(err)
		}
		create(t, svc)
	}
	appendAll(t, svc, sess, turns(5)...)
	<-anew
	if view := eventsOf(get(t, svc)); len(view) > 0 {
		t.Errorf("the new session shows %d events of the deleted one", len(view))
	}
}
