package meter

import "sync"

// Marks notes whether a call of the model may wait for a checkpoint, so that a handle's session is
// checked only where one may be due. The zero value has not looked at the session yet.
//
//	a call asks     nothing to check: the turn goes on
//	the turn ends   check: a job plans the checkpoint
//	the next turns  no check, unless the job found that the call still waits
type Marks struct {
	mu     sync.Mutex
	looked bool
	waits  bool
	// asked counts the calls that were noted, so that a check does not miss one that it was too early
	// for.
	asked int
}

// Looked reports whether [Marks.Note] was called.
func (m *Marks) Looked() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.looked
}

// Note notes whether there is a call that may wait for a checkpoint, among the events so far.
func (m *Marks) Note(asks bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looked = true
	if asks {
		m.asked++
		m.waits = true
	}
}

// Wait reports whether a call may wait for a checkpoint.
func (m *Marks) Wait() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waits
}

// Checking notes that a check begins. The function that it returns takes whether the check found a
// call that still waits.
func (m *Marks) Checking() (checked func(waits bool)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.asked
	return func(waits bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.waits = waits || m.asked != before
	}
}
