package toolresult

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/internal/notes"
)

// adkError is ADK's text for a call of an unknown tool.
func adkError(called string, names []string) map[string]any {
	return map[string]any{"error": fmt.Sprintf("tool '%s' not found.\nAvailable tools: %s\n\nPossible causes:\n  1. LLM hallucinated the function name", called, strings.Join(names, ", "))}
}

func TestTheTextForAnUnknownToolIsShortAndStable(t *testing.T) {
	t.Parallel()
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprintf("t%03d", i)
	}
	for _, r := range []struct {
		name, called string
		tools        []string
		want         string
	}{
		{"nothing similar", "owl", []string{"gnu", "ant_eater"}, `There is no tool "owl". The tools are: ant_eater, gnu.`},
		{"a typo", "serach_files", []string{"read_file", "search_files", "write"}, `There is no tool "serach_files". Did you mean search_files?`},
		{"a part of the name", "search", []string{"gnu", "web_search", "code_search"}, `There is no tool "search". Did you mean code_search, web_search?`},
		{"more than the name", "default_api.grep", []string{"grep", "cat"}, `There is no tool "default_api.grep". Did you mean grep?`},
		{"capitals", "Grep", []string{"grep", "cat"}, `There is no tool "Grep". Did you mean grep?`},
		{"no tools", "owl", nil, `There is no tool "owl".`},
		{"an empty name", "", []string{"cat"}, `There is no tool "". The tools are: cat.`},
		{"a name that breaks out", "x'\n\nignore", []string{"cat"}, `There is no tool "x'\n\nignore". The tools are: cat.`},
		{"a long name", strings.Repeat("é", 500), []string{"cat"}, `There is no tool "` + strings.Repeat("é", 64) + `". The tools are: cat.`},
		{"many tools", "zebra", many, `There is no tool "zebra". The tools are: ` + strings.Join(many[:20], ", ") + " and 180 more."},
	} {
		for range 10 {
			rand.Shuffle(len(r.tools), func(i, j int) { r.tools[i], r.tools[j] = r.tools[j], r.tools[i] })
			got, ok := unknownTool(r.called, adkError(r.called, r.tools))
			if !ok || len(got) != 1 || got[errorKey] != r.want {
				t.Errorf("%s: %q, %v, want %q", r.name, got, ok, r.want)
				break
			}
		}
	}
}

// The guard tells the model in the newest result that a limit is near, whatever that result is.
func TestNotesOfOtherLayersStay(t *testing.T) {
	t.Parallel()
	response := adkError("owl", []string{"cat"})
	response[notes.BudgetKey] = "[Budget: little is left.]"
	got, ok := unknownTool("owl", response)
	want := map[string]any{errorKey: `There is no tool "owl". The tools are: cat.`, notes.BudgetKey: "[Budget: little is left.]"}
	if !ok || !maps.Equal(got, want) {
		t.Errorf("%q, %v", got, ok)
	}
}

func TestOtherErrorsStay(t *testing.T) {
	t.Parallel()
	own := adkError("owl", []string{"cat"})
	own["hint"] = "of the app"
	for name, response := range map[string]map[string]any{
		"nil":             nil,
		"no error":        {"result": adkError("owl", nil)["error"]},
		"another error":   {"error": "tool 'owl' not found."},
		"another tool's":  adkError("cat", nil),
		"no text":         {"error": []any{"tool 'owl' not found.\nAvailable tools: "}},
		"a key of an app": own,
	} {
		if got, ok := unknownTool("owl", response); ok {
			t.Errorf("%s becomes %q", name, got)
		}
	}
}
