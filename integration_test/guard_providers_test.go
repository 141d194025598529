package integration_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// sightings is an observer that keeps what a guard reports.
type sightings struct {
	mu   sync.Mutex
	seen []guard.Observation
}

func (s *sightings) Observe(_ context.Context, o guard.Observation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, o)
}

// of returns the observations of a kind.
func (s *sightings) of(t *testing.T, g *guard.Guard, kind guard.ObservationKind) []guard.Observation {
	t.Helper()
	if err := g.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.seen), func(o guard.Observation) bool { return o.Kind != kind })
}

// One answer of a provider costs what it says, and no answer makes a session richer.
func TestOddCountsOfAProviderNeverMakeASessionRicher(t *testing.T) {
	t.Parallel()
	type counts = genai.GenerateContentResponseUsageMetadata
	for name, odd := range map[string]*counts{
		"none":              nil,
		"zero":              {},
		"negative":          {PromptTokenCount: -1_000_000, CandidatesTokenCount: -1_000_000, TotalTokenCount: -2_000_000},
		"more cached":       {PromptTokenCount: 10, CachedContentTokenCount: 1_000_000},
		"negative cached":   {PromptTokenCount: 10, CachedContentTokenCount: -1_000_000},
		"negative thoughts": {PromptTokenCount: 10, ThoughtsTokenCount: -1_000_000, CandidatesTokenCount: 10},
		"as many as fit":    {PromptTokenCount: math.MaxInt32, CandidatesTokenCount: math.MaxInt32, ThoughtsTokenCount: math.MaxInt32, ToolUsePromptTokenCount: math.MaxInt32},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				seen := &sightings{}
				g := guardOf(t, guard.Config{Session: guard.Limits{ModelCalls: 12}, Landing: guard.LandingHard, Observer: seen.Observe})
				service := session.InMemoryService()
				llm := &tireless{name: pricedModel}
				var last tokens.Nano
				llm.usage = func(n int) *counts {
					if n%2 == 0 {
						return odd
					}
					return &counts{PromptTokenCount: 1000, CandidatesTokenCount: 10}
				}
				s := guardShapes()[0]
				s.stream = stream
				llm.during = func(ctx context.Context, _ int) error {
					used, err := g.Usage(ctx, service, ref)
					if err == nil && (used.USD < last || used.Tokens.PromptTokens < 0 || used.Tokens.OutputTokens < 0 || used.Tokens.CachedTokens < 0) {
						t.Errorf("the ledger fell from %v to %+v", last, used)
					}
					last = used.USD
					return nil
				}
				r := guardedRunner(t, service, s, llm, g)
				p := guardedTurn(t, t.Context(), r, ref, s.runConfig(), 0)
				checkStop(t, stopOf(p), guard.ModelCalls, guard.ScopeSession)
				used, err := g.Usage(t.Context(), service, ref)
				if err != nil || llm.count() != 12 || used.ModelCalls != 12 || used.USD < 6*callPrice(t) || used.Tokens.PromptTokens < 6*1000 {
					t.Errorf("after %d calls the ledger has %+v (%v)", llm.count(), used, err)
				}
				silent := odd == nil || odd.PromptTokenCount <= 0 && odd.CandidatesTokenCount <= 0
				if unmetered := seen.of(t, g, guard.Unmetered); silent != (len(unmetered) == 1) || len(unmetered) > 1 {
					t.Errorf("reported without counts: %+v", unmetered)
				}
			})
		}
	}
}

// Absurd counts reach a ceiling in money at once instead of wrapping around.
func TestAbsurdCountsReachTheCeiling(t *testing.T) {
	t.Parallel()
	llm := &tireless{name: pricedModel, usage: func(int) *genai.GenerateContentResponseUsageMetadata {
		return &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: math.MaxInt32, CandidatesTokenCount: math.MaxInt32}
	}}
	g, service := guardOf(t, guard.Config{Session: guard.Limits{USD: 20 * tokens.Dollar}, Landing: guard.LandingHard}), session.InMemoryService()
	p := guardedTurn(t, t.Context(), guardedRunner(t, service, guardShapes()[0], llm, g), ref, agent.RunConfig{}, 0)
	checkStop(t, stopOf(p), guard.CostCeiling, guard.ScopeSession)
	if llm.count() != 1 {
		t.Errorf("%d calls", llm.count())
	}
}

