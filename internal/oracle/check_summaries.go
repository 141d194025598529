package oracle

import (
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// checkTexts: a summary holds the text of its record, in whatever frame.
func (c *checker) checkTexts() {
	for _, ev := range c.view {
		m := c.summaries[ev]
		if m == nil || ev.Content == nil || len(ev.Content.Parts) == 0 {
			continue
		}
		if prose, err := m.Text(); err != nil || !strings.Contains(bare(textOf(ev)), bare(prose)) {
			c.problem(Formed, ev, "summary %s does not say what its record says: the model reads something else than was summarized", ev.ID)
		}
	}
}

func textOf(ev *session.Event) string {
	var text strings.Builder
	eachPart(ev, func(part *genai.Part) { text.WriteString(part.Text) })
	return text.String()
}

// bare returns a text without brackets, because a view may replace those that would end its frame.
func bare(text string) string { return strings.ReplaceAll(text, "[", "(") }

// checkBeginning: if the user began a conversation, the view does not begin with the model. The
// words of a remote agent may begin the view: ADK renders them as a user turn, because no local
// agent wrote them. A history that begins with a response without a call is exempt, because the
// user did not begin it: a handle that was loaded while another process appended may hold one.
func (c *checker) checkBeginning() {
	first := firstSaid(c.view)
	if first == nil || first.Content.Role != genai.RoleModel {
		return
	}
	if _, summary := c.summaries[first]; summary {
		c.problem(Formed, first, "the view starts with summary %s of role model: some providers refuse a prompt that does", first.ID)
		return
	}
	if began := firstSaid(c.events); began != nil && began.Content.Role != genai.RoleModel && !answersOnly(began) && !remoteWords(first) {
		c.problem(Formed, first, "the view starts with event %s of role model, and the conversation did not: some providers refuse a prompt that does", first.ID)
	}
}

// answersOnly reports whether an event holds function responses and nothing else.
func answersOnly(ev *session.Event) bool {
	only := true
	eachPart(ev, func(part *genai.Part) { only = only && part.FunctionResponse != nil })
	return only
}

// firstSaid returns the first event that ADK puts into a prompt, nil for none: it leaves out events
// without parts or without a role.
func firstSaid(events []*session.Event) *session.Event {
	for _, ev := range events {
		if ev != nil && ev.Content != nil && ev.Content.Role != "" && len(ev.Content.Parts) > 0 {
			return ev
		}
	}
	return nil
}
