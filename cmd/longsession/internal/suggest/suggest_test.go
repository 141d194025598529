package suggest_test

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
)

func TestNearNamesAreMeant(t *testing.T) {
	t.Parallel()
	names := []string{"list", "limit", "history", "verify", "seal", "app"}
	for typed, want := range map[string]string{
		"verfy":    " (did you mean --verify?)",
		"VERIFY":   " (did you mean --verify?)",
		"li":       " (did you mean --list or --limit?)", // both begin with it
		"hist":     " (did you mean --history?)",
		"sael":     " (did you mean --seal?)",
		"nonsense": "",
		"":         "",
		"q":        "",
	} {
		if got := suggest.DidYouMean(typed, names, "--"); got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
	if got := suggest.DidYouMean("a1", []string{"a2", "a3", "a4"}, ""); got != " (did you mean a2, a3 or a4?)" {
		t.Errorf("a tie of three: %q", got)
	}
	if got := suggest.DidYouMean("list", nil, ""); got != "" {
		t.Errorf("no names: %q", got)
	}
}

func TestOnlyPlainNamesFit(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"order-1": true, "order 2": true, "other": false, "": false, "order\t3": false, "order\n4": false, "order\x1b[2J": false, "order-é": true,
	} {
		if got := suggest.Fits(name, "ord"); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	if suggest.Fits("", "") {
		t.Error("an empty name is offered")
	}
	if got := suggest.Starting([]string{"ab", "b", "abc"}, "ab"); !slices.Equal(got, []string{"ab", "abc"}) {
		t.Errorf("%q", got)
	}
}

func TestHiddenCommandsAreNotNamed(t *testing.T) {
	t.Parallel()
	run := func(*cobra.Command, []string) {}
	c := &cobra.Command{Use: "x"}
	c.AddCommand(&cobra.Command{Use: "open FILE", Run: run}, &cobra.Command{Use: "secret", Hidden: true, Run: run})
	if got := suggest.Commands(c); !slices.Equal(got, []string{"open"}) {
		t.Errorf("%q", got)
	}
}
