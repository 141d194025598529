package input

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestALineHasItsLimit(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("x", maxLine-1)
	l := Lines(strings.NewReader("first\n\r\n  \n" + longest + "\nlast\r\n\xff"))
	for i, want := range []string{"first", longest, "last", "\xff"} {
		if got, err := l.Read(t.Context(), ""); got != want || err != nil {
			t.Fatalf("line %d has %d bytes, want %d: %v", i, len(got), len(want), err)
		}
	}
	for range 2 {
		if got, err := l.Read(t.Context(), ""); got != "" || !errors.Is(err, io.EOF) {
			t.Errorf("at the end: %q, %v", got, err)
		}
	}
	l = Lines(strings.NewReader("first\nx" + longest + "\nlast\n"))
	if got, err := l.Read(t.Context(), ""); got != "first" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	for range 2 {
		if got, err := l.Read(t.Context(), ""); got != "" || !errors.Is(err, ErrTooLong) {
			t.Errorf("a line that is too long: %d bytes, %v", len(got), err)
		}
	}
}
