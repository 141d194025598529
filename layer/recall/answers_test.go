package recall_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
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

// answers runs a turn in which the model makes these calls of recall, one after the other, and returns what each was
// answered.
func answers(t *testing.T, svc *compaction.CompactionSessionService, r *recall.Recaller, calls ...map[string]any) []string {
	t.Helper()
	return answersOf(t, svc, r, recall.ToolName, calls...)
}

// answersOf does so with calls of either tool.
func answersOf(t *testing.T, svc *compaction.CompactionSessionService, r *recall.Recaller, tool string, calls ...map[string]any) []string {
	t.Helper()
	n := 0
	llm := compactiontest.NewModel("scripted", func(int, *model.LLMRequest) *model.LLMResponse {
		if n++; n <= len(calls) {
			return compactiontest.CallTool(tool, calls[n-1])
		}
		return compactiontest.Say("Done.")
	})
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Description: "Answers.", Model: llm, Tools: r.Tools()})
	if err != nil {
		t.Fatal(err)
	}
	run, err := runner.New(runner.Config{AppName: ref.AppName, Agent: bot, SessionService: svc})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for ev, err := range run.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText("Go on.", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, response := range adk.FunctionResponses(ev) {
			out = append(out, fmt.Sprint(response.Response))
		}
	}
	if len(out) != len(calls) {
		t.Fatalf("%d answers to %d calls: %q", len(out), len(calls), out)
	}
	return out
}

func TestCallsThatCannotWorkAreAnsweredWithARemedy(t *testing.T) {
	t.Parallel()
	svc := service(t)
	store(t, svc, ref, long()...)
	compact(t, svc, ref)
	got := answers(t, svc, recaller(t, svc, recall.Config{}),
		map[string]any{"query": "passport", "from": "2026-03-09", "to": "2026-03-02"},
		map[string]any{"query": "passport", "from": "yesterday"},
		map[string]any{"query": "passport", "to": "2026-03-01"},
		map[string]any{"query": "passport", "from": "2026-03-02", "to": "2026-03-02", "limit": -7},
		map[string]any{"query": " \n"},
	)
	for i, want := range []string{"is after to", `from is "yesterday"`, "Nothing was found", "X4829917", "no word to look for"} {
		if !strings.Contains(got[i], want) {
			t.Errorf("call %d: %q does not say %q", i, got[i], want)
		}
	}
	if _, err := recaller(t, svc, recall.Config{}).Search(t.Context(), ref, recall.Query{Text: "passport", From: time.Unix(9, 0), To: time.Unix(1, 0)}); err == nil || !strings.Contains(err.Error(), "swap them") {
		t.Errorf("from after to: %v", err)
	}
}

func TestOtherSessionsAreSearchedOnlyIfAsked(t *testing.T) {
	t.Parallel()
	svc := service(t)
	store(t, svc, ref, "user: Hello.", "bot: Hi.")
	store(t, svc, compaction.SessionRef{AppName: "app", UserID: "ada", SessionID: "older"}, "user: The zeppelin is blue.")
	store(t, svc, compaction.SessionRef{AppName: "app", UserID: "eve", SessionID: "hers"}, "user: The zeppelin is red.")
	store(t, svc, compaction.SessionRef{AppName: "other", UserID: "ada", SessionID: "app2"}, "user: The zeppelin is green.")
	ask := map[string]any{"query": "zeppelin"}
	if got := answers(t, svc, recaller(t, svc, recall.Config{}), ask)[0]; strings.Contains(got, "zeppelin") {
		t.Errorf("another session was searched: %q", got)
	}
	got := answers(t, svc, recaller(t, svc, recall.Config{AcrossSessions: true}), ask)[0]
	if !strings.Contains(got, "blue") || strings.Contains(got, "is red") || strings.Contains(got, "is green") || !strings.Contains(got, "from another conversation of this user") {
		t.Errorf("got %q", got)
	}
}

// hangs is a session service whose Get hangs once it is told to, until its context ends.
type hangs struct {
	session.Service
	now atomic.Bool
}

func (h *hangs) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if h.now.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return h.Service.Get(ctx, req)
}

func TestASearchInAStoreThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	inner := &hangs{Service: session.InMemoryService()}
	svc, err := compaction.NewCompactionService(inner, compaction.Config{
		Summarizer: &compactiontest.Oracle{}, InvocationThreshold: compaction.Off, TokenThreshold: compaction.Off, Timeout: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	store(t, svc, ref, "user: Hello.", "bot: Hi.")
	var seen []recall.Observation
	r := recaller(t, svc, recall.Config{Observer: func(_ context.Context, o recall.Observation) { seen = append(seen, o) }})
	tools := r.Tools()
	llm := compactiontest.NewModel("scripted", func(n int, _ *model.LLMRequest) *model.LLMResponse {
		if !inner.now.Swap(true) {
			return compactiontest.CallTool(recall.ToolName, map[string]any{"query": "hello"})
		}
		return compactiontest.Say("Done.")
	})
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Description: "Answers.", Model: llm, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	run, err := runner.New(runner.Config{AppName: ref.AppName, Agent: bot, SessionService: svc})
	if err != nil {
		t.Fatal(err)
	}
	var answer string
	for ev, err := range run.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText("Go on.", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, response := range adk.FunctionResponses(ev) {
			answer = fmt.Sprint(response.Response["error"])
		}
	}
	if !strings.Contains(answer, "cannot be searched now") {
		t.Errorf("got %q", answer)
	}
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || seen[0].Err == nil || seen[0].Session != ref {
		t.Errorf("observed %+v", seen)
	}
}
