package integration_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/artifact"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/persistence"
)

// bigTool is a tool whose result for n is the text of big(n).
func bigTool(t *testing.T, big func(n int) string) tool.Tool {
	t.Helper()
	made, err := functiontool.New(functiontool.Config{Name: "big", Description: "Returns a long text."}, func(_ agent.ToolContext, args lookupArgs) (map[string]any, error) {
		return map[string]any{"output": big(args.N)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// long is a text of some size that differs from n to n.
func long(n, size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%d: line %d <é & 漢>\t\"quoted\"\n", n, i)
	}
	text := strings.ToValidUTF8(b.String()[:size], "")
	return text + strings.Repeat("x", size-len(text))
}

// readable is the plugin with a cutter over a store.
func readable(t *testing.T, s store.Store, change func(*toolresult.PluginConfig)) *plugin.Plugin {
	t.Helper()
	cutter, err := toolresult.New(toolresult.Config{Readable: true})
	if err != nil {
		t.Fatal(err)
	}
	cfg := toolresult.PluginConfig{Cutter: cutter, Store: s, Logger: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&cfg)
	}
	p, err := toolresult.Plugin(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// backReader is a model that calls a tool, and then reads every shortened result back, piece by piece.
type backReader struct {
	t     *testing.T
	calls *model.LLMResponse // its first answer
	// read has what was read back, by reference.
	read map[string]*strings.Builder
	done map[string]bool
	// sizes are those of the results in the newest request.
	largest int
}

func (b *backReader) Name() string { return "back-reader" }

func (b *backReader) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) { yield(b.answer(req), nil) }
}

func (b *backReader) answer(req *model.LLMRequest) *model.LLMResponse {
	b.t.Helper()
	for _, problem := range requests.Problems(req.Contents) {
		b.t.Error(problem)
	}
	if b.read == nil {
		b.read, b.done = map[string]*strings.Builder{}, map[string]bool{}
		return b.calls
	}
	next := &genai.Content{Role: genai.RoleModel}
	for _, response := range requests.Responses(req.Contents[len(req.Contents)-1]) {
		b.largest = max(b.largest, len(canonical(response.Response)))
		if response.Name == toolresult.ReadResultName {
			b.piece(next, response.Response)
			continue
		}
		if ref, ok := toolresult.IsShortened(response.Name, response.Response); ok && b.read[ref] == nil {
			b.read[ref] = &strings.Builder{}
			b.ask(next, ref, 0)
		}
	}
	if len(next.Parts) == 0 {
		return compactiontest.Say("Done.")
	}
	return &model.LLMResponse{Content: next}
}

// piece takes in an answer of read_result and asks for the next one.
func (b *backReader) piece(next *genai.Content, answer map[string]any) {
	ref, _ := answer["ref_id"].(string)
	content, ok := answer["content"].(string)
	if !ok || b.read[ref] == nil {
		b.t.Errorf("read_result answers %s", canonical(answer))
		return
	}
	b.read[ref].WriteString(content)
	if answer["done"] == true {
		b.done[ref] = true
		return
	}
	b.ask(next, ref, answer["next_offset"])
}

func (b *backReader) ask(next *genai.Content, ref string, offset any) {
	next.Parts = append(next.Parts, genai.NewPartFromFunctionCall(toolresult.ReadResultName, map[string]any{"ref_id": ref, "offset": offset, "limit": 16_384}))
}

// has checks that a result was shown shortened and read back whole.
func (b *backReader) has(response map[string]any) {
	b.t.Helper()
	whole := store.ResultOf(response)
	if got := b.read[whole.Ref]; got == nil || !b.done[whole.Ref] || got.String() != whole.Content {
		b.t.Errorf("a result of %d bytes was not read back whole", len(whole.Content))
	}
}

// stores are all stores that a bare app may use, over the app's own session service.
func stores(t *testing.T) map[string]func(session.Service) store.Store {
	return map[string]func(session.Service) store.Store{
		"memory":    func(session.Service) store.Store { return store.NewMemory(0) },
		"artifacts": func(session.Service) store.Store { return store.NewArtifacts(artifact.InMemoryService()) },
		"folder": func(session.Service) store.Store {
			f, err := store.NewFolder(filepath.Join(t.TempDir(), "results"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = f.Close() })
			return f
		},
	}
}

// Whatever tools return, in parallel, streamed, or from an agent: the model sees stubs, storage has stubs,
// and read_result has every byte.
func TestThePluginCutsWhatIsStoredAndTheModelReadsItBack(t *testing.T) {
	t.Parallel()
	for _, place := range storages.All(t) {
		kinds := stores(t)
		if place.Name == "persistence" {
			kinds["persistence"] = func(svc session.Service) store.Store {
				return persistence.Results(svc.(*persistence.SQLiteSessionService))
			}
		}
		for kind, open := range kinds {
			t.Run(place.Name+" "+kind, func(t *testing.T) {
				t.Parallel()
				service := place.Anew(t).Open(t)
				createBare(t, service)
				results := open(service)
				expert := pinAgent(t, scripted(compactiontest.Say(long(7, 30_000))), func(cfg *llmagent.Config) { cfg.Name = "expert" })
				llm := &backReader{t: t, calls: callsOf("big", "stream", "owl", "expert", "big", "look")}
				root := pinAgent(t, llm, func(cfg *llmagent.Config) {
					cfg.Tools = []tool.Tool{
						bigTool(t, func(n int) string { return long(n, 200_000) }), pinTool(t, "look", nil),
						streamingTool(t, "stream", long(1, 60_000), long(2, 60_000)), agenttool.New(expert, nil),
					}
				})
				if err := pinTurn(t, service, root, readable(t, results, nil)); err != nil {
					t.Fatal(err)
				}
				llm.has(map[string]any{"output": long(0, 200_000)})
				llm.has(map[string]any{"result": long(1, 60_000) + long(2, 60_000)})
				llm.has(map[string]any{"result": long(7, 30_000)})
				llm.has(map[string]any{"output": long(4, 200_000)})
				if len(llm.read) != 4 {
					t.Errorf("%d results were shortened, want 4", len(llm.read))
				}
				if llm.largest > 17_000 {
					t.Errorf("the model saw a result of %d bytes", llm.largest)
				}
				for _, ev := range eventsOf(getBare(t, service)) {
					for _, response := range requests.Responses(ev.Content) {
						if size := len(canonical(response.Response)); size > 17_000 {
							t.Errorf("stored is a result of %s with %d bytes", response.Name, size)
						}
						if response.Name == "owl" && response.Response["error"] != `There is no tool "owl". The tools are: big, expert, look, read_result, stream.` {
							t.Errorf("the unknown tool is answered with %v", response.Response)
						}
					}
				}
			})
		}
	}
}

// faultyStore is a store that misbehaves.
type faultyStore struct {
	store.Store
	put func(context.Context) error
}

func (f faultyStore) Put(ctx context.Context, _ store.Owner, _ string, _ store.Result) error {
	return f.put(ctx)
}

// A result that cannot be stored stays whole, or says that it has lost a part. No turn fails.
func TestAStoreThatFailsCostsNoTurnAndHidesNothing(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(context.Context) error{
		"fails":            func(context.Context) error { return errors.New("full") },
		"panics":           func(context.Context) error { panic("broken") },
		"hangs":            func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"hangs for a year": func(context.Context) error { time.Sleep(365 * 24 * time.Hour); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := session.InMemoryService()
				createBare(t, service)
				sizes := []int{1_000, 50_000, 81_920, 81_930, 3_000_000}
				root := pinAgent(t, scripted(callsOf("big", "big", "big", "big", "big")), func(cfg *llmagent.Config) {
					cfg.Tools = []tool.Tool{bigTool(t, func(n int) string { return long(n, sizes[n]) })}
				})
				began := time.Now()
				if err := pinTurn(t, service, root, readable(t, faultyStore{store.NewMemory(0), put}, nil)); err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(began); waited > 21*time.Second {
					t.Errorf("the turn waited for %v", waited)
				}
				responses := requests.Responses(eventsOf(getBare(t, service))[2].Content)
				if len(responses) != len(sizes) {
					t.Fatalf("%d results", len(responses))
				}
				for i, response := range responses {
					if sizes[i] <= 81_920 {
						if response.Response["output"] != long(i, sizes[i]) {
							t.Errorf("%d bytes were changed: %.100s", sizes[i], canonical(response.Response))
						}
						continue
					}
					_, shortened := toolresult.IsShortened("big", response.Response)
					if lost, _ := response.Response["lost"].(string); shortened || !strings.Contains(lost, "could not be stored") || len(mustJSON(t, response.Response)) > 10_240 {
						t.Errorf("%d bytes became %d: %.200s", sizes[i], len(mustJSON(t, response.Response)), canonical(response.Response))
					}
				}
				time.Sleep(400 * 24 * time.Hour) // lets those that hang end
			})
		})
	}
}

