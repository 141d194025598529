package audit

import "strings"

// subtask is the middle of the ID of a subtask's session: PARENT:sub:CALL, where CALL is the ID of the
// call in the parent that the subtask works for.
const subtask = ":sub:"

// link finds the parent of each session that a subtask runs in, by the IDs. The part behind the mark
// may contain the mark itself, so the longest beginning that is a session is the parent. If there is
// none, the parent was deleted: then the last mark counts, and the session remains an orphan.
func link(all []*Session) {
	type name struct{ app, user, id string }
	byName := map[name]*Session{}
	for _, s := range all {
		byName[name{s.App, s.User, s.ID}] = s
	}
	for _, s := range all {
		for _, id := range parentsOf(s.ID) {
			parent := byName[name{s.App, s.User, id}]
			if s.Parent == "" || parent != nil {
				s.Parent, s.Call = id, s.ID[len(id)+len(subtask):]
			}
			if parent != nil {
				s.parent = parent
				parent.Children = append(parent.Children, s)
				break
			}
		}
	}
}

// parentsOf returns the IDs that the parent of a session may have, the longest first; none if the session is not that
// of a subtask.
func parentsOf(id string) []string {
	ids := []string{}
	for cut := strings.LastIndex(id, subtask); cut > 0; cut = strings.LastIndex(id[:cut], subtask) {
		ids = append(ids, id[:cut])
	}
	return ids
}

// Orphan reports whether the session is that of a subtask whose parent is not in the file.
func (s *Session) Orphan() bool { return s.Parent != "" && s.parent == nil }

// Heads returns the sessions that are not folded under a parent, in their order.
func Heads(all []*Session) []*Session {
	var heads []*Session
	for _, s := range all {
		if s.parent == nil {
			heads = append(heads, s)
		}
	}
	return heads
}

// Family returns a session and those of its subtasks, each behind its parent.
func (s *Session) Family() []*Session {
	all := []*Session{s}
	for _, c := range s.Children {
		all = append(all, c.Family()...)
	}
	return all
}

// child returns the session of the subtask that works for a call, or nil.
func (s *Session) child(call string) *Session {
	if call == "" {
		return nil
	}
	for _, c := range s.Children {
		if c.Call == call {
			return c
		}
	}
	return nil
}
