package integration_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/summarizer"
)

// cutView is a compaction service that shows results shortened, with the plugin that offers read_result.
func cutView(t *testing.T, inner session.Service) (*compaction.CompactionSessionService, *plugin.Plugin) {
	t.Helper()
	cutter, err := toolresult.New(toolresult.Config{Readable: true})
	if err != nil {
		t.Fatal(err)
	}
	view, err := compaction.NewCompactionService(inner, compaction.Config{
		Summarizer: summarizer.Extractive{}, InvocationThreshold: 3, OverlapSize: 1, Synchronous: true,
		Cut: func(ref compaction.SessionRef, ev *session.Event) *session.Event {
			return cutter.Event(ref, ev)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = view.Close(context.Background()) })
	read, err := toolresult.ReadResult(store.Events(inner), toolresult.ReadOptions{Timeout: toolresult.Off})
	if err != nil {
		t.Fatal(err)
	}
	masker, err := toolresult.NewMasker(toolresult.Masking{From: toolresult.Off, KeepFirst: toolresult.Off, KeepLast: 1, BatchTokens: toolresult.Off})
	if err != nil {
		t.Fatal(err)
	}
	p, err := toolresult.RequestPlugin(toolresult.RequestConfig{ReadResult: read, Masker: masker})
	if err != nil {
		t.Fatal(err)
	}
	return view, p
}

// Storage keeps every result whole and the view shows it shortened. Results that were cut, masked, and
// summarized since are read back byte for byte, in this process and after a restart.
func TestResultsAreReadBackAfterCompactionMaskingAndRestart(t *testing.T) {
	t.Parallel()
	for _, place := range storages.All(t) {
		t.Run(place.Name, func(t *testing.T) {
			t.Parallel()
			inner := place.Open(t)
			createBare(t, inner)
			view, offers := cutView(t, inner)
			size := func(n int) int { return 3_000 + 7_000*(n%4) }
			tools := []tool.Tool{bigTool(t, func(n int) string { return long(n, size(n)) })}
			const turns = 12
			var shown []string // the references in the order of the calls
			masked := 0
			for turn := range turns {
				llm := &pinned{name: "m", answer: func(_ context.Context, n int, req *model.LLMRequest) *model.LLMResponse {
					for _, problem := range requests.Problems(req.Contents) {
						t.Errorf("turn %d: %s", turn, problem)
					}
					for _, content := range req.Contents {
						for _, response := range requests.Responses(content) {
							if strings.Contains(canonical(response.Response), "[result masked") {
								masked++
							}
							if len(mustJSON(t, response.Response)) > 10_240 {
								t.Errorf("turn %d: a result of %d bytes is shown", turn, len(mustJSON(t, response.Response)))
							}
						}
					}
					if n < 2 {
						return &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{genai.NewPartFromFunctionCall("big", map[string]any{"n": 2*turn + n})}}}
					}
					return compactiontest.Say("Done.")
				}}
				if err := pinTurn(t, view, pinAgent(t, llm, func(cfg *llmagent.Config) { cfg.Tools = tools }), offers); err != nil {
					t.Fatal(err)
				}
				for n := range 2 {
					shown = append(shown, store.ResultOf(map[string]any{"output": long(2*turn+n, size(2*turn+n))}).Ref)
				}
			}
			stored := 0
			for _, ev := range eventsOf(getBare(t, inner)) {
				for _, response := range requests.Responses(ev.Content) {
					if response.Response["output"] != long(stored, size(stored)) {
						t.Errorf("result %d is not stored whole", stored)
					}
					stored++
				}
			}
			visible := 0
			for _, ev := range eventsOf(getBare(t, view)) {
				visible += len(requests.Responses(ev.Content))
			}
			if stored != 2*turns || masked == 0 || visible > stored/2 {
				t.Fatalf("%d results, %d in view, %d masks: the test shows too little", stored, visible, masked)
			}
			for _, when := range []string{"in this process", "after a restart"} {
				if when == "after a restart" {
					inner = place.Open(t)
					view, offers = cutView(t, inner)
				}
				answers := &genai.Content{Role: genai.RoleModel}
				for _, ref := range shown {
					answers.Parts = append(answers.Parts, genai.NewPartFromFunctionCall(toolresult.ReadResultName, map[string]any{"ref_id": ref}))
				}
				reader := &wholeReader{t: t, first: answers}
				if err := pinTurn(t, view, pinAgent(t, reader, func(cfg *llmagent.Config) { cfg.Tools = tools }), offers); err != nil {
					t.Fatal(err)
				}
				for n, ref := range shown {
					if got := reader.text(ref); got != long(n, size(n)) {
						t.Errorf("%s: result %d has %d bytes, want %d", when, n, len(got), size(n))
					}
				}
			}
		})
	}
}

