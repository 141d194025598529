package toolsearch_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
	"github.com/adk-go-ext/longsession/summarizer"
)

func TestFiftyTurnsOfSearchesAndCallsKeepThePrefix(t *testing.T) {
	t.Parallel()
	d := must(toolsearch.New(toolsearch.Config{}))(t)
	p := &provider{tb: t}
	var mu sync.Mutex // parallel calls run at once
	runs := map[string]int{}
	c := &chat{tb: t, service: session.InMemoryService(), llm: d.Model(p), tools: servers(func(name string) {
		mu.Lock()
		defer mu.Unlock()
		runs[name]++
	})}
	for n := range 50 {
		c.turn(n)
	}
	if config, contents := p.breaks(); config+contents > 0 || len(p.sent) < 100 {
		t.Errorf("%d requests, %d with another config, %d that do not extend the last", len(p.sent), config, contents)
	}
	if len(runs) < 30 {
		t.Errorf("only %d tools have run: %v", len(runs), sorted(runs))
	}
	if got := p.sent[0].declared; !slices.Equal(got, []string{toolsearch.SearchToolName, toolsearch.CallToolName}) {
		t.Errorf("%v are declared", got)
	}
}

// epochs plays a conversation over a compacted session. Each turn may have a process of its own: a new
// session service over the same storage, and a new Deferral.
func epochs(t *testing.T, mode toolsearch.Mode, turns int, anew, plugged bool) *provider {
	t.Helper()
	inner := session.InMemoryService()
	p := &provider{tb: t}
	var svc *compaction.CompactionSessionService
	var d *toolsearch.Deferral
	for n := range turns {
		if svc == nil || anew {
			cfg := compaction.DefaultConfig()
			cfg.Summarizer, cfg.InvocationThreshold, cfg.OverlapSize, cfg.ContextWindow = summarizer.Extractive{}, 8, 3, 128_000
			svc = must(compaction.NewCompactionService(inner, cfg))(t)
			d = must(toolsearch.New(toolsearch.Config{Mode: mode, ContextWindow: 30_000}))(t)
		}
		c := &chat{tb: t, service: svc, llm: d.Model(p), tools: servers(nil)}
		if plugged {
			c.plugins = []*plugin.Plugin{d.Plugin()}
		}
		c.change = declareMore
		c.turn(n)
		if err := svc.Flush(t.Context(), compaction.SessionRef{AppName: "app", UserID: "user", SessionID: "session"}); err != nil {
			t.Fatal(err)
		}
		if anew {
			if err := svc.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return p
}

// builtIn is a tool of the app.
type builtIn struct{ remote }

func (*builtIn) Category() toolsearch.Category { return toolsearch.BuiltIn }

// declareMore has a callback of the agent declare another tool.
func declareMore(cfg *llmagent.Config) {
	extra := &builtIn{remote{decl: &genai.FunctionDeclaration{Name: "extra", Description: strings.Repeat("Reads a result whole. ", 30)}}}
	cfg.BeforeModelCallbacks = append(cfg.BeforeModelCallbacks, func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
		adk.Declare(req, extra)
		return nil, nil
	})
}

func TestTheSetChangesOnlyWithASummaryAndIsTheSameInEveryProcess(t *testing.T) {
	t.Parallel()
	for _, mode := range []toolsearch.Mode{toolsearch.Bridge, toolsearch.Promote} {
		one := epochs(t, mode, 40, false, false)
		summaries := map[string]bool{}
		sets := map[string]bool{}
		kept := 0
		for i, now := range one.sent {
			summaries[now.summary] = true
			at := slices.Index(now.declared, toolsearch.SearchToolName)
			if at < 0 {
				t.Fatalf("%s, request %d: no tool_search among %v", mode, i, now.declared)
			}
			sets[strings.Join(now.declared[:at], " ")] = true
			kept = max(kept, at)
			if i == 0 || one.sent[i-1].summary != now.summary {
				continue
			}
			before := one.sent[i-1].declared
			if len(now.declared) < len(before) || !slices.Equal(now.declared[:len(before)], before) || mode == toolsearch.Bridge && one.sent[i-1].config != now.config {
				t.Errorf("%s, request %d: the declarations have changed without a summary: %v, then %v", mode, i, before, now.declared)
			}
		}
		if len(summaries) < 4 || len(sets) < 3 || kept == 0 {
			t.Errorf("%s: %d summaries, %d sets, at most %d tools kept: too few to show anything", mode, len(summaries), len(sets), kept)
		}
		for name, other := range map[string]*provider{"a process for each turn": epochs(t, mode, 40, true, false), "with the plugin": epochs(t, mode, 40, false, true)} {
			if len(other.sent) != len(one.sent) {
				t.Fatalf("%s, %s: %d requests, want %d", mode, name, len(other.sent), len(one.sent))
			}
			for i := range one.sent {
				if one.sent[i].config != other.sent[i].config || !slices.Equal(one.sent[i].contents, other.sent[i].contents) {
					t.Fatalf("%s, %s: request %d has other bytes: %v, want %v", mode, name, i, other.sent[i].declared, one.sent[i].declared)
				}
			}
		}
	}
}

var _ model.LLM = (*provider)(nil)
