package integration_test

import (
	"slices"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// While a summary is being written, the session is deleted and re-created under the same ID,
// through the service or directly in storage.
func TestAJobOfADeletedSessionLeavesNothingInItsSuccessor(t *testing.T) {
	t.Parallel()
	for _, behind := range []bool{false, true} {
		name := map[bool]string{false: "through the service", true: "by another process"}[behind]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			overStorages(t, []mode{background}, func(t *testing.T, store storages.Storage, m mode) {
				var asked <-chan struct{}
				var release func()
				a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) {
					cfg.Summarizer, asked, release = gated(cfg.Summarizer)
				}))
				defer release()
				x := newActor(a, "assistant", "")
				a.start(a.llm(x, nil))
				a.chat(x, 6)
				for waiting := true; waiting; {
					select {
					case <-asked:
						waiting = false
					default:
						a.chat(x, 1)
					}
				}

				old := a.ledger
				var service session.Service = a.svc
				if behind {
					service = a.inner
				}
				recreate(t, service)
				a.ledger, a.history = &ledger{last: old.last}, nil
				a.chat(x, 4)
				release()
				a.flush()
				a.chat(x, 1)
				for _, fact := range histories.FactsInContents(x.lastRequest()) {
					if slices.Contains(old.where(func(told, int) bool { return true }), fact) {
						t.Errorf("%s of the deleted session is in a prompt of the new one", fact)
					}
				}
				for _, ev := range a.raw() {
					if compaction.IsCompactionEvent(ev) && len(a.history) < 10 {
						t.Errorf("the new session has record %s of the old one", ev.ID)
					}
				}
				a.chat(x, 8)
				a.verify(1)
			})
		})
	}
}

func recreate(t *testing.T, service session.Service) {
	t.Helper()
	if err := service.Delete(t.Context(), &session.DeleteRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
}
