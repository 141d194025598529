package meter

import "testing"

// A call that comes while a check is under way, for which the check was too early, is not forgotten.
func TestMarksKeepACallThatComesDuringACheck(t *testing.T) {
	t.Parallel()
	var m Marks
	if m.Looked() || m.Wait() {
		t.Error("the zero value has looked")
	}
	m.Note(false)
	if !m.Looked() || m.Wait() {
		t.Error("there is no call, and one waits")
	}
	m.Note(true)
	checked := m.Checking()
	m.Note(true)
	if checked(false); !m.Wait() {
		t.Error("the second call was forgotten")
	}
	if m.Checking()(true); !m.Wait() {
		t.Error("a call that still waits was forgotten")
	}
	if m.Checking()(false); m.Wait() {
		t.Error("a call that was answered still waits")
	}
}
