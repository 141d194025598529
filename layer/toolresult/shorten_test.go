package toolresult

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/tokens"
)

func TestWhatIsTooLargeIsShownWithItsBeginningAndEnd(t *testing.T) {
	t.Parallel()
	long := "BEGIN " + strings.Repeat("The parcel left Bremen at noon.\n", 2_000) + "END"
	refs := map[string]store.Result{}
	ref := func(_ string, whole store.Result) string { refs[whole.Ref] = whole; return whole.Ref }
	for name, part := range map[string]*genai.Part{
		"text":       genai.NewPartFromText(long),
		"thought":    {Text: long, Thought: true},
		"attachment": genai.NewPartFromBytes([]byte(long), "text/plain"),
		"result":     genai.NewPartFromFunctionResponse("work", map[string]any{"output": long}),
		"arguments":  genai.NewPartFromFunctionCall("work", map[string]any{"path": "a.txt", "text": long}),
		"code":       genai.NewPartFromExecutableCode(long, genai.LanguagePython),
		"printed":    genai.NewPartFromCodeExecutionResult(genai.OutcomeOK, long),
		"call":       {ToolCall: &genai.ToolCall{ToolType: genai.ToolTypeURLContext, Args: map[string]any{"path": "a.txt", "text": long}}},
		"response":   {ToolResponse: &genai.ToolResponse{ToolType: genai.ToolTypeURLContext, Response: map[string]any{"path": "a.txt", "text": long}}},
		"video":      genai.NewPartFromBytes(append([]byte{0xff}, make([]byte, 10_000_000)...), "video/mp4"),
	} {
		for _, most := range []int{64, 500, 4_000} {
			clear(refs)
			whole := &genai.Content{Role: "user", Parts: []*genai.Part{genai.NewPartFromText("short"), part}}
			before := *part
			short := Shorten(whole, most, ref)
			if short == whole || whole.Parts[1] != part || !reflect.DeepEqual(*part, before) || short.Parts[0] != whole.Parts[0] {
				t.Fatalf("%s: the content itself was changed, or nothing was shortened", name)
			}
			got := short.Parts[1]
			if size := tokens.OfPart(got); size > most+40 {
				t.Errorf("%s: %d tokens instead of %d", name, size, most)
			}
			if name == "video" {
				if !strings.Contains(got.Text, "attachment left out: video/mp4, 10,000,001 bytes") {
					t.Errorf("%s: %q", name, got.Text)
				}
				continue
			}
			shown := got.Text
			switch {
			case got.FunctionResponse != nil:
				shown = got.FunctionResponse.Response["result"].(string)
			case got.FunctionCall != nil:
				shown = got.FunctionCall.Args["text"].(string)
			case got.ExecutableCode != nil:
				shown = got.ExecutableCode.Code
			case got.CodeExecutionResult != nil:
				shown = got.CodeExecutionResult.Output
			case got.ToolCall != nil:
				shown = got.ToolCall.Args["text"].(string)
			case got.ToolResponse != nil:
				shown = got.ToolResponse.Response["text"].(string)
			case got.InlineData != nil:
				shown = string(got.InlineData.Data)
			}
			if !strings.HasPrefix(shown, "B") || !strings.HasSuffix(shown, "D") || !strings.Contains(shown, "[truncated: kept first+last") || got.Thought != part.Thought {
				t.Errorf("%s, %d tokens: %.100q", name, most, shown)
			}
			if got.FunctionCall == nil && got.ToolCall == nil && got.ToolResponse == nil && (len(refs) != 1 || !strings.Contains(shown, ReadResultName)) {
				t.Errorf("%s: %d references, and the marker is not %.200q", name, len(refs), shown)
			}
		}
		if again := Shorten(&genai.Content{Parts: []*genai.Part{part}}, 1<<30, ref); again.Parts[0] != part {
			t.Errorf("%s: what is small enough was copied", name)
		}
	}
}

// A shortened message is in no store but the session itself.
func TestAShortenedMessageIsReadFromItsSession(t *testing.T) {
	t.Parallel()
	svc := session.InMemoryService()
	created, err := svc.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "user", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	message, attached := strings.Repeat("A long message. ", 500), strings.Repeat("A long file. ", 500)
	code, printed := strings.Repeat("print(1)\n", 500), strings.Repeat("1\n", 1_000)
	ev := session.NewEventWithContext(t.Context(), "i1")
	ev.Author, ev.Content = "user", &genai.Content{Role: "user", Parts: []*genai.Part{genai.NewPartFromText(message), genai.NewPartFromBytes([]byte(attached), "text/plain"),
		genai.NewPartFromExecutableCode(code, genai.LanguagePython), genai.NewPartFromCodeExecutionResult(genai.OutcomeOK, printed)}}
	if err := svc.AppendEvent(t.Context(), created.Session, ev); err != nil {
		t.Fatal(err)
	}
	source := store.Events(svc)
	for _, text := range []string{message, attached, code, printed} {
		r, size, err := source.Open(t.Context(), store.Owner{AppName: "app", UserID: "user", SessionID: "s"}, store.TextResult(text).Ref)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, size)
		if _, err := r.ReadAt(got, 0); err != nil && err != io.EOF || string(got) != text {
			t.Errorf("%v, %.40q", err, got)
		}
	}
}
