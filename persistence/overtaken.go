package persistence

import (
	"context"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// selectOvertaking reports whether the user wrote a message after an event, in another invocation
// and in a lane that the event's agent sees, as [adk.Visible] has it. It looks only at covered messages, because all
// others are loaded.
const selectOvertaking = `SELECT EXISTS (SELECT 1 FROM events WHERE session = ?1 AND seq > ?2 AND author = 'user'
	AND invocation_id <> ?3 AND substr(branch, instr(branch || char(31), char(31))) = ?5
	AND (substr(branch, 1, instr(branch || char(31), char(31)) - 1) IN ('', ?4) OR ?4 = ''
		OR substr(?4, 1, instr(branch || char(31), char(31))) = substr(branch, 1, instr(branch || char(31), char(31)) - 1) || '.')
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
	for _, i := range adk.OpenCalls(loaded) { // a loaded answer's call is always loaded too
		ev := loaded[i]
		var over bool
		branch, scope := adk.SplitLane(adk.Lane(ev))
		if err := r.overtaking.QueryRowContext(ctx, session, seqs[i], ev.InvocationID, branch, adk.JoinLane("", scope)).Scan(&over); err != nil {
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
