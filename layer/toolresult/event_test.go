package toolresult_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// respond returns an event with a response of each given result, of the tools t0, t1 and so on.
func respond(id string, results ...map[string]any) *session.Event {
	ev := &session.Event{ID: id, InvocationID: "i1", Author: "coder", LLMResponse: model.LLMResponse{Content: &genai.Content{Role: "user"}}}
	for i, r := range results {
		ev.Content.Parts = append(ev.Content.Parts, &genai.Part{
			FunctionResponse: &genai.FunctionResponse{ID: fmt.Sprintf("call-%d", i), Name: fmt.Sprintf("t%d", i), Response: r},
			ThoughtSignature: []byte("signed"),
		})
	}
	return ev
}

func TestOnlyResponsesOfAnEventDiffer(t *testing.T) {
	t.Parallel()
	long, short := map[string]any{"output": numbered(3000)}, map[string]any{"output": "short"}
	ev := respond("e1", short, long, short)
	ev.Content.Parts = append(ev.Content.Parts, nil, &genai.Part{Text: numbered(5000)})
	before := canonical.String(ev)
	c := newCutter(t, toolresult.Config{})
	got := c.Event(owner, ev)
	if canonical.String(ev) != before {
		t.Error("the event itself is changed")
	}
	if got == ev || got.Content.Parts[0] != ev.Content.Parts[0] || got.Content.Parts[4] != ev.Content.Parts[4] {
		t.Error("parts without a cut are copied")
	}
	if !strings.Contains(canonical.String(got.Content.Parts[1].FunctionResponse.Response), "[... omitted 2,744 of 3,000 lines ...]") {
		t.Errorf("%.200v", got.Content.Parts[1].FunctionResponse.Response)
	}
	got.Content.Parts[1].FunctionResponse.Response = long
	if canonical.String(got) != before {
		t.Error("more than the response differs")
	}
}

