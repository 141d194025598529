package compaction_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// economical is a config that compacts where that pays, with a model that costs 2 dollars for a million tokens of
// input, 20 cents if they are cached, and 10 dollars for output.
func economical(t *testing.T) (compaction.Config, *compactiontest.Oracle, *notes) {
	t.Helper()
	registry, err := tokens.NewRegistry(
		tokens.Model{Name: "priced", ContextWindow: 1_000_000, InputPrice: 2, CachedInputPrice: 0.2, OutputPrice: 10},
		tokens.Model{Name: "dear", ContextWindow: 1_000_000, InputPrice: 20, CachedInputPrice: 20, OutputPrice: 20},
	)
	if err != nil {
		t.Fatal(err)
	}
	cfg, oracle := oracleConfig()
	seen := &notes{}
	cfg.Registry, cfg.AgentModel, cfg.InvocationThreshold, cfg.Observer = registry, "priced", 0, seen.Observe
	return cfg, oracle, seen
}

// longTalk makes turns of about so many tokens each, a second apart.
func longTalk(turns, tokens int) *compactiontest.History {
	h := &compactiontest.History{}
	start := time.Now().Add(-time.Hour)
	for i := range turns {
		h.Turn(fmt.Sprint("inv", i), "agent", words(tokens/2), words(tokens/2))
	}
	for i, ev := range h.Events {
		ev.Timestamp = start.Add(time.Duration(i) * time.Second)
	}
	return h
}

func TestEconomicalCompactsWhenItPays(t *testing.T) {
	t.Parallel()
	cfg, _, seen := economical(t)
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := longTalk(120, 1_000)
	for i := 0; i < len(h.Events); i += 2 {
		before := status(t, svc).Economy
		stored := len(seen.of(compaction.Stored))
		appendAll(t, svc, sess, h.Events[i:i+2]...)
		fired := len(seen.of(compaction.Stored)) > stored
		if fired && before.CallsLeft > 2 {
			t.Errorf("turn %d: it fired although %d calls were left: %+v", i/2, before.CallsLeft, before)
		}
		if after := status(t, svc); after.Economy.Due() || after.PromptTokens > after.TokenThreshold/2 {
			t.Fatalf("turn %d: due and not compacted: %+v", i/2, after.Economy)
		}
	}
	compactions := seen.of(compaction.Stored)
	if len(compactions) < 3 || len(compactions) > 20 {
		t.Fatalf("%d compactions in 120 turns", len(compactions))
	}
	for i, o := range compactions {
		if o.Trigger == record.TriggerMerge {
			continue
		}
		if o.Trigger != record.TriggerTokens || !o.Economy.Due() || o.Economy.Held <= 0 || o.Economy.Price <= 0 || o.Economy.Calls == 0 {
			t.Errorf("compaction %d: by %s, %+v", i, o.Trigger, o.Economy)
		}
	}
	if first := compactions[0].Economy; first.Threshold != first.Price {
		t.Errorf("the first waits for %v, want its price %v", first.Threshold, first.Price)
	}
	got := status(t, svc).Economy
	if !got.Priced || got.Model != "priced" || got.Spent <= 0 || got.Saved <= got.Spent {
		t.Errorf("%+v; want more saved than spent", got)
	}
	if settings := svc.Settings(); !settings.ByPrice || settings.InvocationThreshold != 0 {
		t.Errorf("settings %+v", settings)
	}
	again := newService(t, svc.Unwrap(), cfg)
	if other := status(t, again).Economy; other != got {
		t.Errorf("another process sees\n%+v, this one\n%+v", other, got)
	}
}

// A short session pays for no summary.
func TestEconomicalLeavesShortSessionsAlone(t *testing.T) {
	t.Parallel()
	cfg, oracle, _ := economical(t)
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), longTalk(20, 60).Events...)
	flush(t, svc)
	if n := len(oracle.Requests()); n != 0 {
		t.Errorf("%d summaries", n)
	}
	got := status(t, svc).Economy
	if !got.Priced || got.Due() || got.Calls != 20 || got.Spent != 0 || got.Saved != 0 {
		t.Errorf("%+v", got)
	}
}

