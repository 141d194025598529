package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/layer/subtask/tools"
	"github.com/adk-go-ext/longsession/tokens"
)

// responseIn returns the response of a tool at the end of a request, nil if there is none.
func responseIn(req *model.LLMRequest) map[string]any {
	if response := req.Contents[len(req.Contents)-1].Parts[0].FunctionResponse; response != nil {
		return response.Response
	}
	return nil
}

// TestSubtasksUseTheseTools: they serve all four wrappers of package subtask, and a subtask reads a real file to its end.
func TestSubtasksUseTheseTools(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var ledger strings.Builder
	for line := range 5_000 {
		fmt.Fprintf(&ledger, "line %d of the ledger holds entry %d\n", line+1, line*7919%10_007)
	}
	if err := os.WriteFile(filepath.Join(dir, "ledger.txt"), []byte(ledger.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := tools.NewFiles(tools.FilesConfig{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	fetch, err := tools.NewFetch(tools.FetchConfig{})
	if err != nil {
		t.Fatal(err)
	}

	pages := 0
	child := compactiontest.NewModel("gemini-2.5-flash", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		pages++
		last := responseIn(req)
		if last == nil {
			return compactiontest.CallTool("read_file", map[string]any{"path": "ledger.txt", "offset": 1})
		}
		if next, ok := last["next_offset"].(float64); ok {
			return compactiontest.CallTool("read_file", map[string]any{"path": "ledger.txt", "offset": next})
		}
		content := strings.TrimSpace(last["content"].(string))
		return compactiontest.Say("The last line is: " + content[strings.LastIndex(content, "\n")+1:])
	})
	svc := session.InMemoryService()
	subtasks, err := subtask.New(subtask.Config{Service: svc, Model: child})
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := subtasks.Wrappers(append(files.Tools(), fetch)...)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range wrapped {
		names = append(names, tool.Name())
	}
	if want := []string{subtask.ReadFileName, subtask.FetchURLName, subtask.GrepName, subtask.ResearchName}; !slices.Equal(names, want) {
		t.Errorf("the tools are %q, want %q", names, want)
	}

	var digest map[string]any
	parent := compactiontest.NewModel("gemini-2.5-pro", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		if digest = responseIn(req); digest == nil {
			return compactiontest.CallTool(subtask.ReadFileName, map[string]any{"path": "ledger.txt", "question": "What is on the last line?"})
		}
		return compactiontest.Say("done")
	})
	root, err := llmagent.New(llmagent.Config{Name: "parent", Model: parent, Tools: wrapped})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{AppName: "app", Agent: root, SessionService: svc, AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Run(t.Context(), "ada", "main", genai.NewContentFromText("go", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := digest["digest"].(string); !strings.HasSuffix(got, "line 5000 of the ledger holds entry 9396") || digest["truncated"] != nil {
		t.Errorf("the digest is %v, in %d calls", digest, pages)
	}
	if pages < 3 {
		t.Errorf("the subtask made %d calls: the file has more pages", pages)
	}
	if size := tokens.OfContent(&genai.Content{Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{Response: digest}}}}); size > 200 {
		t.Errorf("the digest of one line has %d tokens", size)
	}
}
