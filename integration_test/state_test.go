package integration_test

import (
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// The runner and tools write state of every scope, instructions read it, and it survives
// compactions. Temporary state ends with its turn, also in the view.
func TestStatePassesThrough(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed, reopened}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		x := newActor(a, "assistant", "")
		instructions := ""
		remember := a.tool(functiontool.Config{Name: "remember"}, func(ctx agent.ToolContext, args lookupArgs) (lookupResult, error) {
			for key, value := range map[string]any{"app:motto": "A", "user:name": "B", "topic": "C", "temp:draft": "D"} {
				if err := ctx.State().Set(key, value); err != nil {
					return lookupResult{}, err
				}
			}
			return lookupResult{N: args.N}, nil
		})
		a.start(a.llm(x, func(cfg *llmagent.Config) {
			cfg.Tools = []tool.Tool{remember}
			cfg.Instruction = "{app:motto?} {user:name?} {topic?} {mood?}"
		}))
		x.will(compactiontest.CallTool("remember", map[string]any{"n": 1}), answer())
		a.ask()
		x.will(answer())
		a.question = "Set my mood."
		a.send(genai.NewContentFromText(a.question, genai.RoleUser), runner.WithStateDelta(map[string]any{"mood": "E", "temp:mood": "F"}))
		a.chat(x, 15)
		x.willDo(func(req *model.LLMRequest) *model.LLMResponse {
			instructions = canonical(req.Config.SystemInstruction)
			return answer()
		})
		a.ask()
		if !strings.Contains(instructions, "A B C E") {
			t.Errorf("the instruction lacks state: %s", instructions)
		}
		a.verify(3)

		resp, err := a.svc.Get(t.Context(), getRequest())
		if err != nil {
			t.Fatal(err)
		}
		bare, err := a.inner.Get(t.Context(), getRequest())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := stateOf(resp.Session), stateOf(bare.Session); canonical(got) != canonical(want) || len(got) != 4 {
			t.Errorf("state is %v, want %v", got, want)
		}
		other, err := a.svc.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: "other"})
		if err != nil {
			t.Fatal(err)
		}
		if got := stateOf(other.Session); got["app:motto"] != "A" || got["user:name"] != "B" || len(got) != 2 {
			t.Errorf("another session of the user has state %v", got)
		}
	})
}

func stateOf(sess session.Session) map[string]any {
	state := map[string]any{}
	for key, value := range sess.State().All() {
		state[key] = value
	}
	return state
}

// A tool's temp: state is available for the rest of the turn, and events in the runner's own view
// do not have it.
func TestTemporaryStateIsSeenInItsTurnOnly(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		x := newActor(a, "assistant", "")
		var leaked, during []string
		write := a.tool(functiontool.Config{Name: "write"}, func(ctx agent.ToolContext, args lookupArgs) (lookupResult, error) {
			return lookupResult{N: args.N}, ctx.State().Set("temp:draft", "D")
		})
		look := a.tool(functiontool.Config{Name: "look"}, func(ctx agent.ToolContext, args lookupArgs) (lookupResult, error) {
			if value, err := ctx.State().Get("temp:draft"); err == nil {
				during = append(during, value.(string))
			}
			return lookupResult{N: args.N}, nil
		})
		a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{write, look} }))
		x.will(compactiontest.CallTool("write", map[string]any{"n": 1}), compactiontest.CallTool("look", map[string]any{"n": 2}), answer())
		a.ask()
		x.will(compactiontest.CallTool("look", map[string]any{"n": 3}), answer())
		a.ask()
		for _, ev := range append(a.view(), a.raw()...) {
			for key := range ev.Actions.StateDelta {
				if strings.HasPrefix(key, session.KeyPrefixTemp) {
					leaked = append(leaked, key)
				}
			}
		}
		bare := a.bareTemporaryState(t)
		if len(during) != bare {
			t.Errorf("temporary state was visible %d times, without the service %d times", len(during), bare)
		}
		if store.Name == "database" && len(leaked) > 0 {
			t.Errorf("temporary state was stored: %v", leaked)
		}
	})
}

// bareTemporaryState plays the same two turns without the service.
func (a *app) bareTemporaryState(t *testing.T) int {
	t.Helper()
	seen := 0
	b := newApp(t, a.store.Anew(t), mode{name: "bare"})
	x := newActor(b, "assistant", "")
	write := b.tool(functiontool.Config{Name: "write"}, func(ctx agent.ToolContext, args lookupArgs) (lookupResult, error) {
		return lookupResult{N: args.N}, ctx.State().Set("temp:draft", "D")
	})
	look := b.tool(functiontool.Config{Name: "look"}, func(ctx agent.ToolContext, args lookupArgs) (lookupResult, error) {
		if _, err := ctx.State().Get("temp:draft"); err == nil {
			seen++
		}
		return lookupResult{N: args.N}, nil
	})
	b.start(b.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{write, look} }))
	b.useRunner(b.inner)
	x.will(compactiontest.CallTool("write", map[string]any{"n": 1}), compactiontest.CallTool("look", map[string]any{"n": 2}), answer())
	b.ask()
	x.will(compactiontest.CallTool("look", map[string]any{"n": 3}), answer())
	b.ask()
	return seen
}

// With AutoCreateSession, the first message to an unknown session creates it through the service,
// and the session is compacted like any other.
func TestASessionIsCreatedOnDemand(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		x := newActor(a, "assistant", "")
		a.root = a.llm(x, nil)
		a.wrap()
		r, err := runner.New(runner.Config{AppName: ref.AppName, Agent: a.root, SessionService: a.svc, AutoCreateSession: true})
		if err != nil {
			t.Fatal(err)
		}
		a.runner = r
		a.chat(x, 20)
		a.verify(3)
	})
}
