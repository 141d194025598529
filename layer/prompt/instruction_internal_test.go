package prompt

import (
	"encoding/json"
	"slices"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
)

func content(parts ...*genai.Part) *genai.Content {
	return &genai.Content{Role: genai.RoleUser, Parts: parts}
}

func textsIn(req *model.LLMRequest) []string {
	var out []string
	for _, p := range req.Config.SystemInstruction.Parts {
		out = append(out, p.Text)
	}
	return out
}

func TestSectionsAreAddedBehindTheBase(t *testing.T) {
	t.Parallel()
	ours := texts{"P", "", "S"}
	for _, c := range []struct {
		name   string
		config *genai.GenerateContentConfig
		want   []string
	}{
		{"no configuration", nil, []string{"P", "S"}},
		{"no instruction", &genai.GenerateContentConfig{}, []string{"P", "S"}},
		{"one part", instructed("base"), []string{"base", "P", "S"}},
		{"several parts", instructed("one", "two"), []string{"one", "two", "P", "S"}},
		{"a part without text", &genai.GenerateContentConfig{SystemInstruction: content(genai.NewPartFromText("base"), genai.NewPartFromBytes([]byte("x"), "image/png"))}, []string{"base", "", "P", "S"}},

		{"all there", instructed("base", "P", "S"), []string{"base", "P", "S"}},
		{"one there", instructed("base", "S"), []string{"base", "P", "S"}},
		{"within the base", instructed("base\n\nP\n\nS\n\nYour name is a."), []string{"base\n\nP\n\nS\n\nYour name is a."}},
		{"a word is no section", instructed("Please Stop"), []string{"Please Stop", "P", "S"}},
		{"added to by a callback", instructed("base", "P", "S\n\nmore"), []string{"base", "P", "S\n\nmore"}},
	} {
		before, _ := json.Marshal(c.config)
		req := &model.LLMRequest{Config: c.config}
		for range 2 {
			ours.addTo(req)
			if got := textsIn(req); !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
		if after, _ := json.Marshal(c.config); string(after) != string(before) {
			t.Errorf("%s: the agent's own configuration is now %s", c.name, after)
		}
	}
}

func instructed(texts ...string) *genai.GenerateContentConfig {
	c := content()
	for _, text := range texts {
		c.Parts = append(c.Parts, genai.NewPartFromText(text))
	}
	c.Parts = slices.Grow(c.Parts, 8) // room behind the parts must not be written into
	return &genai.GenerateContentConfig{SystemInstruction: c}
}

func TestARequestWithCachedContentStaysAsItIs(t *testing.T) {
	t.Parallel()
	config := &genai.GenerateContentConfig{CachedContent: "cachedContents/1"}
	req := &model.LLMRequest{Config: config}
	(&texts{"P", "M", "S"}).addTo(req)
	if req.Config != config || config.SystemInstruction != nil {
		t.Errorf("the configuration is now %+v", req.Config)
	}
}

func TestLayoutNamesEachPartAndItsEnd(t *testing.T) {
	t.Parallel()
	ours := &texts{"PP", "MMM", "SSSS"}
	image := genai.NewPartFromBytes([]byte("x"), "image/png")
	part := genai.NewPartFromText
	for _, c := range []struct {
		name   string
		parts  []*genai.Part
		skills bool
		names  []string
		breaks []int
	}{
		{"all", []*genai.Part{part("base"), part("PP"), part("MMM"), part("SSSS")}, false, []string{"base", "project", "memories", "skills"}, []int{4, 8, 13}},
		{"skills are cacheable", []*genai.Part{part("base"), part("PP"), part("MMM"), part("SSSS")}, true, []string{"base", "project", "memories", "skills"}, []int{4, 8, 13, 19}},
		{"no base", []*genai.Part{part("PP")}, false, []string{"project"}, []int{2}},
		{"only a base", []*genai.Part{part("base"), part("more")}, false, []string{"base", "base"}, []int{10}},
		{"an image in the base", []*genai.Part{part("base"), image, nil, part("PP")}, false, []string{"base", "base", "base", "project"}, []int{4, 8}},
		{"parts of a callback", []*genai.Part{part("base"), part("PP\n\nmore"), part("other")}, false, []string{"base", "project", "other"}, []int{4, 8}},
		{"nothing", nil, false, []string{}, nil},
	} {
		b := &Builder{cfg: Config{CacheableSkills: c.skills}}
		l := b.layoutOf(c.parts, ours)
		if !slices.Equal(l.names, c.names) || !slices.Equal(l.breaks, c.breaks) {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, l.names, l.breaks, c.names, c.breaks)
		}
		joined := Joined(content(c.parts...))
		if n := len(l.breaks); n > 0 && l.breaks[n-1] > len(joined) {
			t.Errorf("%s: break point %d in a text of %d bytes", c.name, l.breaks[n-1], len(joined))
		}
	}
}

// A section may begin with the whole text of another one.
func TestASectionThatBeginsAsAnotherKeepsItsNameAndEnd(t *testing.T) {
	t.Parallel()
	got := &texts{"P", "P\n\nand more"}
	req := &model.LLMRequest{Config: &genai.GenerateContentConfig{SystemInstruction: content(genai.NewPartFromText("base"))}}
	got.addTo(req)
	l := (&Builder{}).layoutOf(req.Config.SystemInstruction.Parts, got)
	if want := []string{sectionBase, sectionProject, sectionMemories}; !slices.Equal(l.names, want) {
		t.Errorf("the parts are %q, want %q", l.names, want)
	}
	if want := []int{4, 7, 20}; !slices.Equal(l.breaks, want) {
		t.Errorf("the break points are %v, want %v", l.breaks, want)
	}
}
