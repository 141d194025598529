package filtered_test

import (
	"reflect"
	"slices"
	"strings"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/view"
)

// turns returns a history of n turns, two events each.
func turns(n int) *ct.History { return (&ct.History{}).Turns(n, "bot") }

// rich returns a history with summaries, parallel calls, a branch and a late answer.
func rich() *ct.History {
	h := turns(4).Compact("s1", "e1", "e2").Compact("s2", "e3", "e4").Merge("m", "s1", "s2")
	h.User("j", "q").Call("j", "bot", "t", "a", "b").Long("b").Response("j", "bot", "t", "r", "a", "b").Agent("j", "bot", "waiting")
	h.Branch("p.a").Agent("k", "a", "A").Agent("k", "a", "A").Compact("s4", "e16").Branch("")
	return h.User("l", "q").Response("l", "user", "t", "done", "b").Agent("l", "bot", "a")
}

// ids writes a view as the IDs of its events.
func ids(shown []*session.Event) string { return strings.Join(ct.IDs(shown), " ") }

// same compares views: stored events by pointer, summaries and stand-ins by what they hold.
func same(a, b []*session.Event) bool {
	return slices.EqualFunc(a, b, func(a, b *session.Event) bool {
		return a == b || a != nil && b != nil && (a.InvocationID == "compaction-"+a.ID || view.IsStandIn(a)) && reflect.DeepEqual(a, b)
	})
}
