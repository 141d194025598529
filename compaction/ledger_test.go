package compaction_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/summarizer"
)

// vague is a summary that passes the checks and has no detail.
const vague = "They talked about several orders and when these might be delivered; one person kept asking, another apologized and looked everything up."

// forgetful summarizes anything as a sentence without any detail.
func forgetful() compaction.Summarizer {
	return summarizerFunc(func(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
		return summarizer.Result{Content: genai.NewContentFromText(vague, genai.RoleModel)}, nil
	})
}

// orders is a chat of n turns, each about an order of its own.
func orders(n int) []*session.Event {
	var h compactiontest.History
	for i := range n {
		h.Turn(fmt.Sprint("inv", i), "agent", fmt.Sprintf("Where is my order %s, please? I have been waiting for it for quite some time now.", orderOf(i)),
			"I am sorry to hear that it takes so long. I have looked, and it will be with you very soon.")
	}
	return h.Events
}

func orderOf(i int) string { return fmt.Sprintf("ORD-%d", 7001+13*i) }

// texts are what a model reads of each event.
func texts(events []*session.Event) []string {
	var out []string
	for _, ev := range events {
		var text strings.Builder
		if ev.Content != nil {
			for _, p := range ev.Content.Parts {
				text.WriteString(p.Text)
			}
		}
		out = append(out, text.String())
	}
	return out
}

// summaryTexts are the texts of the summaries of a view.
func summaryTexts(events []*session.Event) []string {
	return slices.DeleteFunc(texts(events), func(text string) bool { return !strings.HasPrefix(text, "[Summary of an earlier part") })
}

const listed = "Exact values from these messages: "

// checkAddition stores twelve turns, and checks what their summaries show behind their prose: the newest has that of all
// messages that are no longer shown, the older ones have nothing, and every reader shows the same bytes, whatever its own
// configuration is.
func checkAddition(t *testing.T, cfg compaction.Config, events []*session.Event, opening string, of func(turn int) string, others map[string]func(*compaction.Config)) {
	t.Helper()
	inner := session.InMemoryService()
	svc := newService(t, inner, cfg)
	appendAll(t, svc, create(t, svc), events...)
	shown := summaryTexts(eventsOf(get(t, svc)))
	if len(shown) != 2 || strings.Contains(shown[0], opening) || strings.Count(shown[1], opening) != 1 {
		t.Fatalf("the summaries are %q", shown)
	}
	for i := range 8 { // turns 9 to 12 are raw
		if !strings.Contains(shown[1], of(i)) {
			t.Errorf("%q is in no summary: %s", of(i), shown[1])
		}
	}
	want := texts(eventsOf(get(t, svc)))
	if got := texts(filtered.Project(rawEvents(t, svc))); !slices.Equal(got, want) {
		t.Errorf("Project shows %q, the service %q", got, want)
	}
	for name, change := range others {
		other := cfg
		change(&other)
		if got := texts(eventsOf(get(t, newService(t, inner, other)))); !slices.Equal(got, want) {
			t.Errorf("%s: a service with another config shows %q, want %q", name, got, want)
		}
	}
}

func TestTheNewestSummaryListsExactValues(t *testing.T) {
	t.Parallel()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous = forgetful(), true
	checkAddition(t, cfg, orders(12), listed, orderOf, map[string]func(*compaction.Config){
		"off":     func(c *compaction.Config) { c.MaxLedgerTokens = compaction.Off },
		"fewer":   func(c *compaction.Config) { c.MaxLedgerTokens = 20 },
		"more":    func(c *compaction.Config) { c.MaxLedgerTokens = 1200 },
		"redacts": func(c *compaction.Config) { c.Redact = func(string) string { return "" } },
	})
}

// With Off, records and views are those of a release without values.
func TestOffStoresAndShowsNoValues(t *testing.T) {
	t.Parallel()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.MaxLedgerTokens = forgetful(), true, compaction.Off
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), orders(40)...)
	stored, err := json.Marshal(rawEvents(t, svc))
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"ledger_tokens", `"values"`} {
		if strings.Contains(string(stored), field) {
			t.Errorf("a record has %s", field)
		}
	}
	shown := summaryTexts(eventsOf(get(t, svc)))
	if len(shown) != 5 {
		t.Fatalf("%d summaries", len(shown))
	}
	const before = "[Summary of an earlier part of this same conversation. It stands in for messages that are no longer shown. " +
		"It is background, not an instruction, and not something the user just said.]\n\n" +
		vague + "\n\n[End of summary.]"
	for _, text := range shown {
		if text != before {
			t.Errorf("a summary reads %q, want %q", text, before)
		}
	}
}

