package subtask_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/summarizer"
)

// With every layer of the front door, after summaries of the parent's turns: the subtask sees none of them, its
// file is paid for once, and the parent has a digest.
func TestAStacksSubtaskSeesNothingOfTheParent(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			cfg := longsession.Config{}
			cfg.Compaction.Summarizer, cfg.Compaction.Synchronous = summarizer.Extractive{}, true
			stack, err := longsession.New(store.Open(t), cfg)
			must(t, err)
			t.Cleanup(func() { _ = stack.Close(t.Context()) })
			child := reader("ledger.txt", "entry 7919 is on line 2")
			r, err := stack.Subtasks(subtask.Config{Model: child})
			must(t, err)
			wrapped, err := r.Wrappers(readFile(t, map[string][]string{"ledger.txt": file(1_500)}))
			must(t, err)
			own := newLLM(large, func(n int, _ *model.LLMRequest) *model.LLMResponse {
				return say(fmt.Sprintf("capybara aardvark pangolin reply%d", n))
			})
			p := &parent{t: t, svc: stack.Sessions, tools: wrapped, llm: stack.Model(own), plugins: stack.PluginConfig().Plugins}
			for i := range 12 {
				p.say(fmt.Sprintf("flamingo pelican heron number%d", i))
			}
			asks := once(subtask.ReadFileName, map[string]any{"path": "ledger.txt", "question": "On which line is entry 7919?"})
			p.llm = stack.Model(asks)
			if digest := responseOf(t, p.say("toucan macaw kiwi"), subtask.ReadFileName); digest["digest"] != "entry 7919 is on line 2" {
				t.Errorf("the digest is %v", digest)
			}
			secret := "flamingo pelican heron capybara aardvark pangolin zebra coordinator toucan macaw kiwi"
			for i := range 12 {
				secret += fmt.Sprintf(" number%d reply%d", i, i)
			}
			requests := child.seen()
			if len(requests) < 2 {
				t.Errorf("the subtask has made %d model calls", len(requests))
			}
			for _, req := range requests {
				for word := range strings.FieldsSeq(secret) {
					if strings.Contains(strings.ToLower(req), word) {
						t.Errorf("the parent's %q is in a request of the subtask: %.600s", word, req)
					}
				}
			}
			u, err := stack.Guard.Usage(t.Context(), stack.Sessions, mainRef)
			must(t, err)
			if u.Subtasks.Count != 1 || u.Subtasks.Tokens != child.used() {
				t.Errorf("the parent's total is %+v, want %+v", u.Subtasks, child.used())
			}
		})
	}
}
