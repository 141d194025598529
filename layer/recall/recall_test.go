package recall_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/recall"
)

var ref = compaction.SessionRef{AppName: "app", UserID: "ada", SessionID: "chat"}

// service wraps an in-memory session service, and summarizes by hand only.
func service(t *testing.T) *compaction.CompactionSessionService {
	t.Helper()
	svc, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{
		Summarizer: &compactiontest.Oracle{}, InvocationThreshold: compaction.Off, TokenThreshold: compaction.Off,
		MaxLedgerTokens: compaction.Off, RecallTool: recall.ToolName,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close(context.Background()) })
	return svc
}

func recaller(t *testing.T, svc *compaction.CompactionSessionService, cfg recall.Config) *recall.Recaller {
	t.Helper()
	r, err := recall.New(svc, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// store stores a conversation of texts, "user: ..." or "bot: ...", one invocation for each message of the user.
func store(t *testing.T, svc session.Service, ref compaction.SessionRef, texts ...string) {
	t.Helper()
	resp, err := svc.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	turn := 0
	for i, text := range texts {
		author, words, _ := strings.Cut(text, ": ")
		if author == "user" {
			turn++
		}
		ev := session.NewEventWithContext(t.Context(), fmt.Sprint("i", turn))
		ev.Author, ev.Timestamp = author, time.Date(2026, 3, 2, 9, i, 0, 0, time.UTC)
		ev.Content = genai.NewContentFromText(words, genai.RoleUser)
		if err := svc.AppendEvent(t.Context(), resp.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
}

// long is a conversation whose beginning has something to find.
func long() []string {
	texts := []string{"user: My passport number is X4829917.", "bot: Noted, thank you.", "user: I am allergic to hazelnuts.", "bot: I will remember that."}
	for i := range 20 {
		texts = append(texts, fmt.Sprintf("user: What about item %d?", i), fmt.Sprintf("bot: Item %d is in stock.", i))
	}
	return texts
}

func compact(t *testing.T, svc *compaction.CompactionSessionService, ref compaction.SessionRef) {
	t.Helper()
	got, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepRecent: 2})
	if err != nil || got.Skipped {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestSearchFindsWhatTheSummaryStandsFor(t *testing.T) {
	t.Parallel()
	svc := service(t)
	store(t, svc, ref, long()...)
	r := recaller(t, svc, recall.Config{})
	if got, err := r.Search(t.Context(), ref, recall.Query{Text: "passport number"}); err != nil || len(got) != 0 {
		t.Errorf("the prompt shows the message, and it was found: %v, %v", got, err)
	}
	compact(t, svc, ref)
	got, err := r.Search(t.Context(), ref, recall.Query{Text: "What is my passport number?"})
	if err != nil || len(got) == 0 {
		t.Fatalf("%v, %v", got, err)
	}
	first := got[0].Lines[0]
	if first.Ref != "m1" || first.Turn != 1 || first.Text != "My passport number is X4829917." || !first.Found || first.Author != "user" {
		t.Errorf("got %+v", first)
	}
	if want := "[turn 1, 2026-03-02 09:00, user, m1] My passport number is X4829917."; first.String() != want {
		t.Errorf("got %q, want %q", first, want)
	}
	if len(got[0].Lines) != 2 || got[0].Lines[1].Found || got[0].Lines[1].Ref != "m2" {
		t.Errorf("the neighbor is %+v", got[0].Lines)
	}
	turn, err := r.Turn(t.Context(), ref, "", "m3")
	if err != nil || len(turn.Lines) != 2 || !strings.Contains(turn.Lines[0].Text, "hazelnuts") {
		t.Errorf("turn of m3: %+v, %v", turn, err)
	}
}

// The model asks in a real run, and reads the answer in its next prompt.
func TestAModelRecallsInARun(t *testing.T) {
	t.Parallel()
	svc := service(t)
	store(t, svc, ref, long()...)
	compact(t, svc, ref)
	r := recaller(t, svc, recall.Config{})
	asked := 0
	llm := compactiontest.NewModel("scripted", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		asked++
		switch asked {
		case 1, 2:
			return compactiontest.CallTool("recall", map[string]any{"query": "passport number"})
		case 3:
			return compactiontest.CallTool("recall_turn", map[string]any{"ref": "m1"})
		}
		return compactiontest.Say("It is X4829917.")
	})
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Description: "Answers.", Model: llm, Tools: r.Tools()})
	if err != nil {
		t.Fatal(err)
	}
	run, err := runner.New(runner.Config{AppName: ref.AppName, Agent: bot, SessionService: svc})
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	for ev, err := range run.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText("What is my passport number?", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, response := range adk.FunctionResponses(ev) {
			answers = append(answers, strings.TrimPrefix(fmt.Sprint(response.Response["passages"], response.Response["result"]), "<nil>"))
		}
	}
	if len(answers) != 3 || !strings.Contains(answers[0], "X4829917") || !strings.HasPrefix(answers[0], "[Earlier messages of this conversation, quoted") {
		t.Fatalf("got %q", answers)
	}
	if !strings.HasPrefix(answers[1], "Same as before") {
		t.Errorf("the same query again: %q", answers[1])
	}
	if !strings.Contains(answers[2], "X4829917") {
		t.Errorf("the turn: %q", answers[2])
	}
	text := llm.Requests()[0][0].Parts[0].Text
	if !strings.Contains(text, "Earlier messages can be searched with the tool recall.") {
		t.Errorf("the summary does not say that there is more: %q", text)
	}
}

func TestAForeignReferenceIsAnsweredLikeNone(t *testing.T) {
	t.Parallel()
	svc := service(t)
	store(t, svc, ref, long()...)
	compact(t, svc, ref)
	for _, line := range []string{"", "m0", "m-1", "m999", "1", "e1", "m1x", "m99999999999999999999", strings.Repeat("m", 1<<20)} {
		if got, err := recaller(t, svc, recall.Config{}).Turn(t.Context(), ref, "", line); err == nil {
			t.Errorf("%.20q: got %+v", line, got)
		} else if len(err.Error()) > 300 {
			t.Errorf("%.20q: an error of %d bytes", line, len(err.Error()))
		}
	}
}

func TestConfigsAreChecked(t *testing.T) {
	t.Parallel()
	_, err := recall.New(service(t), recall.Config{Limit: -1, Around: 9, MaxTokens: 5, MaxIndexBytes: -1})
	for _, want := range []string{"Limit is -1", "Around is 9", "MaxTokens is 5", "MaxIndexBytes is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if _, err := recall.New(nil, recall.Config{}); err == nil {
		t.Error("a service that is nil was accepted")
	}
}
