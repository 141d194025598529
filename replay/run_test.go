package replay

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/summarizer"
)

func TestAHiddenEventIsReported(t *testing.T) {
	t.Parallel()
	event := func(id, author string, c *genai.Content) *session.Event {
		return &session.Event{ID: id, Author: author, InvocationID: "i", LLMResponse: model.LLMResponse{Content: c}}
	}
	events := []*session.Event{
		event("e1", "user", said("user", "one")), event("e2", AgentName, said("model", "two")),
		event("e3", "user", said("user", "three")), event("e4", AgentName, said("model", "four")),
	}
	copies := func(ids ...int) (view []*session.Event) {
		for _, i := range ids {
			view = append(view, adk.DeepCopy(events[i]))
		}
		return view
	}
	r := &run{report: &Report{}}
	if r.checkView(events, copies(0, 1, 2, 3)); r.report.Hidden != 0 {
		t.Errorf("the whole history, reread, has a violation: %v", r.report.Problems)
	}
	if r.checkView(events, copies(0, 2, 3)); r.report.Hidden != 1 || len(r.report.Problems) != 1 {
		t.Errorf("an event is hidden, but %d violations are reported: %v", r.report.Hidden, r.report.Problems)
	}
}

func TestCallsBeyondTheRecordingAreCounted(t *testing.T) {
	t.Parallel()
	s := &script{c: &conversation.Conversation{Turns: []conversation.Turn{
		{Steps: []conversation.Step{{Answer: said("model", "one")}}}, {},
	}}}
	for _, r := range []struct {
		text  string
		extra int
	}{{"one", 0}, {placeholder, 1}, {placeholder, 2}} {
		if got := s.next(); got.Parts[0].Text != r.text || s.played.Extra != r.extra {
			t.Errorf("answer %q, %d extra; want %q, %d", got.Parts[0].Text, s.played.Extra, r.text, r.extra)
		}
	}
	s.begin(1)
	if got := s.next(); got.Parts[0].Text != placeholder || s.played.Extra != 2 {
		t.Errorf("a message without a recorded answer counts as an extra call")
	}
}

func TestOrphansOfARequestAreReported(t *testing.T) {
	t.Parallel()
	r := &run{c: &conversation.Conversation{}, whole: &whole{}, gauge: newGauge(), scale: scale{ratio: 1}, report: &Report{Limit: 1_000}}
	r.request(0, 0, request(said("user", "go"), called("1")))
	r.request(1, 0, request(said("user", "go"), called("1"), answered("x", "1")))
	if r.report.Orphans != 1 {
		t.Errorf("%d orphans, want 1", r.report.Orphans)
	}
}

func TestRawPartsExplainALongPrompt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 500)
	r := &run{
		c:     &conversation.Conversation{Turns: []conversation.Turn{{User: said("user", "Please look.")}, {User: said("user", long)}}},
		scale: scale{ratio: 1}, whole: &whole{},
	}
	for _, at := range []struct {
		name               string
		turn, limit        int
		contents           []*genai.Content
		event              string
		alone, unavoidable bool
	}{
		{name: "a result", limit: 400, contents: []*genai.Content{called("1"), answered(long, "1")}, event: "result of look", alone: true, unavoidable: true},
		{name: "question and result", turn: 1, limit: 800, contents: []*genai.Content{called("1"), answered(long, "1")}, event: "result of look", unavoidable: true},
		{name: "no room for a summary", limit: 550, contents: []*genai.Content{called("1"), answered(long, "1")}, event: "result of look", unavoidable: true},
		{name: "room for the shortest, but not for the error of an estimate", limit: 620, contents: []*genai.Content{called("1"), answered(long, "1")}, event: "result of look", unavoidable: true},
		{name: "room for the shortest", limit: 640, contents: []*genai.Content{called("1"), answered(long, "1")}, event: "result of look"},
		{name: "the question", turn: 1, limit: 400, contents: []*genai.Content{said("user", long)}, event: `user message "word word word word word word word word …"`, alone: true, unavoidable: true},
		{name: "an answer before the question", limit: 400, contents: []*genai.Content{said("user", "go"), said("model", long), said("user", "stop")}, event: `model message "word word word word word word word word …"`, alone: true, unavoidable: true},
		{name: "a result before the question", limit: 400, contents: []*genai.Content{called("1"), answered(long, "1"), said("user", "stop")}, event: "result of look", alone: true, unavoidable: true},
		{name: "something else", limit: 800, contents: []*genai.Content{said("model", long), called("1"), answered("x", "1")}, event: "result of look"},
	} {
		r.report = &Report{Limit: at.limit}
		got := r.overlong(3, at.turn, 900, 0, request(at.contents...))
		if r.report.Limit = 2; r.overlong(0, at.turn, 900, 0, request()).Event != "the instruction" {
			t.Error("an instruction that fills the window is not named")
		}
		if got.Event != at.event || got.Alone != at.alone || got.Unavoidable != at.unavoidable || got.Call != 3 || got.Turn != at.turn+1 {
			t.Errorf("%s: %+v", at.name, got)
		}
	}
}

