package integration_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/layer/prompt"
)

func oneWorker(a *promptApp) agent.Agent { return a.worker("one", 1) }

// sourceFaults are the ways in which a source of the app fails.
var sourceFaults = map[string]func(context.Context) (string, error){
	"fails":              func(context.Context) (string, error) { return "", errors.New("no index") },
	"fails with blanks":  func(context.Context) (string, error) { return " \n", errors.New("no index") },
	"panics":             func(context.Context) (string, error) { panic("no index") },
	"ends its goroutine": func(context.Context) (string, error) { runtime.Goexit(); return "", nil },
	"hangs":              func(context.Context) (string, error) { select {} },
	"waits for the end":  func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() },
	"says too much":      func(context.Context) (string, error) { return strings.Repeat("x", 1<<20+1), nil },
}

// patience is how long a source may take that never returns by itself.
var patience = map[string]time.Duration{"hangs": 20 * time.Millisecond, "waits for the end": 20 * time.Millisecond}

// A source that fails in any way costs no turn and breaks no prefix: the section keeps its last text, and the
// app hears of it once.
func TestASectionSurvivesItsSource(t *testing.T) {
	t.Parallel()
	for name, fault := range sourceFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var broken atomic.Bool
			source := prompt.SourceFunc(func(ctx context.Context) (string, error) {
				if broken.Load() {
					return fault(ctx)
				}
				return "The user is Ada.", nil
			})
			a := newPromptApp(t, prompt.Config{Project: prompt.Text("Use tabs."), Memories: source, SourceTimeout: patience[name]}, oneWorker, nil)
			for turn := range 6 {
				broken.Store(turn == 2 || turn == 3)
				a.ask(fmt.Sprint("Question ", turn))
			}
			for i, sent := range a.sent {
				if len(sent.instruction) != 3 || sent.instruction[2] != "The user is Ada." {
					t.Fatalf("request %d has %q", i, sent.instruction)
				}
			}
			if n := a.broken(); len(n) > 0 {
				t.Errorf("broken prefixes: %v", n)
			}
			observed := a.observed()
			recovers := 1
			if name == "hangs" || name == "waits for the end" { // not asked again before it has returned
				recovers = min(1, observed["recovered memories"])
				observed["recovered memories"] = recovers
			}
			if observed["failed memories"] != 1 || observed["recovered memories"] != recovers || len(observed) != 2 {
				t.Errorf("observed %v", observed)
			}
			for _, o := range a.observations {
				if o.Kind == prompt.Failed && (o.Err == nil || !o.Kept || o.Session.SessionID != ref.SessionID) {
					t.Errorf("an incomplete report: %+v", o)
				}
			}
		})
	}
}

// Without a text from before, the section is left out. Status and scratchpad are always, because they are about
// now.
func TestASectionWithoutATextIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, fault := range sourceFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := prompt.SourceFunc(fault)
			a := newPromptApp(t, prompt.Config{Project: source, Memories: source, Skills: prompt.Text("pdf"), Scratchpad: source, Status: source, SourceTimeout: patience[name]}, oneWorker, nil)
			a.ask("Question 0")
			a.ask("Question 1")
			for i, sent := range a.sent {
				if len(sent.instruction) != 2 || sent.instruction[1] != "pdf" || strings.Contains(strings.Join(sent.pieces, ""), "from the app") {
					t.Errorf("request %d has %q", i, sent.pieces)
				}
			}
			for section, want := range map[string]int{"project": 1, "memories": 1, "scratchpad": 1, "status": 1} {
				if got := a.observed()["failed "+section]; got != want {
					t.Errorf("%d failures of %s reported", got, section)
				}
			}
		})
	}
}

