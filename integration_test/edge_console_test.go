package integration_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/cmd/launcher"
	"google.golang.org/adk/cmd/launcher/console"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
)

// Environment variables of the console process: its streaming mode, and whether it runs with every layer.
const (
	consoleMode   = "LONGSESSION_TEST_CONSOLE"
	consoleLayers = "LONGSESSION_TEST_CONSOLE_LAYERS"
)

// consoleLine is the user's input in a turn, and consoleReply the agent's expected output.
func consoleLine(turn int) string {
	return fmt.Sprintf("In turn %d please note the code %s for later, will you?", turn, compactiontest.Fact(2*turn))
}
func consoleReply(turn int) string { return fmt.Sprintf("Reply %d: I have noted that.", turn) }

// ADK's console launcher uses standard input and output, so it runs in a process of its own: this
// test binary with only this test.
func TestTheConsoleWorksOverTheService(t *testing.T) {
	if os.Getenv(consoleMode) != "" {
		playConsole(t, os.Getenv(consoleMode), os.Getenv(consoleLayers) != "")
		return
	}
	t.Parallel()
	for _, test := range []struct {
		mode   agent.StreamingMode
		layers string
	}{{agent.StreamingModeNone, ""}, {agent.StreamingModeSSE, ""}, {agent.StreamingModeSSE, "all"}} {
		t.Run(string(test.mode)+test.layers, func(t *testing.T) {
			t.Parallel()
			var typed strings.Builder
			for turn := range 24 {
				fmt.Fprintln(&typed, consoleLine(turn))
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheConsoleWorksOverTheService$", "-test.count=1")
			cmd.Env = append(os.Environ(), consoleMode+"="+string(test.mode), consoleLayers+"="+test.layers)
			cmd.Stdin = strings.NewReader(typed.String())
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			printed := string(out)
			for turn := range 24 {
				at := strings.Index(printed, consoleReply(turn))
				if at < 0 {
					t.Fatalf("the reply of turn %d is missing, or out of order:\n%s", turn, out)
				}
				printed = printed[at+1:]
			}
			if strings.Contains(printed, "AGENT_ERROR") {
				t.Errorf("a turn failed:\n%s", out)
			}
		})
	}
}

// playConsole runs the console over a wrapped service until the input ends, and then checks the
// session that the console created.
func playConsole(t *testing.T, streamingMode string, layers bool) {
	log := &journal{}
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.Observer = &compactiontest.Oracle{}, true, log.Observe
	a := &app{t: t, ledger: &ledger{}, cfg: cfg, inner: session.InMemoryService(), mode: mode{layers: layers}}
	svc, err := a.wrapped()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = svc.Close(context.Background()) }()
	root, turns := a.consoleAgent()
	sub := console.NewLauncher()
	if rest, err := sub.Parse([]string{"-streaming_mode", streamingMode}); err != nil || len(rest) > 0 {
		t.Fatal(rest, err)
	}
	if err := sub.Run(t.Context(), &launcher.Config{SessionService: svc, AgentLoader: agent.NewSingleLoader(root), PluginConfig: a.pluginConfig()}); err != nil {
		t.Fatal(err)
	}
	listed, err := svc.List(t.Context(), &session.ListRequest{AppName: "console_app", UserID: "console_user"})
	if err != nil || len(listed.Sessions) != 1 {
		t.Fatalf("%v, error %v", listed, err)
	}
	made := &session.GetRequest{AppName: "console_app", UserID: "console_user", SessionID: listed.Sessions[0].ID()}
	raw, err := svc.Raw(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	view, err := svc.Get(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	history := withoutRecords(eventsOf(raw.Session))
	shown := checkView(t, eventsOf(raw.Session), eventsOf(view.Session))
	if *turns != 24 || len(history) != 24*4 || shown >= len(history) || len(log.of(compaction.Stored)) < 3 {
		t.Errorf("%d turns, %d of %d events are shown:\n%s", *turns, shown, len(history), log)
	}
}

// consoleAgent calls a tool in every turn, and checks that every request has all facts so far.
func (a *app) consoleAgent() (agent.Agent, *int) {
	t := a.t
	turn := new(int)
	llm := compactiontest.NewModel("model-of-console", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		seen := histories.FactsInContents(req.Contents)
		answered := len(requests.Responses(req.Contents[len(req.Contents)-1])) > 0
		last := 2 * *turn // the question's
		if answered {
			last++ // and the tool's
		}
		for n := 0; n <= last; n++ {
			if !slices.Contains(seen, compactiontest.Fact(n)) {
				t.Errorf("turn %d: %s is gone", *turn, compactiontest.Fact(n))
			}
		}
		for _, problem := range requests.Pairs(req.Contents) {
			t.Errorf("turn %d: %s", *turn, problem)
		}
		if !answered {
			return compactiontest.CallTool("lookup", map[string]any{"n": last + 1})
		}
		*turn++
		return compactiontest.Say(consoleReply(*turn - 1))
	})
	root, err := llmagent.New(llmagent.Config{Name: "assistant", Model: a.inLayers(streaming{llm}), Tools: []tool.Tool{a.lookup()}})
	if err != nil {
		t.Fatal(err)
	}
	return root, turn
}
