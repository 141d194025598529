package compaction_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// rewording summarizes anything in words of its own, as a model does.
func rewording() compaction.Summarizer {
	return summarizerFunc(func(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
		return summarizer.Result{Content: genai.NewContentFromText(vague, genai.RoleModel), Model: "writer"}, nil
	})
}

// wishOf is what the user says in turn i.
func wishOf(i int) string { return fmt.Sprintf("Never paint wall %d blue.", 100+i) }

// wishes returns a chat of n turns. In each the user says one wish, and the agent answers at length.
func wishes(n int) []*session.Event {
	var h compactiontest.History
	for i := range n {
		h.Turn(fmt.Sprint("inv", i), "agent", wishOf(i), "I have looked at it closely. "+strings.Repeat("There is a lot to say about that wall, its age and its many colors. ", 8))
	}
	return h.Events
}

const repeated = "What the user said in these messages, word for word"

func TestTheNewestSummaryRepeatsWhatTheUserSaid(t *testing.T) {
	t.Parallel()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.MaxLedgerTokens = rewording(), true, compaction.Off
	checkAddition(t, cfg, wishes(12), repeated, func(turn int) string { return "\n- " + wishOf(turn) }, map[string]func(*compaction.Config){
		"off":     func(c *compaction.Config) { c.MaxUserTokens = compaction.Off },
		"fewer":   func(c *compaction.Config) { c.MaxUserTokens = 80 },
		"redacts": func(c *compaction.Config) { c.Redact = func(string) string { return "" } },
	})
}

// There are chats in which repeating the user would be no help, and apps that do not want it.
func TestTheUsersWordsAreNotRepeatedWhereThatIsNoHelp(t *testing.T) {
	t.Parallel()
	var monologue compactiontest.History
	for i := range 12 {
		monologue.Turn(fmt.Sprint("inv", i), "agent", wishOf(i)+strings.Repeat(" It looks much better in green, as my aunt has always said.", 8), "I see. I shall do so, and I thank you for your patience.")
	}
	for name, r := range map[string]struct {
		change func(*compaction.Config)
		events []*session.Event
	}{
		"off":                   {func(c *compaction.Config) { c.MaxUserTokens = compaction.Off }, wishes(12)},
		"no model writes":       {func(c *compaction.Config) { c.Summarizer = summarizer.Extractive{} }, wishes(12)},
		"no room for it":        {func(c *compaction.Config) { c.MaxUserTokens = 30 }, wishes(12)},
		"the user writes most":  {func(*compaction.Config) {}, monologue.Events},
		"no person wrote it":    {func(c *compaction.Config) { c.IsPerson = func(*session.Event) bool { return false } }, wishes(12)},
		"the app's hook panics": {func(c *compaction.Config) { c.IsPerson = func(*session.Event) bool { panic("no") } }, wishes(12)},
		"everything is secret":  {func(c *compaction.Config) { c.Redact = func(string) string { return "" } }, wishes(12)},
	} {
		cfg := compaction.DefaultConfig()
		cfg.Summarizer, cfg.Synchronous = rewording(), true
		r.change(&cfg)
		svc := newService(t, session.InMemoryService(), cfg)
		appendAll(t, svc, create(t, svc), r.events...)
		shown := summaryTexts(eventsOf(get(t, svc)))
		if len(shown) != 2 {
			t.Errorf("%s: %d summaries", name, len(shown))
		}
		if all := strings.Join(shown, "\n"); strings.Contains(all, repeated) {
			t.Errorf("%s: %s", name, all)
		}
		stored, err := json.Marshal(rawEvents(t, svc))
		if err != nil {
			t.Fatal(err)
		}
		if name == "off" && strings.Contains(string(stored), `"said`) {
			t.Error("off: a record has what the user said")
		}
	}
}

// The user's words stay when summaries are merged, as many as there is room for, and the first message is among them.
func TestMergesKeepWhatTheUserSaid(t *testing.T) {
	t.Parallel()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.MaxSummaries, cfg.MaxUserTokens, cfg.MaxLedgerTokens = rewording(), true, 2, 200, compaction.Off
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), wishes(60)...)
	shown := summaryTexts(eventsOf(get(t, svc)))
	if len(shown) != 2 {
		t.Fatalf("%d summaries", len(shown))
	}
	newest := shown[1]
	if !strings.Contains(newest, "\n- "+wishOf(0)) || strings.Count(newest, "\n- ") < 10 {
		t.Errorf("the newest summary is %s", newest)
	}
	_, words, _ := strings.Cut(newest, repeated)
	if n := tokens.Estimate(words); n > 200 {
		t.Errorf("%d tokens are repeated", n)
	}
}

