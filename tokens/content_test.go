package tokens

import (
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
)

func TestNilCountsNothing(t *testing.T) {
	t.Parallel()
	for name, got := range map[string]int{
		"part":           OfPart(nil),
		"empty part":     OfPart(&genai.Part{}),
		"content":        OfContent(nil),
		"nil parts":      OfContent(&genai.Content{Role: "user", Parts: []*genai.Part{nil, {}}}),
		"contents":       OfContents(nil),
		"nil contents":   OfContents([]*genai.Content{nil}),
		"event":          OfEvent(nil),
		"state event":    OfEvent(&session.Event{ID: "e", Author: "user"}),
		"empty content":  OfEvent(&session.Event{LLMResponse: model.LLMResponse{Content: &genai.Content{}}}),
		"nil media part": OfPart(&genai.Part{InlineData: &genai.Blob{MIMEType: "image/png"}}),
	} {
		if got != 0 {
			t.Errorf("%s: %d tokens, want 0", name, got)
		}
	}
}

func TestEveryKindOfPartIsCounted(t *testing.T) {
	t.Parallel()
	args := map[string]any{"city": "Lisbon", "nights": 3.0}
	argsJSON := `{"city":"Lisbon","nights":3}`
	for _, tt := range []struct {
		name string
		part *genai.Part
		want int64 // thousandths
	}{
		{"text", &genai.Part{Text: "hello there"}, milli("hello there")},
		{"thought", &genai.Part{Text: "let me see", Thought: true, ThoughtSignature: []byte("opaque")}, milli("let me see")},
		{"call", &genai.Part{FunctionCall: &genai.FunctionCall{ID: "adk-1", Name: "book", Args: args}}, milli("book") + milli(argsJSON)},
		{"call without arguments", &genai.Part{FunctionCall: &genai.FunctionCall{Name: "now"}}, milli("now") + milli("{}")},
		{"call with empty arguments", &genai.Part{FunctionCall: &genai.FunctionCall{Name: "now", Args: map[string]any{}}}, milli("now") + milli("{}")},
		{"response", &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: "adk-1", Name: "book", Response: args}}, milli("book") + milli(argsJSON)},
		{"provider's call", &genai.Part{ToolCall: &genai.ToolCall{Args: args}}, milli(argsJSON)},
		{"provider's response", &genai.Part{ToolResponse: &genai.ToolResponse{Response: args}}, milli(argsJSON)},
		{"code", &genai.Part{ExecutableCode: &genai.ExecutableCode{Language: genai.LanguagePython, Code: "print(1)"}}, milli("PYTHON") + milli("print(1)")},
		{"code result", &genai.Part{CodeExecutionResult: &genai.CodeExecutionResult{Outcome: genai.OutcomeOK, Output: "1\n"}}, milli("OUTCOME_OK") + milli("1\n")},
		{"text file", &genai.Part{FileData: &genai.FileData{FileURI: "gs://b/a.txt", MIMEType: "text/plain"}}, milli("gs://b/a.txt") + milli("text/plain")},
		{"image file", &genai.Part{FileData: &genai.FileData{FileURI: "gs://b/a.png", MIMEType: "image/png"}}, milli("gs://b/a.png") + milli("image/png") + 258_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := int((tt.want + 999) / 1000)
			if got := OfPart(tt.part); got != want {
				t.Errorf("OfPart = %d, want %d", got, want)
			}
			content := genai.NewContentFromParts([]*genai.Part{tt.part, nil, tt.part}, "user")
			if got := OfContents([]*genai.Content{content, nil}); got != 2*want {
				t.Errorf("OfContents of it twice = %d, want %d", got, 2*want)
			}
		})
	}
}

func TestInlineDataIsCountedByKindNotByBase64(t *testing.T) {
	t.Parallel()
	wanted := int32(1120)
	for _, tt := range []struct {
		name string
		part *genai.Part
		want int
	}{
		{"small image", inline("image/png", 100), 258},
		{"large image", inline("image/jpeg", 5_000_000), 258},
		{"image at a wanted size", &genai.Part{InlineData: inline("image/png", 9).InlineData, MediaResolution: &genai.PartMediaResolution{NumTokens: &wanted}}, 1120},
		{"ten seconds of PCM", inline("audio/pcm;rate=16000", 320_000), 320},
		{"WAV", inline("AUDIO/X-WAV", 320_000), 320},
		{"ten seconds of MP3", inline("audio/mpeg", 160_000), 320},
		{"ten seconds of video", inline("video/mp4", 1_250_000), 2630},
		{"PDF of a page", inline("application/pdf", 10), 258},
		{"PDF of ten pages", inline("application/pdf", 500_000), 2580},
		{"unknown type", inline("application/zip", 900_000), 258},
		{"no type", inline("", 900_000), 258},
		{"malformed type", inline("text/plain; =", 5), Estimate("aaaaa")},
		{"text", inline("text/csv; charset=utf-8", 1000), Estimate(strings.Repeat("a", 1000))},
		{"JSON", inline("application/json", 1000), Estimate(strings.Repeat("a", 1000))},
		{"SVG is an image", inline("image/svg+xml", 1000), 258},
		{"image in a response", &genai.Part{FunctionResponse: &genai.FunctionResponse{Parts: []*genai.FunctionResponsePart{
			nil, {InlineData: &genai.FunctionResponseBlob{MIMEType: "image/png", Data: []byte("x")}},
		}}}, 258 + Estimate("{}")},
		{"file in a response", &genai.Part{FunctionResponse: &genai.FunctionResponse{Parts: []*genai.FunctionResponsePart{
			{FileData: &genai.FunctionResponseFileData{MIMEType: "image/png"}},
		}}}, 258 + int((milli("{}")+milli("image/png")+999)/1000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := OfPart(tt.part); got != tt.want {
				t.Errorf("OfPart = %d, want %d", got, tt.want)
			}
		})
	}
}

func inline(mimeType string, size int) *genai.Part {
	return &genai.Part{InlineData: &genai.Blob{MIMEType: mimeType, Data: []byte(strings.Repeat("a", size))}}
}

func TestTranscriptionCountsOnlyWithoutContent(t *testing.T) {
	t.Parallel()
	content := genai.NewContentFromText("typed", "user")
	in := &genai.Transcription{Text: "what the user said aloud"}
	out := &genai.Transcription{Text: "answer"}
	for _, tt := range []struct {
		name string
		resp model.LLMResponse
		want int
	}{
		{"content", model.LLMResponse{Content: content, InputTranscription: in, OutputTranscription: out}, Estimate("typed")},
		{"input", model.LLMResponse{InputTranscription: in}, Estimate(in.Text)},
		{"output", model.LLMResponse{Content: &genai.Content{Role: "model"}, OutputTranscription: out}, Estimate(out.Text)},
		{"input before output, as ADK sends it", model.LLMResponse{InputTranscription: in, OutputTranscription: out}, Estimate(in.Text)},
		{"output when the input is empty", model.LLMResponse{InputTranscription: &genai.Transcription{}, OutputTranscription: out}, Estimate(out.Text)},
		{"neither", model.LLMResponse{InputTranscription: &genai.Transcription{}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := OfEvent(&session.Event{LLMResponse: tt.resp}); got != tt.want {
				t.Errorf("OfEvent = %d, want %d", got, tt.want)
			}
		})
	}
}
