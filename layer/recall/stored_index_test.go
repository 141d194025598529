package recall_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
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
	"github.com/adk-go-ext/longsession/layer/recall/index"
)

// indexed is a session service with an index of its own. It notes how often it was brought up to date, and how many
// records the session had then.
type indexed struct {
	session.Service
	mu      sync.Mutex
	records []int
}

func (s *indexed) SearchText(context.Context, *session.GetRequest, index.Query) ([]index.Hit, error) {
	return nil, nil
}

func (s *indexed) IndexText(ctx context.Context, req *session.GetRequest, _ func(string) string) error {
	resp, err := s.Get(ctx, req)
	if err != nil {
		return err
	}
	records := 0
	for ev := range resp.Session.Events().All() {
		if compaction.IsCompactionEvent(ev) {
			records++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, records)
	return nil
}

// The index in a file takes in what a summary stands for once its record is stored, and is not asked before.
func TestTheIndexIsBroughtUpToDateAfterARecordWasStored(t *testing.T) {
	t.Parallel()
	inner := &indexed{Service: session.InMemoryService()}
	var r *recall.Recaller
	svc, err := compaction.NewCompactionService(inner, compaction.Config{
		Summarizer: &compactiontest.Oracle{}, InvocationThreshold: compaction.Off, TokenThreshold: compaction.Off, MaxLedgerTokens: compaction.Off,
		Observer: func(ctx context.Context, o compaction.Observation) { r.Observe(ctx, o) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close(context.Background()) })
	r = recaller(t, svc, recall.Config{})
	flush := func() {
		t.Helper()
		if err := svc.Flush(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	store(t, svc, ref, long()...)
	flush()
	if len(inner.records) != 0 {
		t.Errorf("appends alone brought the index up to date: %v", inner.records)
	}
	compact(t, svc, ref)
	flush()
	if !slices.Equal(inner.records, []int{1}) {
		t.Errorf("records in the file when the index was brought up to date: %v, want one time with 1", inner.records)
	}
}

// A span has numbers, and never the query or what was found.
func TestASpanHasNoWords(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewSpanRecorder()
	svc := service(t)
	store(t, svc, ref, long()...)
	r := recaller(t, svc, recall.Config{TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(spans))})
	if found, err := r.Search(t.Context(), ref, recall.Query{Text: "passport number", Shown: true}); err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	nobody := compaction.SessionRef{AppName: ref.AppName, UserID: ref.UserID, SessionID: "nobody"}
	if _, err := r.Search(t.Context(), nobody, recall.Query{Text: "passport number"}); err == nil {
		t.Fatal("a session that does not exist was searched")
	}
	ended := spans.Ended()
	if len(ended) != 2 {
		t.Fatalf("%d spans, want one of each search", len(ended))
	}
	numbers := map[string]int64{}
	for _, span := range ended {
		text := fmt.Sprint(span.Name(), span.Attributes(), span.Status(), span.Events())
		if span.Name() != "recall" || strings.Contains(text, "passport") || strings.Contains(text, "X4829917") || strings.Contains(text, "nobody") {
			t.Errorf("the span %s", text)
		}
	}
	for _, a := range ended[0].Attributes() {
		numbers[string(a.Key)] = a.Value.AsInt64()
	}
	for _, key := range []string{"recall.hits", "recall.passages", "recall.tokens", "recall.index_bytes"} {
		if numbers[key] <= 0 {
			t.Errorf("%s is %d: %v", key, numbers[key], numbers)
		}
	}
	if ended[0].Status().Code == codes.Error || ended[1].Status().Code != codes.Error {
		t.Errorf("statuses %v and %v", ended[0].Status(), ended[1].Status())
	}
}

// An agent to which the conversation was transferred finds what was said to the one before.
func TestAnAgentRecallsAfterATransfer(t *testing.T) {
	t.Parallel()
	svc := service(t)
	store(t, svc, ref, long()...)
	compact(t, svc, ref)
	r := recaller(t, svc, recall.Config{})
	asked := 0
	llm := compactiontest.NewModel("scripted", func(int, *model.LLMRequest) *model.LLMResponse {
		switch asked++; asked {
		case 1:
			return compactiontest.CallTool("transfer_to_agent", map[string]any{"agent_name": "expert"})
		case 2:
			return compactiontest.CallTool("recall", map[string]any{"query": "passport number"})
		case 3:
			return compactiontest.CallTool("recall_turn", map[string]any{"ref": "m1"})
		}
		return compactiontest.Say("It is X4829917.")
	})
	expert, err := llmagent.New(llmagent.Config{Name: "expert", Description: "Knows passports.", Model: llm, Tools: r.Tools()})
	if err != nil {
		t.Fatal(err)
	}
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Description: "Answers.", Model: llm, SubAgents: []agent.Agent{expert}})
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
			if strings.HasPrefix(response.Name, "recall") {
				answers = append(answers, ev.Author+": "+fmt.Sprint(response.Response["passages"]))
			}
		}
	}
	if len(answers) != 2 {
		t.Fatalf("answers %q", answers)
	}
	for _, answer := range answers {
		if !strings.HasPrefix(answer, "expert: ") || !strings.Contains(answer, "X4829917") {
			t.Errorf("got %q", answer)
		}
	}
}
