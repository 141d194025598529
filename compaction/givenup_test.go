package compaction_test

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/selector"
)

// TestACallThatIsGivenUpIsReportedOnce: 70 turns each leave a call that waits; only 64 may wait.
func TestACallThatIsGivenUpIsReportedOnce(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		for _, synchronous := range []bool{true, false} {
			const extra = 6
			cfg, _ := oracleConfig()
			cfg.Synchronous = synchronous
			seen := &notes{}
			cfg.Observer = seen.Observe
			svc := newService(t, inner, cfg)
			resp, err := inner.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "user", SessionID: fmt.Sprint(synchronous)})
			if err != nil {
				t.Fatal(err)
			}
			ref := compaction.SessionRef{AppName: "app", UserID: "user", SessionID: resp.Session.ID()}
			got, err := svc.Get(t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
			if err != nil {
				t.Fatal(err)
			}
			h := &compactiontest.History{}
			for i := range selector.MaxWaiting + extra {
				inv := fmt.Sprint("inv", i)
				h.User(inv, "Start another: "+compactiontest.Fact(i)).LongCall(inv, "agent", "start", fmt.Sprint("c", i)).
					Response(inv, "agent", "start", "pending", fmt.Sprint("c", i)).Agent(inv, "agent", "It is running; I shall tell you.")
				appendAll(t, svc, got.Session, h.Events[4*i:]...)
				if err := svc.Flush(t.Context(), ref); err != nil {
					t.Fatal(err)
				}
			}
			h.Events = nil
			h.Turns(9, "agent")
			for i, ev := range h.Events {
				ev.ID = fmt.Sprint("later", i)
			}
			appendAll(t, svc, got.Session, h.Events...)
			if err := svc.Flush(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
			var given []string
			for _, o := range seen.all() {
				if o.Outcome == compaction.GivenUp {
					given = append(given, o.Calls...)
					if o.InvocationID == "" || o.RecordID == "" || o.Session != ref {
						t.Errorf("%+v does not say what was given up", o)
					}
				}
			}
			slices.Sort(given) // two jobs in the background may report in either order
			if want := []string{"c0", "c1", "c2", "c3", "c4", "c5"}; !slices.Equal(given, want) {
				t.Errorf("synchronous %t: %q were given up, want %q", synchronous, given, want)
			}
		}
	})
}
