package main

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/tokens"
)

func runEconomy(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestSyntheticSessionsAreComparedWithTheBestThreshold(t *testing.T) {
	t.Parallel()
	code, out, errs := runEconomy(t, "-data=", "-calls=150")
	if code != 0 || strings.Contains(errs, "want") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if rows := strings.Count(out, "\n| "); rows != 1+len(growths)*len(cached) {
		t.Errorf("%d rows:\n%s", rows, out)
	}
	shares := regexp.MustCompile(`\d\.\d{3}`).FindAllString(out, -1)
	if len(shares) != len(growths)*len(cached)*len(outputs)+2 { // the median and the worst, too
		t.Errorf("%d shares:\n%s", len(shares), out)
	}
	for _, share := range shares {
		if n, err := strconv.ParseFloat(share, 64); err != nil || n < 0.9 || n > 3 {
			t.Errorf("%s of the best threshold cannot be right:\n%s", share, out)
		}
	}
}

func TestSharesAreComparedWithTheGoalsOfLongSessions(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		calls         int
		median, worst float64
		want          string
	}{
		{goalCalls, 1.1, 2, ""},
		{goalCalls, 1.11, 2, "synthetic sessions: median 1.110 of the best threshold, want at most 1.1"},
		{goalCalls, 1.1, 2.01, "synthetic sessions: worst 2.010 of the best threshold, want at most 2.0"},
		{goalCalls - 1, 2, 3, ""},
	} {
		if got := strings.Join(missedShares(of.calls, of.median, of.worst), "\n"); got != of.want {
			t.Errorf("%+v: %q", of, got)
		}
	}
}

func TestArgumentsThatCannotBeRight(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-calls=-1"}, {"-calls=0", "-data="}, {"more"}, {"-unknown"}} {
		if code, _, errs := runEconomy(t, args...); code != 2 || errs == "" {
			t.Errorf("%q: exit code %d, %q", args, code, errs)
		}
	}
	if code, _, errs := runEconomy(t, "-data=nowhere"); code != 1 || !strings.Contains(errs, "-data must name a folder") {
		t.Errorf("a folder that does not exist: exit code %d, %q", code, errs)
	}
}

// A bill is what all requests cost, and what the agent's model would have asked for the summaries.
func TestABillHasRequestsAndSummaries(t *testing.T) {
	t.Parallel()
	m := tokens.Model{InputPrice: 2, CachedInputPrice: 0.5, OutputPrice: 10}
	b := bill{
		sent:      replay.Sent{PromptTokens: 3_000_000, CachedTokens: 2_000_000, OutputTokens: 100_000},
		summaries: replay.Summaries{PromptTokens: 500_000, OutputTokens: 10_000},
	}
	if got, want := b.dollars(m), 2+1+1+1+0.1; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("$%v, want $%v", got, want)
	}
	l := ledger{anew: 1_000_000, again: 2_000_000, read: 500_000, written: 10_000}
	if got, want := l.dollars(m), 2+1+1+0.1; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("$%v, want $%v", got, want)
	}
}

func TestAMissedGoalIsNamed(t *testing.T) {
	t.Parallel()
	dollar := func(n int) bill { return bill{sent: replay.Sent{PromptTokens: n * 1_000_000}} }
	fixed := make([]bill, len(thresholds))
	for i := range fixed {
		fixed[i] = dollar(20)
	}
	fixed[3] = dollar(8)
	all := []bills{
		{id: "a", without: dollar(10), fixed: fixed, byPrices: []bill{{sent: dollar(9).sent, compactions: 2}}},
		{id: "b", without: dollar(10), fixed: fixed, byPrices: []bill{dollar(11)}},
	}
	r := compare(set{name: "talks", ofBest: 1.2, ofNone: 1, ofNoneEach: 1.05}, all, 0, tokens.Model{Name: "m", InputPrice: 1, OutputPrice: 1})
	if r.best != 16 || r.threshold != thresholds[3] || r.priced != 20 || r.without != 20 || r.worstID != "b" || r.compactions != 2 || r.compacted != 1 {
		t.Errorf("%+v", r)
	}
	got := strings.Join(missedGoals([]row{r}), "\n")
	const want = "talks at the prices of m: 1.250 of the best threshold, want at most 1.20\n" +
		"talks at the prices of m: 1.100 of no compaction in conversation b, want at most 1.05"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Whoever writes summaries for less makes a conversation cheaper, and compaction by price knows what they cost.
func TestSummariesArePricedAsTheirWriters(t *testing.T) {
	t.Parallel()
	c := &conversation.Conversation{ID: "long"}
	for range 60 {
		c.Turns = append(c.Turns, conversation.Turn{User: text(genai.RoleUser, 1_000), Steps: []conversation.Step{{Answer: text(genai.RoleModel, 1_000)}}})
	}
	rows, err := compareWriters(t.Context(), []*conversation.Conversation{c})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(models) {
		t.Errorf("%d rows, want one for each of %v", len(rows), models)
	}
	for i, r := range rows {
		if r.model != models[i] || !(0 < r.less && r.less < r.own) || !(0 < r.warm && r.warm < r.own) {
			t.Errorf("%+v", r)
		}
	}
	var out strings.Builder
	printWriters(&out, []writerRow{{model: "a", small: "b", own: 2, less: 1, warm: 1.5}})
	if want := "| a | $2.0000 | $1.0000 (b) | 0.500 | $1.5000 | 0.750 |\n"; !strings.Contains(out.String(), want) {
		t.Errorf("%s\nwant %s", out.String(), want)
	}
}