func TestAnEventWithinTheLimitsIsTheSameAndCostsNothing(t *testing.T) {
	c := newCutter(t, toolresult.Config{Readable: true})
	events := []*session.Event{
		respond("e1", map[string]any{"output": numbered(200), "exit_code": 0.0, "list": []any{1.0, "two", nil, true}}),
		respond("e2", map[string]any{"error": "not found"}),
		{ID: "e3"}, nil,
		{ID: "e4", LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(numbered(9000), "user")}},
	}
	for i, ev := range events {
		if got := c.Event(owner, ev); got != ev {
			t.Errorf("event %d is another one", i)
		}
	}
	if allocs := testing.AllocsPerRun(20, func() {
		for _, ev := range events {
			c.Event(owner, ev)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	if len(c.TruncateLog()) != 0 || len(c.Cuts(events)) != 0 {
		t.Error("cuts are reported")
	}
}

func TestExemptToolsAreNeverCut(t *testing.T) {
	t.Parallel()
	c := newCutter(t, toolresult.Config{Readable: true, Exempt: []string{"mine"}})
	response := map[string]any{"output": numbered(50_000)}
	for _, tool := range []string{"mine", "set_model_response", "transfer_to_agent", "exit_loop", "task_completed", "adk_request_confirmation", toolresult.ReadResultName} {
		if _, _, changed := c.Response(tool, response); changed {
			t.Errorf("%s is cut", tool)
		}
	}
	for _, tool := range []string{"", "shell", "mcp_read", "mine2", "Mine"} {
		if _, _, changed := c.Response(tool, response); !changed {
			t.Errorf("%q is not cut", tool)
		}
	}
}

func TestMediaLeaveLessRoom(t *testing.T) {
	t.Parallel()
	c := newCutter(t, toolresult.Config{Limits: toolresult.Limits{MaxTokens: 3000}})
	ev := respond("e1", map[string]any{"output": strings.Repeat("word ", 1500)})
	if c.Event(owner, ev) != ev {
		t.Fatal("1,500 words are cut without media")
	}
	response := ev.Content.Parts[0].FunctionResponse
	for range 8 {
		response.Parts = append(response.Parts, genai.NewFunctionResponsePartFromBytes([]byte("png"), "image/png"))
	}
	got := c.Event(owner, ev)
	text := fmt.Sprint(got.Content.Parts[0].FunctionResponse.Response)
	if !strings.Contains(text, "[truncated: kept first+last ~") || !reflect.DeepEqual(got.Content.Parts[0].FunctionResponse.Parts, response.Parts) {
		t.Errorf("%.300s", text)
	}
}

func TestEveryCutIsLogged(t *testing.T) {
	t.Parallel()
	seen := make(chan toolresult.Cut, 10)
	c := newCutter(t, toolresult.Config{Readable: true, Observer: func(cut toolresult.Cut) { seen <- cut }})
	text := numbered(2000)
	response := map[string]any{"output": text}
	ev := respond("e1", map[string]any{"output": "short"}, response)
	c.Event(owner, ev)
	c.Event(owner, ev) // a second reader of the session
	want := toolresult.Cut{
		Session: owner, EventID: "e1", InvocationID: "i1", Author: "coder", Part: 1, Tool: "t1", CallID: "call-1",
		Kind: toolresult.Stubbed, Ref: store.ResultOf(response).Ref, BytesBefore: len(marshal(t, response)), LinesBefore: 2000,
	}
	var got toolresult.Cut
	select {
	case got = <-seen:
	case <-time.After(time.Minute):
		t.Fatal("the observer was not called")
	}
	if got.BytesAfter == 0 || got.BytesAfter > 1000 || got.TokensAfter == 0 || got.TokensBefore < 5000 {
		t.Errorf("%+v", got)
	}
	want.BytesAfter, want.LinesAfter, want.TokensBefore, want.TokensAfter = got.BytesAfter, got.LinesAfter, got.TokensBefore, got.TokensAfter
	if got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if log := c.TruncateLog(); len(log) != 1 || log[0] != want.String() || !strings.Contains(log[0], want.Ref) || strings.Contains(log[0], "\n") {
		t.Errorf("%q", log)
	}
	want.Session = store.Owner{}
	if cuts := c.Cuts([]*session.Event{nil, ev, respond("e2", response)}); len(cuts) != 2 || cuts[0] != want || cuts[1].EventID != "e2" {
		t.Errorf("%+v", cuts)
	}
	if len(seen) != 0 {
		t.Error("a cut was observed twice")
	}
}

// threeLines is a text whose cut to two lines is shorter.
var threeLines = "first\n" + strings.Repeat("second ", 20) + "\nthird"

func TestTheLogKeepsTheNewestThousandCuts(t *testing.T) {
	t.Parallel()
	c := newCutter(t, toolresult.Config{Limits: toolresult.Limits{MaxLines: 2}})
	for i := range 1500 {
		c.Event(owner, respond(fmt.Sprintf("event-%d", i), map[string]any{"output": threeLines}))
	}
	log := c.TruncateLog()
	if len(log) != 1000 || !strings.Contains(log[0], `"event-500"`) || !strings.Contains(log[999], `"event-1499"`) {
		t.Errorf("%d lines, from %.100s to %.100s", len(log), log[0], log[len(log)-1])
	}
}

func TestABadObserverHarmsNoEvent(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	defer close(hang)
	called := make(chan string, 10)
	for name, observer := range map[string]func(toolresult.Cut){
		"panics": func(cut toolresult.Cut) { called <- cut.EventID; panic("observer") },
		"hangs":  func(toolresult.Cut) { <-hang },
	} {
		c := newCutter(t, toolresult.Config{Limits: toolresult.Limits{MaxLines: 2}, Observer: observer})
		for i := range 3000 {
			if got := c.Event(owner, respond(fmt.Sprint(i), map[string]any{"output": threeLines})); !strings.Contains(fmt.Sprint(got.Content.Parts[0].FunctionResponse.Response), "omitted 1 of 3 lines") {
				t.Fatalf("an observer that %s: %v", name, got)
			}
			if name == "panics" && i == 1 {
				break
			}
		}
	}
	for _, want := range []string{"0", "1"} {
		if got := <-called; got != want {
			t.Errorf("event %s was observed, want %s", got, want)
		}
	}
}
