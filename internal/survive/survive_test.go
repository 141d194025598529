package survive_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/internal/survive"
)

func TestAPanicLeavesOneTraceForEachPlace(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var told []string
	places := survive.Places{
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Tell:   func(place string, err error) { told = append(told, place+": "+err.Error()) },
	}
	step := func(place string, cause any) (result string) {
		defer places.Survive(place)
		result = "by then"
		if cause != nil {
			panic(cause)
		}
		return "whole"
	}
	for _, c := range []struct {
		place string
		cause any
		want  string
	}{{"a", nil, "whole"}, {"a", "the user's words", "by then"}, {"a", "again", "by then"}, {"b", &strings.Builder{}, "by then"}} {
		if got := step(c.place, c.cause); got != c.want {
			t.Errorf("%s, %v: %q, want %q", c.place, c.cause, got, c.want)
		}
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "place=a panic=string at=") || !strings.Contains(lines[0], "TestAPanicLeavesOneTrace") || !strings.Contains(lines[1], "place=b panic=*strings.Builder") {
		t.Errorf("the log has\n%s", log.String())
	}
	if strings.Contains(log.String(), "words") {
		t.Errorf("the log has the text of a panic:\n%s", log.String())
	}
	if len(told) != 2 || told[0] != "a: panic: the user's words" {
		t.Errorf("told %q", told)
	}
}

// No t.Parallel: the test sets the default logger.
func TestAPanicWithoutPlacesIsLoggedByTheDefaultLogger(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	step := func(cause any) (result string) {
		defer survive.Else("a place of its own", func() { result = "otherwise" })
		if cause != nil {
			panic(cause)
		}
		return "whole"
	}
	for _, c := range []struct {
		cause any
		want  string
	}{{nil, "whole"}, {"the user's words", "otherwise"}, {"again", "otherwise"}} {
		if got := step(c.cause); got != c.want {
			t.Errorf("%v: %q, want %q", c.cause, got, c.want)
		}
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || strings.Contains(got, "words") || !strings.Contains(got, `place="a place of its own" panic=string at=`) || !strings.Contains(got, "TestAPanicWithoutPlaces") {
		t.Errorf("the log has\n%s", got)
	}
}

// counts hides from linters that the map is nil.
func counts(m map[string]int) map[string]int { return m }

func TestThePanicOfTheRuntimeIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	places := survive.Places{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	func() {
		defer places.Survive("a map")
		counts(nil)["a"]++
	}()
	if !strings.Contains(log.String(), "assignment to entry in nil map") || !strings.Contains(log.String(), "survive_test.") {
		t.Errorf("the log has\n%s", log.String())
	}
}

type broken struct{ slog.Handler }

func TestWhoeverIsToldMayPanicToo(t *testing.T) {
	t.Parallel()
	places := survive.Places{Logger: slog.New(broken{}), Tell: func(string, error) { panic("no") }}
	survived := false
	func() {
		defer func() { survived = recover() == nil }()
		defer places.Survive("a")
		panic("yes")
	}()
	if !survived {
		t.Error("a panic of the logger or of the observer went on")
	}
}
