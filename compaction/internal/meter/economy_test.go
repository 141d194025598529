package meter

import (
	"math"
	"slices"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// priced are limits of the economical trigger for a model of those prices per million tokens.
func priced(input, cached, output float64) *Limits {
	m := tokens.Model{Name: "priced", InputPrice: input, CachedInputPrice: cached, OutputPrice: output}
	return &Limits{Model: m.Name, SummaryTokens: 500, HardLimit: 1 << 40, Prices: PricesOf(m, &m), Retain: 10, MaxSummaries: 5}
}

// bill is what a session costs: what is removable is paid with each call.
type bill struct {
	limits  *Limits
	history account
	at      time.Time
	paid    float64
	fired   int
}

func newBill(l *Limits) *bill {
	return &bill{limits: l, history: account{retain: l.Retain}, at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func answer(at time.Time) *session.Event {
	return &session.Event{Author: "bot", Timestamp: at, LLMResponse: model.LLMResponse{Content: genai.NewContentFromText("x", genai.RoleModel)}}
}

// call plays one call that adds an event of so many tokens, after a time.
func (b *bill) call(size int, after time.Duration) {
	b.at = b.at.Add(after)
	a, p := &b.history, b.limits.Prices
	price := a.reading(p)
	ev := answer(b.at)
	if a.calls > 0 && (after > cacheLife) {
		price = p.Input
	}
	b.paid += price*float64(a.raw+a.summaries) + (p.Input-price)*float64(size)
	a.add(ev, size, true, b.limits)
}

// compact plays a compaction. A merge keeps the number of summaries where it is.
func (b *bill) compact() {
	b.paid += b.history.economy(b.limits).Price
	b.fired++
	tail, calls := b.history.tailed, b.history.calls
	a := account{retain: b.limits.Retain, last: b.history.last, now: b.history.now, model: b.history.model, calls: calls}
	a.seen, a.tail, a.raw, a.tailed = b.history.seen, b.history.tail, tail, tail
	a.summaries, a.shown = min(b.history.summaries+b.limits.SummaryTokens, b.limits.MaxSummaries*b.limits.SummaryTokens), min(b.history.shown+1, b.limits.MaxSummaries)
	b.history = a
}

// economical plays so many calls with compactions where they pay.
func economical(l *Limits, calls int, growth func(call int) int) *bill {
	b := newBill(l)
	for i := range calls {
		b.call(growth(i), time.Second)
		if b.history.economy(l).Due() {
			b.compact()
		}
	}
	return b
}

// hindsight is the cheapest of all fixed thresholds for the same calls, and none.
func hindsight(l *Limits, calls int, growth func(call int) int) float64 {
	best := -1.0
	for threshold := 1_000; ; threshold += max(200, threshold/5) {
		b := newBill(l)
		for i := range calls {
			b.call(growth(i), time.Second)
			if b.history.raw-b.history.tailed >= threshold {
				b.compact()
			}
		}
		if best < 0 || b.paid < best {
			best = b.paid
		}
		if b.fired == 0 {
			return best
		}
	}
}

// A rule that does not know how long a session goes on costs more than the best threshold that is known only when
// it is over. It never costs twice as much, and normally hardly any more.
func TestTheEconomicalTriggerIsCloseToTheBestThresholdInHindsight(t *testing.T) {
	t.Parallel()
	for _, calls := range []int{20, 100, 300} {
		var ratios []float64
		for _, growth := range []int{20, 200, 1_000, 5_000} {
			for _, share := range []float64{0.1, 0.25, 0.5, 1} {
				for _, output := range []float64{2, 5, 10} {
					for _, uneven := range []bool{false, true} {
						l := priced(2, 2*share, 2*output)
						steps := func(call int) int {
							if !uneven {
								return growth
							}
							return growth/4 + 15*growth/4*((call*7919>>3)%5/4)
						}
						got := economical(l, calls, steps)
						ratio := got.paid / hindsight(l, calls, steps)
						ratios = append(ratios, ratio)
						if ratio > 2 {
							t.Errorf("%d calls of %d tokens, cached %v of input, output %v times: %.3f of the best threshold, %d compactions", calls, growth, share, output, ratio, got.fired)
						}
					}
				}
			}
		}
		slices.Sort(ratios)
		median, worst := ratios[len(ratios)/2], ratios[len(ratios)-1]
		if median > 1.1 {
			t.Errorf("%d calls: median %.3f of the best threshold, worst %.3f", calls, median, worst)
		}
	}
}

func TestADecisionByPriceAllocatesNothing(t *testing.T) {
	b := newBill(priced(2, 0.2, 10))
	for range 1_000 {
		b.call(400, time.Second)
	}
	ev, due := answer(b.at), false
	if n := testing.AllocsPerRun(1_000, func() {
		b.history.add(ev, 400, true, b.limits)
		due = b.history.economy(b.limits).Due()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if !due {
		t.Error("400,000 tokens are not worth a summary")
	}
}

func BenchmarkADecisionByPrice(b *testing.B) {
	bill := newBill(priced(2, 0.2, 10))
	ev := answer(bill.at)
	b.ReportAllocs()
	for b.Loop() {
		bill.history.add(ev, 400, true, bill.limits)
		_ = bill.history.economy(bill.limits).Due()
	}
}

func TestPricesThatCannotBeRight(t *testing.T) {
	t.Parallel()
	full := tokens.Model{InputPrice: 2, CachedInputPrice: 0.5, OutputPrice: 10}
	assumed := Prices{usual.InputPrice / 1e6, usual.CachedInputPrice / 1e6, usual.InputPrice / 1e6, usual.OutputPrice / 1e6, true}
	for _, r := range []struct {
		name   string
		change func(m *tokens.Model)
		want   Prices
	}{
		{"all known", func(*tokens.Model) {}, Prices{2e-6, 0.5e-6, 2e-6, 10e-6, false}},
		{"no cached price", func(m *tokens.Model) { m.CachedInputPrice = 0 }, Prices{2e-6, 2e-6, 2e-6, 10e-6, false}},
		{"a cached price above that of input", func(m *tokens.Model) { m.CachedInputPrice = 3 }, Prices{2e-6, 2e-6, 2e-6, 10e-6, false}},
		{"a negative cached price", func(m *tokens.Model) { m.CachedInputPrice = -1 }, Prices{2e-6, 2e-6, 2e-6, 10e-6, false}},
		{"no input price", func(m *tokens.Model) { m.InputPrice = 0 }, assumed},
		{"a negative input price", func(m *tokens.Model) { m.InputPrice = -2 }, assumed},
		{"no output price", func(m *tokens.Model) { m.OutputPrice = 0 }, assumed},
	} {
		m := full
		r.change(&m)
		if got := PricesOf(m, &m); got != r.want {
			t.Errorf("%s: %+v, want %+v", r.name, got, r.want)
		}
		if got := PricesOf(m, nil); got.SummaryInput != 0 || got.SummaryOutput != 0 || got.Assumed != r.want.Assumed {
			t.Errorf("%s, without a model for summaries: %+v", r.name, got)
		}
	}
	for name, got := range map[string]Prices{"summaries": PricesOf(full, &tokens.Model{}), "an agent": PricesOf(tokens.Model{}, &full)} {
		if want := PricesOf(full, &full); got != want {
			t.Errorf("%s without a price: %+v, want %+v", name, got, want)
		}
	}
}

func TestSummariesArePricedAsTheModelThatWritesThem(t *testing.T) {
	t.Parallel()
	registry, err := tokens.NewRegistry(
		tokens.Model{Name: "big", InputPrice: 10, CachedInputPrice: 1, OutputPrice: 50},
		tokens.Model{Name: "little", InputPrice: 1, OutputPrice: 2},
		tokens.Model{Name: "local", ContextWindow: 8_000},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		summaries     string
		free          bool
		input, output float64
	}{
		{"", false, 10e-6, 50e-6}, {"little", false, 1e-6, 2e-6}, {"local", false, 10e-6, 50e-6},
		{"unheard-of", false, 10e-6, 50e-6}, {"", true, 0, 0},
	} {
		c := Config{Registry: registry, BlockRatio: 0.98, MaxSummaries: 5, ByPrice: true, Retain: 10, SummaryModel: r.summaries, FreeSummaries: r.free}
		got := c.Limits("big").Prices
		if want := (Prices{10e-6, 1e-6, r.input, r.output, false}); got != want {
			t.Errorf("summaries by %q: %+v, want %+v", r.summaries, got, want)
		}
		if unpriced := c.Limits("local"); unpriced.Prices.Assumed != (r.summaries != "little") || !unpriced.RetainsHalf {
			t.Errorf("a model without prices, summaries by %q: %+v", r.summaries, unpriced)
		}
		c.ByPrice = false
		if off := c.Limits("big"); off.Prices.Decide() || off.Retain != 0 || off.MaxSummaries != 0 {
			t.Errorf("it is off: %+v", off)
		}
	}
}

// After 5 minutes without a call, with another model, and before the first call, all of a prompt is read anew. A
// clock that goes back makes no cache expire, and neither does the first event after it went forward again.
func TestACompactionIsCheaperOnceTheCacheHasExpired(t *testing.T) {
	t.Parallel()
	l := priced(2, 0.2, 10)
	story := func(after time.Duration) Economy {
		b := newBill(l)
		for range 100 {
			b.call(300, time.Second)
		}
		user := &session.Event{Author: "user", Timestamp: b.at.Add(after)}
		b.history.add(user, 10, false, l)
		return b.history.economy(l)
	}
	warm := story(time.Minute)
	for _, r := range []struct {
		after   time.Duration
		expired bool
	}{{5 * time.Minute, false}, {5*time.Minute + time.Second, true}, {30 * 24 * time.Hour, true}, {-time.Hour, false}, {-30 * 24 * time.Hour, false}} {
		got := story(r.after)
		if got.CacheExpired != r.expired {
			t.Errorf("after %v: expired %t", r.after, got.CacheExpired)
		}
		if r.expired && (got.Price >= warm.Price || got.Held <= warm.Held || got.Saving <= warm.Saving) {
			t.Errorf("after %v: %+v, within a minute %+v", r.after, got, warm)
		}
		if !r.expired && got != warm {
			t.Errorf("after %v: %+v, want %+v", r.after, got, warm)
		}
	}
	other := *l
	other.Model = "another"
	b := newBill(l)
	for range 100 {
		b.call(300, time.Second)
	}
	if !b.history.economy(&other).CacheExpired {
		t.Error("another model reads the cache of the one before")
	}
	b.limits = &other
	b.call(300, time.Second)
	if b.history.economy(&other).CacheExpired {
		t.Error("the other model's own prompt is not in its cache")
	}
	if empty := newBill(l).history.economy(l); empty.CacheExpired || empty.Due() || empty.Held != 0 {
		t.Errorf("before the first call: %+v", empty)
	}
}

// Reported cached tokens replace the assumption that all of a prompt is read from the cache.
func TestTheProvidersReportOfItsCacheCounts(t *testing.T) {
	t.Parallel()
	l := priced(2, 0.2, 10)
	reading := func(reports ...[2]int32) float64 {
		b := newBill(l)
		for i, r := range reports {
			ev := answer(b.at.Add(time.Duration(i) * time.Second))
			ev.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: r[0], CachedContentTokenCount: r[1]}
			b.history.add(ev, 100, true, l)
		}
		return b.history.reading(l.Prices) * 1e6
	}
	for _, r := range []struct {
		name    string
		reports [][2]int32
		want    float64
	}{
		{"no report", nil, 0.2},
		{"never cached", [][2]int32{{1000, 0}, {1100, 0}, {1200, 0}}, 0.2},
		{"all cached", [][2]int32{{1000, 0}, {1100, 1000}, {1200, 1100}}, 0.2},
		{"half cached", [][2]int32{{1000, 0}, {1000, 500}}, 1.1},
		{"cached, and then no more", [][2]int32{{1000, 0}, {1000, 1000}, {1000, 0}}, 1.1},
		{"more cached than there was", [][2]int32{{1000, 0}, {1000, 1000}, {1000, 90_000}}, 0.2},
		{"more cached than prompt", [][2]int32{{1000, 0}, {100, 900}}, 0.38},
		{"negative", [][2]int32{{1000, 0}, {1000, -5}, {-7, 3}}, 0.2},
	} {
		if got := reading(r.reports...); got < r.want-1e-9 || got > r.want+1e-9 {
			t.Errorf("%s: %v, want %v", r.name, got, r.want)
		}
	}
}

// The newest events stay raw, so they are not removable. Events of other branches, of the user, of tools and of
// remote agents are no calls.
func TestWhatACompactionWouldRemove(t *testing.T) {
	t.Parallel()
	l := priced(2, 0.2, 10)
	l.Retain = 3
	a := account{retain: l.Retain}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, size := range []int{1_000, 2_000, 4_000, 8_000, 16_000} {
		a.add(answer(at), size, i != 1, l)
	}
	user, tool, remote := answer(at), answer(at), answer(at)
	user.Author = "user"
	tool.Content = genai.NewContentFromFunctionResponse("find", nil, genai.RoleUser)
	remote.CustomMetadata = map[string]any{"a2a:task_id": "1"}
	for _, ev := range []*session.Event{user, tool, remote} {
		a.add(ev, 10, IsCall(adk.Classify(ev)), l)
	}
	got := a.economy(l)
	if got.Calls != 4 || got.Window != 31_000 || got.Removable != 30_500 {
		t.Errorf("%+v; want 4 calls, a window of 31,000 and 30,500 removable", got)
	}
	l.RetainTokens = 1_000
	if bounded := a.economy(l); bounded != got {
		t.Errorf("%+v; want %+v: the three newest events have 30 tokens", bounded, got)
	}
	l.RetainTokens = 10
	if bounded := a.economy(l); bounded.Window != 31_020 || bounded.Removable != 30_520 {
		t.Errorf("%+v; want a window of 31,020: only ten tokens stay raw", bounded)
	}
	l.RetainsHalf, l.RetainTokens = true, 1_000
	if bounded := a.economy(l); bounded != got || a.mayStayRaw(l) != 1_000 {
		t.Errorf("%+v and at most %d raw; want %+v and 1,000", bounded, a.mayStayRaw(l), got)
	}
	halved := account{retain: l.Retain}
	halved.add(answer(at), 300, true, l)
	halved.add(answer(at), 600, true, l)
	if window, most := halved.window(l), halved.mayStayRaw(l); window != 450 || most != 450 {
		t.Errorf("a window of %d, and at most %d raw, want half of 900", window, most)
	}
	if empty := (&account{}).mayStayRaw(l); empty != 1 {
		t.Errorf("at most %d tokens of an empty history stay raw, want 1: 0 would be no limit", empty)
	}
	l.RetainsHalf, l.RetainTokens = false, 0
	if (Prompt{Economy: got}).PaysFor(got.Window) != got.Due() {
		t.Errorf("the whole window is judged otherwise: %+v", got)
	}
}

// Events that must stay raw leave less of a window, save nothing, and are read anew behind each new summary.
func TestASmallerWindowIsPricedAsWhatItIs(t *testing.T) {
	t.Parallel()
	whole := Economy{Priced: true, Removable: 900, Window: 1_000, MinWindow: 500, Held: 10, Threshold: 5, Saving: 10, Price: 5, PriceRegular: 4}
	for name, of := range map[string]struct {
		change func(p *Prompt)
		want   map[int]bool
	}{
		"less than the least": {func(p *Prompt) {}, map[int]bool{1_000: true, 600: true, 499: false, 50: false, 0: false}},
		"520 tokens save 4.67 and cost 4.52, 480 save 4.22 and cost 4.48": {func(p *Prompt) { p.Economy.MinWindow = 0 }, map[int]bool{520: true, 480: false, 100: false}},
		"too little has gathered of all":                                  {func(p *Prompt) { p.Economy.Held = 4.9 }, map[int]bool{1_000: false}},
		"too little has gathered of the window":                           {func(p *Prompt) { p.Economy.Saving, p.Economy.Held = 100, 6 }, map[int]bool{1_000: true, 800: false}},
		"one that is not the first does not wait for the price of its window": {
			func(p *Prompt) { p.Economy.Saving, p.Economy.Held, p.Economy.Threshold = 100, 6, 4 }, map[int]bool{800: true, 600: false},
		},
		"the rest is read anew":              {func(p *Prompt) { p.anew = 0.01 }, map[int]bool{1_000: true, 950: true, 800: true, 700: false}},
		"the rest would be read in any case": {func(p *Prompt) { p.anew = 0 }, map[int]bool{700: true}},
	} {
		p := Prompt{Economy: whole}
		of.change(&p)
		for window, want := range of.want {
			if p.PaysFor(window) != want {
				t.Errorf("%s: a window of %d: %t", name, window, !want)
			}
		}
	}
}

func TestCallsLeftIsWhenTheTriggerFires(t *testing.T) {
	t.Parallel()
	l := priced(2, 0.2, 10)
	b := newBill(l)
	for range 20 {
		b.call(300, time.Second)
	}
	want := b.history.callsLeft(l)
	if want <= 0 {
		t.Fatalf("%d calls left", want)
	}
	calls := 0
	for ; !b.history.economy(l).Due(); calls++ {
		b.call(300, time.Second)
	}
	if calls < want-1 || calls > want+1 {
		t.Errorf("fired after %d calls, foretold were %d", calls, want)
	}
	if left := b.history.callsLeft(l); left != 0 {
		t.Errorf("due, and %d calls left", left)
	}
	if left := (&account{retain: 10}).callsLeft(l); left != -1 {
		t.Errorf("an empty session: %d calls left", left)
	}
	if left := b.history.callsLeft(limits()); left != -1 {
		t.Errorf("without prices: %d calls left", left)
	}
}

func TestAllConditionsMustHold(t *testing.T) {
	t.Parallel()
	due := Economy{Priced: true, Removable: 900, Window: 1_000, Held: 5, Threshold: 5, Saving: 5, Price: 5, PriceRegular: 4}
	if !due.Due() {
		t.Error("both hold, and it is not due")
	}
	for name, change := range map[string]func(e *Economy){
		"too little gathered":     func(e *Economy) { e.Held = 4.9 },
		"too little to be had":    func(e *Economy) { e.Saving = 4.9 },
		"nothing to remove":       func(e *Economy) { e.Removable = 0 },
		"too little to summarize": func(e *Economy) { e.MinWindow = 1_001 },
	} {
		e := due
		if change(&e); e.Due() {
			t.Errorf("%s: due", name)
		}
	}
}

func TestACallWithAnEarlierClockExpiresNoCache(t *testing.T) {
	t.Parallel()
	l := priced(2, 0.2, 10)
	b := newBill(l)
	for range 20 {
		b.call(300, time.Second)
	}
	b.history.add(answer(b.at.Add(-time.Hour)), 300, true, l)
	b.history.add(&session.Event{Author: "user", Timestamp: b.at.Add(time.Second)}, 10, false, l)
	if b.history.economy(l).CacheExpired {
		t.Error("the cache has expired within a second")
	}
}

// A session that has not been compacted may be a short one.
func TestTheFirstWindowMustBeTwiceAsLong(t *testing.T) {
	t.Parallel()
	l := priced(2, 0.2, 10)
	a := account{retain: l.Retain}
	first := a.economy(l).MinWindow
	a.addSummary(&record.Metadata{EventCount: 2}, 500)
	if later := a.economy(l).MinWindow; first != 20*l.SummaryTokens || later != 10*l.SummaryTokens {
		t.Errorf("the first %d, a later one %d; want 10,000 and 5,000", first, later)
	}
}

// With as many summaries as a branch may show, a compaction merges two of them first.
func TestACompactionThatMergesCostsMore(t *testing.T) {
	t.Parallel()
	l := priced(2, 0.2, 10)
	price := func(summaries int) float64 {
		a := account{retain: l.Retain}
		for range summaries {
			a.addSummary(&record.Metadata{EventCount: 2}, 500)
		}
		a.add(answer(time.Now()), 10_000, true, l)
		return a.economy(l).PriceRegular
	}
	if one, four, five := price(1), price(4), price(5); one != four || five < 1.4*four {
		t.Errorf("one summary %v, four %v, five %v", one, four, five)
	}
}

// A window that the summarizer reads in pieces takes a call for each, and each reads what the one before has written.
func TestAWindowReadInPiecesCostsMore(t *testing.T) {
	t.Parallel()
	price := func(window, piece int) float64 {
		l := priced(2, 0.2, 10)
		l.PieceTokens = piece
		a := account{retain: 0}
		a.add(answer(time.Now()), window, true, l)
		return a.economy(l).Price
	}
	const perPiece = (2*(400+500) + 10*500) / 1e6
	for _, of := range []struct{ window, piece, more int }{{10_000, 0, 0}, {10_000, 10_000, 0}, {10_001, 10_000, 1}, {10_000, 3_000, 3}, {0, 10, 0}} {
		got, want := price(of.window, of.piece)-price(of.window, 0), float64(of.more)*perPiece
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%d tokens, %d at a time: %v more than in one call, want %v", of.window, of.piece, got, want)
		}
	}
}

// What was held before a compaction was planned is paid off. An event that had to stay raw is no debt of the next.
func TestACompactionPaysOffWhatWasHeldBeforeIt(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(30, "bot")
	planned := record.RefTo(h.Last())
	h.Compact("s", "e1", "e2").Amend(func(m *record.Metadata) { m.Through, m.EventCount = planned, 2 })
	s := NewSession(priced(2, 0.2, 10), &learned.Facts{}, nil)
	l := *s.Limits()
	l.SummaryTokens = 1
	s.SetLimits(&l)
	v := view.New(h.Events)
	m := New(v, s)
	before := m.Prompt("").Economy
	if before.Held != 0 || before.Removable == 0 || before.Calls != 30 {
		t.Errorf("%+v; want nothing held, and 30 calls", before)
	}
	ev := answer(h.Last().Timestamp.Add(time.Second))
	ev.ID = "later"
	v.Append(ev)
	if after := m.Prompt("").Economy; after.Held <= 0 {
		t.Errorf("after another call: %+v", after)
	}
}

func TestPricesThatBecomeKnownCountForTheWholeView(t *testing.T) {
	t.Parallel()
	unpriced := *priced(2, 0.2, 10)
	unpriced.Prices, unpriced.Retain, unpriced.MaxSummaries = Prices{}, 0, 0
	s := NewSession(&unpriced, &learned.Facts{}, nil)
	m := New(view.New((&ct.History{}).Turns(30, "bot").Events), s)
	if got := m.Prompt("").Economy; got != (Economy{}) {
		t.Errorf("without prices: %+v", got)
	}
	s.SetLimits(priced(2, 0.2, 10))
	if got := m.Prompt("").Economy; !got.Priced || got.Calls != 30 {
		t.Errorf("with prices: %+v", got)
	}
}
