package audit_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
)

func exported(t *testing.T, path, format string, patterns ...string) string {
	t.Helper()
	r, err := redact.New(patterns, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	s := find(t, f, "")
	var out strings.Builder
	n, err := f.Export(t.Context(), []*audit.Session{s}, format, r, &out)
	if err != nil {
		t.Fatal(err)
	}
	if int64(n) != s.Events {
		t.Errorf("%d events written of %d", n, s.Events)
	}
	return out.String()
}

// TestAnExportIsReadBackAsTheEventsThatWereStored: those of an app and generated ones.
func TestAnExportIsReadBackAsTheEventsThatWereStored(t *testing.T) {
	t.Parallel()
	paths := []string{made(t, 12)}
	for n := range 15 {
		random := rand.New(rand.NewPCG(uint64(n), 2))
		seen := map[string]bool{}
		h := &ct.History{}
		for _, ev := range histories.Generate(30, random.IntN) {
			if ev != nil && !seen[ev.ID] {
				seen[ev.ID] = true
				h.Events = append(h.Events, ev)
			}
		}
		paths = append(paths, built(t, h))
	}
	moved := 0
	for _, path := range paths {
		lines := strings.SplitAfter(strings.TrimSuffix(exported(t, path, audit.JSONL), "\n"), "\n")
		f := open(t, path)
		i := 0
		for row, err := range f.Rows(t.Context(), find(t, f, ""), 0, -1) {
			if err != nil {
				t.Fatal(err)
			}
			var back session.Event
			if err := json.Unmarshal([]byte(lines[i]), &back); err != nil {
				t.Fatalf("line %d: %v", i, err)
			}
			if want := row.Event.Timestamp; want.Year() < 0 || want.Year() > 9999 {
				moved++ // JSON cannot write such a time
				row.Event.Timestamp = back.Timestamp
			}
			if diff := cmp.Diff(row.Event, &back, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s event %d:\n%s", path, i, diff)
			}
			i++
		}
		if i != len(lines) || i < 10 {
			t.Errorf("%d lines for %d events", len(lines), i)
		}
	}
	if moved == 0 {
		t.Error("no event has a time that JSON cannot write")
	}
}

// hostile is a session that tries to break out of every format.
func hostile(t *testing.T) string {
	t.Helper()
	h := (&ct.History{}).
		User("i", "<script>alert(1)</script>\n```\n# I am a heading\n</pre></article><img src=x onerror=y>").
		Call("i", "<i>evil</i>", "t\"><script>", "c").Response("i", "<i>evil</i>", "t\"><script>", "</script><script>alert(2)</script>", "c").
		Agent("i", "<i>evil</i>", "```` four").Turns(2, "bot").Compact("r1", "e1", "e2", "e3", "e4")
	h.Amend(func(m *record.Metadata) {
		if err := m.SetText("<script>in a summary</script>"); err != nil {
			t.Fatal(err)
		}
	})
	return built(t, h)
}

func TestWhatWasSaidCannotBreakOutOfMarkdown(t *testing.T) {
	t.Parallel()
	page := exported(t, hostile(t), audit.Markdown)
	fence, headings := "", 0
	for line := range strings.SplitSeq(page, "\n") {
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = strings.TrimSuffix(line, "text")
		case fence != "" && line == fence:
			fence = ""
		case fence == "" && strings.HasPrefix(line, "#"):
			headings++
		case fence == "" && strings.Contains(strings.ReplaceAll(line, "`<i>evil</i>`", ""), "<"):
			if !strings.Contains(line, "`call of t\"><script>`") && !strings.Contains(line, "`response of t\"><script>`") {
				t.Errorf("outside of a block stands %q", line)
			}
		}
	}
	if fence != "" || headings != 10 || !strings.Contains(page, "# I am a heading") {
		t.Errorf("%d headings, want 10; open block %q", headings, fence)
	}
}
