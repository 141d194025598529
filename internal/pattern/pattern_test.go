package pattern_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/internal/pattern"
)

func TestAnExpressionThatRepeatsTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a{0,1000}b":                     "",
		"(?i)(error|warn).*timeout$":     "",
		`\pL{1000}`:                      "",
		strings.Repeat("x", 2_000):       "",
		strings.Repeat("a{0,1000}", 6):   "repeats too much",
		strings.Repeat("a{0,1000}", 220): "repeats too much",
		strings.Repeat(`\pL{1000}`, 220): "repeats too much",
		"(a{0,30}){5}(a{0,30}){5,}" + strings.Repeat("(((a{0,9}){0,9}){0,9}){1}", 5): "repeats too much",
		"(":          "missing closing",
		`(?=x)`:      "invalid or unsupported Perl syntax",
		"a{0,1001}b": "invalid repeat count",
	} {
		e, err := pattern.Compile(text)
		switch {
		case want == "" && (err != nil || e.Steps < 1):
			t.Errorf("%.40s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.40s: %v, want %q", text, err, want)
		}
	}
}

// A long text is searched in another way than a short one, and finds the same.
func TestLongAndShortSearchesFindTheSame(t *testing.T) {
	t.Parallel()
	text := []byte("\xff ééx ééx")
	for _, expression := range []string{"é+x$", "^x", "^", "$", "x", `\b`, "no"} {
		want := regexp.MustCompile(expression).FindIndex(text)
		for _, steps := range []int{1, 1 << 30} {
			e, err := pattern.Compile(expression)
			if err != nil {
				t.Fatal(err)
			}
			e.Steps = steps
			if at, err := e.Find(t.Context(), text); err != nil || !slices.Equal(at, want) {
				t.Errorf("%s, %d steps: %v, want %v: %v", expression, steps, at, want, err)
			}
		}
	}
}

// ended is a context that ends after it was looked at so many times.
type ended struct {
	context.Context
	looks int
}

var errEnded = errors.New("it has ended")

func (e *ended) Err() error {
	if e.looks--; e.looks < 0 {
		return errEnded
	}
	return nil
}

func TestASearchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	e, err := pattern.Compile("a{0,1000}b")
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 1 << 20} {
		text := []byte(strings.Repeat("a", size))
		if at, err := e.Find(&ended{t.Context(), 0}, text); at != nil || !errors.Is(err, errEnded) {
			t.Errorf("%d bytes: %v, %v", size, at, err)
		}
	}
	if at, err := e.Find(&ended{t.Context(), 10}, []byte(strings.Repeat("a", 1<<20))); at != nil || !errors.Is(err, errEnded) {
		t.Errorf("within a line: %v, %v", at, err)
	}
}
