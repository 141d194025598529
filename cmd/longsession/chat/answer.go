package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// answer shows the events of one run.
type answer struct {
	screen  *screen
	root    string // the agent that the person talks to
	speaker string // the author of the last text
	// streamed is the newest part of the answer that is being streamed, nil for none, and said all of its text so far.
	streamed *session.Event
	said     strings.Builder
	behind   []*session.Event // of other agents, which wait until the streamed answer is complete
	finishes bool             // some response has said why it ended, or comes from a model that always does
	failure  error
	stop     func() // ends the spinner; nil for none
}

// show writes one event, and returns its requests for confirmation. A streamed answer comes in parts and then once more
// as a whole, so of that only what is new is written. Of agents that stream at the same time, one is shown while it
// speaks, and the others follow as a whole.
func (a *answer) show(ev *session.Event) (asked []*genai.FunctionCall) {
	if ev.ErrorCode != "" || ev.ErrorMessage != "" {
		a.failure = fmt.Errorf("the model answered with an error: %s", strings.TrimSpace(ev.ErrorCode+" "+ev.ErrorMessage))
	}
	if ev.Content == nil || ev.Author == genai.RoleUser {
		return nil
	}
	for _, part := range ev.Content.Parts {
		if part != nil && part.FunctionCall != nil && part.FunctionCall.Name == toolconfirmation.FunctionCallName {
			asked = append(asked, part.FunctionCall)
		}
	}
	mine := a.streamed == nil || a.streamed.Author == ev.Author && a.streamed.Branch == ev.Branch
	switch {
	case ev.Partial && mine:
		a.stream(ev)
	case ev.Partial:
	case mine:
		a.whole(ev)
		for _, other := range a.takeBehind() {
			a.whole(other)
		}
	default:
		a.behind = append(a.behind, ev)
	}
	return asked
}

// stream writes a part of an answer.
func (a *answer) stream(ev *session.Event) {
	text := textOf(ev.Content)
	if text == "" {
		return
	}
	a.streamed = ev
	a.said.WriteString(text)
	a.say(ev.Author, text)
}

// whole writes what is new in an event that is complete.
func (a *answer) whole(ev *session.Event) {
	text := textOf(ev.Content)
	streamed := a.streamed != nil
	if streamed && strings.HasPrefix(a.streamed.ModelVersion, "gemini") { // the whole does not name its model
		a.finishes = true
	}
	if said := a.said.String(); streamed {
		rest, continues := strings.CutPrefix(text, said)
		switch {
		case continues:
			text = rest
		case strings.TrimSpace(text) == strings.TrimSpace(said):
			text = ""
		default: // a callback has changed it
			a.screen.endLine()
		}
		a.streamed = nil
		a.said.Reset()
	}
	a.say(ev.Author, text)
	if text != "" || streamed {
		a.screen.endLine()
	}
	a.sayWhyItEnded(ev, streamed)
	for _, part := range ev.Content.Parts {
		switch {
		case part == nil:
		case part.FunctionCall != nil && part.FunctionCall.Name != toolconfirmation.FunctionCallName:
			a.screen.note("· " + callLine(part.FunctionCall, longestArgs))
			a.waits("running " + part.FunctionCall.Name)
		case part.FunctionResponse != nil:
			if _, asks := ev.Actions.RequestedToolConfirmations[part.FunctionResponse.ID]; asks {
				continue // ADK answers the call with an error until the person has decided
			}
			if line := failureLine(part.FunctionResponse); line != "" {
				a.screen.note("  " + line)
			}
			a.waits("thinking")
		}
	}
}

// sayWhyItEnded says that an answer is not complete. A provider whose stream was cut gives no reason for its end.
func (a *answer) sayWhyItEnded(ev *session.Event, streamed bool) {
	switch ev.FinishReason {
	case "", genai.FinishReasonUnspecified:
		if streamed && a.finishes {
			a.screen.note("The stream has ended without a reason: the answer may be cut.")
		}
		return
	case genai.FinishReasonStop:
	case genai.FinishReasonMaxTokens:
		a.screen.note("The answer is cut: it has reached the model's limit of output tokens.")
	default:
		a.screen.note("The model has ended its answer early: " + string(ev.FinishReason))
	}
	a.finishes = true
}

func (a *answer) takeBehind() []*session.Event {
	behind := a.behind
	a.behind = nil
	return behind
}

// end writes what still waits, after the last event.
func (a *answer) end() {
	a.screen.endLine()
	streamed, said := a.streamed, a.said.String()
	a.streamed = nil
	a.said.Reset()
	for _, ev := range a.takeBehind() {
		a.whole(ev)
	}
	a.streamed = streamed
	a.said.WriteString(said)
}

// half is what was shown of an answer whose whole has never come, as an event. It is nil if there is none.
func (a *answer) half(ctx context.Context) *session.Event {
	if a.streamed == nil || strings.TrimSpace(a.said.String()) == "" {
		return nil
	}
	ev := session.NewEventWithContext(ctx, a.streamed.InvocationID)
	ev.Author, ev.Branch = a.streamed.Author, a.streamed.Branch
	ev.Content = genai.NewContentFromText(a.said.String(), genai.RoleModel)
	ev.Interrupted = true
	return ev
}

// say writes text of an agent, with its name where it is another one than before.
func (a *answer) say(author, text string) {
	if text == "" {
		return
	}
	if author != a.speaker && (author != a.root || a.speaker != "") {
		a.screen.endLine()
		a.screen.print("[" + author + "] ")
	}
	a.speaker = author
	a.screen.print(text)
}

// waits shows a spinner until the next text.
func (a *answer) waits(text string) {
	a.stopWaiting()
	a.stop = a.screen.wait(text)
}

func (a *answer) stopWaiting() {
	if a.stop != nil {
		a.stop()
		a.stop = nil
	}
}

// longestArgs is how many columns the arguments of a call take up at most.
const longestArgs = 100

// callLine is a call on one line: read_file {"path":"go.mod"}. Its arguments take up so many columns at most, 0 for any.
func callLine(call *genai.FunctionCall, columns int) string {
	if len(call.Args) == 0 {
		return call.Name
	}
	b, err := json.Marshal(call.Args)
	if err != nil {
		return call.Name
	}
	args := string(b)
	if columns > 0 {
		args = terminal.Shorten(args, columns)
	}
	return call.Name + " " + args
}

// failureLine says that a tool has failed, "" if it has not.
func failureLine(resp *genai.FunctionResponse) string {
	failure, ok := resp.Response["error"]
	if !ok || failure == nil || failure == "" {
		return ""
	}
	return terminal.Shorten(fmt.Sprintf("%s failed: %v", resp.Name, failure), longestArgs)
}
