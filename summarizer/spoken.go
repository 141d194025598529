package summarizer

import (
	"strings"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/recalled"
)

// statement is one text of an event, with its weight.
type statement struct {
	text   string
	user   bool
	weight float64
}

// spoken returns the texts of an event that the digest may quote. It omits thoughts, because nobody
// said them.
func spoken(ev *session.Event) []statement {
	var out []statement
	user := ev.Author == genai.RoleUser
	weight := float64(agentWeight)
	if user {
		weight = userWeight
	}
	add := func(text string, weight float64) {
		if text != "" {
			out = append(out, statement{text, user, weight})
		}
	}
	if ev.Content != nil {
		for _, p := range ev.Content.Parts {
			if p == nil || p.Thought || isNote(ev, p) {
				continue
			}
			add(p.Text, weight)
			if _, repeats := recalled.Line(p.FunctionResponse); repeats {
				continue // the events that it quotes were or will be quoted themselves
			}
			if r := p.FunctionResponse; r != nil {
				_, rest := refOf(r.Response)
				responseTexts(rest, func(text string) { add(text, toolWeight) })
			}
			if r := p.ToolResponse; r != nil {
				responseTexts(r.Response, func(text string) { add(text, toolWeight) })
			}
			if r := p.CodeExecutionResult; r != nil {
				add(r.Output, toolWeight)
			}
			if b := p.InlineData; b != nil {
				add("(attached "+attachment(b.MIMEType, b.DisplayName, len(b.Data))+")", toolWeight)
			}
			if f := p.FileData; f != nil {
				add("(attached "+file(f.MIMEType, f.DisplayName, f.FileURI)+")", toolWeight)
			}
		}
	}
	for _, t := range []*genai.Transcription{ev.InputTranscription, ev.OutputTranscription} {
		if t != nil {
			add(t.Text, weight)
		}
	}
	if ev.ErrorMessage != "" {
		add(ev.ErrorMessage, toolWeight)
	}
	if len(ev.Actions.ArtifactDelta) > 0 {
		add("(saved "+artifacts(ev.Actions.ArtifactDelta)+")", toolWeight)
	}
	return out
}

// responseTexts visits the texts of a tool's response. It passes long texts on unchanged, and joins
// short values as "key: value", so that they keep their meaning.
func responseTexts(response map[string]any, visit func(string)) {
	const lineful = 160 // maximum bytes of short values that form one sentence
	left := 16 * maxLeaves
	var short strings.Builder
	walkLeaves("", response, &left, func(key, value string) {
		if len(value) > maxKeyValue {
			visit(value)
			return
		}
		if short.Len() > 0 {
			short.WriteString(", ")
		}
		short.WriteString(key + ": " + value)
		if short.Len() > lineful {
			visit(short.String())
			short.Reset()
		}
	})
	if short.Len() > 0 {
		visit(short.String())
	}
}
