package integration_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/artifact"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/guard"
)

// State and artifacts stay available in every later turn, although the events that wrote them are
// summarized.
func TestStateAndArtifactsOutliveCompactions(t *testing.T) {
	t.Parallel()
	playAll(t, []feature{
		{name: "state of every scope", branches: []string{""}, prepare: (*app).counting},
		{name: "artifacts", branches: []string{""}, prepare: (*app).filing},
	})
}

// counting is an app whose tool increments a counter in every scope of state in every turn.
func (a *app) counting() play {
	x := newActor(a, "assistant", "")
	count := a.tool(functiontool.Config{Name: "count"}, func(ctx agent.ToolContext, args lookupArgs) (lookupResult, error) {
		if _, err := ctx.State().Get("temp:draft"); err == nil {
			a.t.Errorf("turn %d: temporary state of an earlier turn is present", a.turns)
		}
		for _, key := range []string{"app:n", "user:n", "n", fmt.Sprintf("n%d", args.N), "temp:draft"} {
			if err := ctx.State().Set(key, args.N); err != nil {
				return lookupResult{}, err
			}
		}
		return lookupResult{N: args.N}, nil
	})
	counted := 0
	root := a.llm(x, func(cfg *llmagent.Config) {
		cfg.Tools = []tool.Tool{count}
		cfg.Instruction = "counts: {app:n?} {user:n?} {n?} {n1?}."
	})
	return play{root: root, turn: func(int) {
		before := "counts:    ."
		if counted > 0 {
			before = fmt.Sprintf("counts: %[1]d %[1]d %[1]d 1.", counted)
		}
		counted++
		x.willDo(func(req *model.LLMRequest) *model.LLMResponse {
			if said := canonical(req.Config.SystemInstruction); !strings.Contains(said, before) {
				a.t.Errorf("turn %d: want %q in the instruction: %s", a.turns, before, said)
			}
			return compactiontest.CallTool("count", map[string]any{"n": counted})
		})
		x.will(answer())
		a.ask()
	}, after: func() {
		resp, err := a.svc.Get(a.t.Context(), getRequest())
		if err != nil {
			a.t.Fatal(err)
		}
		bare, err := a.inner.Get(a.t.Context(), getRequest())
		if err != nil {
			a.t.Fatal(err)
		}
		got, want := stateOf(resp.Session), stateOf(bare.Session)
		for _, state := range []map[string]any{got, want} {
			delete(state, guard.StateKey) // what the session has spent, with every layer
		}
		if canonical(got) != canonical(want) || len(got) != counted+3 {
			a.t.Errorf("state is %v, without the service %v, want %d keys", got, want, counted+3)
		}
		for key := range got {
			if strings.HasPrefix(key, session.KeyPrefixTemp) {
				a.t.Errorf("temporary state outlives its turn: %s", key)
			}
		}
	}}
}

// filing is an app whose tool saves a new version of an artifact in every turn, and reads the
// previous one.
func (a *app) filing() play {
	a.artifacts = artifact.InMemoryService()
	x := newActor(a, "assistant", "")
	file := a.tool(functiontool.Config{Name: "file"}, func(ctx agent.ToolContext, args lookupArgs) (lookupResult, error) {
		if args.N > 1 {
			resp, err := ctx.Artifacts().Load(ctx, "report")
			if err != nil {
				return lookupResult{}, err
			}
			if want := fmt.Sprintf("version %d", args.N-1); resp.Part.Text != want {
				a.t.Errorf("turn %d: the report is %q, want %q", a.turns, resp.Part.Text, want)
			}
		}
		_, err := ctx.Artifacts().Save(ctx, "report", genai.NewPartFromText(fmt.Sprintf("version %d", args.N)))
		return lookupResult{N: args.N}, err
	})
	filed := 0
	return play{root: a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{file} }), turn: func(int) {
		filed++
		x.will(compactiontest.CallTool("file", map[string]any{"n": filed}), answer())
		a.ask()
	}, after: func() {
		told := 0
		for _, ev := range a.raw() {
			if version, ok := ev.Actions.ArtifactDelta["report"]; ok {
				if told++; version != int64(told) {
					a.t.Errorf("event %d with an artifact names version %d", told, version)
				}
			}
		}
		if told != filed {
			a.t.Errorf("%d events name an artifact, want %d", told, filed)
		}
		resp, err := a.artifacts.Load(a.t.Context(), &artifact.LoadRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID, FileName: "report"})
		if err != nil || resp.Part.Text != fmt.Sprintf("version %d", filed) {
			a.t.Errorf("the newest report is %v, error %v", resp, err)
		}
	}}
}
