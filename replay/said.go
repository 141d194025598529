package replay

import (
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	words "github.com/adk-go-ext/longsession/internal/said"
)

// countSaid counts the messages of the turns up to one in a request.
func countSaid(r *run, turn int, req *model.LLMRequest) {
	var b strings.Builder
	for _, c := range req.Contents {
		b.WriteString(textOf(c))
	}
	prompt := folded(b.String())
	for len(r.said) <= turn {
		r.said = append(r.said, folded(personsWords(r.c.Turns[len(r.said)].User)))
	}
	w := &r.words
	for _, text := range r.said[:turn+1] {
		if text == "" {
			continue
		}
		whole := strings.Contains(prompt, text)
		w.Said++
		w.SaidWhole += count(whole)
		if words.Instructs(text) {
			w.Instructions++
			w.InstructionsWhole += count(whole)
		}
	}
}

// personsWords returns what a person said in a message, "" for nothing.
func personsWords(c *genai.Content) string {
	ev := &session.Event{Author: "user"}
	ev.Content = c
	if len(words.Of([]*session.Event{ev}, nil, nil, nil)) == 0 {
		return ""
	}
	var texts []string
	for _, p := range c.Parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n")
}

func folded(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("[", "(", "]", ")").Replace(text)), " ")
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
