package docs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"go.opentelemetry.io/otel"
	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/cmd/launcher"
	"google.golang.org/adk/cmd/launcher/universal"
	"google.golang.org/adk/cmd/launcher/web"
	"google.golang.org/adk/cmd/launcher/web/api"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/layer/prompt/agentsmd"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// The documents quote the code of this file; see TestCodeInDocumentsCompiles.

// adk-compaction.md shows both parts.
func Example_adkCompaction() {
	theirs := func(_ context.Context, events []*session.Event) (*genai.Content, error) {
		return genai.NewContentFromText(fmt.Sprintf("They said %d things.", len(events)), genai.RoleModel), nil
	}
	summarize := func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		events := req.Events
		for _, text := range req.Summaries {
			ev := &session.Event{Author: "user"}
			ev.Content = genai.NewContentFromText(text, genai.RoleUser)
			events = append(events, ev)
		}
		content, err := theirs(ctx, events)
		return summarizer.Result{Content: content}, err
	}
	cfg := compaction.Config{
		InvocationThreshold: 3,      // CompactionInterval
		OverlapSize:         1,      // OverlapSize
		TokenThreshold:      60_000, // TokenThreshold
		RetainEvents:        20,     // EventRetentionSize
		Summarizer:          summarizer.Func(summarize),
	}
	svc, err := compaction.NewCompactionService(session.InMemoryService(), cfg)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(svc.Settings().InvocationThreshold, svc.Settings().OverlapSize, svc.Settings().RetainEvents)
	// Output: 3 1 20
}

func scripted() model.LLM {
	return compactiontest.NewModel("scripted", func(int, *model.LLMRequest) *model.LLMResponse {
		return compactiontest.Say("The code is noted.")
	})
}

// configuration.md has one line of this for each field of the config.
func Example_configuration() {
	llm, modelOf := scripted(), map[string]string{"ada": "gemini-2.5-pro"}
	locks := &lockServer{}
	fixedPart, paused := map[string]int{"clerk": 3_000}, map[string]bool{}
	var ready atomic.Bool
	registry, err := tokens.NewRegistry(tokens.Model{Name: "scripted", ContextWindow: 32_000})
	if err != nil {
		log.Fatal(err)
	}
	tracerProvider, meterProvider := otel.GetTracerProvider(), otel.GetMeterProvider()

	var cfg compaction.Config
	cfg.Model = llm
	cfg.PromptTemplate = "List every part number and its price.\n\n{{history}}"
	cfg.MaxSummaryTokens = 1_000
	cfg.MaxLedgerTokens = 300
	cfg.MaxUserTokens = 3_000
	cfg.IsPerson = func(ev *session.Event) bool { return ev.CustomMetadata["from"] == nil }
	cfg.Redact = hidePatients
	cfg.RecallTool = "recall"
	cfg.RecallOffered = func() bool { return ready.Load() }
	cfg.MaxSummaries = 10
	cfg.Timeout = 20 * time.Second
	cfg.InvocationThreshold = 10
	cfg.OverlapSize = 4
	cfg.TokenThreshold = 60_000
	cfg.SafetyRatio = 0.5
	cfg.BlockRatio = 0.95
	cfg.RetainEvents = 20
	cfg.RetainTokens = 4_000
	cfg.Synchronous = true
	cfg.CheckpointTool = contexttool.MarkTaskDoneName
	cfg.CheckpointTokens = 8000
	cfg.Cut = shorten
	cfg.MaySummarize = func(ref compaction.SessionRef) bool { return !paused[ref.SessionID] }
	cfg.Lease = locks.Lease
	cfg.Pin = func(ev *session.Event) bool { return ev.Author == "lawyer" }
	cfg.ContextWindow = 200_000
	cfg.AgentModel = "gemini-2.5-pro"
	cfg.Fits = true
	cfg.Fixed = func(_ compaction.SessionRef, agent, branch string) int { return fixedPart[agent] }
	cfg.Registry = registry
	cfg.MaxOutputTokens = 8_000
	cfg.Observer = observe
	cfg.Logger = slog.New(slog.DiscardHandler)
	cfg.TracerProvider = tracerProvider
	cfg.MeterProvider = meterProvider
	cfg.OmitErrorText = true
	_, err = compaction.NewCompactionService(session.InMemoryService(), cfg)
	fmt.Println("one config:", err)

	// The fields that exclude others.
	cfg.PromptTemplate, cfg.AgentModel = "", ""
	cfg.Pack = summarizer.PackHandover
	cfg.AgentModelFunc = func(_ context.Context, ref compaction.SessionRef) string { return modelOf[ref.UserID] }
	_, err = compaction.NewCompactionService(session.InMemoryService(), cfg)
	fmt.Println("another:", err)
	cfg.Model, cfg.Pack = nil, ""
	cfg.Summarizer = summarizer.Extractive{}
	_, err = compaction.NewCompactionService(session.InMemoryService(), cfg)
	fmt.Println("the last:", err)
	// Output:
	// one config: <nil>
	// another: <nil>
	// the last: <nil>
}

