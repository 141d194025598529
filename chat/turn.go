package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/chat/internal/input"
	"github.com/adk-go-ext/longsession/internal/terminal"
)

// turn sends a message and shows the answer. It asks the person about tools that need a confirmation, and goes on with
// what they decide.
func (c *Chat) turn(ctx context.Context, msg *genai.Content) error {
	for msg != nil {
		asked, err := c.run(ctx, msg)
		if err != nil {
			return err
		}
		if msg, err = c.decide(ctx, asked); err != nil {
			return err
		}
	}
	c.showUse()
	c.tellCompactions(ctx)
	return nil
}

// run sends one message, shows the events as they come, and returns the calls that wait for the person.
func (c *Chat) run(ctx context.Context, msg *genai.Content) (asked []*genai.FunctionCall, err error) {
	stop := c.screen.wait("thinking")
	defer stop()
	defer c.screen.endLine()
	mode := agent.StreamingModeSSE
	if c.cfg.NoStream {
		mode = agent.StreamingModeNone
	}
	a := answer{screen: c.screen, root: c.cfg.Agent.Name()}
	for ev, err := range c.runner.Run(ctx, c.ref.UserID, c.ref.SessionID, msg, agent.RunConfig{StreamingMode: mode}) {
		if err != nil {
			return nil, err
		}
		if ev == nil {
			continue
		}
		asked = append(asked, a.show(ev)...)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return asked, a.failure
}

// answer shows the events of one run.
type answer struct {
	screen  *screen
	root    string // the agent that the person talks to
	speaker string // the author of the last text
	said    map[string]string
	failure error
}

// show writes one event, and returns its requests for confirmation. A streamed answer comes in parts and then once more
// as a whole, so of that only what is new is written.
func (a *answer) show(ev *session.Event) (asked []*genai.FunctionCall) {
	if ev.ErrorCode != "" || ev.ErrorMessage != "" {
		a.failure = fmt.Errorf("the model answered with an error: %s", strings.TrimSpace(ev.ErrorCode+" "+ev.ErrorMessage))
	}
	if ev.Content == nil || ev.Author == genai.RoleUser {
		return nil
	}
	key := ev.Author + "\x00" + ev.Branch
	text := ""
	for _, part := range ev.Content.Parts {
		if part != nil && !part.Thought {
			text += part.Text
		}
	}
	if ev.Partial {
		a.say(ev.Author, text)
		if a.said == nil {
			a.said = map[string]string{}
		}
		a.said[key] += text
		return nil
	}
	if said := a.said[key]; said != "" {
		delete(a.said, key)
		if rest, ok := strings.CutPrefix(text, said); ok {
			text = rest
		} else if strings.TrimSpace(text) == strings.TrimSpace(said) {
			text = ""
		} else {
			a.screen.endLine()
		}
	}
	a.say(ev.Author, text)
	for _, part := range ev.Content.Parts {
		switch {
		case part == nil:
		case part.FunctionCall != nil && part.FunctionCall.Name == toolconfirmation.FunctionCallName:
			asked = append(asked, part.FunctionCall)
		case part.FunctionCall != nil:
			a.screen.note("· " + callLine(part.FunctionCall))
		case part.FunctionResponse != nil:
			if line := failureLine(part.FunctionResponse); line != "" {
				a.screen.note("  " + line)
			}
		}
	}
	return asked
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

// longestArgs is how many columns the arguments of a call take up at most.
const longestArgs = 100

// callLine is a call on one line: read_file {"path":"go.mod"}.
func callLine(call *genai.FunctionCall) string {
	args := ""
	if len(call.Args) > 0 {
		if b, err := json.Marshal(call.Args); err == nil {
			args = " " + terminal.Shorten(string(b), longestArgs)
		}
	}
	return call.Name + args
}

// failureLine says that a tool has failed, "" if it has not.
func failureLine(resp *genai.FunctionResponse) string {
	failure, ok := resp.Response["error"]
	if !ok || failure == nil || failure == "" {
		return ""
	}
	return terminal.Shorten(fmt.Sprintf("%s failed: %v", resp.Name, failure), longestArgs)
}

// decide asks the person about each call, and returns the message that carries the decisions, nil if there is nothing
// to decide. Where nobody can answer, and after Ctrl-C, it is no.
func (c *Chat) decide(ctx context.Context, asked []*genai.FunctionCall) (*genai.Content, error) {
	if len(asked) == 0 {
		return nil, nil
	}
	var parts []*genai.Part
	refused := c.reader == nil || !c.screen.attended(c.cfg.In)
	if refused {
		c.screen.note("Refused: a tool asks for a confirmation, and nobody is at the terminal.")
	}
	for _, ask := range asked {
		yes := false
		if !refused {
			var err error
			if yes, err = c.confirm(ctx, ask); errors.Is(err, input.ErrInterrupted) {
				refused = true
			} else if err != nil {
				return nil, err
			}
		}
		part := genai.NewPartFromFunctionResponse(ask.Name, map[string]any{"confirmed": yes})
		part.FunctionResponse.ID = ask.ID
		parts = append(parts, part)
	}
	return &genai.Content{Role: genai.RoleUser, Parts: parts}, nil
}

// confirm asks about one call.
func (c *Chat) confirm(ctx context.Context, ask *genai.FunctionCall) (bool, error) {
	call, err := toolconfirmation.OriginalCallFrom(ask)
	if err != nil {
		return false, fmt.Errorf("a request for confirmation cannot be read: %w", err)
	}
	c.screen.note("The agent wants to run " + callLine(call))
	if hint := hintOf(ask); hint != "" {
		c.screen.note(hint)
	}
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

// hintOf returns what the tool says about its request.
func hintOf(ask *genai.FunctionCall) string {
	b, err := json.Marshal(ask.Args["toolConfirmation"])
	if err != nil {
		return ""
	}
	var c toolconfirmation.ToolConfirmation
	if json.Unmarshal(b, &c) != nil {
		return ""
	}
	return c.Hint
}
