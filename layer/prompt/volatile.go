package prompt

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/notes"
)

// The keys under which the plugin writes the scratchpad and the status into a tool result. Package toolresult
// keeps such a note when it cuts or masks the result, and leaves it out of the whole result.
const (
	ScratchpadKey = notes.ScratchpadKey
	StatusKey     = notes.StatusKey
)

// repeatAfter is how many events a text that has not changed may lie behind the end of the conversation. After
// some ten rounds of tool calls the model is reminded of it. The number is a choice, not a measurement.
const repeatAfter = 20

// kinds are the notes that the scratchpad and the status become.
var kinds = [numSources - stable]notes.Kind{notes.Scratchpad, notes.Status}

// notesFor asks the sources of the scratchpad and the status, for an event. A text that the end of the conversation
// shows already is left out.
func (b *Builder) notesFor(ctx agent.InvocationContext, at *session.Event) (texts [len(kinds)]string) {
	read := runContext{ctx}
	who, known := callerIn(read)
	if !known {
		return texts
	}
	who.branch = adk.Lane(at)
	b.fill(read, who, texts[:], stable)
	if texts == ([len(kinds)]string{}) {
		return texts
	}
	shown := lastNotes(ctx.Session().Events(), at)
	for i, text := range texts {
		if texts[i] = notes.Shorten(notes.Clean(text)); texts[i] == shown[i] {
			texts[i] = ""
		}
	}
	return texts
}

// lastNotes returns the newest notes at the end of a conversation, as the agent of an event sees it. A node of a
// workflow need not see more than what it has been given and its own events.
func lastNotes(events session.Events, at *session.Event) (texts [len(kinds)]string) {
	seen, branch := 0, adk.Lane(at)
	node, _ := adk.NodeOf(at)
	for i := events.Len() - 1; i >= 0 && seen < repeatAfter; i-- {
		ev := events.At(i)
		if ev == nil || ev.Content == nil {
			continue // no request has it, so it does not push anything out of sight
		}
		if seen++; !adk.Visible(branch, adk.Lane(ev)) {
			continue
		}
		if of, _ := adk.NodeOf(ev); strings.ContainsAny(node, "/@") && (of != node || ev.InvocationID != at.InvocationID) {
			continue
		}
		missing := false
		for k, kind := range kinds {
			if texts[k] == "" {
				texts[k] = kind.In(ev.Content)
				missing = missing || texts[k] == ""
			}
		}
		if !missing {
			break
		}
	}
	return texts
}

// onEvent writes notes into an event of tool results before it is stored.
func (b *Builder) onEvent(ctx agent.InvocationContext, ev *session.Event) (*session.Event, error) {
	// A panic here would reach the caller of Run.
	defer b.places.Survive("prompt: an event")
	if ev == nil || ev.Partial || ev.Content == nil || adk.IsNil(ctx) || adk.IsNil(ctx.Session()) {
		return nil, nil
	}
	if ctx.RunConfig() == nil {
		return nil, nil // a live run: another goroutine is sending the event to the model
	}
	disown(ev.Content.Parts)
	target := newestResult(ev.Content)
	if target == nil {
		return nil, nil
	}
	texts := b.notesFor(ctx, ev)
	var response map[string]any // a new one, because the old one may be the tool's own
	for i, text := range texts {
		if text == "" {
			continue
		}
		if response == nil {
			response = maps.Clone(target.Response)
		}
		response[kinds[i].Key] = kinds[i].ForTool(text)
	}
	if response != nil {
		target.Response = response
	}
	return nil, nil
}

// newestResult returns the newest function response that a note may be written into, nil if there is none.
func newestResult(c *genai.Content) *genai.FunctionResponse {
	for _, p := range slices.Backward(c.Parts) {
		if p != nil && p.FunctionResponse != nil && p.FunctionResponse.Response != nil && !adk.IsExempt(p.FunctionResponse.Name) {
			return p.FunctionResponse
		}
	}
	return nil
}

// onUserMessage puts notes behind the user's message, and keeps the user's text and answers to calls from
// looking like one. The message itself is not changed, because the app may use it again. A message that answers function calls gets
// no part: providers want as many responses as there were calls, and nothing else. Nor does one that may become the
// input of a workflow, which reads all its text; ADK reads it from the stored message again when a run goes on.
func (b *Builder) onUserMessage(ctx agent.InvocationContext, msg *genai.Content) (changed *genai.Content, err error) {
	// A panic here would reach the caller of Run.
	defer b.places.Survive("prompt: the notes behind a message")
	if msg == nil || adk.IsNil(ctx) || adk.IsNil(ctx.Session()) || ctx.RunConfig() == nil {
		return nil, nil
	}
	out := *msg
	out.Parts = slices.Clone(msg.Parts)
	differs, answers := false, false
	for i, p := range out.Parts {
		switch {
		case p == nil:
		case p.FunctionResponse != nil:
			answers = true
			if adk.IsExempt(p.FunctionResponse.Name) {
				continue
			}
			if response, changed := disowned(p.FunctionResponse.Response); changed {
				clean, answer := *p, *p.FunctionResponse
				answer.Response, clean.FunctionResponse = response, &answer
				out.Parts[i], differs = &clean, true
			}
		default:
			if text := notes.Clean(p.Text); text != p.Text {
				clean := *p
				clean.Text = text
				out.Parts[i], differs = &clean, true
			}
		}
	}
	if !answers && len(out.Parts) > 0 && !isInput(ctx, b.workflows) {
		for i, text := range b.notesFor(ctx, &session.Event{}) {
			if text != "" {
				out.Parts, differs = append(out.Parts, genai.NewPartFromText(kinds[i].ForUser(text))), true
			}
		}
	}
	if !differs {
		return nil, nil
	}
	return &out, nil
}

// isInput reports whether the user's message may be the input of a workflow: there is one below the agent that
// the message is for or, as far as this process has seen, elsewhere in the app, where that agent can hand over to it.
// seen are the apps with a workflow, and takes in this one.
func isInput(ctx agent.InvocationContext, seen *lru.Cache[string, struct{}]) bool {
	app := ctx.Session().AppName()
	if adk.HasWorkflow(ctx.Agent()) {
		seen.Add(app, struct{}{})
	}
	return seen.Contains(app)
}
