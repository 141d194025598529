package subtask

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/canonical"
)

// question is a call of a subtask's tool that waits for a person.
type question struct {
	id         string // of the call adk_request_confirmation
	tool, args string
	hint       string
}

// maxShownArgs bounds the arguments in a question, in bytes.
const maxShownArgs = 500

// questionsIn returns the confirmations that an event asks for.
func questionsIn(ev *session.Event) []question {
	var out []question
	for _, call := range adk.FunctionCalls(ev) {
		if call.Name != toolconfirmation.FunctionCallName {
			continue
		}
		q := question{id: call.ID}
		if original, err := toolconfirmation.OriginalCallFrom(call); err == nil {
			q.tool, q.args = original.Name, shorten(canonical.String(original.Args), maxShownArgs)
		}
		switch c := call.Args["toolConfirmation"].(type) {
		case toolconfirmation.ToolConfirmation:
			q.hint = c.Hint
		case map[string]any:
			q.hint, _ = c["hint"].(string)
		}
		out = append(out, q)
	}
	return out
}

// unanswered returns the IDs of the questions in a session that nobody has answered.
func unanswered(s session.Session) []string {
	var open []string
	for ev := range s.Events().All() {
		for _, q := range questionsIn(ev) {
			open = append(open, q.id)
		}
		if ev.Author == "user" {
			answered := adk.ResponseIDs(ev)
			open = slices.DeleteFunc(open, func(id string) bool { return slices.Contains(answered, id) })
		}
	}
	return open
}

// decision is the message by which a person's decision reaches a subtask.
func decision(ids []string, confirmed bool) *genai.Content {
	c := &genai.Content{Role: genai.RoleUser}
	for _, id := range ids {
		c.Parts = append(c.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
			ID: id, Name: toolconfirmation.FunctionCallName, Response: map[string]any{"confirmed": confirmed},
		}})
	}
	return c
}

// ask is the question to the person, in the place of the subtask's tools. One decision is for all of them.
func ask(name string, questions []question) (hint string, payload map[string]any) {
	var b strings.Builder
	fmt.Fprintf(&b, "The subtask %q wants to call:", name)
	var calls []any
	for _, q := range questions {
		fmt.Fprintf(&b, "\n%s(%s)", q.tool, q.args)
		if q.hint != "" {
			fmt.Fprintf(&b, ": %s", shorten(q.hint, maxShownArgs))
		}
		calls = append(calls, map[string]any{"tool": q.tool, "args": q.args})
	}
	b.WriteString("\nPlease approve or reject.")
	return b.String(), map[string]any{"subtask": name, "calls": calls}
}

// shorten cuts a text to so many bytes, at the boundary of a rune.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
