package prompt

import (
	"fmt"
	"strings"

	"github.com/adk-go-ext/longsession/internal/configerr"
)

// The names of the sections, in their order.
const (
	sectionBase       = "base"       // the agent's own instruction, as ADK has built it
	sectionProject    = "project"    // files such as AGENTS.md
	sectionMemories   = "memories"   // what is known from earlier sessions
	sectionSkills     = "skills"     // what the agent can load
	sectionScratchpad = "scratchpad" // the agent's notes
	sectionStatus     = "status"     // what is going on now
	// sectionOther is what a callback of the app has added to the instruction behind the sections.
	sectionOther = "other"
)

// PromptSection is a section with its text.
type PromptSection struct {
	Name    string
	Content string // a blank one leaves the section out
	// Cacheable says that the content rarely changes.
	Cacheable bool
}

// Sections are the sections of one prompt, in order.
type Sections []PromptSection

// NewSections returns sections for a prompt. It refuses a cacheable section behind one that is not, which no
// provider could cache, and a name that is empty or used twice. The error joins a [*ConfigError] for each.
func NewSections(sections ...PromptSection) (Sections, error) {
	var p configerr.Problems
	seen := map[string]bool{}
	changes := "" // the first section that is not cacheable
	for i, s := range sections {
		at := fmt.Sprintf("sections[%d].", i)
		switch {
		case s.Name == "":
			p.Refuse(at+"Name", s.Name, "a section needs a name, by which changes of it are reported")
		case seen[s.Name]:
			p.Refuse(at+"Name", s.Name, "another section has this name; rename one of them")
		}
		seen[s.Name] = true
		switch {
		case !s.Cacheable && changes == "":
			changes = s.Name
		case s.Cacheable && changes != "":
			p.Refuse(at+"Cacheable", true, "section %.40q before it is not cacheable, so this one never could be; move it to the front", changes)
		}
	}
	if err := p.Join("prompt sections"); err != nil {
		return nil, err
	}
	return sections, nil
}

// separator is between two sections. ADK puts the same between the pieces of its own instruction.
const separator = "\n\n"

// Build joins the sections, with an empty line between two. The break points are offsets in bytes, ascending:
// the end of each cacheable section that has a text. Up to the first section that is not cacheable, a provider
// can keep the prompt. Build changes nothing, and equal sections give equal bytes.
func (s Sections) Build() (prompt string, breakpoints []int) {
	var b strings.Builder
	keeps := true
	for _, section := range s {
		if blank(section.Content) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(separator)
		}
		b.WriteString(section.Content)
		if keeps = keeps && section.Cacheable; keeps {
			breakpoints = append(breakpoints, b.Len())
		}
	}
	return b.String(), breakpoints
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
