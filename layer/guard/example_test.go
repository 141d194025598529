package guard_test

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// An agent that would work for ever is stopped at its cost ceiling, and goes on after a reset.
func Example() {
	ctx := context.Background()
	g, err := guard.New(guard.Config{
		Turn:     guard.Limits{USD: tokens.Cent / 2},
		Landing:  guard.LandingHard, // no last answer
		Registry: registry(nil),     // a model that costs $0.001 a call
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	sessions := session.InMemoryService()
	desk, _ := llmagent.New(llmagent.Config{Name: "desk", Model: g.Model(newWorker()), Tools: []tool.Tool{work(nil)}})
	run, _ := runner.New(runner.Config{
		AppName: "app", Agent: desk, SessionService: sessions, AutoCreateSession: true,
		PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{g.Plugin()}},
	})
	say := func(text string) {
		for _, err := range run.Run(ctx, "u", "s", genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{}) {
			var stop *guard.StopError
			if errors.As(err, &stop) {
				fmt.Println(stop.Kind, stop.Scope, stop.Spent, "of", stop.Bound)
				return
			}
		}
	}
	ref := compaction.SessionRef{AppName: "app", UserID: "u", SessionID: "s"}
	used := func() {
		u, _ := g.Usage(ctx, sessions, ref)
		fmt.Println(u.ModelCalls, "calls", u.USD)
	}

	say("work")
	used()
	say("go on") // refused
	used()
	if err := g.Reset(ctx, sessions, ref, guard.ResetOptions{}); err != nil {
		fmt.Println(err)
	}
	say("go on")
	used()
	// Output:
	// cost_ceiling turn $0.0050 of $0.0050
	// 5 calls $0.0050
	// cost_ceiling turn $0.0050 of $0.0050
	// 5 calls $0.0050
	// cost_ceiling turn $0.0050 of $0.0050
	// 10 calls $0.0100
}