// No call pays more for what stays raw than for what waits to be summarized, unless the caller set a limit.
func TestEconomicalLeavesHalfRaw(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		retain int
		holds  func(raw, window int) bool
	}{
		"by default":      {0, func(raw, window int) bool { return raw <= window }},
		"without a limit": {compaction.Off, func(raw, _ int) bool { return raw >= 9*4_000 }},
		"with a limit":    {9_000, func(raw, _ int) bool { return raw > 7_000 && raw <= 9_000 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, _, seen := economical(t)
			cfg.AgentModel, cfg.RetainTokens = "dear", of.retain
			svc := newService(t, session.InMemoryService(), cfg)
			sess := create(t, svc)
			compactions := 0
			for _, ev := range longTalk(40, 8_000).Events {
				appendAll(t, svc, sess, ev)
				stored := seen.of(compaction.Stored)
				if len(stored) == compactions {
					continue
				}
				compactions = len(stored)
				raw := 0
				for shown := range get(t, svc).Events().All() {
					if size := tokens.OfContent(shown.Content); size > 1_000 { // no summary
						raw += size
					}
				}
				if o := stored[compactions-1]; o.Trigger == record.TriggerTokens && !of.holds(raw, o.TokensBefore) {
					t.Errorf("compaction %d of %d tokens left %d raw", compactions, o.TokensBefore, raw)
				}
			}
			if compactions < 3 {
				t.Errorf("%d compactions", compactions)
			}
		})
	}
}

// The token trigger stays an upper bound.
func TestEconomicalKeepsTheTokenThreshold(t *testing.T) {
	t.Parallel()
	cfg, _, seen := economical(t)
	cfg.TokenThreshold, cfg.RetainEvents = 3_000, 2
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), longTalk(4, 1_000).Events...)
	flush(t, svc)
	stored := seen.of(compaction.Stored)
	if len(stored) == 0 || stored[0].Economy.Due() {
		t.Errorf("compactions %+v; want one by tokens alone", stored)
	}
}

// Without prices, their usual ratios decide as prices of these ratios do, and the log says so once.
func TestEconomicalWithoutPricesGoesByTheirUsualRatios(t *testing.T) {
	t.Parallel()
	usual, err := tokens.NewRegistry(tokens.Model{Name: "usual", InputPrice: 30, CachedInputPrice: 3, OutputPrice: 240})
	if err != nil {
		t.Fatal(err)
	}
	play := func(t *testing.T, change func(cfg *compaction.Config)) (compactions []int, _ compaction.EconomyStatus, log string) {
		t.Helper()
		cfg, _, seen := economical(t)
		out := &strings.Builder{}
		cfg.Logger, cfg.ContextWindow = slog.New(slog.NewTextHandler(out, nil)), 1_000_000
		change(&cfg)
		svc := newService(t, session.InMemoryService(), cfg)
		sess := create(t, svc)
		for i, ev := range longTalk(120, 1_000).Events {
			appendAll(t, svc, sess, ev)
			for len(compactions) < len(seen.of(compaction.Stored)) {
				compactions = append(compactions, i)
			}
		}
		return compactions, status(t, svc).Economy, out.String()
	}
	want, priced, _ := play(t, func(cfg *compaction.Config) { cfg.Registry, cfg.AgentModel = usual, "usual" })
	if len(want) < 2 {
		t.Fatalf("%d compactions at the usual ratios: the test shows nothing", len(want))
	}
	for name, change := range map[string]func(cfg *compaction.Config){
		"no agent model":    func(cfg *compaction.Config) { cfg.AgentModel = "" },
		"an unknown model":  func(cfg *compaction.Config) { cfg.AgentModel = "home-made" },
		"a window, no more": func(cfg *compaction.Config) { cfg.AgentModel = "gemini" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var model string
			got, economy, log := play(t, func(cfg *compaction.Config) { change(cfg); model = cfg.AgentModel })
			if !slices.Equal(got, want) {
				t.Errorf("compacts after events %v, want %v", got, want)
			}
			if economy.Priced || economy.Saving <= 0 || math.Abs(economy.Saving*30-priced.Saving) > 1e-9 || economy.CallsLeft != priced.CallsLeft || economy.Model != model {
				t.Errorf("%+v\nat prices of these ratios: %+v", economy, priced)
			}
			if economy.Spent != 0 || economy.Saved != 0 {
				t.Errorf("spent %v and saved %v of an unknown price", economy.Spent, economy.Saved)
			}
			if n := strings.Count(log, "no prices are known"); n != 1 {
				t.Errorf("the log says so %d times:\n%s", n, log)
			}
		})
	}
}

