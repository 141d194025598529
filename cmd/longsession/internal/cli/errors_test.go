package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// TestEveryMistakeIsToldInWordsOfThePersonWhoMadeIt: an error is one line, says once who speaks, and has no names of
// packages and fields, and no address or path twice.
func TestEveryMistakeIsToldInWordsOfThePersonWhoMadeIt(t *testing.T) {
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY"} {
		t.Setenv(name, "")
	}
	folder := t.TempDir()
	path := storeSession(t, (&ct.History{}).Turns(8, "bot").Compact("r1", "e1", "e2").Compact("r2", "e3", "e4"), "shop", "ada", "s1")
	missing, text, empty := filepath.Join(folder, "missing.db"), filepath.Join(folder, "text.db"), filepath.Join(folder, "empty.db")
	for name, content := range map[string]string{text: "hello", empty: ""} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	field := regexp.MustCompile(`\b[A-Z][a-z]+[A-Z][A-Za-z]*\b`) // such as ContextWindow
	for _, args := range []string{
		"audit", "audit list " + missing, "audit list " + text, "audit verify " + empty, "audit list " + folder, "audit context " + path + " nobody",
		"audit context " + path + " --at x", "audit context " + path + " --at 99", "audit context " + path + " --at turn99",
		"audit diff " + path + " --record r", "audit diff " + path + " --record zz", "audit diff " + path + " --to 3", "audit diff " + path + " --width 3",
		"audit history " + path + " --from -1", "audit result " + path + " s1 zz", "audit result " + path + " s1 r-00", "audit cuts " + path + " --max-bytes -3",
		"audit verify " + path + " --against " + text, "audit verify " + path + " --against " + missing, "audit export " + path + " --redact (",
		"audit list " + path + " --user nobody", "audit verfy " + path, "audit seal " + path + " -o " + path,
		"serve", "serve " + missing, "serve " + text, "recall " + path, "recall " + path + " s1", "recall " + missing + " s1 word", "import", "export",
		"replay " + missing, "replay " + text, "config check " + missing, "nonsense", "audit list " + path + " --nonsense",
		"chat --file " + folder, "chat --file " + filepath.Join(folder, "no", "x.db"), "chat --file " + text + " --model scripted:demo",
		"chat --context-window -1", "chat --context-window 1 --model scripted:demo --file " + filepath.Join(folder, "w.db"),
		"chat --model gpt-4o -p hi --file " + filepath.Join(folder, "k.db"), "chat --task nope", "chat --folder " + missing,
	} {
		code, _, complaints := called(t.Context(), strings.Fields(args)...)
		lines := strings.Split(strings.TrimSuffix(complaints, "\n"), "\n")
		last := lines[len(lines)-1]
		switch {
		case code == exit.CodeOK:
			t.Errorf("%s: is no mistake", args)
		case !strings.HasPrefix(last, "longsession: ") || strings.Count(last, "longsession: ") != 1:
			t.Errorf("%s: does not say once who speaks: %s", args, last)
		case strings.Contains(last, `\n`), strings.Contains(last, "persistence"), strings.Contains(last, "compaction config"), field.MatchString(last):
			t.Errorf("%s: speaks in words of the code: %s", args, last)
		case strings.Count(last, missing) > 1, strings.Count(last, text) > 1:
			t.Errorf("%s: names the file twice: %s", args, last)
		}
	}
}
