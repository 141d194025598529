package view_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/oracle"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// picker decides by a fuzzer's bytes, and by zeros when they are used up.
func picker(data []byte) func(k int) int {
	return func(k int) int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b) % k
	}
}

// seeds gives the fuzzer histories to start from.
func seeds(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(random.UintN(256))
		}
		f.Add(uint8(random.UintN(40)), data)
	}
	f.Add(uint8(0), []byte{})
}

func FuzzProject(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, n uint8, data []byte) {
		holds(t, histories.Generate(int(n)%48, picker(data)))
	})
}

func FuzzView(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, n uint8, data []byte) {
		events := histories.Generate(int(n)%48, picker(data))
		grows(t, events)
		growsCut(t, events)
	})
}

func TestEveryHistoryHasAGoodViewThatGrowsWithIt(t *testing.T) {
	t.Parallel()
	summaries := 0
	testkit.CheckUntil(t, 1, func(t *rapid.T) {
		events := histories.Generate(rapid.IntRange(0, 40).Draw(t, "n"), func(k int) int { return rapid.IntRange(0, k-1).Draw(t, "pick") })
		summaries += holds(t, events)
		grows(t, events)
		growsCut(t, events)
	}, func() error {
		if summaries < 20 {
			return fmt.Errorf("only %d summaries were shown", summaries)
		}
		return nil
	})
}

type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// holds checks the view of a history, and that making it changed nothing; it returns how many
// summaries the view shows.
func holds(t tester, events []*session.Event) int {
	t.Helper()
	pointers, before := slices.Clone(events), adk.DeepCopy(events)
	shown := view.Project(events)
	if err := ct.Check(events, shown); err != nil {
		t.Errorf("the view of %q is %q: %v", ids(events), ids(shown), err)
	}
	if err := oracle.Compare(events, shown); err != nil {
		t.Errorf("%v", err)
	}
	if !slices.Equal(pointers, events) || !reflect.DeepEqual(before, events) {
		t.Errorf("the history was changed: %s", cmp.Diff(before, events))
	}
	return len(fronts(shown))
}

// grows appends one event after the other to a view, and compares it each time with the projection of
// the whole history.
func grows(t tester, events []*session.Event) {
	t.Helper()
	v := view.New(nil)
	type moment struct{ now, then []*session.Event }
	var moments []moment
	var base *view.View
	for i, ev := range events {
		v.Append(ev)
		got, want := v.Events().Slice(), view.Project(events[:i+1])
		if !same(got, want) {
			t.Fatalf("after %q the view is %q, want %q", ids(events[:i+1]), ids(got), ids(want))
		}
		if v.State().Stored != i+1 || len(v.Raw()) != i+1 {
			t.Fatalf("view holds %d events of %d", len(v.Raw()), i+1)
		}
		moments = append(moments, moment{got, slices.Clone(got)})
		if i%4 == 0 {
			base = v.Fork()
		}
		resumes(t, base, events[:i+1])
	}
	for i, m := range moments {
		if !slices.Equal(m.now, m.then) {
			t.Errorf("the snapshot after event %d changed from %q to %q", i, ids(m.then), ids(m.now))
		}
	}
}

// resumes compares a view that starts from a base with the projection of all, also while another view
// of the same base goes its own way.
func resumes(t tester, base *view.View, events []*session.Event) {
	t.Helper()
	if events[0] == nil && len(events) == 1 {
		return
	}
	for range 2 {
		v := base.Continue(fixed(events))
		if v == nil {
			t.Fatalf("%q does not begin with the base of %d events", ids(events), base.Len())
		}
		if got, want := v.Events().Slice(), view.Project(events); !same(got, want) {
			t.Fatalf("from a base of %d events the view of %q is %q, want %q", base.Len(), ids(events), ids(got), ids(want))
		}
		astray := (&ct.History{}).User("astray", "q").Call("astray", "bot", "t", "c").Turn("x", "bot", "q", "a").Events
		for _, ev := range append(astray, (&ct.History{Events: slices.Clone(events)}).AddEvent(astray[0]).Record("astray", astray[0].ID)) {
			v.Append(ev)
		}
	}
}

// same compares views: stored events by pointer, summaries and stand-ins by what they hold.
func same(a, b []*session.Event) bool {
	return slices.EqualFunc(a, b, func(a, b *session.Event) bool {
		return a == b || a != nil && b != nil && (a.InvocationID == "compaction-"+a.ID || view.IsStandIn(a)) && reflect.DeepEqual(a, b)
	})
}

// Between two compactions the view only grows at its end, so that prompt caches keep hitting: unless
// a record or a response arrives, or a reference changes its meaning.
func TestViewOnlyGrowsBetweenCompactions(t *testing.T) {
	t.Parallel()
	grown := 0
	testkit.Check(t, func(t *rapid.T) {
		h := ct.History{Events: rich().Events}
		v := view.New(slices.Clone(h.Events))
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			before := v.Events().Slice()
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				h.User("x", "q")
			case 1:
				h.Agent("x", "bot", "a")
			default:
				h.Call("x", "bot", "t", "new").Response("x", "bot", "t", "r", "new")
				v.Append(h.Events[len(h.Events)-2])
			}
			v.Append(h.Last())
			if after := v.Events().Slice(); !slices.Equal(before, after[:len(before)]) {
				t.Fatalf("the view was %q and is %q", ids(before), ids(after))
			}
			grown++
		}
	})
	if grown < enough(100) {
		t.Errorf("only %d events were appended", grown)
	}
}

func TestRecordsAreNeverPartOfTheirOwnView(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		events := histories.Generate(30, func(k int) int { return rapid.IntRange(0, k-1).Draw(t, "pick") })
		for _, ev := range view.Project(events) {
			if ev == nil || record.Is(ev) {
				t.Fatalf("the view shows %v", ev)
			}
		}
	})
}
