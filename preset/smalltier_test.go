package preset_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/preset"
)

const notice = `longsession: small-tier parent: gemini-2.5-flash is a small-tier model.
  Small-tier models work well as subtask workers (--agentic-small-model) but
  loop and stall as the parent for long interactive sessions. Consider a
  frontier or mid-tier model for the parent — e.g. --model gemini-3.5-pro
  --agentic-small-model gemini-2.5-flash. Pass --small-tier-parent=allow to
  suppress this notice.`

const refusal = "small-tier parent: gemini-2.5-flash is a small-tier model. Small-tier models work well as subtask workers" +
	" (--agentic-small-model) but loop and stall as the parent for long interactive sessions. Consider a frontier or mid-tier model" +
	" for the parent — e.g. --model gemini-3.5-pro --agentic-small-model gemini-2.5-flash. Pass --small-tier-parent=allow to use it" +
	" all the same."

// TestTheSmallTierGuard: the error is one line, as every error is, and does not speak of a notice.
func TestTheSmallTierGuard(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		model, mode   string
		oneShot, yolo bool
		piped         bool
		notes, fails  bool
	}{
		"warns by default":    {model: "gemini-2.5-flash", notes: true},
		"warns":               {model: "gemini-2.5-flash", mode: "warn", notes: true},
		"refuses":             {model: "gemini-2.5-flash", mode: "refuse", fails: true},
		"allows":              {model: "gemini-2.5-flash", mode: "allow"},
		"skips one prompt":    {model: "gemini-2.5-flash", mode: "refuse", oneShot: true},
		"skips yolo":          {model: "gemini-2.5-flash", mode: "refuse", yolo: true},
		"a pipe is no prompt": {model: "gemini-2.5-flash", mode: "refuse", piped: true, fails: true},
		"skips no tier":       {model: "house-llm", mode: "refuse"},
		"skips other tiers":   {model: "gemini-2.5-pro", mode: "refuse"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := preset.In{File: given(t, "agent.model="+row.model, "agent.no_ceiling=true"), OneShot: row.oneShot, Yolo: row.yolo, Piped: row.piped}
			if row.mode != "" {
				in.Flag = given(t, "safety.small_tier_parent="+row.mode)
			}
			s, err := preset.Resolve(in)
			var refused *preset.SmallTierError
			if errors.As(err, &refused) != row.fails {
				t.Fatalf("refused %v, want %v: %v", !row.fails, row.fails, err)
			}
			if row.fails && (refused.Text != refusal || refused.Model != row.model) {
				t.Errorf("the error is\n%s\nwant\n%s", refused.Text, refusal)
			}
			got := ""
			for _, n := range s.Notes {
				if strings.HasPrefix(n, "longsession: small-tier parent: ") {
					got = n
				}
			}
			if row.notes != (got != "") || row.notes && got != notice {
				t.Errorf("the note is\n%s\nwant %v", got, row.notes)
			}
		})
	}
}

// TestTheSmallTierTextSuggestsTheTasksTier, in the models of the same provider.
func TestTheSmallTierTextSuggestsTheTasksTier(t *testing.T) {
	t.Parallel()
	s := resolve(t, preset.In{Flag: given(t, "session.task_class=chat", "agent.model=claude-haiku-4-5")})
	if len(s.Notes) != 1 || !strings.Contains(strings.Join(strings.Fields(s.Notes[0]), " "), "--model claude-sonnet-4-6 --agentic-small-model claude-haiku-4-5") {
		t.Errorf("notes %v", s.Notes)
	}
	// For other providers no model is known that could be suggested.
	s = resolve(t, preset.In{Flag: given(t, "agent.model=gpt-4o-mini")})
	if len(s.Notes) != 1 || !strings.Contains(strings.Join(strings.Fields(s.Notes[0]), " "), "model for the parent. Pass --small-tier-parent=allow") {
		t.Errorf("notes %v", s.Notes)
	}
	for line := range strings.Lines(s.Notes[0] + "\n" + notice) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 78 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