// After a store has recovered, results are cut again.
func TestAStoreIsUsedAgainOnceItWorks(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	memory := store.NewMemory(0)
	down := true
	var log strings.Builder
	flaky := flakyStore{memory, &down}
	p := readable(t, flaky, func(cfg *toolresult.PluginConfig) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	for i := range 6 {
		down = i < 3
		root := pinAgent(t, scripted(callsOf("big")), func(cfg *llmagent.Config) {
			cfg.Tools = []tool.Tool{bigTool(t, func(int) string { return long(i, 20_000) })}
		})
		if err := pinTurn(t, service, root, p); err != nil {
			t.Fatal(err)
		}
	}
	var whole []bool
	for _, ev := range eventsOf(getBare(t, service)) {
		for _, response := range requests.Responses(ev.Content) {
			_, shortened := toolresult.IsShortened("big", response.Response)
			whole = append(whole, !shortened)
		}
	}
	if fmt.Sprint(whole) != "[true true true false false false]" {
		t.Errorf("whole results: %v", whole)
	}
	if strings.Count(log.String(), "cannot be stored") != 1 || strings.Count(log.String(), "stored again") != 1 {
		t.Errorf("the log has %s", log.String())
	}
}

type flakyStore struct {
	*store.Memory
	down *bool
}

func (f flakyStore) Put(ctx context.Context, owner store.Owner, tool string, r store.Result) error {
	if *f.down {
		return errors.New("down")
	}
	return f.Memory.Put(ctx, owner, tool, r)
}

// Callbacks of the app are called as often as without the plugin, with and without results to cut.
func TestThePluginHidesNoCallbackOfTheApp(t *testing.T) {
	t.Parallel()
	counts := func(ours bool) map[string]int {
		service := session.InMemoryService()
		createBare(t, service)
		var mu sync.Mutex
		count := map[string]int{}
		note := func(key string) {
			mu.Lock()
			defer mu.Unlock()
			count[key]++
		}
		app := func(who string) plugin.Config {
			return plugin.Config{
				Name: who,
				OnEventCallback: func(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
					note("OnEvent " + who)
					return nil, nil
				},
				BeforeModelCallback: func(agent.CallbackContext, *model.LLMRequest) (*model.LLMResponse, error) {
					note("BeforeModel " + who)
					return nil, nil
				},
				AfterModelCallback: func(agent.CallbackContext, *model.LLMResponse, error) (*model.LLMResponse, error) {
					note("AfterModel " + who)
					return nil, nil
				},
				BeforeToolCallback: func(agent.ToolContext, tool.Tool, map[string]any) (map[string]any, error) {
					note("BeforeTool " + who)
					return nil, nil
				},
				AfterToolCallback: func(agent.ToolContext, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
					note("AfterTool " + who)
					return nil, nil
				},
				OnToolErrorCallback: func(agent.ToolContext, tool.Tool, map[string]any, error) (map[string]any, error) {
					note("OnToolError " + who)
					return nil, nil
				},
			}
		}
		plugins := []*plugin.Plugin{hooked(t, app("before")), hooked(t, app("behind"))}
		if ours {
			plugins = slices.Insert(plugins, 1, readable(t, store.NewMemory(0), nil))
		}
		inAgent := app("agent")
		root := pinAgent(t, scripted(callsOf("big", "owl", "look")), func(cfg *llmagent.Config) {
			cfg.Tools = []tool.Tool{bigTool(t, func(n int) string { return long(n, 100_000) }), pinTool(t, "look", nil)}
			cfg.BeforeModelCallbacks = []llmagent.BeforeModelCallback{inAgent.BeforeModelCallback}
			cfg.AfterModelCallbacks = []llmagent.AfterModelCallback{inAgent.AfterModelCallback}
			cfg.BeforeToolCallbacks = []llmagent.BeforeToolCallback{inAgent.BeforeToolCallback}
			cfg.AfterToolCallbacks = []llmagent.AfterToolCallback{inAgent.AfterToolCallback}
			cfg.OnToolErrorCallbacks = []llmagent.OnToolErrorCallback{inAgent.OnToolErrorCallback}
		})
		if err := pinTurn(t, service, root, plugins...); err != nil {
			t.Fatal(err)
		}
		return count
	}
	without, with := counts(false), counts(true)
	if fmt.Sprint(with) != fmt.Sprint(without) || without["OnToolError agent"] != 1 {
		t.Errorf("with the plugin: %v\nwithout: %v", with, without)
	}
}

// A plugin without settings changes no request and nothing that is stored.
func TestAPluginWithoutSettingsChangesNothing(t *testing.T) {
	t.Parallel()
	run := func(plugins ...*plugin.Plugin) string {
		service := session.InMemoryService()
		createBare(t, service)
		var seen []string
		llm := &pinned{name: "m", answer: func(_ context.Context, n int, req *model.LLMRequest) *model.LLMResponse {
			seen = append(seen, canonical(req.Contents), canonical(req.Config))
			if n == 0 {
				return callsOf("big", "look")
			}
			return compactiontest.Say("Done.")
		}}
		root := pinAgent(t, llm, func(cfg *llmagent.Config) {
			cfg.Tools = []tool.Tool{bigTool(t, func(n int) string { return long(n, 100_000) }), pinTool(t, "look", nil)}
		})
		if err := pinTurn(t, service, root, plugins...); err != nil {
			t.Fatal(err)
		}
		return strings.Join(seen, "\n")
	}
	none, err := toolresult.Plugin(toolresult.PluginConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if run(none) != run() {
		t.Error("the requests differ")
	}
}

// Two processes, and two runs in one, send the same bytes.
func TestThePluginIsDeterministic(t *testing.T) {
	t.Parallel()
	run := func() string {
		service := session.InMemoryService()
		createBare(t, service)
		masker, err := toolresult.NewMasker(toolresult.Masking{From: toolresult.Off, KeepFirst: toolresult.Off, KeepLast: 1})
		if err != nil {
			t.Fatal(err)
		}
		p := readable(t, store.NewMemory(0), func(cfg *toolresult.PluginConfig) { cfg.Masker = masker })
		var seen []string
		llm := &pinned{name: "m", answer: func(_ context.Context, n int, req *model.LLMRequest) *model.LLMResponse {
			seen = append(seen, canonical(req.Contents), string(mustJSON(t, req.Config)))
			if n < 12 {
				return callsOf("big", "owl", "small")
			}
			return compactiontest.Say("Done.")
		}}
		small, err := functiontool.New(functiontool.Config{Name: "small", Description: "d"}, func(agent.ToolContext, lookupArgs) (map[string]any, error) {
			return map[string]any{"output": long(len(seen), 3_900)}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		root := pinAgent(t, llm, func(cfg *llmagent.Config) {
			cfg.Tools = []tool.Tool{small, bigTool(t, func(n int) string { return long(n, 100_000) }), pinTool(t, "ant", nil), pinTool(t, "bee", nil)}
		})
		if err := pinTurn(t, service, root, p); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(seen[len(seen)-2], "result masked") {
			t.Error("nothing was masked: the test shows too little")
		}
		return strings.Join(seen, "\n")
	}
	first := run()
	for range 3 {
		if run() != first {
			t.Fatal("two runs send different requests")
		}
	}
}

// What the plugin masks without having cut it is read back too, by another process.
func TestMaskedResultsAreReadBackAfterARestart(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	dir := filepath.Join(t.TempDir(), "results")
	open := func() *plugin.Plugin {
		folder, err := store.NewFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = folder.Close() })
		masker, err := toolresult.NewMasker(toolresult.Masking{From: toolresult.Off, KeepFirst: toolresult.Off, KeepLast: 1})
		if err != nil {
			t.Fatal(err)
		}
		return readable(t, folder, func(cfg *toolresult.PluginConfig) { cfg.Masker = masker })
	}
	var last []*genai.Content
	llm := &pinned{name: "m", answer: func(_ context.Context, n int, req *model.LLMRequest) *model.LLMResponse {
		last = req.Contents
		if n < 12 {
			return &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{genai.NewPartFromFunctionCall("big", map[string]any{"n": n})}}}
		}
		return compactiontest.Say("Done.")
	}}
	tools := []tool.Tool{bigTool(t, func(n int) string { return long(n, 4_000) })}
	if err := pinTurn(t, service, pinAgent(t, llm, func(cfg *llmagent.Config) { cfg.Tools = tools }), open()); err != nil {
		t.Fatal(err)
	}
	masked := map[string]int{}
	n := 0
	for _, content := range last {
		for _, response := range requests.Responses(content) {
			if ref, ok := toolresult.IsShortened("big", response.Response); ok {
				masked[ref] = n
			}
			n++
		}
	}
	if len(masked) < 5 {
		t.Fatalf("%d of %d results are masked: the test shows too little", len(masked), n)
	}
	for ref, n := range masked {
		reader := &pinned{name: "m", answer: func(_ context.Context, step int, req *model.LLMRequest) *model.LLMResponse {
			if step == 0 {
				return compactiontest.CallTool(toolresult.ReadResultName, map[string]any{"ref_id": ref})
			}
			response := requests.Responses(req.Contents[len(req.Contents)-1])[0].Response
			if response["content"] != long(n, 4_000) || response["done"] != true {
				t.Errorf("%s: %.200s", ref, canonical(response))
			}
			return compactiontest.Say("Done.")
		}}
		if err := pinTurn(t, service, pinAgent(t, reader, func(cfg *llmagent.Config) { cfg.Tools = tools }), open()); err != nil {
			t.Fatal(err)
		}
	}
}

