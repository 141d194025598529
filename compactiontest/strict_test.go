package compactiontest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/adk/session"
	"google.golang.org/adk/session/sessiontestsuite"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

// kind is the best backend possible; each test adds one limitation.
func kind() ct.StrictOptions {
	return ct.StrictOptions{
		KeepIDs: true, KeepNanoseconds: true, KeepTypes: true, KeepFields: true, KeepOrder: true,
		KeepApart: true, AcceptForeign: true, AcceptStale: true,
	}
}

// eitherWay runs f on a service with one limitation and on a service without any.
func eitherWay(t *testing.T, take func(o *ct.StrictOptions), f func(t *testing.T, bad bool, svc *ct.StrictService)) {
	t.Helper()
	for _, bad := range []bool{true, false} {
		t.Run(fmt.Sprintf("bad %t", bad), func(t *testing.T) {
			t.Parallel()
			opts := kind()
			if bad {
				take(&opts)
			}
			f(t, bad, ct.NewStrictService(opts))
		})
	}
}

func createIn(t *testing.T, svc session.Service) session.Session {
	t.Helper()
	resp, err := svc.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "user", SessionID: "session"})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session
}

func getFrom(t *testing.T, svc session.Service) session.Session {
	t.Helper()
	resp, err := svc.Get(t.Context(), &session.GetRequest{AppName: "app", UserID: "user", SessionID: "session"})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session
}

func storeIn(t *testing.T, svc session.Service, sess session.Session, events ...*session.Event) {
	t.Helper()
	for _, ev := range events {
		if err := svc.AppendEvent(t.Context(), sess, ev); err != nil {
			t.Fatalf("append %s: %v", ev.ID, err)
		}
	}
}

func listOf(sess session.Session) []*session.Event { return slices.Collect(sess.Events().All()) }

func TestADKConformanceSuitePassesOnTheStrictService(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]ct.StrictOptions{"worst": {}, "kind": kind()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite := sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true, ProvidesServerAssignedEventID: !opts.KeepIDs}
			opts.AcceptForeign = false // the suite wants a session that was never created to be rejected
			sessiontestsuite.RunServiceTests(t, suite, func(*testing.T) session.Service { return ct.NewStrictService(opts) })
		})
	}
}

func TestStrictRenamesEventsInStorageOnly(t *testing.T) {
	t.Parallel()
	eitherWay(t, func(o *ct.StrictOptions) { o.KeepIDs = false }, func(t *testing.T, bad bool, svc *ct.StrictService) {
		live := createIn(t, svc)
		storeIn(t, svc, live, (&ct.History{}).Turns(2, "bot").Events...)
		first, again := ct.IDs(listOf(getFrom(t, svc))), ct.IDs(listOf(getFrom(t, svc)))
		if got := ct.IDs(listOf(live)); !slices.Equal(got, []string{"e1", "e2", "e3", "e4"}) {
			t.Errorf("the live handle shows %v", got)
		}
		if !slices.Equal(first, again) {
			t.Errorf("IDs change from %v to %v between reads, which no backend does", first, again)
		}
		if renamed := !slices.Contains(first, "e1"); renamed != bad {
			t.Errorf("storage has %v", first)
		}
	})
}

func TestStrictCutsTimesToMicroseconds(t *testing.T) {
	t.Parallel()
	eitherWay(t, func(o *ct.StrictOptions) { o.KeepNanoseconds = false }, func(t *testing.T, bad bool, svc *ct.StrictService) {
		precise := histories.Epoch.Add(1234567 * time.Nanosecond)
		ev := &session.Event{ID: "e1", Timestamp: precise}
		storeIn(t, svc, createIn(t, svc), ev)
		want := precise
		if bad {
			want = precise.Truncate(time.Microsecond)
		}
		if got := listOf(getFrom(t, svc))[0].Timestamp; !got.Equal(want) || !ev.Timestamp.Equal(want) {
			t.Errorf("stored %v, the caller's event has %v, want %v", got, ev.Timestamp, want)
		}
	})
}

func TestStrictSortsByTimeAndReversesTies(t *testing.T) {
	t.Parallel()
	eitherWay(t, func(o *ct.StrictOptions) { o.KeepOrder = false }, func(t *testing.T, bad bool, svc *ct.StrictService) {
		live := createIn(t, svc)
		for _, e := range []struct {
			id     string
			second int
		}{{"a", 2}, {"b", 2}, {"c", 3}, {"late", 1}} {
			storeIn(t, svc, live, &session.Event{ID: e.id, Timestamp: histories.Epoch.Add(time.Duration(e.second) * time.Second)})
		}
		want := []string{"a", "b", "c", "late"}
		if got := ct.IDs(listOf(live)); !slices.Equal(got, want) {
			t.Errorf("the live handle shows %v", got)
		}
		if bad {
			want = []string{"late", "b", "a", "c"}
		}
		if got := ct.IDs(listOf(getFrom(t, svc))); !slices.Equal(got, want) {
			t.Errorf("a Get shows %v, want %v", got, want)
		}
		resp, err := svc.Get(t.Context(), &session.GetRequest{AppName: "app", UserID: "user", SessionID: "session", NumRecentEvents: 2, After: histories.Epoch.Add(2 * time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		last := []string{"b", "c"}
		if bad {
			last = []string{"a", "c"}
		}
		if got := ct.IDs(listOf(resp.Session)); !slices.Equal(got, last) {
			t.Errorf("the newest two are %v, want %v", got, last)
		}
	})
}

func TestStrictSharesEventsBetweenReaders(t *testing.T) {
	t.Parallel()
	for _, types := range []bool{true, false} {
		t.Run(fmt.Sprintf("types kept %t", types), func(t *testing.T) {
			t.Parallel()
			eitherWay(t, func(o *ct.StrictOptions) { o.KeepApart = false }, func(t *testing.T, bad bool, _ *ct.StrictService) {
				opts := kind()
				opts.KeepApart, opts.KeepTypes = !bad, types
				svc := ct.NewStrictService(opts)
				live := createIn(t, svc)
				ev := (&ct.History{}).User("i", "hello").Last()
				storeIn(t, svc, live, ev)
				first := listOf(getFrom(t, svc))[0]
				first.Content.Parts[0].Text = "changed by a reader"
				if changed := listOf(getFrom(t, svc))[0].Content.Parts[0].Text == "changed by a reader"; changed != bad {
					t.Errorf("a reader's change reached storage: %t", changed)
				}
				ev.Content.Parts[0].Text = "changed by the caller"
				if changed := listOf(getFrom(t, svc))[0].Content.Parts[0].Text == "changed by the caller"; changed != (bad && types) {
					t.Errorf("the caller's change reached storage: %t", changed)
				}
				if listOf(live)[0] != ev {
					t.Error("the live handle does not show the caller's event")
				}
			})
		})
	}
}