// wholeReader is a model that reads on wherever an answer is not done.
type wholeReader struct {
	t     *testing.T
	first *genai.Content
	read  map[string]*strings.Builder
}

// text returns what was read of a result, which may be nothing.
func (r *wholeReader) text(ref string) string {
	if read := r.read[ref]; read != nil {
		return read.String()
	}
	return ""
}

func (r *wholeReader) Name() string { return "whole-reader" }

func (r *wholeReader) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) { yield(r.answer(req), nil) }
}

func (r *wholeReader) answer(req *model.LLMRequest) *model.LLMResponse {
	if r.read == nil {
		r.read = map[string]*strings.Builder{}
		return &model.LLMResponse{Content: r.first}
	}
	next := &genai.Content{Role: genai.RoleModel}
	for _, response := range requests.Responses(req.Contents[len(req.Contents)-1]) {
		ref, _ := response.Response["ref_id"].(string)
		content, ok := response.Response["content"].(string)
		if !ok {
			r.t.Errorf("read_result answers %s", canonical(response.Response))
			continue
		}
		if r.read[ref] == nil {
			r.read[ref] = &strings.Builder{}
		}
		r.read[ref].WriteString(content)
		if response.Response["done"] != true {
			next.Parts = append(next.Parts, genai.NewPartFromFunctionCall(toolresult.ReadResultName, map[string]any{"ref_id": ref, "offset": response.Response["next_offset"]}))
		}
	}
	if len(next.Parts) == 0 {
		return compactiontest.Say("Done.")
	}
	return &model.LLMResponse{Content: next}
}

// The tool answers each session from its own results only, whatever the model asks for.
func TestAModelReadsNoResultOfAnotherSession(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	createBare(t, inner)
	_, offers := cutView(t, inner)
	secret := map[string]any{"output": "secret"}
	for _, other := range []session.CreateRequest{
		{AppName: ref.AppName, UserID: ref.UserID, SessionID: "other"},
		{AppName: ref.AppName, UserID: "other", SessionID: ref.SessionID},
		{AppName: "other", UserID: ref.UserID, SessionID: ref.SessionID},
	} {
		resp, err := inner.Create(t.Context(), &other)
		if err != nil {
			t.Fatal(err)
		}
		ev := session.NewEventWithContext(t.Context(), "inv")
		ev.Author = "a"
		ev.Content = &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{genai.NewPartFromFunctionResponse("big", secret)}}
		if err := inner.AppendEvent(t.Context(), resp.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	var answers []string
	llm := &pinned{name: "m", answer: func(_ context.Context, n int, req *model.LLMRequest) *model.LLMResponse {
		if n == 0 {
			content := &genai.Content{Role: genai.RoleModel}
			for _, id := range []string{store.ResultOf(secret).Ref, "r-0000000000000000", "../../secret"} {
				content.Parts = append(content.Parts, genai.NewPartFromFunctionCall(toolresult.ReadResultName, map[string]any{"ref_id": id}))
			}
			return &model.LLMResponse{Content: content}
		}
		for _, response := range requests.Responses(req.Contents[len(req.Contents)-1]) {
			answers = append(answers, fmt.Sprint(response.Response))
		}
		return compactiontest.Say("Done.")
	}}
	if err := pinTurn(t, inner, pinAgent(t, llm, func(cfg *llmagent.Config) { cfg.Instruction = "Read long results with read_result." }), offers); err != nil {
		t.Fatal(err)
	}
	want := "map[error:" + store.ErrUnknownRef.Error() + "]"
	if len(answers) != 3 || answers[0] != want || answers[1] != want || answers[2] != want {
		t.Errorf("the answers are %v, want three times %s", answers, want)
	}
}