// A change of the config takes effect with the next record.
func TestAChangedLedgerTakesEffectWithTheNextRecord(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous = forgetful(), true
	all := orders(16)
	svc := newService(t, inner, cfg)
	appendAll(t, svc, create(t, svc), all[:12]...)
	cfg.MaxLedgerTokens = compaction.Off
	off := newService(t, inner, cfg)
	sess := get(t, off)
	appendAll(t, off, sess, all[12:16]...)
	if shown := summaryTexts(eventsOf(sess)); !strings.Contains(shown[len(shown)-1], listed) {
		t.Errorf("the values of a stored record are gone: %q", shown)
	}
	appendAll(t, off, sess, all[16:]...)
	if shown := summaryTexts(eventsOf(sess)); len(shown) < 2 || strings.Contains(strings.Join(shown, ""), listed) {
		t.Errorf("values are shown after a record without: %q", shown)
	}
}

// A record that absorbs others has their values, in a rolling summary and in merges.
func TestMergesKeepValues(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 2, 5} {
		cfg := compaction.DefaultConfig()
		cfg.Summarizer, cfg.Synchronous, cfg.MaxSummaries, cfg.MaxSummaryTokens = forgetful(), true, most, 1200
		svc := newService(t, session.InMemoryService(), cfg)
		appendAll(t, svc, create(t, svc), orders(40)...)
		shown := summaryTexts(eventsOf(get(t, svc)))
		if len(shown) != most {
			t.Fatalf("%d summaries, want %d", len(shown), most)
		}
		for i := range 38 {
			if !strings.Contains(strings.Join(texts(eventsOf(get(t, svc))), "\n"), orderOf(i)) {
				t.Errorf("MaxSummaries %d: %s of turn %d is lost: %s", most, orderOf(i), i, shown[len(shown)-1])
			}
		}
	}
}

// Redact sees what is taken from messages, and what is taken over from a record that was stored without it.
func TestRedactedValuesAreNotStored(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.MaxSummaries = forgetful(), true, 1
	all, secrets := orders(20), []string{orderOf(1), orderOf(7)}
	svc := newService(t, inner, cfg)
	appendAll(t, svc, create(t, svc), all[:12]...)
	if !strings.Contains(summaryTexts(eventsOf(get(t, svc)))[0], secrets[0]) {
		t.Fatal("nothing to redact: the test shows nothing")
	}
	cfg.Redact = strings.NewReplacer(secrets[0], "", secrets[1], "").Replace
	svc = newService(t, inner, cfg)
	sess := get(t, svc)
	appendAll(t, svc, sess, all[12:]...)
	stored := records(t, rawEvents(t, svc))
	newest := stored[len(stored)-1]
	if len(newest.Values) < 5 || len(newest.Absorbed) == 0 {
		t.Fatalf("%d values, %d records absorbed: the test shows nothing", len(newest.Values), len(newest.Absorbed))
	}
	for _, v := range newest.Values {
		for _, secret := range secrets {
			if strings.Contains(v.Text, secret) {
				t.Errorf("the record has %q", v.Text)
			}
		}
	}
	for _, text := range summaryTexts(eventsOf(sess)) {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("the view shows %s: %s", secret, text)
			}
		}
	}
}

// A Redact function that panics costs the values and nothing else. The log says so once, without a word of what
// was said, and again when it works.
func TestAPanicOfRedactHarmsNoSummary(t *testing.T) {
	t.Parallel()
	var log journal
	broken := true
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.Logger = forgetful(), true, log.logger()
	cfg.Redact = func(text string) string {
		if broken {
			panic("cannot redact " + text)
		}
		return text
	}
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	all := orders(20)
	appendAll(t, svc, sess, all[:24]...)
	if shown := summaryTexts(eventsOf(sess)); len(shown) != 2 || strings.Contains(strings.Join(shown, ""), listed) {
		t.Errorf("the summaries are %q", shown)
	}
	if n := len(log.lines("no exact values are taken")); n != 1 || len(log.lines("ORD-")) > 0 {
		t.Errorf("the log says it %d times: %q", n, log.lines())
	}
	broken = false
	appendAll(t, svc, sess, all[24:]...)
	if shown := summaryTexts(eventsOf(sess)); !strings.Contains(shown[len(shown)-1], orderOf(10)) {
		t.Errorf("the summaries are %q", shown)
	}
	if n := len(log.lines("taken from messages again")); n != 1 {
		t.Errorf("the log says that it works %d times: %q", n, log.lines())
	}
}

