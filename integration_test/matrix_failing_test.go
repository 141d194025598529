package integration_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// Every n-th call to storage fails, during turns and during compactions. A turn that is hit fails
// with storage's own error. Every acknowledged event is stored once and in order, and the model
// still sees all of them.
func TestMatrixFailingStorageLosesNothing(t *testing.T) {
	t.Parallel()
	var ran, inCompactions, storedInTrouble atomic.Int64
	t.Cleanup(func() {
		if ran.Load() == 0 { // "go test -run" has left all of them out
			return
		}
		if inCompactions.Load() == 0 || storedInTrouble.Load() == 0 {
			t.Errorf("%d calls of compactions failed, %d compactions succeeded: the test proves nothing", inCompactions.Load(), storedInTrouble.Load())
		}
	})
	for _, every := range []int{6, 7, 9, 17, 23} {
		for _, m := range []mode{synchronous, flushed} {
			t.Run(fmt.Sprintf("every %d/%s", every, m.name), func(t *testing.T) {
				t.Parallel()
				ran.Add(1)
				strict := compactiontest.NewStrictService(compactiontest.StrictOptions{FailEvery: every})
				a, x := matrixApp(t, storages.Holding("strict", func() session.Service { return strict }), m, arrangement{})
				failed := 0
				for i := range 40 {
					if i%3 == 0 {
						x.will(a.lookups(1 + i%2))
					}
					x.will(answer())
					if !a.unlucky(x, strict) {
						failed++
					}
				}
				if failed == 0 || failed == 40 {
					t.Errorf("%d of 40 turns failed: the test proves nothing", failed)
				}
				inCompactions.Add(int64(strict.Failures() - failed))
				storedInTrouble.Add(int64(len(a.log.of(compaction.Stored))))
				strict.SetFailEvery(0)
				a.compactAll()
				a.chat(x, 12)
				a.adoptStoredIDs()
				a.verify(3)
				a.checkRecordsOnce()
			})
		}
	}
}

// The backend's own handle does show the event.
func TestMatrixAnEventThatWasNotStoredIsNotShown(t *testing.T) {
	t.Parallel()
	strict := compactiontest.NewStrictService(compactiontest.StrictOptions{})
	a, x := matrixApp(t, storages.Holding("strict", func() session.Service { return strict }), synchronous, arrangement{})
	a.chat(x, 6)
	resp, err := a.svc.Get(t.Context(), getRequest())
	if err != nil {
		t.Fatal(err)
	}
	before := canonical(eventsOf(resp.Session))
	ev := session.NewEventWithContext(t.Context(), "e-lost")
	ev.Author, ev.Content = "user", genai.NewContentFromText("Is anybody there?", genai.RoleUser)
	strict.SetFailEvery(1)
	if err := a.svc.AppendEvent(t.Context(), resp.Session, ev); !errors.Is(err, compactiontest.ErrUnavailable) {
		t.Fatalf("append: %v", err)
	}
	strict.SetFailEvery(0)
	if after := canonical(eventsOf(resp.Session)); after != before {
		t.Errorf("the view changed from\n%s\nto\n%s", before, after)
	}
	a.history = append(a.history, storedMessage(ev.Content))
	if err := a.svc.AppendEvent(t.Context(), resp.Session, ev); err != nil {
		t.Fatal(err)
	}
	view := eventsOf(resp.Session)
	if last := view[len(view)-1]; last.ID != ev.ID || len(a.view()) != len(view) {
		t.Errorf("after the second attempt the view of %d events ends with %s; a new handle shows %d", len(view), last.ID, len(a.view()))
	}
	a.adoptStoredIDs()
	a.verify(1)
}

// unlucky runs a turn that may fail, and then expects the acknowledged events in storage. It
// reports whether the turn succeeded.
func (a *app) unlucky(x *actor, strict *compactiontest.StrictService) bool {
	a.t.Helper()
	fact := compactiontest.Fact(a.ledger.number())
	a.ledger.nextTurn()
	a.ledger.tell(fact, "", "user")
	a.turns++
	a.question = fmt.Sprintf("Question %d: the code is %s, and storage has bad days; we will come back to it.", a.turns, fact)
	message := genai.NewContentFromText(a.question, genai.RoleUser)
	asked, before := x.asked, len(a.history)
	a.history = append(a.history, storedMessage(message))
	var failure error
	for ev, err := range a.runner.Run(a.t.Context(), ref.UserID, ref.SessionID, message, agent.RunConfig{}) {
		if err != nil {
			failure = err
			break
		}
		a.history = append(a.history, storedEvent(ev))
	}
	if a.mode.flushed {
		a.flush()
	}
	if failure == nil {
		return true
	}
	if !errors.Is(failure, compactiontest.ErrUnavailable) || errors.Is(failure, compaction.ErrCompaction) {
		a.t.Errorf("turn %d failed with %v, want storage's own error", a.turns, failure)
	}
	if x.asked == asked { // the question was not stored either
		a.history = a.history[:before]
	}
	x.unplayed()
	every := strict.SetFailEvery(0)
	a.ledger.keepStored(a.raw())
	strict.SetFailEvery(every)
	return false
}

// checkRecordsOnce checks that no record is stored twice and no event is covered by two records.
func (a *app) checkRecordsOnce() {
	a.t.Helper()
	records, covered := map[string]bool{}, map[string]string{}
	for _, m := range a.records() {
		if records[m.RecordID] {
			a.t.Errorf("record %s is stored twice", m.RecordID)
		}
		records[m.RecordID] = true
		for _, r := range m.Covered {
			at := fmt.Sprint(r.InvocationID, r.Author, r.Timestamp)
			if other := covered[at]; other != "" && other != m.RecordID {
				a.t.Errorf("the event of %s at %s is covered by records %s and %s", r.Author, r.Timestamp, other, m.RecordID)
			}
			covered[at] = m.RecordID
		}
	}
}
