//go:build ignore

package recall_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/recall"
)

// TestATaskRecallsWhatWasSaidInIt: a task runs in a scope of its own, which ADK does not tell tools. It finds what the
// user said in the task, and not what was said before it to another agent. That one finds nothing of the task.
func TestATaskRecallsWhatWasSaidInIt(t *testing.T) {
	t.Parallel()
	svc := service(t)
	r := recaller(t, svc, recall.Config{})
	if _, err := svc.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	gives := compactiontest.NewModel("scripted", func(n int, _ *model.LLMRequest) *model.LLMResponse {
		switch n {
		case 1:
			return compactiontest.CallTool("clerk", map[string]any{"request": "Fill in the form."})
		case 3:
			return compactiontest.CallTool("recall", map[string]any{"query": "passport number"})
		}
		return compactiontest.Say("Noted.")
	})
	var next *model.LLMResponse
	works := compactiontest.NewModel("scripted", func(int, *model.LLMRequest) *model.LLMResponse {
		answer := next
		next = compactiontest.Say("And what else?")
		return answer
	})
	next = compactiontest.Say("What is the number?")
	clerk, err := llmagent.New(llmagent.Config{Name: "clerk", Description: "Fills in forms.", Mode: llmagent.ModeTask, Model: works, Tools: r.Tools()})
	if err != nil {
		t.Fatal(err)
	}
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Model: gives, Tools: r.Tools(), SubAgents: []agent.Agent{clerk}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := runner.New(runner.Config{AppName: ref.AppName, Agent: bot, SessionService: svc})
	if err != nil {
		t.Fatal(err)
	}
	say := func(text string) (answers []string) {
		for ev, err := range run.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				t.Fatal(err)
			}
			for _, response := range adk.FunctionResponses(ev) {
				if strings.HasPrefix(response.Name, "recall") {
					answers = append(answers, fmt.Sprint(response.Response))
				}
			}
		}
		return answers
	}
	say("The number of my dog's chip is 77-000.")
	say("A clerk please.")
	say("My passport number is X4829917.")
	for i := range 12 {
		say(fmt.Sprintf("And item %d.", i))
	}
	fewest := 1 << 20
	for {
		got, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepEvents: 2})
		if err != nil {
			t.Fatal(err)
		}
		if fewest = min(fewest, got.AfterEvents); got.Skipped {
			break
		}
	}
	if fewest > 12 {
		t.Fatalf("the view has %d events: the test proves nothing", fewest)
	}
	next = compactiontest.CallTool("recall", map[string]any{"query": "passport number"})
	found := say("What is my passport number?")
	if len(found) != 1 || !strings.Contains(found[0], "X4829917") || strings.Contains(found[0], "77-000") {
		t.Fatalf("got %q", found)
	}
	line := regexp.MustCompile(`(m\d+)\] .*X4829917`).FindStringSubmatch(found[0])[1]
	next = compactiontest.CallTool("recall_turn", map[string]any{"ref": line})
	if whole := say("Say it again."); len(whole) != 1 || !strings.Contains(whole[0], "X4829917") {
		t.Errorf("recall_turn of %s: %q", line, whole)
	}
	next = compactiontest.CallTool("finish_task", map[string]any{"result": "done"})
	say("That is all.")
	if found := say("What is my passport number?"); len(found) != 1 || !strings.Contains(found[0], "Nothing was found") {
		t.Errorf("after the task, outside of it: %q", found)
	}
	for text, want := range map[string]string{"passport number": "X4829917", "chip of the dog": "77-000"} {
		if got, err := r.Search(t.Context(), ref, recall.Query{Text: text, Shown: true}); err != nil || !strings.Contains(fmt.Sprint(got), want) {
			t.Errorf("the app looks for %q: %v, %v", text, got, err)
		}
	}
}
