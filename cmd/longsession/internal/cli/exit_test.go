package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// TestAnErrorIsOneLine: programs read errors line by line, and terminals obey control characters.
func TestAnErrorIsOneLine(t *testing.T) {
	t.Parallel()
	evil := "no\x1b[31m\nfile\u202e"
	for _, args := range [][]string{
		{"audit", "list", filepath.Join(t.TempDir(), evil)}, {"audit", evil}, {"audit", "export", evil, "-o", evil}, {"replay", evil}, {evil}, {"replay", "--" + evil},
		{"audit", "list", "x", evil}, {"replya"}, {"replay", "x", "--limit", evil},
	} {
		code, out, complaints := called(t.Context(), args...)
		if code != exit.CodeUsage || out != "" || strings.Count(complaints, "\n") != 1 || !strings.HasSuffix(complaints, "\n") || strings.ContainsAny(complaints, "\x1b\u202e") {
			t.Errorf("%q: exit code %d: %q", args, code, complaints)
		}
	}
	one := errors.New("a\nb")
	for _, err := range []error{errors.Join(one, errors.New("c"), one), exit.Usage("%w", errors.Join(errors.Join(one), errors.Join(errors.New("c"), one)))} {
		if got := exit.Line(err); got != `a\nb; c` {
			t.Errorf("%q became %q", err, got)
		}
	}
	if got := exit.Line(fmt.Errorf("why: %w and %w", one, errors.New("c"))); got != `why: a\nb and c` {
		t.Errorf("got %q", got)
	}
}
