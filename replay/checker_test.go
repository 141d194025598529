package replay_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

func TestEachRuleFindsItsFailure(t *testing.T) {
	t.Parallel()
	sent := replay.Sent{ModelCalls: 3, PromptTokens: 100}
	good := replay.Report{ID: "c", Policy: "p", Without: sent, With: sent, Limit: 1_000}
	facts := &replay.Facts{Questions: 4, Kept: 3}
	for _, x := range []struct {
		rule    string
		checker replay.Checker
		spoil   func(*replay.Report)
		text    string
	}{
		{checker: replay.Checker{}, spoil: func(*replay.Report) {}},
		{checker: replay.Checker{MinKept: 75}, spoil: func(r *replay.Report) { r.Facts, r.Unanswered = facts, []string{"who?"} }},
		{checker: replay.Checker{MinKept: 100}, spoil: func(r *replay.Report) { r.Facts = &replay.Facts{Empty: 2} }},
		{checker: replay.Checker{MinKept: 101}, spoil: func(r *replay.Report) { r.Facts = &replay.Facts{Questions: 2, Kept: 2} }},
		{checker: replay.Checker{}, spoil: func(r *replay.Report) { r.Over = []replay.Overlong{{Unavoidable: true}, {Unforeseen: true}} }},
		{checker: replay.Checker{AllowOverlong: true}, spoil: func(r *replay.Report) { r.Over = []replay.Overlong{{Tokens: 1_001}} }},
		{checker: replay.Checker{MinSaved: 50}, spoil: func(r *replay.Report) { r.SavedPercent = 50 }},
		{rule: "pairs", checker: replay.Checker{}, spoil: func(r *replay.Report) { r.Orphans = 2 }, text: "2 calls or responses"},
		{rule: "view", checker: replay.Checker{}, spoil: func(r *replay.Report) { r.Hidden, r.Problems = 1, []string{"event e7 is gone"} }, text: "event e7 is gone"},
		{rule: "calls", checker: replay.Checker{}, spoil: func(r *replay.Report) { r.With.ModelCalls = 5 }, text: "2 times more"},
		{rule: "limit", checker: replay.Checker{}, spoil: func(r *replay.Report) {
			r.Over = []replay.Overlong{{Call: 7, Turn: 2, Tokens: 1_001, KeptTokens: 300}}
		}, text: "call 7 in turn 2 has 1001 tokens, over the limit of 1000, although only 300 must stay raw"},
		{rule: "facts", checker: replay.Checker{}, spoil: func(r *replay.Report) { r.Lost = []string{"XK7P2"} }, text: `"XK7P2"`},
		{rule: "questions", checker: replay.Checker{MinKept: 80}, spoil: func(r *replay.Report) { r.Facts, r.Unanswered = facts, []string{"who?"} }, text: `3 of 4 questions (75.0%, want 80.0%); the first that it does not: "who?"`},
		{rule: "savings", checker: replay.Checker{MinSaved: 60}, spoil: func(r *replay.Report) { r.SavedPercent = 50 }, text: "saved 50.0% of the prompt tokens, want 60.0%"},
	} {
		r := good
		x.spoil(&r)
		err := x.checker.Check(&r)
		if x.rule == "" {
			if err != nil {
				t.Errorf("%+v is refused: %v", r, err)
			}
			continue
		}
		var e *replay.CheckError
		if !errors.As(err, &e) || len(e.Failures) != 1 || e.Failures[0].Rule != x.rule || !strings.Contains(e.Failures[0].Text, x.text) {
			t.Errorf("%s: got %v, want %q", x.rule, err, x.text)
			continue
		}
		if want := "conversation c, policy \"p\":\n  " + x.rule + ": "; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %q, want it to begin with %q", x.rule, err, want)
		}
	}
	r := good
	r.Hidden, r.Problems, r.Lost = 23, []string{"one"}, []string{"x", "y"}
	if got := strings.Count(replay.Checker{}.Check(&r).Error(), "\n  "); got != 4 {
		t.Errorf("%d failures, want one violation, the number of the others, and two facts", got)
	}
}

