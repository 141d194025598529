package replaycmd

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// planOf is the plan of a run with some flags.
func planOf(t *testing.T, args ...string) *plan {
	t.Helper()
	f := &flags{policy: defaultPolicy(), model: "gemini-2.5-flash", fixed: replay.FixedAuto, watchdog: "off", jobs: 1}
	for i := 0; i < len(args); i += 2 {
		for _, s := range f.settings() {
			if s.Name == args[i] {
				if err := s.Value.Set(args[i+1]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	p, err := newPlan(t.Context(), f, "", func(flag string) bool { return slices.Contains(args, flag) })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// costs returns the summary of a run over so many conversations. Sending the whole history costs one dollar for each of
// them; dollars has what the other ways cost, by their keys. A way that it does not name costs what the default does.
func costs(p *plan, conversations int, dollars map[string]float64) *summary {
	sum := newSummary(p)
	sum.complete = true
	sum.totals[0].Conversations = conversations
	for i, w := range p.ways {
		usd, named := dollars[w.key]
		if !named {
			usd = dollars[wayPrice]
		}
		t := replay.Total{Conversations: conversations, Without: replay.Sent{ModelCalls: 40, Dollars: float64(conversations)}, With: replay.Sent{Dollars: usd}}
		if usd != float64(conversations) {
			t.Compactions = 3
		}
		sum.ways[i] = compared{t, conversations}
	}
	return sum
}

func TestRecommendationIsTheSimplestOfTheCheapestWays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags         []string
		conversations int
		dollars       map[string]float64
		change        func(*summary)
		way           string
		want          []string
	}{
		"nothing pays": {conversations: 2, dollars: map[string]float64{wayPrice: 2, wayTurns: 2.8, toolResults: 2.1},
			way: wayPrice, want: []string{
				"Leave it as it is: the default adds nothing and costs nothing ($2.00 with it and without).",
				"Every 5 turns $2.80 (40% more).",
				"No other layer pays: tool results ($0.10 more)."}},
		"noise": {conversations: 2, dollars: map[string]float64{wayPrice: 1.995, wayTurns: 1.993, toolResults: 1.99, wayRecall: 1.996},
			way: wayPrice, want: []string{
				"Leave it as it is: by default these cost what they cost without compaction ($2.00 and $2.00).",
				"Every 5 turns $1.99 (the same).",
				"No other layer pays: tool results (under 0.5%) and recall (under 0.5%)."}},
		"by price": {conversations: 2, dollars: map[string]float64{wayPrice: 1.2, wayTurns: 1.5, toolResults: 1.3},
			way: wayPrice, want: []string{
				"Compact when it pays, which is the default. It saves $0.80 of $2.00 (40%), $400.00 per 1,000 conversations.",
				"Every 5 turns $1.50 (25% more).",
				"No other layer pays: tool results ($0.10 more)."}},
		"a month": {flags: []string{"per-month", "20000"}, conversations: 2, dollars: map[string]float64{wayPrice: 1.2, wayTurns: 1.5},
			way: wayPrice, want: []string{
				"Compact when it pays, which is the default. It saves $0.80 of $2.00 (40%), $8,000.00 a month at 20,000 conversations.",
				"Every 5 turns $1.50 (25% more)."}},
		"a layer": {conversations: 2, dollars: map[string]float64{wayPrice: 1.2, wayTurns: 1.5, toolResults: .8, allLayers: .797, wayRecall: 1.21, wayLedger: 1.15},
			way: toolResults, want: []string{
				"Keep the default, and add tool results (--layers toolresult). It saves $1.20 of $2.00 (60%), $600.00 per 1,000 conversations.",
				"By default $1.20 (50% more) and every 5 turns $1.50 (88% more).",
				"Layers that pay: tool results ($0.40 less); that do not: recall ($0.010 more) and exact values ($0.050 more)."}},
		"by turns": {conversations: 2, dollars: map[string]float64{wayPrice: 1.2, wayTurns: 1},
			way: wayTurns, want: []string{
				"Compact every 5 turns (--threshold 5). It saves $1.00 of $2.00 (50%), $500.00 per 1,000 conversations.",
				"By default $1.20 (20% more)."}},
		"the flags": {flags: []string{"threshold", "9"}, conversations: 2, dollars: map[string]float64{wayPrice: 1.2, wayTurns: 1.5, wayFlags: 1},
			way: wayFlags, want: []string{
				"Keep the flags of this run. It saves $1.00 of $2.00 (50%), $500.00 per 1,000 conversations.",
				"By default $1.20 (20% more) and every 5 turns $1.50 (50% more)."}},
		"a loss": {conversations: 2, dollars: map[string]float64{wayPrice: 2.2, wayTurns: 3},
			way: wayNothing, want: []string{
				"Leave compaction off for these. By default they cost $0.20 more than $2.00 without it (10%), $100.00 per 1,000 conversations.",
				"Every 5 turns $3.00 (50% more)."}},
		"too long without": {conversations: 2, dollars: map[string]float64{wayPrice: 2.2, wayTurns: 1}, change: func(s *summary) { s.overWithout, s.ways[1].Over = 5, 1 },
			way: wayPrice, want: []string{
				"Compact when it pays, which is the default. It costs $0.20 more than $2.00 without compaction (10%), $100.00 per 1,000 conversations.",
				"Every 5 turns $1.00, but with 1 prompt over the window.",
				"Without compaction 5 of 40 prompts would have exceeded the window."}},
		"lost calls": {conversations: 2, dollars: map[string]float64{wayPrice: 2, wayTurns: 1}, change: func(s *summary) { s.ways[1].Orphans = 1 },
			way: wayPrice, want: []string{
				"Leave it as it is: the default adds nothing and costs nothing ($2.00 with it and without).",
				"Every 5 turns $1.00, but with 1 broken rule."}},
		"one": {conversations: 1, dollars: map[string]float64{wayPrice: .6, wayTurns: .8},
			way: wayPrice, want: []string{
				"Compact when it pays, which is the default. It saves $0.40 of $1.00 (40%), $400.00 per 1,000 conversations.",
				"Every 5 turns $0.80 (33% more).",
				"This is one conversation: play more before you rely on it."}},
		"facts": {conversations: 2, dollars: map[string]float64{wayPrice: 1.2, wayTurns: 1.5, wayRecall: 1.21, wayLedger: 1.19}, change: func(s *summary) {
			for i := range s.ways {
				s.ways[i].Facts = &replay.Facts{Questions: 12, Kept: 9, Recalled: 12}
			}
			s.ways[len(s.ways)-1].Facts.Kept = 5
		},
			way: wayPrice, want: []string{
				"Compact when it pays, which is the default. It saves $0.80 of $2.00 (40%), $400.00 per 1,000 conversations.",
				"Every 5 turns $1.50 (25% more).",
				"No other layer pays: recall ($0.010 more, 3 answers more) and exact values ($0.010 more, 4 answers more).",
				"From the last prompt 9 of 12 questions can be answered, with recall 12."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, c.flags...)
			sum := costs(p, c.conversations, c.dollars)
			if c.change != nil {
				c.change(sum)
			}
			r := recommend(p, sum)
			if r == nil || r.Way != c.way || !slices.Equal(r.text(), c.want) {
				t.Fatalf("got %+v\n%s\nwant %s\n%s", r, strings.Join(recommended(p, sum), "\n"), c.way, strings.Join(c.want, "\n"))
			}
			for _, columns := range []int{60, 80} {
				on := &textReport{plan: p, screen: terminal.Screen{Columns: columns}}
				lines := strings.Split(strings.TrimSpace(on.recommendation(sum)), "\n")
				for _, line := range lines {
					if uniseg.StringWidth(line) > columns {
						t.Errorf("%d columns: %q is wider", columns, line)
					}
				}
			}
		})
	}
}

func TestNothingIsRecommendedFromNothing(t *testing.T) {
	t.Parallel()
	some := map[string]float64{wayPrice: 1}
	early := costs(planOf(t), 2, some)
	early.complete = false
	for name, c := range map[string]struct {
		p   *plan
		sum *summary
	}{
		"interrupted":   {planOf(t), early},
		"no input":      {planOf(t), newSummary(planOf(t))},
		"not asked for": {planOf(t, "no-recommendation", "true"), costs(planOf(t, "no-recommendation", "true"), 2, some)},
		"a grid":        {planOf(t, "grid", "threshold=3,5"), costs(planOf(t, "grid", "threshold=3,5"), 2, some)},
	} {
		if got := recommended(c.p, c.sum); got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestJSONHasTheFiguresOfTheRecommendation(t *testing.T) {
	t.Parallel()
	p := planOf(t, "per-month", "300")
	r := recommend(p, costs(p, 2, map[string]float64{wayPrice: 1.2, wayTurns: 1.5, toolResults: .8}))
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Way      string  `json:"way"`
		With     float64 `json:"with_dollars"`
		Without  float64 `json:"without_dollars"`
		Thousand float64 `json:"saved_per_1000_dollars"`
		Month    float64 `json:"saved_per_month_dollars"`
		Ways     []wayCost
		Layers   []layerCost
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	ways := map[string]float64{}
	for _, w := range got.Ways {
		ways[w.Way] = w.Dollars
	}
	if got.Way != toolResults || got.With != .8 || got.Without != 2 || int(got.Thousand+.5) != 600 || int(got.Month+.5) != 180 ||
		ways[wayNothing] != 2 || ways[wayPrice] != 1.2 || ways[wayTurns] != 1.5 || len(got.Layers) == 0 || got.Layers[0].Layer != toolResults || !got.Layers[0].Pays {
		t.Errorf("%s", data)
	}
}

// Every conversation that is played costs time.
func TestOnlyWhatCanDifferIsPlayedForTheRecommendation(t *testing.T) {
	t.Parallel()
	say := conversation.Step{Answer: genai.NewContentFromText("Done.", genai.RoleModel)}
	call := conversation.Step{Answer: say.Answer, Responses: []*genai.FunctionResponse{{Name: "look"}}}
	talk := func(declared []*genai.FunctionDeclaration, steps ...conversation.Step) *conversation.Conversation {
		return &conversation.Conversation{ID: "a", Tools: declared, Turns: []conversation.Turn{{Steps: steps}}}
	}
	declared := []*genai.FunctionDeclaration{{Name: "look"}}
	for name, c := range map[string]struct {
		flags       []string
		talk        *conversation.Conversation
		compactions int
		want        [][]string
	}{
		"a chat":         {nil, talk(nil, say), 0, [][]string{{"extractive", "turns"}}},
		"with tools":     {nil, talk(nil, call), 0, [][]string{{"extractive", "turns", "toolresult"}}},
		"declared":       {nil, talk(declared, call), 0, [][]string{{"extractive", "turns", "toolresult", "toolsearch", "all"}}},
		"with a summary": {nil, talk(nil, say), 1, [][]string{{"extractive", "turns"}, {"recall", "ledger"}}},
		"by turns":       {[]string{"threshold", "5"}, talk(nil, say), 0, [][]string{{"extractive threshold=5", "price"}}},
		"other turns":    {[]string{"threshold", "4"}, talk(nil, say), 0, [][]string{{"extractive threshold=4", "price", "turns"}}},
		"without ledger": {[]string{"no-ledger", "true"}, talk(nil, say), 1, [][]string{{"extractive no-ledger=true", "price", "turns"}, {"recall"}}},
		"recorded ones":  {[]string{"summarizer", "recorded"}, talk(nil, say), 0, [][]string{{"recorded", "price", "turns"}}},
		"turned off":     {[]string{"no-recommendation", "true"}, talk(nil, call), 1, [][]string{{"extractive"}}},
		"a grid":         {[]string{"grid", "threshold=3,4"}, talk(nil, call), 1, [][]string{{"threshold=3", "threshold=4"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var played [][]string
			r := &replaying{plan: planOf(t, c.flags...), progress: newProgress(nil, nil, true),
				compare: func(_ context.Context, _ *conversation.Conversation, policies []replay.Policy, _ replay.Options) (reports []*replay.Report, _ error) {
					var names []string
					for _, p := range policies {
						names = append(names, p.Name)
						reports = append(reports, &replay.Report{Policy: p.Name, Compactions: make([]replay.Compaction, c.compactions)})
					}
					played = append(played, names)
					return reports, nil
				}}
			reports, err := r.play(t.Context(), c.talk)
			if err != nil || !slices.EqualFunc(played, c.want, slices.Equal) {
				t.Errorf("played %q, %v; want %q", played, err, c.want)
			}
			if own := len(r.plan.policies); len(reports) != own+len(r.plan.ways) || slices.Contains(reports, nil) {
				t.Errorf("%d reports for %d policies and %d ways: %v", len(reports), own, len(r.plan.ways), reports)
			}
		})
	}
}
