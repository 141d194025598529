package replay

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// timed is a conversation whose answers were recorded so many minutes after noon; below 0 is no time. Each turn calls a
// tool and answers.
func timed(size int, minutes ...int) *conversation.Conversation {
	c := &conversation.Conversation{ID: "timed", Instruction: "You help."}
	at := func(i int) time.Time {
		if minutes[i] < 0 {
			return time.Time{}
		}
		return noon.Add(time.Duration(minutes[i]) * time.Minute)
	}
	for i := 0; i+1 < len(minutes); i += 2 {
		id := fmt.Sprint("call", i)
		c.Turns = append(c.Turns, conversation.Turn{
			User: genai.NewContentFromText(fmt.Sprint("Question ", i), genai.RoleUser),
			Steps: []conversation.Step{
				{
					Answer:    &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: id, Name: "look", Args: map[string]any{"n": i}}}}},
					Responses: []*genai.FunctionResponse{{ID: id, Name: "look", Response: map[string]any{"output": facts(i, size)}}},
					Time:      at(i),
				},
				{Answer: genai.NewContentFromText(fmt.Sprint("Answer ", i), genai.RoleModel), Time: at(i + 1)},
			},
		})
	}
	return c
}

// facts is a text of some tokens, in which no word comes twice.
func facts(n, size int) string {
	text := ""
	for i := range size / 3 {
		text += fmt.Sprintf("fact%d-%d ", n, i)
	}
	return text
}

func TestTimesOfCallsNeverGoBack(t *testing.T) {
	t.Parallel()
	var got []int
	for _, at := range times(timed(0, 1, 2, -1, 9, 4, 20)) {
		got = append(got, int(at.Sub(noon).Minutes()))
	}
	if want := []int{1, 2, 2, 9, 9, 20}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := pauses(times(timed(0, 1, 2, -1, 9, 4, 20))); got != 2 {
		t.Errorf("%d pauses, want two: before the fourth call and the last", got)
	}
	if got := times(timed(0, -1, -1)); got != nil {
		t.Errorf("no recorded time: %v", got)
	}
	if got := pauses(times(timed(0, -1, 0, 30, 31))); got != 1 {
		t.Errorf("%d pauses: what came before the first known time was no pause", got)
	}
}

// A pause of more than five minutes empties the provider's cache, with compaction and without.
func TestAfterAPauseNothingIsCached(t *testing.T) {
	t.Parallel()
	play := func(minutes ...int) *Report {
		r, err := Play(t.Context(), timed(300, minutes...), Policy{When: Never, Config: compaction.Config{ContextWindow: 100_000}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	steady, paused := play(0, 1, 2, 3), play(0, 1, 30, 31)
	if steady.Counts.Pauses != 0 || paused.Counts.Pauses != 1 {
		t.Errorf("%d and %d pauses, want none and one", steady.Counts.Pauses, paused.Counts.Pauses)
	}
	if steady.With != steady.Without || paused.With != paused.Without {
		t.Errorf("nothing was compacted: %+v, %+v", steady.With, steady.Without)
	}
	if lost := steady.With.CachedTokens - paused.With.CachedTokens; lost < 300 || steady.With.PromptTokens != paused.With.PromptTokens {
		t.Errorf("%d cached tokens less of %d", lost, steady.With.PromptTokens)
	}
}

// Events have the times of the recording, in order, so that the economical trigger sees the pauses.
func TestEventsHaveTheTimesOfTheRecording(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	c := timed(10, 1, 2, 30, 31)
	app := App{Service: service, Ref: compaction.SessionRef{AppName: "a", UserID: "u", SessionID: "s"}}
	if _, err := app.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	stored, err := service.Get(t.Context(), &session.GetRequest{AppName: "a", UserID: "u", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	last := time.Time{}
	for ev := range stored.Session.Events().All() {
		if !ev.Timestamp.After(last) {
			t.Errorf("%v comes after %v", ev.Timestamp, last)
		}
		last = ev.Timestamp
		got = append(got, int(ev.Timestamp.Sub(noon).Minutes()))
	}
	if want := []int{1, 1, 2, 2, 30, 30, 31, 31}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v: message, call, result and answer of each turn", got, want)
	}
}

// The report says why it compacted, and knows that a pause makes a compaction cheaper.
func TestReportSaysWhyItCompactedByPrice(t *testing.T) {
	t.Parallel()
	m := tokens.Model{Name: "priced", ContextWindow: 1_000_000, InputPrice: 3, CachedInputPrice: 0.3, OutputPrice: 15}
	registry, err := tokens.NewRegistry(m)
	if err != nil {
		t.Fatal(err)
	}
	play := func(cfg compaction.Config, minutes ...int) *Report {
		cfg.Summarizer, cfg.Registry, cfg.AgentModel, cfg.Synchronous = summarizer.Extractive{}, registry, "priced", true
		r, err := Play(t.Context(), timed(1_500, minutes...), Policy{Config: cfg}, Options{Model: m})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	var steady, paused []int
	for i := range 120 {
		steady, paused = append(steady, i), append(paused, i)
		if i >= 36 {
			paused[i] += 600
		}
	}
	long, broken := play(compaction.Config{}, steady...), play(compaction.Config{}, paused...)
	if len(long.Compactions) == 0 || len(broken.Compactions) == 0 {
		t.Fatalf("%d and %d compactions", len(long.Compactions), len(broken.Compactions))
	}
	last := long.Calls[len(long.Calls)-1]
	if with, without := long.With.Dollars+long.Summarizer.Dollars, long.Without.Dollars; math.Abs(last.WithUSD-with) > 1e-6 || math.Abs(last.WithoutUSD-without) > 1e-6 || with >= without {
		t.Errorf("in the end $%v with compaction and $%v without; the totals are $%v and $%v", last.WithUSD, last.WithoutUSD, with, without)
	}
	at := long.Compactions[0].Call
	if before := long.Calls[at-1]; math.Abs(before.WithUSD-before.WithoutUSD) > 1e-9 || long.Calls[at].WithUSD <= long.Calls[at].WithoutUSD {
		t.Errorf("the summary is paid before call %d: %+v, %+v", at, before, long.Calls[at])
	}
	first := long.Compactions[0].ByPrice
	if first == nil || first.Held < first.Threshold || first.Saving < first.Price || first.Price <= 0 || first.Calls != long.Compactions[0].Call {
		t.Errorf("%+v before call %d", first, long.Compactions[0].Call)
	}
	if early := broken.Compactions[0]; early.Call != 36 || long.Compactions[0].Call <= 36 {
		t.Errorf("compacted before call %d after a pause before call 36, and before call %d without one", early.Call, long.Compactions[0].Call)
	}
	if byTokens := play(compaction.Config{TokenThreshold: 20_000, InvocationThreshold: compaction.Off}, steady...); len(byTokens.Compactions) == 0 || byTokens.Compactions[0].ByPrice != nil {
		t.Errorf("by tokens: %+v", byTokens.Compactions)
	}
}