// In a live run the event is out of reach, and the result is cut before it is made.
func TestThePluginCutsInLiveRuns(t *testing.T) {
	t.Parallel()
	a := newApp(t, storages.InMemory(), mode{name: "bare"}, unchecked)
	x := newActor(a, "assistant", "")
	api, llm := newLiveAPI(a, x, false)
	memory := store.NewMemory(0)
	var mu sync.Mutex
	var results []map[string]any
	behind := hooked(t, plugin.Config{Name: "behind", OnEventCallback: func(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
		mu.Lock()
		defer mu.Unlock()
		for _, response := range requests.Responses(ev.Content) {
			results = append(results, response.Response)
		}
		return nil, nil
	}})
	a.plugins = []*plugin.Plugin{readable(t, memory, nil), behind}
	lookup, err := functiontool.New(functiontool.Config{Name: "lookup", Description: "d"}, func(agent.ToolContext, lookupArgs) (map[string]any, error) {
		return map[string]any{"output": long(1, 100_000)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a.startBare(a.llm(x, func(cfg *llmagent.Config) { cfg.Model, cfg.Tools = llm, []tool.Tool{lookup} }))
	a.turns = 1 // the model speaks first, and calls a tool
	api.connect(1)
	if len(results) != 1 {
		t.Fatalf("%d results", len(results))
	}
	refID, shortened := toolresult.IsShortened("lookup", results[0])
	if !shortened {
		t.Fatalf("the live result is whole: %.200s", canonical(results[0]))
	}
	from, size, err := memory.Open(t.Context(), ref, refID)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(io.NewSectionReader(from, 0, size))
	if err != nil || string(data) != long(1, 100_000) {
		t.Errorf("stored are %d bytes, %v", len(data), err)
	}
}

// ADK refuses two of them on one runner.
func TestTwoOfThesePluginsAreRefused(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	_, err := runner.New(runner.Config{
		AppName: ref.AppName, Agent: pinAgent(t, scripted(), nil), SessionService: service,
		PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{readable(t, store.NewMemory(0), nil), readable(t, store.NewMemory(0), nil)}},
	})
	if err == nil {
		t.Error("accepted")
	}
}
