// Package soak_test runs one session for thousands of turns under ADK's runner and compares its end
// with its beginning. With LONGSESSION_SOAK in the environment, the runs have the length reported in
// BENCHMARKS.md, otherwise a tenth of it.
package soak_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

var ref = compaction.SessionRef{AppName: "app", UserID: "user", SessionID: "session"}

// long returns n turns for a whole soak, otherwise a tenth of n.
func long(n int) int {
	if testkit.Whole() {
		return n
	}
	return n / 10
}

// fixed is a summarizer whose summaries have a realistic size, independent of their content.
type fixed struct{ calls int }

func (f *fixed) Summarize(context.Context, summarizer.Request) (summarizer.Result, error) {
	f.calls++
	text := fmt.Sprintf("Summary number %d. ", f.calls)
	text += strings.Repeat("The user asked for a price and was told it; nothing else was decided. ", 25)
	return summarizer.Result{Content: genai.NewContentFromText(text[:1000], genai.RoleModel)}, nil
}

// filled is after how many turns a prompt of this session has filled up. A summary of a few turns is short. Only
// merges make summaries as long as MaxSummaryTokens allows, and the list of exact values fills up as well. The
// prompts of the first turns are therefore shorter than any later ones. From then on only the younger summaries
// still vary, and no prompt is longer than the bound that the test checks too.
const filled = 200

func TestAPromptStaysAsShortAsItWas(t *testing.T) {
	testkit.SkipBrief(t, "every compaction is synchronous")
	for name, writer := range map[string]compaction.Summarizer{"extractive": summarizer.Extractive{}, "of 1,000 characters": &fixed{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := compaction.DefaultConfig()
			counted := &counting{writer: writer}
			cfg.Summarizer, cfg.Synchronous = counted, true
			r := newRun(t, cfg)
			turns := long(10_000)
			for range turns {
				r.turn()
			}
			r.report(t, counted)

			early, late := r.mean(filled, filled+turns/10), r.mean(turns-turns/10, turns)
			t.Logf("prompt tokens: %.0f on average in turns %d to %d, %.0f in the last tenth (%.3f)", early, filled, filled+turns/10, late, late/early)
			if late > 1.1*early {
				t.Errorf("prompts of the last tenth have %.0f tokens, those after turn %d had %.0f: the ratio %.3f is over 1.1", late, filled, early, late/early)
			}
			frame := promptsize.Frame(record.KindSummary, false)
			if bound := cfg.MaxSummaries*(cfg.MaxSummaryTokens+frame) + cfg.MaxLedgerTokens; r.front > bound || r.front < bound/4 {
				t.Errorf("the summaries of a prompt took up to %d tokens; at most %d are allowed, and they should be nearly used", r.front, bound)
			}
			if r.most > cfg.MaxSummaries {
				t.Errorf("%d summaries were visible at once, MaxSummaries is %d", r.most, cfg.MaxSummaries)
			}
			stored := r.stored(t)
			if handed := float64(counted.events) / float64(stored); handed > 1.1 || handed < 0.9 {
				t.Errorf("%d events were passed to the summarizer, %d are stored: the ratio %.3f is not about 1", counted.events, stored, handed)
			}
			if r.compared < len(r.tokens)/2 {
				t.Errorf("only %d of %d prompts were compared with the one before", r.compared, len(r.tokens))
			}
			if testkit.Whole() {
				testkit.Figures(t, "../../BENCHMARKS.md", "| "+name+" | %d | %d | %.3f | %d | %d (%.3f times) | %d | %d | %d |",
					stored, counted.calls, float64(counted.events)/float64(stored), int(math.Round(early)), int(math.Round(late)), late/early, slices.Max(r.tokens), r.most, r.compared)
			}
		})
	}
}

func TestNoFactIsLostInThousandsOfTurns(t *testing.T) {
	t.Parallel()
	cfg := compaction.DefaultConfig()
	oracle := &counting{writer: &compactiontest.Oracle{}}
	cfg.Summarizer, cfg.Synchronous, cfg.SafetyRatio = oracle, true, compaction.Off
	cfg.ContextWindow = 10_000_000 // the oracle keeps every fact, so its summaries only grow
	cfg.MaxSummaryTokens = 1_000_000
	r := newRun(t, cfg)
	r.facts = true
	for range long(2_000) {
		r.turn()
	}
	r.report(t, oracle)
	if r.most > cfg.MaxSummaries || oracle.calls == 0 {
		t.Errorf("%d summaries were visible at once, after %d calls", r.most, oracle.calls)
	}
}