// lockServer stands for Redis, etcd or Consul.
type lockServer struct{}

func (*lockServer) Lease(context.Context, compaction.SessionRef, time.Duration) (release func(), ok bool, err error) {
	return func() {}, true, nil
}

// hidePatients leaves out the numbers of patients.
func hidePatients(text string) string { return patient.ReplaceAllString(text, "") }

var patient = regexp.MustCompile(`PAT-[0-9]+`)

// observe is the observer of operations.md.
func observe(ctx context.Context, o compaction.Observation) {
	switch o.Outcome {
	case compaction.Failed:
		slog.ErrorContext(ctx, "compaction failed", "session", o.Session.SessionID, "trigger", o.Trigger, "error", o.Err)
	case compaction.Unreadable, compaction.Misreported, compaction.GivenUp:
		slog.WarnContext(ctx, "compaction", "outcome", o.Outcome, "session", o.Session.SessionID, "reason", o.Reason, "error", o.Err)
	case compaction.Stored:
		slog.InfoContext(ctx, "compacted", "session", o.Session.SessionID, "trigger", o.Trigger,
			"before", o.TokensBefore, "after", o.TokensAfter, "took", o.Duration, "usd", o.Cost)
	}
}

var _ = ownContext // it compiles; package contexttool runs the same in its example

// ownContext is the set-up of tools for the model's own context in configuration.md.
func ownContext(inner session.Service, llm model.LLM, cfg *llmagent.Config) error {
	tools := contexttool.Config{Enabled: true}
	sessions, err := compaction.NewCompactionService(inner, tools.Compaction(compaction.Config{Model: llm}))
	if err != nil {
		return err
	}
	offered, err := contexttool.New(sessions, tools)
	if err != nil {
		return err
	}
	cfg.Tools = append(cfg.Tools, offered.Tools()...)
	return nil
}

// explain is the question of troubleshooting.md.
func explain(ctx context.Context, sessions *compaction.CompactionSessionService, ref compaction.SessionRef) error {
	status, err := sessions.Status(ctx, ref)
	if err != nil {
		return err
	}
	fmt.Printf("prompt %d of %d tokens, %d summaries\n", status.PromptTokens, status.HardLimit, len(status.Summaries))
	if status.Due {
		fmt.Println("the next event starts a compaction:", status.Trigger)
	} else {
		fmt.Println("no compaction:", status.Reason)
	}
	if status.LastError != nil {
		fmt.Println("latest failure:", status.LastError)
	}
	return nil
}

// emptyToolset takes the place of ADK's MCP toolset, which needs a server.
type emptyToolset struct{}

func (emptyToolset) Name() string { return "github" }

func (emptyToolset) Tools(agent.ReadonlyContext) ([]tool.Tool, error) { return nil, nil }

