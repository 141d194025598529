package compaction

// inOrder calls f, which tells an observer of something that happened to the session, after all that
// was told before it and never beside another. If somebody is telling right now, a turn that stores a
// record while a job works, or an observer whose own call had something told, then that one calls f
// when it is done.
func (st *sessionState) inOrder(f func()) {
	st.mu.Lock()
	st.untold = append(st.untold, f)
	busy := st.telling
	st.telling = true
	st.mu.Unlock()
	if busy {
		return
	}
	for {
		st.mu.Lock()
		if len(st.untold) == 0 {
			st.untold, st.telling = nil, false
			st.mu.Unlock()
			return
		}
		next := st.untold[0]
		st.untold[0] = nil // it refers to the context of a turn, and so to a handle
		st.untold = st.untold[1:]
		st.mu.Unlock()
		next()
	}
}
