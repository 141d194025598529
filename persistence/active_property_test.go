package persistence_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence"
)

// The views are equal after any sequence of appends, compactions, merges and reopenings. If all
// records are of one writer, GetActive loads no event that the view does not need.
func TestTheViewOfWhatIsLoadedIsTheViewOfAll(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "random histories in one goroutine")
	for _, wild := range []bool{false, true} {
		t.Run(fmt.Sprint("wild=", wild), func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			service, err := persistence.NewSQLiteSessionService(path, persistence.WithSynchronousNormal())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { service.Close() }()
			var tales, compared, partial atomic.Int64
			testkit.Check(t, func(rt *rapid.T) {
				x := &tale{T: rt, wild: wild, path: path, id: fmt.Sprint(tales.Add(1)), service: service}
				defer func() { service = x.service }()
				x.begin()
				for range rapid.IntRange(5, 40).Draw(rt, "steps") {
					was, checks := len(x.h.Events), false
					switch action := rapid.IntRange(0, 9).Draw(rt, "action"); {
					case action == 0 && was > 0 && rapid.Bool().Draw(rt, "reopen"):
						x.reopen()
					case action <= 3 && was > 0:
						checks = x.compact()
					default:
						x.speak()
						checks = x.records > 0 && action == 9
					}
					for _, ev := range x.h.Events[was:] {
						if err := x.service.AppendEvent(context.Background(), x.handle, ev); err != nil {
							rt.Fatal(err)
						}
					}
					if !checks {
						continue
					}
					compared.Add(1)
					left := sameView(rt, x.service, x.id)
					if left {
						partial.Add(1)
					}
					if full := view.Inspect(x.h.Events); !wild && !left && len(full.View)-len(full.Current)+x.records < len(x.h.Events) {
						rt.Fatalf("all events of %v were loaded, although the view shows only %v", ct.IDs(x.h.Events), ct.IDs(full.View))
					}
				}
			})
			t.Logf("%d views compared, %d of them of a part", compared.Load(), partial.Load())
			least, leastPartial := int64(50), int64(5)
			if testing.Short() { // rapid runs a fifth of the cases
				least, leastPartial = 20, 1
			}
			if compared.Load() < least || partial.Load() < leastPartial {
				t.Errorf("%d views compared, %d of them of a part", compared.Load(), partial.Load())
			}
		})
	}
}
