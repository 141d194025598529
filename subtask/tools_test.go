package subtask_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/subtask"
	"github.com/adk-go-ext/longsession/subtask/tools"
	"github.com/adk-go-ext/longsession/tokens"
)

// The module's own file tools and fetch serve all four wrappers. A subtask reads a real file to its end.
func TestWrappersUseTheToolsOfThisModule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines := file(5_000)
	must(t, os.WriteFile(filepath.Join(dir, "ledger.txt"), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	files, err := tools.NewFiles(tools.FilesConfig{Root: dir})
	must(t, err)
	t.Cleanup(func() { _ = files.Close() })
	fetch, err := tools.NewFetch(tools.FetchConfig{})
	must(t, err)

	child := newLLM(small, func(_ int, req *model.LLMRequest) *model.LLMResponse {
		offset := 1
		last := req.Contents[len(req.Contents)-1].Parts[0].FunctionResponse
		if last != nil {
			offset = number(last.Response["next_offset"])
		}
		if offset > 0 {
			return call("read_file", map[string]any{"path": "ledger.txt", "offset": offset})
		}
		content := strings.TrimSpace(text(last.Response["content"]))
		return say("The last line is: " + content[strings.LastIndex(content, "\n")+1:])
	})
	svc := session.InMemoryService()
	wrapped, err := newRunner(t, svc, child, nil).Wrappers(append(files.Tools(), fetch)...)
	must(t, err)
	if want := []string{subtask.ReadFileName, subtask.FetchURLName, subtask.GrepName, subtask.ResearchName}; !slices.Equal(namesOf(wrapped), want) {
		t.Errorf("the tools are %q, want %q", namesOf(wrapped), want)
	}
	p := &parent{t: t, svc: svc, tools: wrapped, llm: once(subtask.ReadFileName, map[string]any{"path": "ledger.txt", "question": "What is on the last line?"})}
	digest := responseOf(t, p.say("go"), subtask.ReadFileName)
	if got := text(digest["digest"]); !strings.HasSuffix(got, lines[4_999]) || digest["truncated"] != nil {
		t.Errorf("the digest is %v, in %d calls", digest, len(child.seen()))
	}
	if size := tokens.OfContent(&genai.Content{Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{Response: digest}}}}); size > 200 {
		t.Errorf("the digest of one line has %d tokens", size)
	}
}
