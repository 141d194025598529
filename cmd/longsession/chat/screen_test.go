package chat

import (
	"io"
	"os"
	"testing"
)

// "longsession chat 2>&1 | less": a notice stands on a line of its own, although an answer was not at its end.
func TestANoticeInOnePipeWithTheAnswerHasItsOwnLine(t *testing.T) {
	t.Parallel()
	pipe := func() (*os.File, func() string) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		return w, func() string {
			_ = w.Close()
			text, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	one, read := pipe()
	s := newScreen(one, one)
	s.print("within its bounds.")
	s.note("The model was told: stop")
	s.print("Yes.\n")
	if got, want := read(), "within its bounds.\nThe model was told: stop\nYes.\n"; got != want {
		t.Errorf("one pipe has %q, want %q", got, want)
	}

	out, readOut := pipe()
	errs, readErrs := pipe()
	s = newScreen(out, errs)
	s.print("within its ")
	s.note("The model was told: stop")
	s.print("bounds.\n")
	if got := readOut() + "/" + readErrs(); got != "within its bounds.\n/The model was told: stop\n" {
		t.Errorf("an answer in a pipe of its own is changed: %q", got)
	}
}
