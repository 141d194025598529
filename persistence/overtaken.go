package persistence

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// selectOvertaking finds a message of the user behind an event, of another invocation, that agents in the
// event's branch see. Those that no record covers were loaded.
const selectOvertaking = `SELECT EXISTS (SELECT 1 FROM events WHERE session = ?1 AND seq > ?2 AND author = 'user'
	AND invocation_id <> ?3 AND (branch = '' OR ?4 = '' OR branch = ?4 OR substr(?4, 1, length(branch) + 1) = branch || '.')
	AND covered_by IS NOT NULL AND record_id IS NULL AND coalesce(json_array_length(content, '$.parts'), 0) > 0)`

// overtaken finds the loaded events with calls whose invocation is over by a message that was not loaded.
// seqs are those of the loaded events. It looks in storage only where no loaded message settles it, which
// is so for the calls of a turn that runs.
func (r *reader) overtaken(ctx context.Context, session int64, loaded []*session.Event, seqs []int64) (map[string]bool, error) {
	var found map[string]bool
	for _, i := range openCalls(loaded) {
		ev := loaded[i]
		if isOvertaken(ev, loaded[i+1:]) {
			continue
		}
		var over bool
		if err := r.overtaking.QueryRowContext(ctx, session, seqs[i], ev.InvocationID, ev.Branch).Scan(&over); err != nil {
			return nil, err
		}
		if over && found == nil {
			found = map[string]bool{}
		}
		if over {
			found[ev.ID] = true
		}
	}
	return found, nil
}

// openCalls returns the positions of the loaded events with calls that nothing answers. An answer belongs
// to the nearest call of its ID before it, first of its own branch, else of any, see [writer.findUnit]; that
// call is loaded with it.
func openCalls(loaded []*session.Event) []int {
	near := map[adk.CallKey]int{} // the last call of a branch and ID
	any := map[string]int{}       // the last call of an ID
	open := map[int]map[string]bool{}
	answer := func(i int, id string) {
		if delete(open[i], id); len(open[i]) == 0 {
			delete(open, i)
		}
	}
	for i, ev := range loaded {
		calls, answers := callsOf(ev)
		for _, id := range answers {
			if at, ok := near[adk.CallKey{Branch: ev.Branch, ID: id}]; ok {
				answer(at, id)
			} else if at, ok := any[id]; ok {
				answer(at, id)
			}
		}
		for _, id := range calls {
			near[adk.CallKey{Branch: ev.Branch, ID: id}], any[id] = i, i
			if open[i] == nil {
				open[i] = map[string]bool{}
			}
			open[i][id] = true
		}
	}
	return slices.Sorted(maps.Keys(open))
}

func isOvertaken(call *session.Event, behind []*session.Event) bool {
	return slices.ContainsFunc(behind, func(ev *session.Event) bool {
		return adk.Classify(ev).Is(adk.Message) && adk.Overtakes(ev, call)
	})
}