// A model that is dearer, and that has nothing of the prompt in its cache, makes a compaction pay at once.
func TestEconomicalFollowsTheAgentsModel(t *testing.T) {
	t.Parallel()
	cfg, _, seen := economical(t)
	current := "priced"
	cfg.AgentModel, cfg.AgentModelFunc = "", nil
	cfg.AgentModelFunc = func(_ context.Context, _ compaction.SessionRef) string { return current }
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := longTalk(30, 1_000)
	appendAll(t, svc, sess, h.Events[:36]...)
	if n := len(seen.of(compaction.Stored)); n != 0 {
		t.Fatalf("%d compactions before the change: the test shows nothing", n)
	}
	current = "dear"
	appendAll(t, svc, sess, h.Events[36:38]...)
	if stored := seen.of(compaction.Stored); len(stored) == 0 || !stored[0].Economy.Due() {
		t.Errorf("the dear model reads all of the history: %+v\n%+v", status(t, svc).Economy, seen.all())
	}
}

// What must stay raw is not worth a summary of the rest, and every event that follows must not start a job.
func TestEconomicalDoesNotSummarizeTooLittle(t *testing.T) {
	t.Parallel()
	cfg, oracle, seen := economical(t)
	pinned := 0
	cfg.Pin = func(ev *session.Event) bool {
		pinned++
		return ev.InvocationID != "inv0"
	}
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := longTalk(120, 1_000)
	h.Events[0].Content, h.Events[1].Content = genai.NewContentFromText(words(150), genai.RoleUser), genai.NewContentFromText(words(150), genai.RoleModel)
	appendAll(t, svc, sess, h.Events...)
	flush(t, svc)
	if n := len(oracle.Requests()); n != 0 {
		t.Errorf("%d summaries of 300 tokens", n)
	}
	if got := status(t, svc); !got.Economy.Due() || got.Due || !strings.Contains(got.Reason, "not worth the price") {
		t.Errorf("due %t, because %q: %+v", got.Due, got.Reason, got.Economy)
	}
	if n := len(seen.of(compaction.Declined)); n > 100 {
		t.Errorf("%d jobs found nothing to do in 240 events", n)
	}
	if pinned == 0 {
		t.Error("no job looked for a window: the test shows nothing")
	}
}

// A session that is resumed after a month has nothing in any cache: its first prompt is read anew.
func TestEconomicalKnowsThatAResumedSessionIsNotCached(t *testing.T) {
	t.Parallel()
	cfg, _, seen := economical(t)
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := longTalk(22, 1_000)
	appendAll(t, svc, sess, h.Events...)
	got := status(t, svc).Economy
	if n := len(seen.of(compaction.Stored)); n != 0 || got.CacheExpired {
		t.Fatalf("%d compactions, cache expired %t: the test shows nothing", n, got.CacheExpired)
	}
	h.User("later", "And now?")
	h.Last().Timestamp = time.Now().Add(30 * 24 * time.Hour)
	appendAll(t, svc, sess, h.Last())
	if stored := seen.of(compaction.Stored); len(stored) == 0 || !stored[0].Economy.CacheExpired {
		t.Errorf("no compaction before the prompt is read anew: %+v", status(t, svc).Economy)
	}
}

// summarized is a talk of 20 turns in a branch whose first ten turns have so many records, and ten short turns in another
// branch.
func summarized(records int, branch, other string) *compactiontest.History {
	h := longTalk(20, 1_000)
	for _, ev := range h.Events {
		ev.Branch = branch
	}
	covered := compactiontest.IDs(h.Events[:20])
	for i := range records {
		h.Compact(fmt.Sprint("r", i), covered...).Amend(func(m *record.Metadata) {
			m.OriginalTokens, m.CompactedTokens = 10_000, 300
			m.Usage = record.Usage{PromptTokens: 10_000, OutputTokens: 300}
		})
	}
	h.Branch(other)
	for i := range 10 {
		h.Turn(fmt.Sprint("later", i), "agent", "Go on.", "I do.")
	}
	return h
}

// economyOfStored is what a service says of a stored history.
func economyOfStored(t *testing.T, h *compactiontest.History) compaction.EconomyStatus {
	t.Helper()
	cfg, _, _ := economical(t)
	inner := session.InMemoryService()
	appendAll(t, inner, create(t, inner), h.Events...)
	return status(t, newService(t, inner, cfg)).Economy
}

// wantSaved compares what was saved with so many calls that did not read 9,700 tokens, at 20 cents for a million.
func wantSaved(t *testing.T, name string, got compaction.EconomyStatus, calls float64) {
	t.Helper()
	if want := calls * 9_700 * 0.2 / 1e6; math.Abs(got.Saved-want) > 1e-9 {
		t.Errorf("%s: saved %.6f, want %.6f", name, got.Saved, want)
	}
}

