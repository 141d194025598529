package summarizer

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
)

// ending is a context that says that it ends at a time, and never does.
type ending struct {
	context.Context
	at *time.Time
}

func (e ending) Deadline() (time.Time, bool) { return *e.at, true }

// hurrying is a model that brings the end of a context nearer with its first answer.
type hurrying struct {
	end     *time.Time
	prompts []string
}

func (*hurrying) Name() string { return "hurrying" }

func (h *hurrying) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	h.prompts = append(h.prompts, req.Contents[0].Parts[0].Text)
	*h.end = time.Now()
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(&model.LLMResponse{
			Content:      genai.NewContentFromText("The agent searched the catalog again and found a train to Porto at 8:15.", genai.RoleModel),
			FinishReason: genai.FinishReasonStop,
		}, nil)
	}
}

// TestPiecesThatWouldMissTheDeadlineAreReadAtOnce: a summary of a cut result beats none.
func TestPiecesThatWouldMissTheDeadlineAreReadAtOnce(t *testing.T) {
	t.Parallel()
	var events []*session.Event
	for i := range 4 {
		ev := &session.Event{Author: "user"}
		ev.Content = genai.NewContentFromText(strings.Repeat(fmt.Sprintf("word%d ", i), 200), genai.RoleUser)
		events = append(events, ev)
	}
	for name, far := range map[string]bool{"at once": false, "in pieces": true} {
		end := time.Now().Add(24 * time.Hour)
		m := &hurrying{end: &end}
		if far {
			m.end = new(time.Time)
		}
		l, err := NewLLM(LLMConfig{Model: m, MaxInputTokens: 800})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Summarize(ending{t.Context(), &end}, Request{Events: events}); err != nil {
			t.Fatal(err)
		}
		cut := slices.ContainsFunc(m.prompts, func(p string) bool {
			return strings.Contains(p, "more characters] …\" marks") && strings.Count(p, "more characters") > 1
		})
		if pieces := len(m.prompts); far && (pieces < 3 || cut) || !far && (pieces != 2 || !cut) {
			t.Errorf("%s: %d prompts, cut: %t", name, pieces, cut)
		}
	}
}

func TestWithoutADeadlineThereIsNoHurry(t *testing.T) {
	t.Parallel()
	slow := pace{}
	slow.took(time.Hour)
	if slow.misses(t.Context(), 8) {
		t.Error("pieces are given up without a deadline")
	}
}
