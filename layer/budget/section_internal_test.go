package budget

import (
	"context"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
)

// What differs first has its name in the report, also if it is gone; without names, the instruction is the
// base. A panic in Sections costs nothing but the name.
func TestABreakNamesTheSectionOrTool(t *testing.T) {
	t.Parallel()
	names := []string{"base", "project", "skills"}
	panics := false
	m := newMeter(t, Config{Sections: func(context.Context) []string {
		if panics {
			panic("no")
		}
		return names
	}})
	request := func(texts []string, tools ...string) lastRequest {
		req := &model.LLMRequest{Config: &genai.GenerateContentConfig{SystemInstruction: &genai.Content{}, Tools: []*genai.Tool{{}}}}
		for _, text := range texts {
			req.Config.SystemInstruction.Parts = append(req.Config.SystemInstruction.Parts, genai.NewPartFromText(text))
		}
		for _, name := range tools {
			req.Config.Tools[0].FunctionDeclarations = append(req.Config.Tools[0].FunctionDeclarations, &genai.FunctionDeclaration{Name: name})
		}
		got := m.measure(caller{}, req)
		now := lastRequest{sent: true, hashes: [2]uint64{got.instruction.hash, got.tools}}
		now.named = lastRequest{}.next(got, m.cfg.sectionsIn(t.Context(), &m.places))
		return now
	}
	first := request([]string{"B", "P", "S"}, "find", "open", "read")
	for _, c := range []struct {
		what  string
		now   lastRequest
		cause Cause
		want  string
	}{
		{"a new project", request([]string{"B", "P2", "S"}, "find", "open", "read"), CauseInstruction, "project"},
		{"a new base", request([]string{"B2", "P2", "S2"}, "find", "open", "read"), CauseInstruction, "base"},
		{"another tool in front", request([]string{"B", "P", "S"}, "close", "find", "open", "read"), CauseTools, "close"},
		{"a tool less", request([]string{"B", "P", "S"}, "find", "read"), CauseTools, "open"},
		{"a tool at the end", request([]string{"B", "P", "S"}, "find", "open", "read", "write"), CauseTools, "write"},
	} {
		if got := compare(first, c.now); got == nil || got.Cause != c.cause || got.Section != c.want {
			t.Errorf("%s: %+v, want %s of %s", c.what, got, c.cause, c.want)
		}
	}
	names = []string{"base", "skills"}
	if got := compare(first, request([]string{"B", "S"}, "find", "open", "read")); got == nil || got.Section != "project" {
		t.Errorf("without the project: %+v", got)
	}
	panics = true
	if got := compare(request([]string{"B"}), request([]string{"B2"})); got == nil || got.Section != "base" {
		t.Errorf("without names: %+v", got)
	}
}
