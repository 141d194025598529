package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
)

// TestAValueAtItsBoundTakesEffect: one more is noted or refused.
func TestAValueAtItsBoundTakesEffect(t *testing.T) {
	const window = "[agent]\ncontext_budget = 100000\nmax_output_tokens = 0\n[compaction]\nthreshold = 0.5\n"
	for text, want := range map[string]int{"token_threshold = 50000\n": 50_000, "token_threshold = 50001\n": 0} {
		got := resolve(t, config.In{File: parse(t, window+text)})
		accepted(t, got.c)
		noted := false
		for _, n := range got.s.Notes {
			noted = noted || strings.Contains(n, "which is never reached")
		}
		if got.c.Compaction.TokenThreshold != want || noted != (want == 0) {
			t.Errorf("%s: the threshold is %d, want %d; notes: %v", text, got.c.Compaction.TokenThreshold, want, got.s.Notes)
		}
	}
	const ends = "[session.context]\ntool_result_max_lines = 200\ntool_result_head_lines = 100\ntool_result_tail_lines = "
	got := resolve(t, config.In{File: parse(t, ends+"100\n")})
	accepted(t, got.c)
	if got.c.ToolResults.HeadLines != 100 || got.c.ToolResults.TailLines != 100 {
		t.Errorf("ends of %d and %d lines", got.c.ToolResults.HeadLines, got.c.ToolResults.TailLines)
	}
	if _, err := config.Resolve(config.In{File: parse(t, ends+"101\n")}); err == nil || !strings.Contains(err.Error(), "are more than the 200 lines that may be seen") {
		t.Errorf("ends of 100 and 101 lines: %v", err)
	}
	const reply = "[agent]\ncontext_budget = 100000\nmax_output_tokens = "
	if _, err := config.Resolve(config.In{File: parse(t, reply+"50000\n")}); err != nil {
		t.Errorf("half of the window for the answer: %v", err)
	}
	if _, err := config.Resolve(config.In{File: parse(t, reply+"50001\n")}); err == nil || !strings.Contains(err.Error(), "more than half of the window of 100000 tokens") {
		t.Errorf("more than half of the window for the answer: %v", err)
	}
}

// TestOnlyWhatIsNearIsSuggested: further away it would be a guess.
func TestOnlyWhatIsNearIsSuggested(t *testing.T) {
	for text, want := range map[string]string{
		"[compaction]\nthrashing = 1\n": "s.toml:2:1: compaction.thrashing: there is no such key",
		"[compaction]\nthresol = 1\n":   "s.toml:2:1: compaction.thresol: there is no such key (did you mean compaction.threshold?)",
		"[agent]\nmodule = 1\n":         "s.toml:2:1: agent.module: there is no such key (did you mean agent.model?)",
		"[network]\n":                   "s.toml:1:2: network: there is no such table",
		"[savent]\n":                    "s.toml:1:2: savent: there is no such table (did you mean [agent]?)",
		"[saget]\n":                     "s.toml:1:2: saget: there is no such table (did you mean [agent]?)",
	} {
		for range 10 { // the order of a map must not decide
			if _, err := config.Parse("s.toml", []byte(text)); err == nil || err.Error() != want {
				t.Errorf("%q: error is\n%v\nwant\n%s", text, err, want)
				break
			}
		}
	}
}

func TestTheFileToReadIsLocated(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("AppData", home)
	variable := func(value string, set bool) func(string) (string, bool) {
		return func(name string) (string, bool) { return value, set && name == config.PathVariable }
	}
	usual, err := config.DefaultPath()
	if err != nil {
		t.Fatal(err)
	}
	for _, exists := range []bool{false, true} {
		instead := ""
		if exists {
			instead = usual
			if err := os.MkdirAll(filepath.Dir(usual), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(usual, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			path   string
			lookup func(string) (string, bool)
			want   string
		}{
			{"given.toml", variable("named.toml", true), "given.toml"},
			{"", variable("named.toml", true), "named.toml"},
			{"", variable("", true), instead},
			{"", variable("", false), instead},
		} {
			if got := config.Locate(c.path, c.lookup); got != c.want {
				t.Errorf("the usual file exists: %v, %q was given: %q, want %q", exists, c.path, got, c.want)
			}
		}
	}
}