// A function of the app that fails for one text costs that text alone: what a record takes over from others would be lost
// for good.
func TestAFunctionThatFailsOnceLosesNoOtherText(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		change func(cfg *compaction.Config, bad string)
	}{
		"Redact": {func(cfg *compaction.Config, bad string) {
			cfg.Redact = func(text string) string {
				if strings.Contains(text, bad) {
					panic("no")
				}
				return text
			}
		}},
		"IsPerson": {func(cfg *compaction.Config, bad string) {
			cfg.IsPerson = func(ev *session.Event) bool {
				if ev.Content.Parts[0].Text == bad {
					panic("no")
				}
				return true
			}
		}},
	} {
		cfg := compaction.DefaultConfig()
		cfg.Summarizer, cfg.Synchronous, cfg.MaxSummaries = rewording(), true, 2
		r.change(&cfg, wishOf(6))
		svc := newService(t, session.InMemoryService(), cfg)
		appendAll(t, svc, create(t, svc), wishes(30)...)
		shown := strings.Join(summaryTexts(eventsOf(get(t, svc))), "\n")
		for i := range 20 {
			if is, want := strings.Contains(shown, "\n- "+wishOf(i)), i != 6; is != want {
				t.Errorf("%s: %q is kept: %t", name, wishOf(i), is)
			}
		}
	}
}

// A record has at most 64 KiB of what the user said, and stands for any number of messages. That a user writes most of a
// chat is known all the same, however long it is.
func TestALongMonologueIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, summaries := range []int{1, 2} {
		var h compactiontest.History
		for i := range 60 {
			h.Turn(fmt.Sprint("inv", i), "agent", wishOf(i)+strings.Repeat(" It looks much better in green, as my aunt has always said.", 130), strings.Repeat("I see. I shall do so, and I thank you for your patience.", 40))
		}
		cfg := compaction.DefaultConfig()
		cfg.Summarizer, cfg.Synchronous, cfg.MaxSummaries = rewording(), true, summaries
		svc := newService(t, session.InMemoryService(), cfg)
		sess := create(t, svc)
		for i, ev := range h.Events {
			appendAll(t, svc, sess, ev)
			if shown := strings.Join(summaryTexts(eventsOf(sess)), "\n"); strings.Contains(shown, repeated) {
				t.Errorf("%d summaries: after event %d, the user's words are repeated", summaries, i)
				break
			}
		}
	}
}

// In a live session ADK stores what the user says as a transcription, under the agent's name, and shows it in prompts.
func TestWhatTheUserSpokeIsRepeated(t *testing.T) {
	t.Parallel()
	events := wishes(12)
	for _, ev := range events {
		said := &genai.Transcription{Text: ev.Content.Parts[0].Text}
		if ev.Author == "user" {
			ev.InputTranscription = said
		} else {
			ev.OutputTranscription = said
		}
		ev.Author, ev.Content = "agent", nil
	}
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.InvocationThreshold = rewording(), true, compaction.Off
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), events...)
	if _, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepEvents: 4}); err != nil {
		t.Fatal(err)
	}
	shown := strings.Join(summaryTexts(eventsOf(get(t, svc))), "\n")
	for i := range 10 {
		if !strings.Contains(shown, "\n- "+wishOf(i)) {
			t.Errorf("%q is in no summary: %s", wishOf(i), shown)
			break
		}
	}
	if m := records(t, rawEvents(t, svc))[0]; len(m.Values) == 0 {
		t.Error("no value was taken from what was spoken")
	}
}

// However long a session gets, its block and what its records store keep to their bounds, and the first message and the
// newest ones are in the block.
func TestTheUsersWordsStayBoundedOverTenThousandTurns(t *testing.T) {
	t.Parallel()
	const turns = 10_000
	cfg := repeating()
	cfg.InvocationThreshold, cfg.MaxSummaries = 250, 3
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	var h compactiontest.History
	stored, largest := 0, 0
	for i := range turns {
		h.Turn(fmt.Sprint("inv", i), "agent", wishOf(i), remarks)
		appendAll(t, svc, sess, h.Events[2*i:]...)
		if i%250 != 0 && i != turns-1 {
			continue
		}
		view := strings.Join(texts(eventsOf(sess)), "\n")
		all, words := summaryTexts(eventsOf(sess)), ""
		for _, text := range all {
			if _, block, found := strings.Cut(text, repeated); found {
				words += block
			}
		}
		if n := tokens.Estimate(words); n > 1000 || len(all) > 3 || i > 1000 && n < 500 {
			t.Fatalf("after turn %d, %d summaries repeat %d tokens", i, len(all), n)
		}
		for turn := max(0, i-50); i > 0 && turn <= i; turn++ {
			if !strings.Contains(words, "\n- "+wishOf(0)) || !strings.Contains(view, wishOf(turn)) {
				t.Fatalf("after turn %d, the first wish or that of turn %d is gone: %s", i, turn, words)
			}
		}
	}
	for _, m := range records(t, rawEvents(t, svc)) {
		n := 0
		for _, s := range m.Said {
			n += len(s.Text)
		}
		stored, largest = stored+1, max(largest, n)
	}
	if stored < 30 || largest > 64<<10 || largest < 16<<10 {
		t.Errorf("%d records are stored, and up to %d bytes of words", stored, largest)
	}
}
