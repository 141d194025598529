package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/auditcmd"
	ct "github.com/adk-go-ext/longsession/compactiontest"
)

// helpOf returns the help of a subcommand of audit, or of audit itself.
func helpOf(name string) string {
	for _, c := range auditcmd.Command().Commands() {
		if c.Name() == name {
			return c.Long
		}
	}
	return auditcmd.Command().Long
}

func TestEveryFieldIsInTheHelp(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).User("i", "q").Call("i", "bot", "t", "a").Response("i", "bot", "t", strings.Repeat("result ", 100), "a").Agent("i", "bot", "done").Turns(4, "bot").
		Compact("r1", "e1", "e2", "e3", "e4").Compact("r2", "e5", "e6").Merge("m", "r2")
	h.Events[3].UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 9}
	h.Events[3].ErrorCode, h.Events[3].Actions.StateDelta = "E", map[string]any{"k": "v"}
	path := storeSession(t, h, "shop", "ada", "s1", "UPDATE events SET covered_by = NULL WHERE seq = 1")
	for name, help := range map[string]string{
		"": helpOf("") + helpOf("list"), "list": helpOf("list"), "history": helpOf("history"), "context": helpOf("context") + helpOf("history"),
		"diff --from turn1": helpOf("diff"), "context --at turn1": helpOf("context") + helpOf("history"),
		"compactions": helpOf("compactions"), "diff": helpOf("diff") + helpOf("compactions"), "verify": helpOf("verify"), "result": helpOf("result"), "cuts": helpOf("cuts"), "costs": helpOf("costs") + helpOf("list"), "activity": helpOf("activity") + helpOf("costs") + helpOf("list"),
	} {
		args := []string{"audit", name, path, "s1", "--json"}
		if name == "" {
			args = []string{"audit", path, "s1", "--json"}
		}
		if name == "cuts" {
			args = append(args, "--max-bytes", "100", "--stub-above", "60")
		}
		if name, flag, is := strings.Cut(name, " "); is {
			args = append([]string{"audit", name, path, "s1", "--json"}, strings.Fields(flag)...)
		}
		if name == "list" {
			args = []string{"audit", "list", path, "--json"}
		}
		_, out, complaints := called(t.Context(), args...)
		fields := map[string]bool{}
		for line := range strings.SplitSeq(strings.TrimSpace(out), "\n") {
			var object map[string]json.RawMessage
			if err := json.Unmarshal([]byte(line), &object); err != nil {
				t.Fatalf("%s: %v\n%s%s", name, err, out, complaints)
			}
			for field := range object {
				fields[field] = true
			}
		}
		for field := range fields {
			if !regexp.MustCompile(`\b` + field + `\b`).MatchString(help) {
				t.Errorf("%q: its help does not name the field %s", name, field)
			}
		}
		if least := 8; len(fields) < least && name != "result" && name != "diff --from turn1" || len(fields) < 6 {
			t.Errorf("%q writes the fields %v only", name, fields)
		}
	}
}

func TestEveryAuditCommandDocumentsItsJSON(t *testing.T) {
	t.Parallel()
	n := 0
	for _, c := range append(auditcmd.Command().Commands(), auditcmd.Command()) {
		n++
		if !strings.Contains(c.Long, "JSON") && !strings.Contains(c.Long, "--json") {
			t.Errorf("%s: its help says nothing of JSON", c.Name())
		}
		for line := range strings.SplitSeq(c.Long, "\n") {
			if len([]rune(line)) > 110 {
				t.Errorf("%s: a line of %d characters: %s", c.Name(), len([]rune(line)), line)
			}
		}
	}
	if n != 13 {
		t.Errorf("%d commands", n)
	}
}
