package meter

import (
	"strings"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/tokens"
)

func TestTheTokenTriggerWaitsForTheFloor(t *testing.T) {
	t.Parallel()
	s := newSession()
	size := func(n int) Prompt { return Prompt{Likely: n, AtMost: n, ratio: 1} }
	s.learned.Windows.RaiseFloor("", 7_700)
	s.learned.Windows.DeferUntil("", 7_900)
	for _, r := range []struct {
		size       int
		due, quiet bool
	}{
		{7_699, false, true},
		{7_700, true, true},
		{7_900, true, false},
		{9_800, true, false},  // the hard limit
		{6_999, false, false}, // under the threshold: the floor is gone
		{7_000, true, false},
	} {
		due, quiet := s.IsDue("", size(r.size)), s.IsQuiet("", size(r.size))
		if due != r.due || quiet != r.quiet {
			t.Errorf("%d tokens: due %t, quiet %t, floor %d; want %t and %t", r.size, due, quiet, s.learned.Windows.Floor(""), r.due, r.quiet)
		}
	}
}

func TestPressureOfAnEvent(t *testing.T) {
	t.Parallel()
	words := func(n int) string { return strings.Repeat("word ", n) }
	for _, r := range []struct {
		name  string
		story func(h *ct.History)
		want  Pressure
	}{
		{"a short answer", func(h *ct.History) { h.Agent("inv1", "bot", words(5_000)) }, None},
		{"a long answer", func(h *ct.History) { h.Agent("inv1", "bot", words(7_500)) }, OverThreshold},
		{"a very long answer", func(h *ct.History) { h.Agent("inv1", "bot", words(9_500)) }, OverLimit},
		{"a call", func(h *ct.History) { h.Agent("inv1", "bot", words(7_500)).Call("inv1", "bot", "find", "c1") }, None},
		{"an answer elsewhere", func(h *ct.History) {
			h.Branch("a").Agent("inv1", "a", words(7_500)).Branch("b").Agent("inv1", "b", "Yes.")
		}, None},
		{"a question after it", func(h *ct.History) {
			h.Branch("a").Agent("inv1", "a", words(7_500)).Branch("").User("inv2", "And now?")
		}, OverThreshold},
	} {
		h := &ct.History{}
		r.story(h)
		m := New(view.New(h.Events), newSession())
		if got := m.Pressure(h.Last().Branch, adk.Classify(h.Last())); got != r.want {
			t.Errorf("%s: pressure %d at %+v, want %d", r.name, got, m.Prompt(""), r.want)
		}
		if over := m.AnyOverLimit(); over != (r.want == OverLimit) {
			t.Errorf("%s: over the limit %t", r.name, over)
		}
	}
}

func TestLimitsFollowFromTheModel(t *testing.T) {
	t.Parallel()
	priced, err := tokens.NewRegistry(tokens.Model{Name: "home-made", InputPrice: 1, OutputPrice: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		name   string
		config Config
		model  string
		want   Limits
	}{
		{"a known model", Config{SafetyRatio: 0.7, BlockRatio: 0.98, MaxSummaries: 5, MaxSummaryTokens: 500}, "gemini-2.5-flash",
			Limits{Model: "gemini-2.5-flash", ContextWindow: 1_048_576, Reply: 65_536, Threshold: 688_128, HardLimit: 963_379,
				Capacity: 1_048_576, Margin: 19_661, SummaryTokens: 500, AllSummaries: 722_534, RetainTokens: 344_064}},
		{"an unknown one", Config{BlockRatio: 0.98, TokenThreshold: 5_000, MaxSummaries: 5, MaxSummaryTokens: 500, MaxLedgerTokens: 700, UserTokens: 400, UserTokensWithTools: 2_000}, "home-made",
			Limits{Model: "home-made", Assumed: true, ContextWindow: 128_000, Reply: 8_192, Threshold: 5_000, HardLimit: 117_411,
				Capacity: 128_000, Margin: 2_397, SummaryTokens: 500, LedgerTokens: 625, UserTokens: 400, UserTokensWithTools: 416, AllSummaries: 88_058, RetainTokens: 2_500}},
		{"one of which only the price is known", Config{BlockRatio: 0.98, Registry: priced, TokenThreshold: 5_000, MaxSummaries: 5, MaxSummaryTokens: 500}, "home-made",
			Limits{Model: "home-made", Assumed: true, ContextWindow: 128_000, Reply: 8_192, Threshold: 5_000, HardLimit: 117_411,
				Capacity: 128_000, Margin: 2_397, SummaryTokens: 500, AllSummaries: 88_058, RetainTokens: 2_500}},
		{"a small window that the caller set", Config{BlockRatio: 0.98, ContextWindow: 1_000, MaxOutputTokens: 200, MaxSummaries: 5, MaxSummaryTokens: 500}, "home-made",
			Limits{Model: "home-made", ContextWindow: 1_000, Reply: 200, HardLimit: 784, Capacity: 800, Margin: 16, SummaryTokens: 48, AllSummaries: 588, RetainTokens: 392}},
		{"no reserve", Config{BlockRatio: 0.98, ContextWindow: 1_000, MaxOutputTokens: -1, MaxSummaries: 1, MaxSummaryTokens: 500, RetainTokens: 300}, "",
			Limits{ContextWindow: 1_000, HardLimit: 980, Capacity: 1_000, Margin: 20, SummaryTokens: 303, AllSummaries: 735, RetainTokens: 300}},
		{"nothing bounds what stays raw", Config{BlockRatio: 0.98, ContextWindow: 1_000, MaxOutputTokens: -1, MaxSummaries: 1, MaxSummaryTokens: 500, RetainTokens: -1}, "",
			Limits{ContextWindow: 1_000, HardLimit: 980, Capacity: 1_000, Margin: 20, SummaryTokens: 303, AllSummaries: 735}},
	} {
		if got := *r.config.Limits(r.model); got != r.want {
			t.Errorf("%s:\n%+v, want\n%+v", r.name, got, r.want)
		}
	}
}