// The report's shortest summary must match the frame that the view shows.
func TestTheShortestSummaryIsMeasured(t *testing.T) {
	t.Parallel()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer = summarizer.Extractive{}
	svc, err := compaction.NewCompactionService(session.InMemoryService(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{svc: svc, ref: compaction.SessionRef{AppName: "a", UserID: "u", SessionID: "s"}}
	created, err := svc.Create(t.Context(), &session.CreateRequest{AppName: "a", UserID: "u", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		for _, author := range []string{"user", AgentName} {
			ev := session.NewEventWithContext(t.Context(), fmt.Sprint("turn", i))
			ev.Author, ev.Content = author, said(genai.Role(author), strings.Repeat("The bridge is 35 metres long. ", 20))
			if err := svc.AppendEvent(t.Context(), created.Session, ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := svc.Compact(t.Context(), r.ref, compaction.CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := svc.Get(t.Context(), r.get())
	if err != nil {
		t.Fatal(err)
	}
	view := eventsOf(got.Session)
	status, err := svc.Status(t.Context(), r.ref)
	if err != nil || len(status.Summaries) != 1 {
		t.Fatal(err, len(status.Summaries))
	}
	shown := promptsize.OfEvent(view[0])
	if told := status.Summaries[0].CompactedTokens; told != shown || shown < shortestSummary() {
		t.Errorf("a summary takes %d tokens in the view and %d according to the library; the shortest one in the report takes %d", shown, told, shortestSummary())
	}
}

// The library could not know how the provider counts the prompt, so the prompt is unforeseen.
func TestAPromptThatTheLibraryTookToFitIsUnforeseen(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		overlong Overlong
		needless bool
	}{{Overlong{}, true}, {Overlong{Unavoidable: true}, false}, {Overlong{Unforeseen: true}, false}} {
		if got := x.overlong.Needless(); got != x.needless {
			t.Errorf("%+v is needless: %v", x.overlong, got)
		}
	}
	long := strings.TrimSpace(strings.Repeat("word ", 300))
	c := &conversation.Conversation{ID: "c", Turns: []conversation.Turn{
		{User: said("user", long), Steps: []conversation.Step{{Answer: said("model", long), PromptTokens: 570}}},
		{User: said("user", long), Steps: []conversation.Step{{Answer: said("model", "Yes."), PromptTokens: 1_780}}},
	}}
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.ContextWindow, cfg.MaxOutputTokens, cfg.RetainTokens = summarizer.Extractive{}, true, 1_770, compaction.Off, compaction.Off
	report, err := Play(t.Context(), c, Policy{Config: cfg}, Options{Fixed: FixedAuto})
	if err != nil {
		t.Fatal(err)
	}
	// With a single count, the library cannot distinguish a ratio of 2 from 270 tokens of
	// instructions.
	over := report.Over
	if len(over) != 1 || over[0].Unavoidable || !over[0].Unforeseen || over[0].Expected < 1_300 || over[0].Expected > 1_770 || over[0].Tokens <= 1_770 {
		t.Errorf("%+v, want one unforeseen prompt", over)
	}
	var total Total
	if total.Add(report); total.Over != 1 || total.Unforeseen != 1 || total.Needless() != 0 {
		t.Errorf("%+v", total)
	}
}

func TestAResultThatCannotBeReadBackIsReported(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	created, err := inner.Create(t.Context(), &session.CreateRequest{AppName: AppName, UserID: UserID, SessionID: "c"})
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]any{"output": "whole"}
	event := session.NewEventWithContext(t.Context(), "i")
	event.Author = AgentName
	event.Content = genai.NewContentFromFunctionResponse("look", stored, genai.RoleUser)
	if err := inner.AppendEvent(t.Context(), created.Session, event); err != nil {
		t.Fatal(err)
	}
	r := &run{inner: inner, ref: refOf(&conversation.Conversation{ID: "c"}), report: &Report{}}
	l := &layering{refs: map[string]string{store.ResultOf(stored).Ref: "look", "r-0123456789abcdef": "find"}}
	if err := l.report(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := *r.report.Layers; got.Shortened != 2 || got.ReadBack != 1 || r.report.Hidden != 1 || !strings.Contains(r.report.Problems[0], "r-0123456789abcdef of find") {
		t.Errorf("layers %+v, problems %q", got, r.report.Problems)
	}
}
