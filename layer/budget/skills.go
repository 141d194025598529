package budget

import (
	"strings"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// The list of skills that ADK's skill toolset appends to the system instruction, and the sentence that
// begins its default explanation.
const (
	skillsIntro = "You can use specialized 'skills'"
	skillsOpen  = "<available_skills>"
	skillsClose = "</available_skills>"
)

// listedSkills returns the parts of an instruction that ADK's skill toolset has written: each list of
// skills, with its explanation in front if that is ADK's own.
func listedSkills(instruction string) []string {
	var parts []string
	for rest := instruction; ; {
		open := strings.Index(rest, skillsOpen)
		if open < 0 {
			return parts
		}
		length := strings.Index(rest[open:], skillsClose)
		if length < 0 {
			return parts
		}
		if intro := strings.LastIndex(rest[:open], skillsIntro); intro >= 0 {
			length += open - intro
			open = intro
		}
		end := open + length + len(skillsClose)
		parts = append(parts, rest[open:end])
		rest = rest[end:]
	}
}

// ofSkills is the size of the skills in an instruction of that size. Each place in the text counts
// once, whatever find returns: texts that are not in the instruction do not count, and of texts that
// overlap, the first counts.
func ofSkills(instruction string, find func(string) []string, all int) int {
	size := 0
	for _, text := range find(instruction) {
		before, after, found := strings.Cut(instruction, text)
		if text == "" || !found {
			continue
		}
		size += tokens.Estimate(text)
		instruction = before + "\x00" + after
	}
	return min(size, all)
}

// textOf is the text of an instruction. Parts are joined as ADK joins them.
func textOf(c *genai.Content) string {
	if len(c.Parts) == 1 && c.Parts[0] != nil {
		return c.Parts[0].Text
	}
	var texts []string
	for _, p := range c.Parts {
		if p != nil && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}
