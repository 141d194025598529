package persistence

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// selectOvertaking reports whether the user wrote a message after an event, in another invocation
// and in a branch that the event's agent sees. It looks only at covered messages, because all
// others are loaded.
const selectOvertaking = `SELECT EXISTS (SELECT 1 FROM events WHERE session = ?1 AND seq > ?2 AND author = 'user'
	AND invocation_id <> ?3 AND (branch = '' OR ?4 = '' OR branch = ?4 OR substr(?4, 1, length(branch) + 1) = branch || '.')
	AND covered_by IS NOT NULL AND record_id IS NULL AND coalesce(json_array_length(content, '$.parts'), 0) > 0)`

// overtaken returns the IDs of loaded events with open calls whose invocation ended with a message
// that is not loaded. For example, of
//
//	1 agent   calls a tool, and the process is killed
//	2 user    a message of the next invocation, covered by r
//	3 record r
//
// only 1 and 3 are loaded. Without event 2, the call would seem to be running. seqs has the numbers
// of the loaded events. overtaken queries the file only if no loaded message answers the question,
// which is the case for calls of a running turn.
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

// openCalls returns the positions of the loaded events with calls that have no answer. An answer
// belongs to the nearest call with its ID before it, first in its own branch and then in any (see
// [writer.findUnit]). A loaded answer's call is always loaded too.
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

// isOvertaken reports whether a loaded message ended the invocation of an event with calls.
func isOvertaken(call *session.Event, later []*session.Event) bool {
	return slices.ContainsFunc(later, func(ev *session.Event) bool {
		return adk.Classify(ev).Is(adk.Message) && adk.Overtakes(ev, call)
	})
}
