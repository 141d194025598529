package budget

import (
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/notes"
)

func TestANoteIsWrittenOncePerStep(t *testing.T) {
	t.Parallel()
	var n noteState
	for i, r := range []struct {
		share float64
		due   bool
	}{
		{0.5, false}, {0.79, false}, {0.8, true}, {0.81, false}, {0.849, false}, {0.851, true}, {0.849, false}, {0.852, false},
		{0.97, true}, {1.02, true}, {1.02, false},
		{0.78, false}, {0.81, true}, // room was freed, and the window fills up again
		{0.3, false}, {0.8, true},
		{0.799, false}, {0.801, false}, // around the threshold
	} {
		if got := n.due(r.share, 0.8); got != r.due {
			t.Errorf("step %d, share %v: due is %v", i, r.share, got)
		}
	}
	if n.due(0.99, compaction.Off) {
		t.Error("a note is due although notes are off")
	}
}

func TestANoteNamesOnlyAToolThatIsOffered(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		share   float64
		offered bool
		want    string
	}{
		{0.8399, true, "[Context: 83% used. You can call compact_context to free space before continuing with large operations.]"},
		{0.8399, false, "[Context: 83% used. Avoid large tool results.]"},
		{1.7, false, "[Context: 100% used. Avoid large tool results.]"},
	} {
		got := noteText(r.share, r.offered)
		if got != r.want {
			t.Errorf("%q, want %q", got, r.want)
		}
		if !notes.Is(noteKey, got) {
			t.Errorf("a whole result that is read back would have the note %q in it", got)
		}
	}
}

func TestANoteGoesIntoANewMapOfTheNewestResult(t *testing.T) {
	t.Parallel()
	answered := func(name string, response map[string]any) *genai.Part {
		return &genai.Part{FunctionResponse: &genai.FunctionResponse{Name: name, Response: response}}
	}
	first, last := map[string]any{"n": 1}, map[string]any{"n": 2}
	for _, r := range []struct {
		name  string
		parts []*genai.Part
		at    int // part with the note, -1 for none
	}{
		{"parallel results", []*genai.Part{answered("find", first), answered("find", last)}, 1},
		{"results that ADK reads", []*genai.Part{answered("find", first), answered("set_model_response", last), answered("transfer_to_agent", last)}, 0},
		{"only such results", []*genai.Part{answered("adk_request_confirmation", last)}, -1},
		{"no response", []*genai.Part{answered("find", nil), nil, genai.NewPartFromText("Hello.")}, -1},
		{"no parts", nil, -1},
	} {
		wrote := notes.Context.Into(&genai.Content{Parts: r.parts}, "[Note.]", adk.IsExempt)
		if wrote != (r.at >= 0) {
			t.Errorf("%s: written is %v", r.name, wrote)
		}
		for i, p := range r.parts {
			if p == nil || p.FunctionResponse == nil {
				continue
			}
			note, found := p.FunctionResponse.Response[noteKey]
			if found != (i == r.at) || found && note != "[Note.]" {
				t.Errorf("%s: part %d has the note %v", r.name, i, note)
			}
		}
		if len(first) != 1 || len(last) != 1 {
			t.Fatalf("%s: the tool's own maps have the note: %v, %v", r.name, first, last)
		}
	}
	own := map[string]any{noteKey: "healthy"}
	if content := (&genai.Content{Parts: []*genai.Part{answered("find", own)}}); notes.Context.Into(content, "[Note.]", adk.IsExempt) || content.Parts[0].FunctionResponse.Response[noteKey] != "healthy" {
		t.Errorf("what the tool has under the key of the note is now %v", content.Parts[0].FunctionResponse.Response)
	}
	if notes.Context.Into(nil, "[Note.]", adk.IsExempt) {
		t.Error("a note is written into nothing")
	}
}

func TestSkillsThatAnAppNamesCountOnce(t *testing.T) {
	t.Parallel()
	instruction := "Be brief. Read PDF files page by page. Sum up tables."
	pdf, tables := "Read PDF files page by page.", "Sum up tables."
	for _, r := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"none", nil, ""},
		{"two", []string{tables, pdf}, pdf + tables},
		{"the same twice", []string{pdf, pdf}, pdf},
		{"one in another", []string{pdf, "PDF files"}, pdf},
		{"not in the instruction", []string{"Write poems.", ""}, ""},
		{"more than there is", []string{instruction, strings.Repeat("x", 10_000)}, instruction},
	} {
		m, err := New(Config{Skills: func(string) []string { return r.texts }})
		if err != nil {
			t.Fatal(err)
		}
		c := genai.NewContentFromText(instruction, genai.RoleUser)
		got := m.instructionOf(&state{}, c, nil)
		if want := m.instructionOf(&state{}, genai.NewContentFromText(r.want, genai.RoleUser), nil); r.want != "" && (got.skills < want.all-2 || got.skills > want.all+2) || r.want == "" && got.skills != 0 {
			t.Errorf("%s: skills take up %d of %d, want %d", r.name, got.skills, got.all, want.all)
		}
		if got.base+got.skills != got.all {
			t.Errorf("%s: %+v does not add up", r.name, got)
		}
	}
	m, err := New(Config{Skills: func(string) []string { panic("no skills") }})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.instructionOf(&state{}, genai.NewContentFromText(instruction, genai.RoleUser), nil); got.skills != 0 || got.base != got.all {
		t.Errorf("skills that panic: %+v", got)
	}
}
