package compactiontest_test

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
)

type stranger struct{ session.Session }

func TestStrictRefusesForeignSessions(t *testing.T) {
	t.Parallel()
	eitherWay(t, func(o *ct.StrictOptions) { o.AcceptForeign = false }, func(t *testing.T, bad bool, svc *ct.StrictService) {
		live := createIn(t, svc)
		err := svc.AppendEvent(t.Context(), stranger{live}, &session.Event{ID: "e1"})
		if refused := err != nil; refused != bad {
			t.Errorf("append through a foreign session: %v", err)
		}
		if n := getFrom(t, svc).Events().Len(); (n == 0) != bad {
			t.Errorf("%d events are stored", n)
		}
	})
}

func TestStrictRefusesStaleHandles(t *testing.T) {
	t.Parallel()
	eitherWay(t, func(o *ct.StrictOptions) { o.AcceptStale = false }, func(t *testing.T, bad bool, svc *ct.StrictService) {
		events := (&ct.History{}).Turns(2, "bot").Events
		live := createIn(t, svc)
		storeIn(t, svc, live, events[0])
		other := getFrom(t, svc)
		storeIn(t, svc, live, events[1])
		err := svc.AppendEvent(t.Context(), other, events[2])
		if refused := err != nil; refused != bad {
			t.Errorf("append through a handle that missed an event: %v", err)
		}
		storeIn(t, svc, getFrom(t, svc), events[3], (&ct.History{Events: events[:3:3]}).User("more", "The handle is as new as what it appended.").Last())
		older := *events[0]
		older.ID, older.Timestamp = "older", getFrom(t, svc).LastUpdateTime()
		before := getFrom(t, svc)
		storeIn(t, svc, getFrom(t, svc), &older) // stored like a record: stamped with the last update time
		if err := svc.AppendEvent(t.Context(), before, (&ct.History{}).User("late", "late").Last()); err != nil {
			t.Errorf("an append that kept the update time made a handle stale: %v", err)
		}
	})
}

func TestStrictFailsEveryNthCallAndLeavesAPhantom(t *testing.T) {
	t.Parallel()
	svc := ct.NewStrictService(ct.StrictOptions{FailEvery: 3})
	live := createIn(t, svc) // call 1
	events := (&ct.History{}).Turns(3, "bot").Events
	storeIn(t, svc, live, events[0])                                                              // call 2
	if err := svc.AppendEvent(t.Context(), live, events[1]); !errors.Is(err, ct.ErrUnavailable) { // call 3
		t.Errorf("the third call: %v", err)
	}
	if got := getFrom(t, svc).Events().Len(); got != 1 || live.Events().Len() != 2 {
		t.Errorf("%d events are stored, %d in the handle; want 1 and 2", got, live.Events().Len())
	}
	calls := map[string]func(ctx context.Context) error{
		"create": func(ctx context.Context) error {
			_, err := svc.Create(ctx, &session.CreateRequest{AppName: "app", UserID: "other"})
			return err
		},
		"get": func(ctx context.Context) error {
			_, err := svc.Get(ctx, &session.GetRequest{AppName: "app", UserID: "user", SessionID: "session"})
			return err
		},
		"list": func(ctx context.Context) error {
			_, err := svc.List(ctx, &session.ListRequest{AppName: "app"})
			return err
		},
		"delete": func(ctx context.Context) error {
			return svc.Delete(ctx, &session.DeleteRequest{AppName: "app", UserID: "user", SessionID: "no such session"})
		},
	}
	failed := 1
	for name, call := range calls {
		for range 3 {
			if err := call(t.Context()); errors.Is(err, ct.ErrUnavailable) {
				failed++
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if failed != 5 || svc.Failures() != 5 {
		t.Errorf("%d calls failed and the service counts %d; want one of each kind and the append", failed, svc.Failures())
	}
	svc.SetFailEvery(0)
	for range 4 {
		getFrom(t, svc)
	}
	if kind := ct.NewStrictService(ct.StrictOptions{}); kind.Failures() != 0 {
		t.Error("a service without FailEvery counts failures")
	}
}

func TestStrictListsSessionsWithoutEventsAndForgetsDeletedOnes(t *testing.T) {
	t.Parallel()
	svc := ct.NewStrictService(ct.StrictOptions{})
	live := createIn(t, svc)
	ev := (&ct.History{}).User("i", "hello").Last()
	ev.Actions.StateDelta = map[string]any{"k": "v", "user:k": "v", "app:k": "v", "temp:k": "v"}
	storeIn(t, svc, live, ev)
	if _, err := svc.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "user", SessionID: "session"}); err == nil {
		t.Error("an existing ID was accepted")
	}
	resp, err := svc.List(t.Context(), &session.ListRequest{AppName: "app", UserID: "user"})
	if err != nil || len(resp.Sessions) != 1 || resp.Sessions[0].Events().Len() != 0 {
		t.Fatalf("List returns %v, %v; want one session without events", resp, err)
	}
	if value, err := resp.Sessions[0].State().Get("k"); err != nil || value != "v" {
		t.Errorf("state in the list is %v, %v", value, err)
	}
	if _, err := live.State().Get("temp:k"); err != nil {
		t.Errorf("temporary state is gone before its turn ends: %v", err)
	}
	if _, found := listOf(live)[0].Actions.StateDelta["temp:k"]; found {
		t.Error("the handle's event carries temporary state")
	}
	if err := svc.Delete(t.Context(), &session.DeleteRequest{AppName: "app", UserID: "user", SessionID: "session"}); err != nil {
		t.Fatal(err)
	}
	if err := svc.AppendEvent(t.Context(), live, (&ct.History{}).User("i", "hello").Last()); !adk.IsNotFound(err) {
		t.Errorf("append to a deleted session: %v", err)
	}
	if again := createIn(t, svc); again.Events().Len() != 0 {
		t.Error("a re-created session has the old events")
	}
	if getFrom(t, svc).Events().Len() != 0 {
		t.Error("a re-created session has the old events in storage")
	}
}