// A model without a price is never free in silence.
func TestAModelWithoutAPriceIsReportedRefusedOrPriced(t *testing.T) {
	t.Parallel()
	const calls = 10
	for _, policy := range []guard.UnpricedPolicy{guard.UnpricedWarn, guard.UnpricedRefuse, guard.UnpricedAs} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			seen := &sightings{}
			cfg := guard.Config{Session: guard.Limits{USD: callPrice(t) * calls, ModelCalls: 3 * calls}, Landing: guard.LandingHard, Unpriced: policy, Observer: seen.Observe}
			if policy == guard.UnpricedAs {
				cfg.PriceAs = pricedModel
			}
			g, service, llm := guardOf(t, cfg), session.InMemoryService(), &tireless{name: "house-model-7"}
			p := guardedTurn(t, t.Context(), guardedRunner(t, service, guardShapes()[0], llm, g), ref, agent.RunConfig{}, 0)
			used, err := g.Usage(t.Context(), service, ref)
			if err != nil {
				t.Fatal(err)
			}
			reported := len(seen.of(t, g, guard.Unpriced))
			switch policy {
			case guard.UnpricedWarn:
				checkStop(t, stopOf(p), guard.ModelCalls, guard.ScopeSession)
				if reported != 1 || !slices.Equal(used.Unpriced, []string{"house-model-7"}) || llm.count() != 3*calls || used.Tokens.PromptTokens != 3*calls*1000 {
					t.Errorf("reported %d times, %+v", reported, used)
				}
			case guard.UnpricedRefuse:
				var refused *guard.UnpricedError
				if !errors.As(p.err(), &refused) || refused.Model != "house-model-7" || llm.count() != 0 {
					t.Errorf("the turn ends with %v after %d calls", p.err(), llm.count())
				}
			case guard.UnpricedAs:
				checkStop(t, stopOf(p), guard.CostCeiling, guard.ScopeSession)
				if llm.count() != calls || used.USD != callPrice(t)*calls {
					t.Errorf("%d calls for %v", llm.count(), used.USD)
				}
			}
		})
	}
}

// The clock of a guard decides, and not the tool's readiness to end.
func TestAToolThatIgnoresItsContextDoesNotOutrunTheWallTime(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	ran := 0
	slow := pinTool(t, "look", func() {
		mu.Lock()
		defer mu.Unlock()
		ran++
		now = now.Add(time.Minute)
	})
	for _, scope := range []guard.Scope{guard.ScopeTurn, guard.ScopeSession} {
		ran = 0
		cfg := guard.Config{Landing: guard.LandingHard, Now: clock}
		limit := guard.Limits{Wall: 5*time.Minute - time.Second}
		if scope == guard.ScopeTurn {
			cfg.Turn = limit
		} else {
			cfg.Session = limit
		}
		g, service, llm := guardOf(t, cfg), session.InMemoryService(), &tireless{name: pricedModel}
		r := runnerOf(t, service, guardShapes()[0].build(t, g.Model(llm), slow), g.Plugin())
		p := guardedTurn(t, t.Context(), r, ref, agent.RunConfig{}, 0)
		checkStop(t, stopOf(p), guard.WallTime, scope)
		if llm.count() != 5 || ran != 5 {
			t.Errorf("%s: %d calls, %d tools", scope, llm.count(), ran)
		}
		checkStored(t, getBare(t, service))
	}
}

// dearModel writes summaries that cost more than any ceiling of these tests.
type dearModel struct{ calls atomic.Int32 }

func (*dearModel) Name() string { return pricedModel }

func (m *dearModel) GenerateContent(context.Context, *modelRequest, bool) iter.Seq2[*modelResponse, error] {
	return func(yield func(*modelResponse, error) bool) {
		m.calls.Add(1)
		answer := compactiontest.Say("Much was said about it.")
		answer.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 1_000_000, CandidatesTokenCount: 1000, TotalTokenCount: 1_001_000}
		yield(answer, nil)
	}
}

// A summary is counted and never refused, and the agent's next call is.
func TestASummarizerDearerThanTheCeilingIsPaidOnceAndStopsTheSession(t *testing.T) {
	t.Parallel()
	dear := &dearModel{}
	cfg := compaction.DefaultConfig()
	cfg.Model, cfg.Synchronous, cfg.InvocationThreshold = dear, true, 3
	price, _ := tokens.Lookup(pricedModel)
	summary := price.Nanos(tokens.Usage{PromptTokens: 1_000_000, OutputTokens: 1000})
	g := guardOf(t, guard.Config{Session: guard.Limits{USD: summary}, Landing: guard.LandingHard})
	cfg.Observer = g.Compactions(nil)
	svc, err := compaction.NewCompactionService(storages.InMemory().Open(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close(context.Background()) })
	llm := &tireless{name: pricedModel, says: func(string, int, *modelRequest) *modelResponse {
		return compactiontest.Say(strings.Repeat("Much was said about it. ", 400))
	}}
	r := guardedRunner(t, svc, guardShapes()[0], llm, g)
	var p played
	turns := 0
	for p.err() == nil && turns < 60 {
		p = guardedTurn(t, t.Context(), r, ref, agent.RunConfig{}, 0)
		turns++
	}
	checkStop(t, stopOf(p), guard.CostCeiling, guard.ScopeSession)
	used, err := g.Usage(t.Context(), svc, ref)
	if err != nil {
		t.Fatal(err)
	}
	if dear.calls.Load() != 1 || used.Summaries.Calls != 1 || used.Summaries.USD != summary || used.USD != summary+callPrice(t)*tokens.Nano(llm.count()) {
		t.Errorf("%d summaries, %d agent calls, %+v", dear.calls.Load(), llm.count(), used)
	}
}
