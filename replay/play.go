package replay

import (
	"cmp"
	"context"
	"fmt"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// AgentName is the author of the recorded answers.
const AgentName = "agent"

// App is what a conversation is played on: the parts of an ADK application that one wants to try.
type App struct {
	// Service stores the session; required. Plugins are given to the runner.
	Service session.Service
	Plugins []*plugin.Plugin
	// Ref names the session, which Play creates.
	Ref compaction.SessionRef
	// Request is told every request as the model gets it, before it answers; call counts from 0. What it
	// returns is reported as the size of the prompt in tokens, as a provider would. It must not change
	// or keep the request. May be nil: then no size is reported.
	Request func(call, turn int, req *model.LLMRequest) (promptTokens int)
	// Ratio is how many tokens one estimated token of an answer is reported as; 0 means 1.
	Ratio float64
	// Before is called while the runner rests, before the model is asked for Turns[turn].Steps[step]; or
	// for a stand-in, where there is no such step. May be nil.
	Before func(ctx context.Context, turn, step int) error
}

// Played is what happened.
type Played struct {
	// Calls is the number of requests to the model; Extra of these went beyond the recording.
	Calls, Extra int
}

// Run plays c through the ADK runner. It sends the recorded user messages, a scripted model gives the
// recorded answers, and function tools serve the recorded results. The model answers a message without
// a recorded answer with a placeholder. Run abandons a turn that was interrupted before the model read
// the results of its tools, as the recorded application did.
//
// Errors come from the service, the runner, the context and Before.
func (app App) Run(ctx context.Context, c *conversation.Conversation) (Played, error) {
	script := &script{c: c, request: app.Request, ratio: cmp.Or(app.Ratio, 1)}
	tools, err := recordedTools(c)
	if err != nil {
		return Played{}, err
	}
	root, err := llmagent.New(llmagent.Config{
		Name:  AgentName,
		Model: script,
		Tools: tools,
		// A provider's text is taken as it is: in Instruction, ADK would replace what stands in braces.
		InstructionProvider: func(agent.ReadonlyContext) (string, error) { return c.Instruction, nil },
	})
	if err != nil {
		return Played{}, fmt.Errorf("replay %s: %w", c.ID, err)
	}
	r, err := runner.New(runner.Config{
		AppName:        app.Ref.AppName,
		Agent:          root,
		SessionService: app.Service,
		PluginConfig:   runner.PluginConfig{Plugins: app.Plugins},
	})
	if err != nil {
		return Played{}, fmt.Errorf("replay %s: %w", c.ID, err)
	}
	_, err = app.Service.Create(ctx, &session.CreateRequest{AppName: app.Ref.AppName, UserID: app.Ref.UserID, SessionID: app.Ref.SessionID})
	if err != nil {
		return Played{}, fmt.Errorf("replay %s: create the session: %w", c.ID, err)
	}
	p := &player{app: app, script: script, runner: r}
	for turn := range c.Turns {
		if err := p.play(ctx, turn); err != nil {
			return script.played, fmt.Errorf("replay %s, turn %d of %d: %w", c.ID, turn+1, len(c.Turns), err)
		}
	}
	return script.played, nil
}

type player struct {
	app    App
	script *script
	runner *runner.Runner
}

func (p *player) play(ctx context.Context, turn int) error {
	// A caller that stops early, as at an interruption, ends the request's context with it. The compaction
	// service knows by that that the turn is over.
	ctx, end := context.WithCancel(ctx)
	defer end()
	p.script.begin(turn)
	if err := p.before(ctx); err != nil {
		return err
	}
	user := adk.DeepCopy(p.script.c.Turns[turn].User)
	for ev, err := range p.runner.Run(ctx, p.app.Ref.UserID, p.app.Ref.SessionID, user, agent.RunConfig{}) {
		if err != nil {
			return err
		}
		if !answersCalls(ev) {
			continue
		}
		if p.script.interrupted() {
			return nil
		}
		if err := p.before(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (p *player) before(ctx context.Context) error {
	if err := ctx.Err(); err != nil || p.app.Before == nil {
		return err
	}
	return p.app.Before(ctx, p.script.turn, p.script.step)
}

func answersCalls(ev *session.Event) bool {
	if ev == nil || ev.Content == nil {
		return false
	}
	for _, part := range ev.Content.Parts {
		if part != nil && part.FunctionResponse != nil {
			return true
		}
	}
	return false
}

// textContent is a message of one text.
func textContent(text string, role genai.Role) *genai.Content {
	return genai.NewContentFromText(text, role)
}