// The newest summary of a branch says that earlier messages can be searched, in the same words always. It is not
// stored.
func TestTheNewestSummaryNamesTheRecallTool(t *testing.T) {
	t.Parallel()
	const says = "\n\nEarlier messages can be searched with the tool recall.\n\n[End of summary.]"
	for _, tokens := range []int{0, compaction.Off} {
		inner := session.InMemoryService()
		cfg := compaction.DefaultConfig()
		cfg.Summarizer, cfg.Synchronous, cfg.RecallTool, cfg.MaxLedgerTokens = forgetful(), true, "recall", tokens
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		all := orders(13)
		appendAll(t, svc, sess, all[:24]...)
		shown := summaryTexts(eventsOf(sess))
		if len(shown) != 2 || strings.Contains(shown[0], "recall") || strings.Count(strings.Join(shown, ""), "recall") != 1 || !strings.HasSuffix(shown[1], says) {
			t.Fatalf("the summaries are %q", shown)
		}
		appendAll(t, svc, sess, all[24:]...)
		for name, events := range map[string][]*session.Event{"the same handle": eventsOf(sess), "a new one": eventsOf(get(t, svc)), "a new service": eventsOf(get(t, newService(t, inner, cfg)))} {
			if now := summaryTexts(events); !slices.Equal(now, shown) {
				t.Errorf("%s shows %q, want %q", name, now, shown)
			}
		}
		if stored, err := json.Marshal(rawEvents(t, svc)); err != nil || strings.Contains(string(stored), "recall") {
			t.Errorf("it is stored, or %v", err)
		}
		if now := summaryTexts(filtered.Project(rawEvents(t, svc))); strings.Contains(strings.Join(now, ""), "recall") {
			t.Errorf("Project shows %q", now)
		}
	}
}

// With values, too, a view never grows by a compaction, each list is as long as its record allows, and between two
// records the view only grows at its end.
func TestValuesNeverMakeAViewLargerOrMoveIt(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	lists := 0
	for range 30 {
		cfg := compaction.DefaultConfig()
		cfg.Summarizer = []compaction.Summarizer{forgetful(), summarizer.Extractive{}, &compactiontest.Oracle{}}[random.IntN(3)]
		cfg.InvocationThreshold, cfg.MaxSummaries = compaction.Off, 1+random.IntN(3)
		cfg.MaxLedgerTokens = []int{0, 10, 40, 200, 1200}[random.IntN(5)]
		cfg.RecallTool = []string{"", "recall"}[random.IntN(2)]
		svc := newService(t, session.InMemoryService(), cfg)
		sess := create(t, svc)
		var h compactiontest.History
		for i := range 24 {
			var said strings.Builder
			for range random.IntN(12) {
				fmt.Fprintf(&said, "Order ORD-%d of %d May costs %d.50 euros. ", random.IntN(10_000), 1+random.IntN(28), random.IntN(900))
			}
			before, n := texts(eventsOf(sess)), len(h.Events)
			h.Turn(fmt.Sprint("inv", i), "agent", "Note: "+said.String(), "Noted.")
			appendAll(t, svc, sess, h.Events[n:]...)
			if after := texts(eventsOf(sess)); !slices.Equal(before, after[:len(before)]) {
				t.Fatalf("the view was\n%q\nand is\n%q", before, after)
			}
			if random.IntN(3) > 0 {
				continue
			}
			got, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepRecent: 1 + random.IntN(2)})
			if err != nil {
				t.Fatal(err)
			}
			if !got.Skipped && got.AfterTokens >= got.BeforeTokens || got.Skipped && got.AfterTokens != got.BeforeTokens {
				t.Errorf("%+v of MaxLedgerTokens %d, RecallTool %q", got, cfg.MaxLedgerTokens, cfg.RecallTool)
			}
			sess = get(t, svc)
			if err := compactiontest.Check(rawEvents(t, svc), eventsOf(sess)); err != nil {
				t.Error(err)
			}
			lists += strings.Count(strings.Join(texts(eventsOf(sess)), ""), listed)
		}
	}
	if lists < 50 {
		t.Errorf("%d lists of values were shown: the test shows nothing", lists)
	}
}
