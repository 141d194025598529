package recall_test

import (
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// The tools are declared where a summary hides something, of any kind and also quoted by ADK, and where the instruction
// names one of them. Other sessions can be searched from the first request on.
func TestTheToolsAreDeclaredWhereThereIsSomethingToFind(t *testing.T) {
	t.Parallel()
	svc, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{Summarizer: summarizer.Extractive{}, ContextWindow: 32_000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close(t.Context()) })
	shown := func(kind record.Kind, after record.Ref) string {
		m := &record.Metadata{RecordID: "r1", Kind: kind, Agent: "desk", After: after, CompactedContentJSON: `{"parts":[{"text":"Mara ordered nails."}],"role":"model"}`}
		return view.SummaryEvent(m).Content.Parts[0].Text
	}
	instructed := func(text string) *genai.GenerateContentConfig {
		return &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText(text, genai.RoleUser)}
	}
	hello := genai.Text("Hello. Earlier messages can be searched with the tool recall.")
	for name, row := range map[string]struct {
		req    model.LLMRequest
		across bool
		want   bool
	}{
		"a chat":                     {model.LLMRequest{Contents: hello, Config: instructed("You recalled it.")}, false, false},
		"no contents":                {model.LLMRequest{}, false, false},
		"a summary":                  {model.LLMRequest{Contents: append(genai.Text(shown(record.KindSummary, record.Ref{})), hello...)}, false, true},
		"a checkpoint":               {model.LLMRequest{Contents: genai.Text(shown(record.KindCheckpoint, record.Ref{}))}, false, true},
		"a summary of tool rounds":   {model.LLMRequest{Contents: append(hello, genai.Text(shown(record.KindSummary, record.Ref{ID: "e1"}))...)}, false, true},
		"another agent's, as quoted": {model.LLMRequest{Contents: genai.Text("[desk] said: " + shown(record.KindSummary, record.Ref{}))}, false, true},
		"an instruction":             {model.LLMRequest{Config: instructed("Use recall(query).")}, false, true},
		"one with the other tool":    {model.LLMRequest{Config: instructed("`recall_turn` returns a turn.")}, false, true},
		"other sessions":             {model.LLMRequest{Contents: hello}, true, true},
	} {
		r, err := recall.New(svc, recall.Config{AcrossSessions: row.across})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range r.Tools() {
			if got := adk.Declare(&row.req, one); got != row.want || (row.req.Tools[one.Name()] != nil) != row.want {
				t.Errorf("%s: %s declared %v, want %v", name, one.Name(), got, row.want)
			}
		}
	}
}
