package replay

import (
	"fmt"
	"slices"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// checkFacts refuses facts that the conversation never mentions: no policy could keep them, and a
// misspelled fact must not look like a lost one.
func checkFacts(facts []string, c *conversation.Conversation) error {
	if len(facts) == 0 {
		return nil
	}
	texts := []string{c.Instruction}
	for _, turn := range c.Turns {
		texts = append(texts, textOf(turn.User))
		for _, step := range turn.Steps {
			texts = append(texts, textOf(step.Answer))
			for _, resp := range step.Responses {
				texts = append(texts, textOf(&genai.Content{Parts: []*genai.Part{{FunctionResponse: resp}}}))
			}
		}
	}
	for _, fact := range facts {
		if !anyHolds(texts, []string{fact}) {
			return fmt.Errorf("the fact %q is nowhere in conversation %s: write it in the words of the recording", fact, c.ID)
		}
	}
	return nil
}

// lost returns the facts that neither the instruction nor the view mentions.
func (r *run) lost(view []*session.Event) []string {
	texts := []string{r.c.Instruction}
	for _, ev := range view {
		if !record.Is(ev) {
			texts = append(texts, textOf(ev.Content))
		}
	}
	return slices.DeleteFunc(slices.Clone(r.opts.Facts), func(fact string) bool { return anyHolds(texts, []string{fact}) })
}
