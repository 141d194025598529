package integration_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/summarizer"
)

// scribe is a summarizer that knows only the transcript. If the transcript omits a part of an
// event, its facts are lost, as they would be to a model.
var scribe = summarizer.Func(func(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
	text, err := summarizer.Transcript(req.Events, 1_000_000)
	if err != nil {
		return summarizer.Result{}, err
	}
	facts := compactiontest.Facts(strings.Join(append(slices.Clone(req.Summaries), text), "\n"))
	return summarizer.Result{Content: genai.NewContentFromText("Facts: "+strings.Join(facts, " "), genai.RoleModel)}, nil
})

// picture returns a small image named after a fact.
func picture(fact string) *genai.Blob {
	return &genai.Blob{MIMEType: "image/png", DisplayName: fact + ".png", Data: append([]byte("\x89PNG\r\n\x1a\n"), fact...)}
}

// media returns the ways to state a fact in another form than text.
func media(fact string) [][]*genai.Part {
	return [][]*genai.Part{
		{{Text: "What is in this picture?"}, {InlineData: picture(fact)}},
		{{InlineData: picture(fact)}},
		{{Text: "Please read this file."}, {FileData: &genai.FileData{FileURI: "gs://bucket/" + fact + ".pdf", MIMEType: "application/pdf"}}},
		{{FileData: &genai.FileData{FileURI: "gs://bucket/note", DisplayName: fact, MIMEType: "text/plain"}}},
	}
}

// code returns an answer for which the provider ran code.
func code(fact string) *model.LLMResponse {
	return &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
		{Text: "I should compute that.", Thought: true},
		{ExecutableCode: &genai.ExecutableCode{Language: genai.LanguagePython, Code: "print('" + fact + "')"}},
		{CodeExecutionResult: &genai.CodeExecutionResult{Outcome: genai.OutcomeOK, Output: strings.ToLower(fact) + "\n"}},
		{Text: "That is what I found out by computing it."},
	}}}
}

// illustrated returns a plugin that attaches a picture or a file to every tool response.
func (a *app) illustrated() *plugin.Plugin {
	return witness(a.t, func(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
		for _, response := range requests.Responses(ev.Content) {
			fact := a.tell("assistant")
			part := &genai.FunctionResponsePart{InlineData: &genai.FunctionResponseBlob{MIMEType: "image/png", DisplayName: fact, Data: []byte(fact)}}
			if a.turns%2 == 0 {
				part = &genai.FunctionResponsePart{FileData: &genai.FunctionResponseFileData{MIMEType: "text/csv", FileURI: "gs://bucket/" + fact}}
			}
			response.Parts = append(response.Parts, part)
		}
		return nil, nil
	})
}

// tell adds a new fact to the ledger.
func (a *app) tell(teller string) string {
	fact := compactiontest.Fact(a.ledger.number())
	a.ledger.tell(fact, "", teller)
	return fact
}

// show runs one turn whose question has other parts than text.
func (a *app) show(parts []*genai.Part) {
	a.t.Helper()
	a.question = ""
	a.send(&genai.Content{Role: genai.RoleUser, Parts: parts})
}

// Pictures, files and executed code occur in messages, answers and tool results, before, within and
// after the summarized windows. Visible media are in the request byte for byte, hidden media are in
// a summary, and storage has all of them.
func TestMediaAndCodeAreNotLost(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed, reopened}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) { cfg.Summarizer = scribe }))
		a.plugins = []*plugin.Plugin{a.illustrated()}
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
		checked := 0
		for i := range 28 {
			if i%3 == 1 {
				x.will(a.lookups(2))
			}
			x.willDo(func(req *model.LLMRequest) *model.LLMResponse {
				checked += a.checkMedia(req)
				if i%4 == 2 {
					return code(a.tell("assistant"))
				}
				return answer()
			})
			if i%2 == 0 {
				a.ask()
				continue
			}
			a.ledger.nextTurn()
			a.show(media(a.tell("user"))[i/2%4])
		}
		a.compactAll()
		a.chat(x, 1)
		if checked < 3*a.turns {
			t.Errorf("%d parts were compared in %d turns", checked, a.turns)
		}
		a.verify(4)
	})
}

// checkMedia checks that every media part of a visible event is in the request as it is stored, and
// returns their number.
func (a *app) checkMedia(req *model.LLMRequest) int {
	a.t.Helper()
	sent := map[string]bool{}
	for _, c := range req.Contents {
		for _, p := range c.Parts {
			sent[canonical(withoutID(p))] = true
		}
	}
	n := 0
	for _, ev := range a.view() {
		for _, p := range ev.Content.Parts {
			if p.Text != "" {
				continue
			}
			n++
			if !sent[canonical(withoutID(p))] {
				a.t.Errorf("event %s is shown, but this part of it is not in the request: %s", ev.ID, canonical(p))
			}
		}
	}
	return n
}

// withoutID returns a part without ADK's call ID, which ADK removes from requests.
func withoutID(p *genai.Part) *genai.Part {
	same := *p
	if p.FunctionCall != nil {
		same.FunctionCall = &genai.FunctionCall{Name: p.FunctionCall.Name, Args: p.FunctionCall.Args}
	}
	if p.FunctionResponse != nil {
		same.FunctionResponse = &genai.FunctionResponse{Name: p.FunctionResponse.Name, Response: p.FunctionResponse.Response, Parts: p.FunctionResponse.Parts}
	}
	return &same
}

// The extractive summarizer forgets, but must handle sessions that consist of media, and name or
// count the attachments that it covers.
func TestMediaCanBeSummarizedWithoutAModel(t *testing.T) {
	t.Parallel()
	inMemoryIn(t, []mode{synchronous}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) { cfg.Summarizer = &summarizer.Extractive{} }), forgetful)
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, nil))
		for i := range 20 {
			x.will(code(a.tell("assistant")))
			a.ledger.nextTurn()
			a.show(media(a.tell("user"))[i%4])
		}
		a.verify(3)
		summary := ""
		for _, ev := range a.view() {
			if strings.HasPrefix(ev.Content.Parts[0].Text, "[Summary of ") {
				summary += ev.Content.Parts[0].Text
			}
		}
		for _, want := range []string{"image/png", "gs://bucket/"} {
			if !strings.Contains(summary, want) {
				t.Errorf("no attachment is named, %s neither: %s", want, fmt.Sprintf("%.500s", summary))
			}
		}
	})
}
