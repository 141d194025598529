package selector_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/internal/testkit"
)

// A window that follows without another look is the one that another look finds. Here all invocations are one behind the
// other, and nothing only changes state: another look sees where the rest of an invocation begins, and other neighbors.
func TestTheNextWindowIsTheOneThatIsSelectedThen(t *testing.T) {
	t.Parallel()
	followed := map[string]int{}
	least := 0
	testkit.CheckUntil(t, 1, func(t *rapid.T) {
		events := slices.DeleteFunc(generated(t), func(ev *session.Event) bool { return ev == nil || !says(ev) || ev.InvocationID == "" })
		slices.SortStableFunc(events, func(a, b *session.Event) int { return strings.Compare(a.InvocationID, b.InvocationID) })
		history := newTape(events).history()
		p := drawParams(t)
		p.MaxTokens = rapid.SampledFrom([]int{40, 100, 200}).Draw(t, "most")
		for name, selectFrom := range map[string]func(selector.Input, selector.Params, string) selector.Selection{
			"turns": selector.Invocations, "tokens": selector.Tokens,
		} {
			tp := tapeOver(history)
			for sel := selectFrom(tp.history(), p, ""); !sel.Empty(); {
				next := sel.Next()
				tp.cover(sel)
				then := selectFrom(tp.history(), p, "")
				if next.Empty() {
					sel = then
					continue
				}
				if !slices.Equal(next.Events, then.Events) || next.Tokens != then.Tokens || next.Cut != then.Cut || next.Through != then.Through ||
					!slices.Equal(next.GivenUp, then.GivenUp) || len(next.Absorb)+len(then.Absorb) > 0 || then.After != nil {
					t.Fatalf("by %s %s follows, want %s\n%+v\n%+v", name, shown(next), shown(then), next, then)
				}
				followed[name]++
				sel = next
			}
		}
		least = min(followed["turns"], followed["tokens"])
	}, enough(&least))
}