// An agent with AGENTS.md and the tools of an MCP server.
func Example_frontDoor() {
	ctx, llm, github := context.Background(), scripted(), emptyToolset{}
	workDir, err := os.MkdirTemp("", "project")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(workDir)

	stack, err := longsession.New(session.InMemoryService(), longsession.Config{
		Model:  llm,
		Prompt: prompt.Config{Project: agentsmd.NewLoader(workDir)},
	})
	if err != nil {
		log.Fatal(err)
	}
	root, err := llmagent.New(llmagent.Config{
		Name:     "coder",
		Model:    stack.Model(llm),
		Toolsets: []tool.Toolset{toolsearch.Group(toolsearch.MCP, github)},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer stack.Close(ctx)
	fmt.Println(root.Name())
	// Output: coder
}

// A short session, asked why nothing is compacted. The plugin measures what is really sent.
func Example_status() {
	ctx := context.Background()
	sessions, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{Model: scripted(), ContextWindow: 128_000})
	if err != nil {
		log.Fatal(err)
	}
	defer sessions.Close(ctx)
	observed, err := plugin.New(plugin.Config{Name: "observe", BeforeModelCallback: sessions.ObserveRequest})
	if err != nil {
		log.Fatal(err)
	}
	root, err := llmagent.New(llmagent.Config{Name: "clerk", Model: scripted()})
	if err != nil {
		log.Fatal(err)
	}
	r, err := runner.New(runner.Config{
		AppName: "app", Agent: root, SessionService: sessions, AutoCreateSession: true,
		PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{observed}},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range r.Run(ctx, "ada", "chat", genai.NewContentFromText("The code is 4711.", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			log.Fatal(err)
		}
	}
	if err := explain(ctx, sessions, compaction.SessionRef{AppName: "app", UserID: "ada", SessionID: "chat"}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// prompt 33 of 117411 tokens, 0 summaries
	// no compaction: not due
}

// serve is the shutdown of operations.md.
func serve(ctx context.Context, path string, cfg compaction.Config, root agent.Agent, args []string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()

	store, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		return err
	}
	sessions, err := compaction.NewCompactionService(store, cfg)
	if err != nil {
		return errors.Join(err, store.Close())
	}

	// 1. The launcher returns when ctx ends, and waits for open requests up to its -shutdown-timeout.
	front := universal.NewLauncher(web.NewLauncher(api.NewLauncher()))
	served := front.Execute(ctx, &launcher.Config{SessionService: sessions, AgentLoader: agent.NewSingleLoader(root)}, args)

	// 2. Jobs under way finish, and summaries that wait are stored. ctx has ended, so Close needs another one.
	closing, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	closed := sessions.Close(closing)

	// 3. Last, what the compaction service writes to.
	return errors.Join(served, closed, store.Close())
}

// A server that is told to stop as soon as it has started.
func Example_shutdown() {
	log.SetOutput(io.Discard) // the launcher logs
	defer log.SetOutput(os.Stderr)
	folder, err := os.MkdirTemp("", "shutdown")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	root, err := llmagent.New(llmagent.Config{Name: "clerk", Model: scripted()})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(0, cancel)
	cfg := compaction.Config{Model: scripted(), ContextWindow: 128_000}
	fmt.Println(serve(ctx, filepath.Join(folder, "sessions.db"), cfg, root, []string{"web", "-port", "0", "api"}))
	// Output: <nil>
}

// shorten is a Cut function that shows the first 1,000 bytes of a tool's output. A copy is changed, never
// the event.
func shorten(_ compaction.SessionRef, ev *session.Event) *session.Event {
	short, cut := *ev, false
	content := *ev.Content
	short.Content, content.Parts = &content, slices.Clone(content.Parts)
	for i, part := range content.Parts {
		if part == nil || part.FunctionResponse == nil {
			continue
		}
		if output, ok := part.FunctionResponse.Response["output"].(string); ok && len(output) > 1_000 {
			response := *part.FunctionResponse
			response.Response = map[string]any{"output": strings.ToValidUTF8(output[:1_000], "") + " ... [cut]"}
			content.Parts[i], cut = &genai.Part{FunctionResponse: &response}, true
		}
	}
	if !cut {
		return ev
	}
	return &short
}
