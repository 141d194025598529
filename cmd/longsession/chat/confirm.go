package chat

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/cmd/longsession/chat/internal/input"
)

// decide asks the person about each call, and returns the message that carries the decisions, nil if there is nothing
// to decide. Where nobody can answer, and after Ctrl-C, it is no.
func (c *Chat) decide(ctx context.Context, asked []*genai.FunctionCall) (*genai.Content, error) {
	if len(asked) == 0 {
		return nil, nil
	}
	refused := c.reader == nil || !c.attended
	if refused {
		c.screen.note("Refused: a tool asks for a confirmation, and nobody is at the terminal.")
	}
	decisions := &genai.Content{Role: genai.RoleUser}
	for _, ask := range asked {
		yes := false
		if !refused {
			var err error
			yes, err = c.confirm(ctx, ask)
			switch {
			case errors.Is(err, input.ErrInterrupted), errors.Is(err, io.EOF):
				refused = true // all that follow, too
			case err != nil:
				return nil, err
			}
		}
		part := genai.NewPartFromFunctionResponse(ask.Name, map[string]any{"confirmed": yes})
		part.FunctionResponse.ID = ask.ID
		decisions.Parts = append(decisions.Parts, part)
	}
	return decisions, nil
}

// confirm asks about one call. It shows all of its arguments: nobody can allow what they do not see.
func (c *Chat) confirm(ctx context.Context, ask *genai.FunctionCall) (bool, error) {
	call, err := toolconfirmation.OriginalCallFrom(ask)
	if err != nil {
		c.screen.note("Refused: a request for confirmation cannot be read: " + err.Error())
		return false, nil
	}
	c.screen.note("The agent wants to run " + callLine(call, 0))
	if hint := hintOf(ask); hint != "" {
		c.screen.note(hint)
	}
	defer c.screen.hold()()
	typed, err := c.reader.Ask(ctx, "Allow it? [y/N] ")
	if err != nil {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(typed)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// defaultHint begins the hint that ADK gives a tool without one. It is for programs.
const defaultHint = "Please approve or reject the tool call "

// hintOf returns what the tool says about its request.
func hintOf(ask *genai.FunctionCall) string {
	b, err := json.Marshal(ask.Args["toolConfirmation"])
	if err != nil {
		return ""
	}
	var c toolconfirmation.ToolConfirmation
	if json.Unmarshal(b, &c) != nil || strings.HasPrefix(c.Hint, defaultHint) {
		return ""
	}
	return c.Hint
}

// undecidedIn returns the requests for confirmation at the end of a session that nobody has answered, as after the end
// of a process. Once the person has said something else, they are not asked any more.
func undecidedIn(events session.Events) (asked []*genai.FunctionCall) {
	for ev := range events.All() {
		if ev.Content == nil || ev.Partial {
			continue
		}
		for _, part := range ev.Content.Parts {
			switch {
			case part == nil:
			case part.FunctionCall != nil && part.FunctionCall.Name == toolconfirmation.FunctionCallName && part.FunctionCall.ID != "":
				asked = append(asked, part.FunctionCall)
			case part.FunctionResponse != nil:
				asked = slices.DeleteFunc(asked, func(a *genai.FunctionCall) bool { return a.ID == part.FunctionResponse.ID })
			case part.Text != "" && ev.Author == genai.RoleUser:
				asked = nil
			}
		}
	}
	return asked
}

// askUndecided asks about what the session waits for since before the chat.
func (c *Chat) askUndecided(ctx context.Context) error {
	asked := c.undecided
	c.undecided = nil
	if len(asked) == 0 || !c.attended {
		return nil
	}
	c.worked = true
	return c.survive(c.work(ctx, func(ctx context.Context) error {
		decisions, err := c.decide(ctx, asked)
		if err != nil {
			return err
		}
		return c.turn(ctx, decisions)
	}))
}