func TestFactsAreFoundInMessagesSummariesAndInstruction(t *testing.T) {
	t.Parallel()
	c := chat(20)
	report, err := replay.Play(t.Context(), c, policy(100_000), replay.Options{Facts: []string{"kindly", "TOWN 19", "question 0"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Compactions) == 0 || len(report.Lost) != 0 {
		t.Errorf("%d compactions; lost %q, want none: the extractive summarizer quotes", len(report.Compactions), report.Lost)
	}
	forgetful := policy(100_000)
	forgetful.Config.MaxLedgerTokens = compaction.Off // the values behind the summary would have the question
	forgetful.Config.Summarizer = summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
		text := "They talked about the weather in several towns, and it was sunny at first."
		return summarizer.Result{Content: genai.NewContentFromText(text, genai.RoleModel)}, nil
	})
	report, err = replay.Play(t.Context(), c, forgetful, replay.Options{Facts: []string{"question 0", "town 19", "sunny"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"question 0"}; !slices.Equal(report.Lost, want) {
		t.Errorf("lost %q, want %q", report.Lost, want)
	}
	whole := policy(100_000)
	whole.When = replay.Never
	report, err = replay.Play(t.Context(), c, whole, replay.Options{Facts: []string{"question 0"}})
	if err != nil || len(report.Lost) != 0 {
		t.Errorf("without compaction the facts %q are lost, %v", report.Lost, err)
	}
}

func TestAFactThatWasNeverSaidIsRefused(t *testing.T) {
	t.Parallel()
	played := 0
	for _, fact := range []string{"XK7P2", "quest", " "} {
		_, err := replay.Play(t.Context(), chat(3), policy(100_000), replay.Options{Facts: []string{"question 0", fact}, Progress: func(n int) { played += n }})
		if err == nil || !strings.Contains(err.Error(), "is nowhere in conversation chat") || played > 0 {
			t.Errorf("fact %q: %d messages played, then %v", fact, played, err)
		}
	}
}

// An unknown model name is refused instead of getting an assumed window.
func TestTheWindowOfAPolicyComesFromItsRegistry(t *testing.T) {
	t.Parallel()
	registry, err := tokens.NewRegistry(tokens.Model{Name: "house-model", ContextWindow: 7_000})
	if err != nil {
		t.Fatal(err)
	}
	llm := compactiontest.NewModel("house-model", nil)
	for name, x := range map[string]struct {
		change func(*compaction.Config)
		want   int // 0: refused
	}{
		"agent model": {func(cfg *compaction.Config) { cfg.AgentModel = "house-model" }, 7_000},
		"function": {func(cfg *compaction.Config) {
			cfg.AgentModelFunc = func(context.Context, compaction.SessionRef) string { return "house-model" }
		}, 7_000},
		"summary model": {func(cfg *compaction.Config) { cfg.Summarizer, cfg.Model = nil, model.LLM(llm) }, 7_000},
		"number":        {func(cfg *compaction.Config) { cfg.AgentModel, cfg.ContextWindow = "house-model", 9_000 }, 9_000},
		"unknown":       {func(cfg *compaction.Config) { cfg.AgentModel = "nobody-knows" }, 0},
	} {
		p := policy(0)
		p.Config.Registry = registry
		x.change(&p.Config)
		r, err := replay.Play(t.Context(), chat(1), p, replay.Options{})
		switch {
		case x.want == 0 && (err == nil || !strings.Contains(err.Error(), "context window is unknown")):
			t.Errorf("%s: played with %v", name, err)
		case x.want > 0 && (err != nil || r.Limit != x.want):
			t.Errorf("%s: %v, %+v; want a limit of %d", name, err, r, x.want)
		}
	}
}

func TestTheAppsOwnObserverIsCalled(t *testing.T) {
	t.Parallel()
	p, stored := policy(100_000), 0
	p.Config.Observer = func(_ context.Context, o compaction.Observation) {
		if o.Outcome == compaction.Stored {
			stored++
		}
	}
	if r := compare(t, chat(20), p)[0]; stored == 0 || stored != len(r.Compactions) {
		t.Errorf("the observer saw %d compactions, the report has %d", stored, len(r.Compactions))
	}
}
