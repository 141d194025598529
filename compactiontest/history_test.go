package compactiontest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

func TestHistoryGivesEveryEventAnIDAndATime(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(2, "bot").Branch("p.a").Call("i", "bot", "t", "a", "b").LongCall("i", "bot", "t", "c").Response("i", "bot", "t", "r", "a")
	if got, want := fmt.Sprint(ct.IDs(append(h.Events, nil))), "[e1 e2 e3 e4 e5 e6 e7 <nil>]"; got != want {
		t.Errorf("IDs are %s, want %s", got, want)
	}
	for i := 1; i < len(h.Events); i++ {
		if !h.Events[i].Timestamp.After(h.Events[i-1].Timestamp) {
			t.Errorf("event %d is not later than its predecessor", i)
		}
	}
	if h.Events[3].Branch != "" || h.Last().Branch != "p.a" || !slices.Equal(h.Events[5].LongRunningToolIDs, []string{"c"}) {
		t.Error("branches or long-running calls are wrong")
	}
}

func TestRecordsOfAHistoryAreReadable(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(3, "bot")
	h.Events = append(h.Events, nil) // a view must accept nil events, and so must the builder
	h.Events[0].Timestamp = histories.Epoch.AddDate(1, 0, 0)
	h.Compact("a", "e1", "e2").Compact("b", "e3", "e4").Merge("m", "a", "b").Amend(func(m *record.Metadata) { m.Focus = "it" })
	var got []*record.Metadata
	for _, ev := range h.Events {
		if m, err := record.From(ev); err != nil {
			t.Error(err)
		} else if m != nil {
			got = append(got, m)
		}
	}
	if len(got) != 3 {
		t.Fatalf("%d records, want 3", len(got))
	}
	a, m := got[0], got[2]
	if !a.StartTimestamp.Equal(h.Events[1].Timestamp) || !a.EndTimestamp.Equal(h.Events[0].Timestamp) || a.EventCount != 2 {
		t.Errorf("record over unordered events spans %v to %v", a.StartTimestamp, a.EndTimestamp)
	}
	if m.Level != 1 || m.EventCount != 4 || !slices.Equal(m.Absorbed, []string{"a", "b"}) || m.Focus != "it" || !m.CreatedAt.After(got[1].CreatedAt) {
		t.Errorf("merge is %+v", m)
	}
	if text, _ := m.Text(); !slices.Equal(ct.Facts(text), []string{ct.Fact(1), ct.Fact(2)}) {
		t.Errorf("merge has text %q, want the facts of both records", text)
	}
	if ev := h.Events[0]; histories.Amend(ev, func(*record.Metadata) { t.Error("changed") }) != ev {
		t.Error("Amend changed an event that is not a record")
	}
}

func TestFactsAreFoundWhereverTheyAre(t *testing.T) {
	t.Parallel()
	if got := ct.Facts("FACT-00002 and FACT-00001, FACT-00002; FACT-12"); !slices.Equal(got, []string{"FACT-00002", "FACT-00001"}) {
		t.Errorf("facts are %v", got)
	}
	h := (&ct.History{}).Response("i", "bot", "t", ct.Fact(7), "c")
	if got := histories.FactsIn(h.Last()); !slices.Equal(got, []string{ct.Fact(7)}) {
		t.Errorf("facts in a response are %v", got)
	}
	if histories.FactsIn(nil) != nil || histories.FactsIn(&session.Event{}) != nil {
		t.Error("an empty event has facts")
	}
}

func TestOracleForgetsNothing(t *testing.T) {
	t.Parallel()
	oracle := &ct.Oracle{}
	req := summarizer.Request{Events: (&ct.History{}).Turns(3, "bot").Events, Summaries: []string{ct.Fact(9) + " " + ct.Fact(1)}}
	got, err := oracle.Summarize(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	if facts := histories.FactsInContents([]*genai.Content{got.Content}); !slices.Equal(facts, []string{ct.Fact(9), ct.Fact(1), ct.Fact(2), ct.Fact(3)}) {
		t.Errorf("the oracle kept the facts %v", facts)
	}
	if empty, err := oracle.Summarize(context.Background(), summarizer.Request{}); err != nil || empty.Content.Parts[0].Text == "" {
		t.Errorf("without any facts the oracle returns %v (%v): an empty summary is refused", empty.Content, err)
	}
	if n := len(oracle.Requests()); n != 2 {
		t.Errorf("the oracle recorded %d requests, want 2", n)
	}
}

func TestModelAnswersFromItsScript(t *testing.T) {
	t.Parallel()
	llm := ct.NewModel("scripted", func(n int, _ *model.LLMRequest) *model.LLMResponse {
		if n == 0 {
			return ct.CallTool("search", map[string]any{"q": "a"}, map[string]any{"q": "b"})
		}
		return ct.Say("done")
	})
	var answers []*model.LLMResponse
	for range 2 {
		for resp, err := range llm.GenerateContent(context.Background(), &model.LLMRequest{Contents: genai.Text("hello")}, true) {
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, resp)
		}
	}
	if llm.Name() != "scripted" || len(llm.Requests()) != 2 || llm.Requests()[0][0].Parts[0].Text != "hello" {
		t.Errorf("the model recorded %v", llm.Requests())
	}
	if len(answers) != 2 || len(answers[0].Content.Parts) != 2 || answers[1].Content.Parts[0].Text != "done" {
		t.Errorf("the model answered %v", answers)
	}
}

func TestGeneratedHistoriesAreDecidedByTheirPicks(t *testing.T) {
	t.Parallel()
	again := func() []*session.Event { return histories.Generate(60, rand.New(rand.NewPCG(3, 4)).IntN) }
	events := again()
	if len(events) != 60 || !reflect.DeepEqual(events, again()) {
		t.Error("the same picks give a different history")
	}
	if calm := histories.Generate(10, func(int) int { return 0 }); len(calm) != 10 {
		t.Errorf("picks of zero give %d events", len(calm))
	}
}

func Example() {
	h := &ct.History{}
	h.Turns(3, "agent").Compact("summary", "e1", "e2", "e3")

	view := filtered.Project(h.Events)
	fmt.Println(ct.IDs(view))
	fmt.Println(histories.FactsIn(view[0]))
	fmt.Println(ct.Check(h.Events, view))
	fmt.Println(ct.Check(h.Events, view[1:]) != nil)
	// Output:
	// [summary e4 e5 e6]
	// [FACT-00001 FACT-00002]
	// <nil>
	// true
}
