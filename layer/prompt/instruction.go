package prompt

import (
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
)

// Instruction returns an instruction provider that puts the sections behind a base text, for agents of an app
// that uses neither [Builder.Plugin] nor [Builder.Model]. With these it does no harm: no section is added
// twice. Braces in the base and in the sections have no meaning, unlike in llmagent.Config.Instruction.
//
// ADK makes one piece of text of the result and what it adds itself, so changes are reported for
// "base", and there is one break point. ADK sends an empty text as an empty part, which services may
// refuse. The result may be used by several agents at once.
func (b *Builder) Instruction(base string) llmagent.InstructionProvider {
	return func(ctx agent.ReadonlyContext) (text string, err error) {
		// A panic here would reach the caller of Run.
		text = base
		defer b.places.Survive("prompt: an instruction")
		who, known := callerIn(ctx)
		if !known || !b.has(0, stable) {
			return base, nil
		}
		text, _ = b.sections(base, b.textsFor(ctx, who)[:]).Build()
		return text, nil
	}
}

// addTo puts the sections that a request lacks into its system instruction, each as a part behind those that
// come before it. It leaves a request with cached content alone, because that already has an instruction. It
// copies what it changes: the configuration may be the agent's own.
func (t *texts) addTo(req *model.LLMRequest) {
	if req.Config != nil && req.Config.CachedContent != "" {
		return
	}
	var parts []*genai.Part
	if req.Config != nil && req.Config.SystemInstruction != nil {
		parts = req.Config.SystemInstruction.Parts
	}
	var missing [stable]bool
	count := 0
	for i, text := range t {
		if text != "" && !contains(parts, text) {
			missing[i] = true
			count++
		}
	}
	if count == 0 {
		return
	}
	all := append(make([]*genai.Part, 0, len(parts)+count), parts...)
	added := make([]genai.Part, 0, count)
	for i, text := range t {
		if missing[i] {
			added = append(added, genai.Part{Text: text})
			all = slices.Insert(all, t.place(all, i), &added[len(added)-1])
		}
	}
	config, instruction := &genai.GenerateContentConfig{}, &genai.Content{Role: genai.RoleUser}
	if req.Config != nil {
		*config = *req.Config
	}
	if config.SystemInstruction != nil {
		*instruction = *config.SystemInstruction
	}
	instruction.Parts, config.SystemInstruction, req.Config = all, instruction, config
}

// place is where a section belongs: in front of the first part that is a later section.
func (t *texts) place(parts []*genai.Part, section int) int {
	for at, p := range parts {
		if t.sectionOf(p) > section {
			return at
		}
	}
	return len(parts)
}

// sectionOf returns the section that a part is, -1 for none. One section may begin with the whole text of another:
// the longest text counts.
func (t *texts) sectionOf(p *genai.Part) int {
	if p == nil || p.Text == "" {
		return -1
	}
	section, longest := -1, 0
	for i, text := range t {
		// ADK and callbacks add to an instruction by adding to its last part.
		if len(text) > longest && strings.HasPrefix(p.Text, text) && ends(p.Text[len(text):]) {
			section, longest = i, len(text)
		}
	}
	return section
}

// contains reports whether an instruction has a text, as a part or as a piece of one between empty lines.
func contains(parts []*genai.Part, text string) bool {
	for _, p := range parts {
		if p == nil {
			continue
		}
		for rest, more := p.Text, true; more && len(rest) >= len(text); _, rest, more = strings.Cut(rest, separator) {
			if strings.HasPrefix(rest, text) && ends(rest[len(text):]) {
				return true
			}
		}
	}
	return false
}

// ends reports whether a section ends in front of a text.
func ends(after string) bool { return after == "" || strings.HasPrefix(after, separator) }
