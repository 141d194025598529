package replay

import (
	"fmt"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// shownRunes is how much of a text names a message.
const shownRunes = 40

// shortestSummary is what must be left for all that does not stay raw, in estimated tokens: the frame that
// a summary is shown in, and a sentence or two.
const shortestSummary = 100

// overlong names what stands in the way of a shorter prompt.
func (r *run) overlong(call, turn, size int, m measured) Overlong {
	o := Overlong{Call: call, Turn: turn + 1, Tokens: size}
	kept, largest := 0, -1
	keep := func(c *genai.Content) {
		size := tokens.OfContent(c)
		kept += size
		if size > largest {
			largest, o.Event = size, describe(c)
		}
	}
	if said := r.c.Turns[turn].User; len(m.newest) > 1 { // else the newest is what the user said
		keep(said)
	}
	for _, c := range m.newest {
		keep(c)
	}
	o.EventTokens = r.scale.of(largest) - r.scale.base()
	o.KeptTokens = r.scale.of(kept)
	o.Alone = r.scale.of(largest) > r.report.Limit
	o.Unavoidable = o.KeptTokens+r.scale.of(shortestSummary)-r.scale.base() > r.report.Limit
	return o
}

// describe names a content in a few words.
func describe(c *genai.Content) string {
	calls, responses, names := 0, 0, ""
	for _, p := range parts(c) {
		switch {
		case p.FunctionCall != nil:
			calls++
			names += " " + p.FunctionCall.Name
		case p.FunctionResponse != nil:
			responses++
			names += " " + p.FunctionResponse.Name
		}
	}
	switch {
	case responses == 1:
		return "result of" + names
	case responses > 1:
		return fmt.Sprintf("%d results of%s", responses, names)
	case calls > 0:
		return "call of" + names
	}
	for _, p := range parts(c) {
		if p.Text != "" {
			return fmt.Sprintf("%s message %q", c.Role, start(p.Text))
		}
	}
	return "message without text"
}

func start(text string) string {
	runes := []rune(text[:min(len(text), 4*shownRunes)])
	if len(runes) <= shownRunes {
		return string(runes)
	}
	return string(runes[:shownRunes]) + "…"
}
