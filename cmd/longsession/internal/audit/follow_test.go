package audit_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
)

// TestAFollowerAddsUpTheSameWhileASessionGrows: what it adds step by step is what a look at the whole session finds.
func TestAFollowerAddsUpTheSameWhileASessionGrows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	stored := writing(t, path)
	svc := compacting(t, stored)
	sess := create(t, svc, user, "order-1")
	f := open(t, path)
	prices := audit.Prices{}
	follower := prices.Follow()
	same := func() *audit.Curve {
		t.Helper()
		s := find(t, f, "")
		if left, err := follower.Read(t.Context(), f, s, -1); err != nil || left != 0 {
			t.Fatalf("%d events are left, %v", left, err)
		}
		got := follower.Costs(s, 3)
		want, err := prices.Costs(t.Context(), f, s, 3)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if string(a) != string(b) {
			t.Fatalf("the follower has\n%s\nand a look at the whole session\n%s", a, b)
		}
		return follower.Curve(s)
	}
	events := said(16)
	for i, ev := range events {
		if ev.Author != "user" && ev.Content.Parts[0].Text != "" {
			used(&ct.History{Events: events[:i+1]}, "gemini-2.5-flash", int32(100+i), 0, 10)
		}
		if err := svc.AppendEvent(t.Context(), sess, ev); err != nil {
			t.Fatal(err)
		}
		if i%9 == 0 {
			same()
		}
	}
	c := same()
	if len(c.Calls) != 16 || c.Calls[15].Turn != 16 || c.Calls[15].Prompt != 100+len(events)-1 || c.Model != "gemini-2.5-flash" || len(c.Records) == 0 || len(c.Records) != len(c.Compactions) {
		t.Fatalf("the curve is %+v", c)
	}
	for i, call := range c.Calls {
		if call.Whole < call.Prompt || i < c.Compactions[0] && call.Whole != call.Prompt {
			t.Errorf("call %d: %+v; the first compaction is before call %d", i, call, c.Compactions[0])
		}
	}

	// Another session of the same name begins anew.
	if err := svc.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "order-1"}); err != nil {
		t.Fatal(err)
	}
	create(t, svc, user, "order-1", said(1)...)
	if c := same(); len(c.Calls) != 0 || len(c.Records) != 0 {
		t.Errorf("of the session before it, this is left: %+v", c)
	}
}

// TestAFollowerReadsALittleAtATime: subtasks included, and then it knows the same.
func TestAFollowerReadsALittleAtATime(t *testing.T) {
	t.Parallel()
	f := open(t, family(t))
	s := find(t, f, "order-1")
	prices := audit.Prices{As: "gemini-2.5-flash"}
	follower := prices.Follow()
	all := int64(0)
	for _, one := range s.Family() {
		all += one.Events
	}
	for steps := int64(1); ; steps++ {
		left, err := follower.Read(t.Context(), f, s, 3)
		if want := max(0, all-3*steps); err != nil || left != want {
			t.Fatalf("after %d steps %d events are left, want %d: %v", steps, left, want, err)
		}
		if left == 0 {
			break
		}
	}
	want, err := prices.Costs(t.Context(), f, s, 9)
	if err != nil {
		t.Fatal(err)
	}
	if got := follower.Costs(s, 9); !reflect.DeepEqual(got, want) || got.Total.Calls == 0 {
		t.Errorf("step by step %+v, at once %+v", got, want)
	}
}

func TestTheStateOfAFileChangesWithEveryWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	svc := writing(t, path)
	f := open(t, path)
	before, step := "", 0
	changed := func() {
		t.Helper()
		step++
		now, err := audit.State(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		if now == before {
			t.Errorf("step %d has left the state at %s", step, now)
		}
		before = now
		if again, err := audit.State(t.Context(), f); err != nil || again != now {
			t.Errorf("the state changed by itself from %s to %s, %v", now, again, err)
		}
	}
	changed()
	create(t, svc, user, "a")
	changed()
	b := create(t, svc, user, "b")
	changed()
	for _, ev := range said(1) {
		if err := svc.AppendEvent(t.Context(), b, ev); err != nil {
			t.Fatal(err)
		}
		changed()
	}
	if err := svc.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "b"}); err != nil {
		t.Fatal(err)
	}
	changed()
}