// A source may know something and still have something to report, as one that has read all files but one.
func TestATextWithAnErrorIsUsed(t *testing.T) {
	t.Parallel()
	source := &changing{text: "Use tabs.", err: errors.New("one file cannot be read")}
	a := newPromptApp(t, prompt.Config{Project: source}, oneWorker, nil)
	a.ask("Question 0")
	a.ask("Question 1")
	source.set("Use tabs.", errors.New("two files cannot be read"))
	a.ask("Question 2")
	source.set("Use tabs.", nil)
	a.ask("Question 3")
	for i, sent := range a.sent {
		if len(sent.instruction) != 2 || sent.instruction[1] != "Use tabs." {
			t.Errorf("request %d has %q", i, sent.instruction)
		}
	}
	if observed := a.observed(); observed["incomplete project"] != 2 || observed["recovered project"] != 1 || len(observed) != 2 {
		t.Errorf("observed %v", observed)
	}
}

// What one session knows is never shown in another one, even if the source fails there.
func TestALastTextIsThatOfTheSameSession(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	source := prompt.SourceFunc(func(ctx context.Context) (string, error) {
		read, ok := ctx.(agent.ReadonlyContext)
		if !ok || fails.Load() {
			return "", errors.New("no user")
		}
		return "The user is " + read.UserID() + " in " + read.SessionID() + " of " + read.AppName() + ", asked by " + read.AgentName() + ".", nil
	})
	a := newPromptApp(t, prompt.Config{Memories: source}, oneWorker, nil)
	other, err := a.service.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: "eve", SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	a.ask("Question 0")
	fails.Store(true)
	for _, err := range a.runner.Run(t.Context(), "eve", other.Session.ID(), genai.NewContentFromText("Question 0", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := fmt.Sprintf("The user is %s in %s of %s, asked by one.", ref.UserID, ref.SessionID, ref.AppName); a.sent[0].instruction[1] != want {
		t.Errorf("instruction %q, want %q", a.sent[0].instruction, want)
	}
	if last := a.sent[len(a.sent)-1]; len(last.instruction) != 1 {
		t.Errorf("another user's session is told %q", last.instruction)
	}
}

// An observer that panics and one that hangs harm no turn.
func TestABadObserverHarmsNoTurn(t *testing.T) {
	t.Parallel()
	for name, observer := range map[string]func(context.Context, prompt.Observation){
		"panics": func(context.Context, prompt.Observation) { panic("no") },
		"hangs":  func(context.Context, prompt.Observation) { select {} },
	} {
		source := &changing{text: "one"}
		b, err := prompt.New(prompt.Config{Project: source, Observer: observer})
		if err != nil {
			t.Fatal(err)
		}
		service := session.InMemoryService()
		createBare(t, service)
		llm := &pinned{name: "m", answer: func(context.Context, int, *model.LLMRequest) *model.LLMResponse {
			return &model.LLMResponse{Content: genai.NewContentFromText("Done.", genai.RoleModel)}
		}}
		for i := range 3 {
			source.set(fmt.Sprint("text ", i), nil)
			if err := pinTurn(t, service, pinAgent(t, b.Model(llm), nil), b.Plugin()); err != nil {
				t.Errorf("an observer that %s: %v", name, err)
			}
		}
	}
}

// Each callback of the app's plugins and agents runs as often as without the builder, wherever they are.
func TestCallbacksOfTheAppRunAsOftenAsWithoutTheBuilder(t *testing.T) {
	t.Parallel()
	eachPromptShape(t, func(t *testing.T, _ promptShape, newApp func(prompt.Config, func(*promptApp)) *promptApp) {
		counts := map[bool]map[string]int{}
		for _, with := range []bool{true, false} {
			var c tally
			cfg := prompt.Config{}
			if with {
				cfg = prompt.Config{Project: prompt.Text("P"), Memories: prompt.Text("M"), Skills: prompt.Text("S"), Scratchpad: counting("Plan"), Status: counting("Step")}
			}
			a := newApp(cfg, func(a *promptApp) {
				a.before, a.between = []*plugin.Plugin{c.plugin(t, "first")}, []*plugin.Plugin{c.plugin(t, "second")}
				a.more = c.agent
			})
			for turn := range 3 {
				a.ask(fmt.Sprint("Question ", turn))
			}
			counts[with] = c.n
		}
		if diff := cmp.Diff(counts[false], counts[true]); diff != "" {
			t.Errorf("callbacks (-without the builder +with it):\n%s", diff)
		}
		if len(counts[true]) < 14 {
			t.Errorf("only %v were called", slices.Sorted(maps.Keys(counts[true])))
		}
	})
}

// answeringPlugin is a plugin of the app that answers every callback that it can without stopping the agent.
func answeringPlugin(t *testing.T, name string) *plugin.Plugin {
	t.Helper()
	p, err := plugin.New(plugin.Config{
		Name: name,
		OnUserMessageCallback: func(_ agent.InvocationContext, msg *genai.Content) (*genai.Content, error) {
			return genai.NewContentFromText(msg.Parts[0].Text+" (as "+name+" has it)", genai.RoleUser), nil
		},
		OnEventCallback: func(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) { return ev, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Behind a plugin that answers, ADK calls none. Then the message stays as that plugin has made it, and the
// sections of the instruction are there all the same. Tool results have their notes if the builder's plugin
// comes first.
func TestPluginsThatAnswerHideNoSection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		where     string
		before    bool
		wantNotes bool
	}{{"before", true, false}, {"between", false, true}} {
		a := newPromptApp(t, prompt.Config{Project: prompt.Text("P"), Status: counting("Step")}, oneWorker, func(a *promptApp) {
			if c.before {
				a.before = []*plugin.Plugin{answeringPlugin(t, "early")}
			} else {
				a.between = []*plugin.Plugin{answeringPlugin(t, "late")}
			}
		})
		for turn := range 2 {
			a.ask(fmt.Sprint("Question ", turn))
		}
		for i, sent := range a.sent {
			if len(sent.instruction) != 2 || sent.instruction[1] != "P" {
				t.Errorf("%s: request %d has %q", c.where, i, sent.instruction)
			}
		}
		all := strings.Join(a.sent[len(a.sent)-1].pieces, "\n")
		if !strings.Contains(all, "has it)") || strings.Contains(all, "not from the user") || strings.Contains(all, "not from this tool") != c.wantNotes {
			t.Errorf("%s: the last request is %s", c.where, all)
		}
		if n := a.broken(); len(n) > 0 {
			t.Errorf("%s: broken prefixes: %v", c.where, n)
		}
	}
}

// What a callback of the app does to a section stays done: the wrapper adds nothing to a request that the
// plugin has seen.
func TestACallbackOfTheAppMayChangeSections(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*genai.Content){
		"edits":   func(c *genai.Content) { c.Parts[1].Text = strings.ReplaceAll(c.Parts[1].Text, "secret", "***") },
		"removes": func(c *genai.Content) { c.Parts = c.Parts[:1] },
		"adds":    func(c *genai.Content) { c.Parts = append(c.Parts, genai.NewPartFromText("More.")) },
	} {
		a := newPromptApp(t, prompt.Config{Project: prompt.Text("The secret word.")}, oneWorker, func(a *promptApp) {
			a.more = func(cfg *llmagent.Config) {
				cfg.BeforeModelCallbacks = append(cfg.BeforeModelCallbacks, func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
					change(req.Config.SystemInstruction)
					return nil, nil
				})
			}
		})
		a.ask("Question 0")
		a.ask("Question 1")
		want := map[string][]string{"edits": {"The *** word."}, "removes": nil, "adds": {"The secret word.", "More."}}[name]
		names := map[string][]string{"edits": {"base", "base"}, "removes": {"base"}, "adds": {"base", "project", "other"}}[name]
		for i, sent := range a.sent {
			if !slices.Equal(sent.instruction[1:], want) || !slices.Equal(sent.names, names) {
				t.Errorf("a callback that %s: request %d has %q as %q", name, i, sent.instruction, sent.names)
			}
		}
		if observed := a.observed(); len(observed) > 0 {
			t.Errorf("a callback that %s: observed %v", name, observed)
		}
	}
}
