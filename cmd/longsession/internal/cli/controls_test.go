package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
)

// What a stranger said, or named a tool or a session, may reach a terminal by way of every output and every file of
// the command: none has it as it is.
func TestNoOutputOfACommandHasRawControls(t *testing.T) {
	t.Parallel()
	const evil = "x\x1b[2Jy\u202ez\x07\u0085\u2066"
	h := (&ct.History{}).User("i1", "Mill Lane "+evil).Call("i1", evil, evil, "c1").Response("i1", evil, evil, "Mill Lane "+evil, "c1").Agent("i1", evil, "Mill Lane "+evil).Turns(2, evil)
	h.Compact("r"+evil, h.Events[0].ID, h.Events[1].ID, h.Events[2].ID, h.Events[3].ID).Amend(func(m *record.Metadata) {
		m.Kind, m.Focus, m.Note = record.KindCheckpoint, evil, evil
	})
	id := "s" + evil
	path := storeSession(t, h, "a"+evil, "u"+evil, id)
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	line, err := json.Marshal(map[string]any{"id": id, "source": evil, "messages": []map[string]any{
		{"role": "system", "content": evil},
		{"role": "user", "content": evil},
		{"role": "assistant", "content": evil, "tool_calls": []any{map[string]any{"id": evil, "type": "function", "function": map[string]any{"name": "t" + evil, "arguments": `{"a":"b"}`}}}},
		{"role": "tool", "tool_call_id": evil, "name": "t" + evil, "content": strings.Repeat(evil, 400)},
		{"role": "assistant", "content": evil},
		{"role": "user", "content": evil + strings.Repeat(" word", 3_000)},
		{"role": "assistant", "content": evil},
		{"role": "user", "content": evil},
	}})
	if err != nil {
		t.Fatal(err)
	}
	talk := file("talk.jsonl")
	if err := os.WriteFile(talk, append(line, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	escaped := 0
	for _, args := range [][]string{
		{"audit", "list", path, "--json"}, {"audit", path, id, "--json"}, {"audit", "history", path, "--json"}, {"audit", "context", path, "--json"},
		{"audit", "context", path, "--at", "turn1", "--json"}, {"audit", "diff", path, "--from", "turn1", "--json"},
		{"audit", "compactions", path, "--json"}, {"audit", "verify", path, "--json"}, {"audit", "cuts", path, "--json"},
		{"audit", "costs", path, "--json"}, {"audit", "activity", path, "--json"}, {"audit", "result", path, "--json"},
		{"audit", "export", path, "--format", "markdown", "-o", file("s.md")},
		{"audit", "export", path, "--format", "jsonl", "-o", file("s.jsonl")},
		{"recall", path, id, "Mill Lane"}, {"recall", path, id, "Mill Lane", "--json"}, {"recall", path, evil, "x"},
		{"replay", talk, "--context-window", "4000"}, {"replay", talk, "--json", "--context-window", "4000"},
		{"replay", talk, "--html", file("r.html"), "--context-window", "4000"}, {"replay", talk, "--grid", "layers=none,all", "--context-window", "4000"},
		{"replay", path, "--context-window", "4000"}, {"replay", evil}, {"replay", talk, "--model", evil}, {"replay", talk, "--grid", evil},
		{"doctor", "--file", path}, {"doctor", "--file", path, "--json"}, {"config", "show", evil},
		{"chat", "--file", path, "--session", evil, "--user", evil, "-p", "hello " + evil},
		{"import", evil, evil}, {"export", path, id}, {"serve", evil}, {"version", evil}, {evil},
	} {
		_, out, complaints := called(t.Context(), args...)
		if strings.Contains(out+complaints, "202e") {
			escaped++
		}
		if r, raw := rawControl(out + complaints); raw {
			t.Errorf("%.60q writes %U\n%.2000q", args, r, out+complaints)
		}
	}
	if escaped < 20 {
		t.Errorf("%d outputs show what was said: this test looks in the wrong place", escaped)
	}
	written, err := filepath.Glob(file("[rs].*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(written) != 3 {
		t.Errorf("files written: %q", written)
	}
	for _, name := range written {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if r, raw := rawControl(string(text)); raw {
			at := strings.IndexRune(string(text), r)
			t.Errorf("%s has %U in %.200q", filepath.Base(name), r, text[max(0, at-100):])
		}
	}
}

// rawControl finds what a terminal or a page would obey: controls of both sets, and those of the direction.
func rawControl(text string) (rune, bool) {
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return r, true
		}
	}
	return 0, false
}