// run is one long session.
type run struct {
	*watcher
	t      *testing.T
	svc    *compaction.CompactionSessionService
	runner *runner.Runner
	took   []time.Duration // by turn
}

func newRun(t *testing.T, cfg compaction.Config) *run {
	t.Helper()
	r := &run{t: t, watcher: &watcher{t: t}}
	cfg.Observer = r.observe
	svc, err := compaction.NewCompactionService(session.InMemoryService(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close(context.Background()) })
	price, err := functiontool.New(functiontool.Config{Name: "price", Description: "Looks up a price."}, look)
	if err != nil {
		t.Fatal(err)
	}
	assistant, err := llmagent.New(llmagent.Config{Name: "assistant", Model: r.watcher, Tools: []tool.Tool{price}})
	if err != nil {
		t.Fatal(err)
	}
	if r.runner, err = runner.New(runner.Config{AppName: ref.AppName, Agent: assistant, SessionService: svc, AutoCreateSession: true}); err != nil {
		t.Fatal(err)
	}
	r.svc = svc
	return r
}

type item struct{ Name string }

func look(_ agent.ToolContext, in item) (map[string]any, error) {
	return map[string]any{"item": in.Name, "price": "12.50 EUR", "stock": 40, "note": "ships within three days from the main warehouse"}, nil
}

func (r *run) turn() {
	r.t.Helper()
	n := len(r.took) + 1
	question := fmt.Sprintf("Question %d: what does item number %d cost today, and when can it be here?", n, n)
	if r.facts {
		question += " Its code is " + compactiontest.Fact(n) + "."
	}
	r.begin(n)
	began := time.Now()
	for _, err := range r.runner.Run(r.t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText(question, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			r.t.Fatalf("turn %d: %v", n, err)
		}
	}
	r.took = append(r.took, time.Since(began))
	if n%100 == 0 {
		status, err := r.svc.Status(r.t.Context(), ref)
		if err != nil {
			r.t.Fatal(err)
		}
		r.most = max(r.most, len(status.Summaries))
	}
}

// stored counts the stored events without records.
func (r *run) stored(t *testing.T) int {
	t.Helper()
	resp, err := r.svc.Raw(t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ev := range resp.Session.Events().All() {
		if !compaction.IsCompactionEvent(ev) {
			n++
		}
	}
	return n
}

// mean returns the mean number of prompt tokens of the turns behind the first from of them, up to the to-th.
func (r *run) mean(from, to int) float64 {
	sum := 0
	for _, size := range r.byTurn[from:to] {
		sum += size
	}
	return float64(sum) / float64(to-from)
}

// median returns the median time of the turns in a part of the run, given in percent of all turns.
func (r *run) median(from, to int) time.Duration {
	part := slices.Clone(r.took[from*len(r.took)/100 : to*len(r.took)/100])
	slices.Sort(part)
	return part[len(part)/2]
}

func (r *run) total(from, to int) time.Duration {
	sum := time.Duration(0)
	for _, d := range r.took[from*len(r.took)/100 : to*len(r.took)/100] {
		sum += d
	}
	return sum / time.Duration((to-from)*len(r.took)/100)
}

func (r *run) report(t *testing.T, c *counting) {
	t.Helper()
	stored := r.stored(t)
	t.Logf("%d turns, %d events stored, %d summarizer calls, %d events handed to it (%.3f), %d records",
		len(r.took), stored, c.calls, c.events, float64(c.events)/float64(stored), r.records)
	t.Logf("largest prompt: %d tokens; its summaries took up to %d", slices.Max(r.tokens), r.front)
	t.Logf("time per turn: median %v at 5-15%%, %v at 90-100%%; mean %v and %v",
		r.median(5, 15), r.median(90, 100), r.total(5, 15), r.total(90, 100))
	t.Logf("prompts compared with the one before: %d of %d; summaries visible at most: %d", r.compared, len(r.tokens), r.most)
}
