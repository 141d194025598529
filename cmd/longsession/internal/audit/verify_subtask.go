package audit

import (
	"context"

	"github.com/adk-go-ext/longsession/persistence"
)

// checkSubtask checks that the session of a subtask belongs to a call of its parent. The call is stored
// before the subtask begins, so a parent without it was changed, or the session is not its subtask.
func (e *examination) checkSubtask(ctx context.Context, snap *persistence.Snapshot) error {
	if e.Parent == "" {
		return nil
	}
	parents, calls := 0, 0
	if e.parent != nil {
		var n int
		err := answers(ctx, snap, "sessions", "SELECT count(*) FROM sessions WHERE key = ?", []any{e.parent.key}, []any{&n}, func() { parents = n })
		if err != nil {
			return err
		}
		err = answers(ctx, snap, "calls", "SELECT count(*) FROM calls WHERE session = ? AND id = ? AND orphan = 0", []any{e.parent.key, e.Call}, []any{&n}, func() { calls = n })
		if err != nil {
			return err
		}
	}
	switch {
	case parents == 0:
		e.warn(RuleSubtask, "is named as a subtask of the session %q, which is not in the file: was it deleted?", e.Parent)
	case calls == 0:
		e.find(0, "", RuleSubtask, "is named as the subtask of the call %q of the session %q, which has no such call", e.Call, e.Parent)
	}
	return nil
}
