package integration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// reworder summarizes anything in the same words, as a model's.
type reworder struct{}

func (reworder) Summarize(context.Context, summarizer.Request) (summarizer.Result, error) {
	return summarizer.Result{Content: genai.NewContentFromText("They talked about several walls, and how each of them is to be painted in the end.", genai.RoleModel), Model: "writer"}, nil
}

// The conversation moves between agents, which make room and report finished tasks themselves. Whoever is asked sees
// everything that the user has said, word for word.
func TestEveryAgentOfATreeSeesTheUsersWords(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			repeatAmongAgents(t, store)
		})
	}
}

func repeatAmongAgents(t *testing.T, store storages.Storage) {
	offer := contexttool.Config{Enabled: true, CheckpointTokens: 200}
	stack, err := longsession.New(store.Open(t), longsession.Config{
		Compaction: offer.Compaction(compaction.Config{
			Summarizer: reworder{}, Synchronous: true, InvocationThreshold: 4, RetainEvents: 2, MaxSummaries: 3,
			MaxLedgerTokens: compaction.Off, ContextWindow: 128_000,
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stack.Close(context.Background()) })
	offered, err := contexttool.New(stack.Sessions, offer)
	if err != nil {
		t.Fatal(err)
	}
	const turns = 36
	wish := func(i int) string { return fmt.Sprintf("Never paint wall %d blue.", 100+i) }
	remarks := strings.Repeat("There is a lot to say about that wall, its age and its many colors. ", 8)
	turn, step, called := 0, 0, map[string]int{}
	answers := func(name, other string) model.LLM {
		return stack.Model(compactiontest.NewModel(name, func(_ int, req *model.LLMRequest) *model.LLMResponse {
			prompt, err := json.Marshal(req.Contents)
			if err != nil {
				t.Error(err)
			}
			for i := range turn + 1 {
				if !strings.Contains(string(prompt), wish(i)) {
					t.Errorf("turn %d, step %d: %s does not see wish %d", turn, step, name, i)
				}
			}
			step++
			called[name]++
			switch {
			case step == 1 && turn%3 == 1:
				return compactiontest.CallTool("transfer_to_agent", map[string]any{"agent_name": other})
			case step == 2 && turn%9 == 4:
				return compactiontest.CallTool(contexttool.CompactContextName, map[string]any{})
			case step == 1 && turn%10 == 5:
				return compactiontest.CallTool(contexttool.MarkTaskDoneName, map[string]any{"detail": "The wall was looked at."})
			}
			return compactiontest.Say(remarks)
		}))
	}
	sub, err := llmagent.New(llmagent.Config{Name: "billing", Description: "Bills.", Model: answers("billing", "root"), Tools: offered.Tools()})
	if err != nil {
		t.Fatal(err)
	}
	root, err := llmagent.New(llmagent.Config{Name: "root", Description: "Answers.", Model: answers("root", "billing"), Tools: offered.Tools(), SubAgents: []agent.Agent{sub}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{AppName: ref.AppName, Agent: root, SessionService: stack.Sessions, AutoCreateSession: true, PluginConfig: stack.PluginConfig()})
	if err != nil {
		t.Fatal(err)
	}
	for ; turn < turns; turn++ {
		step = 0
		for _, err := range r.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText(wish(turn), genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	status, err := stack.Sessions.Status(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	checkpoints := 0
	for _, one := range status.Summaries {
		if one.Kind == record.KindCheckpoint {
			checkpoints++
		}
	}
	if checkpoints == 0 || len(status.Summaries) > 3 || called["root"] < turns/3 || called["billing"] < turns/3 {
		t.Errorf("%d summaries, %d of them checkpoints, calls %v", len(status.Summaries), checkpoints, called)
	}
}