// Two processes that summarize the same window pay twice, and save once. So do summaries that a merge has absorbed.
func TestEconomicalCountsASavingOnce(t *testing.T) {
	t.Parallel()
	one := economyOfStored(t, summarized(1, "", ""))
	wantSaved(t, "one record", one, 10)
	for _, n := range []int{2, 3} {
		got := economyOfStored(t, summarized(n, "", ""))
		wantSaved(t, fmt.Sprint(n, " records of one window"), got, 10)
		if got.Spent < one.Spent+float64(n-1)*0.02 {
			t.Errorf("%d records: spent %v, want 2 cents for each besides %v", n, got.Spent, one.Spent)
		}
	}
	merged := summarized(1, "", "").Merge("merged", "r0").Amend(func(m *record.Metadata) {
		m.OriginalTokens, m.CompactedTokens = 10_000, 300
	})
	for range 10 {
		merged.Turn("last", "agent", "Go on.", "I do.")
	}
	wantSaved(t, "a merge", economyOfStored(t, merged), 20)
}

// A call saves what its agent would have read: nothing of a branch beside its own.
func TestEconomicalCountsWhatACallWouldHaveRead(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		branch, other string
		calls         float64
	}{
		{"", "", 10}, {"fan.a", "fan.a", 10}, {"fan.a", "", 10}, {"", "fan.a", 10}, {"fan", "fan.a", 10},
		{"fan.a", "fan.b", 0}, {"fan.a", "fan.aa", 0}, {"fan.a", "fan", 0},
	} {
		got := economyOfStored(t, summarized(1, of.branch, of.other))
		wantSaved(t, fmt.Sprintf("a summary in branch %q, calls in %q", of.branch, of.other), got, of.calls)
	}
}

// What must stay raw is read anew behind each new summary. The more of it there is, the fewer compactions pay, and those
// that come save more than they cost.
func TestEconomicalPricesWhatMustStayRaw(t *testing.T) {
	t.Parallel()
	before := math.MaxInt
	for _, size := range []int{0, 10_000, 50_000, 200_000} {
		cfg, _, seen := economical(t)
		cfg.Pin = func(ev *session.Event) bool { return ev.InvocationID == "inv0" }
		svc := newService(t, session.InMemoryService(), cfg)
		h := longTalk(200, 600)
		if size > 0 {
			h.Events[0].Content = genai.NewContentFromText(words(size), genai.RoleUser)
		}
		appendAll(t, svc, create(t, svc), h.Events...)
		flush(t, svc)
		stored, declined, got := len(seen.of(compaction.Stored)), len(seen.of(compaction.Declined)), status(t, svc).Economy
		if stored == 0 || stored >= before {
			t.Errorf("%d tokens pinned: %d compactions, %d with fewer", size, stored, before)
		}
		if got.Saved < 2*got.Spent {
			t.Errorf("%d tokens pinned: saved %.3f, spent %.3f", size, got.Saved, got.Spent)
		}
		if declined > 100 {
			t.Errorf("%d tokens pinned: %d jobs found nothing to do in 400 events", size, declined)
		}
		before = stored
	}
}

// limitedOracle reads so many tokens in one call.
type limitedOracle struct {
	*compactiontest.Oracle
	most int
}

func (l limitedOracle) MaxInputTokens() int { return l.most }

// A summarizer that cannot read in one call what is worth a summary is called several times in a row: one call alone
// would not pay, because the prompt is read anew after each.
func TestEconomicalSummarizesInSeveralCallsWhatOneCannotRead(t *testing.T) {
	t.Parallel()
	for _, most := range []int{2_000, 4_608} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			t.Parallel()
			cfg, oracle, seen := economical(t)
			cfg.Summarizer = limitedOracle{oracle, most}
			svc := newService(t, session.InMemoryService(), cfg)
			sess := create(t, svc)
			events := longTalk(200, 600).Events
			for _, ev := range events { // short messages: nothing of them may be cut
				ev.Content.Parts[0].Text = words(50)
			}
			for i := 0; i < len(events); i += 20 {
				appendAll(t, svc, sess, events[i:i+20]...)
				if got := status(t, svc); got.Economy.Due() || strings.Contains(got.Reason, "not worth") {
					t.Fatalf("event %d: %q, %+v", i, got.Reason, got.Economy)
				}
			}
			flush(t, svc)
			if got := status(t, svc); len(seen.of(compaction.Stored)) == 0 || got.Economy.Saved < got.Economy.Spent {
				t.Errorf("%d compactions: %+v", len(seen.of(compaction.Stored)), got.Economy)
			}
			for _, o := range seen.of(compaction.Stored) {
				if o.Trigger == record.TriggerTokens && !o.Economy.Due() {
					t.Errorf("a compaction that does not pay: %+v", o.Economy)
				}
			}
		})
	}
}
