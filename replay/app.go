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
	"github.com/adk-go-ext/longsession/internal/runnerconfig"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// AgentName is the name of the agent that gives the recorded answers, and their author in the
// session.
const AgentName = "agent"

// App is an ADK application to play conversations on. The agent, its model and its tools come from
// the recording.
type App struct {
	// Service stores the session. It is required.
	Service session.Service
	// Plugins are those of the runner. They may be nil.
	Plugins []*plugin.Plugin
	// Model wraps the model that gives the recorded answers, as an app wraps its own. Request and the
	// answers are of the model inside. If nil, the agent gets that model itself.
	Model func(model.LLM) model.LLM
	// Ref names the session. Run creates it, and fails if it exists.
	Ref compaction.SessionRef
	// Request receives each request as the model gets it, before the model answers. The call and
	// the turn count from 0. The model reports the returned number of tokens as the size of the
	// prompt, as a provider does, and 0 means that it reports none. Request must not change or keep
	// req. If nil, no size is reported.
	Request func(call, turn int, req *model.LLMRequest) (promptTokens int)
	// Ratio is the number of tokens that the model reports for each estimated token of an answer. 0
	// means 1.
	Ratio float64
	// Before is called between two steps of the runner, before the model answers with
	// Turns[turn].Steps[step], or with a placeholder if there is no such step. An error ends the
	// run. It may be nil.
	Before func(ctx context.Context, turn, step int) error
}

// Played counts the requests of a run.
type Played struct {
	// Calls is the number of requests to the model.
	Calls int
	// Extra is how many of the calls the recording does not have, because the runner asked again.
	Extra int
}

// Run plays c through the ADK runner. It sends the recorded user messages, a scripted model gives
// the recorded answers, and function tools serve the recorded results. The model answers a message
// without a recorded answer with a placeholder. Run abandons a turn that was interrupted before the
// model read the results of its tools, as the recorded application did. Events get the times of the recording, if it
// has any: what goes by pauses, such as compaction by price, sees them.
//
// Errors come from the service, the runner, the context and Before.
func (app App) Run(ctx context.Context, c *conversation.Conversation) (Played, error) {
	script := &script{c: c, request: app.Request, ratio: cmp.Or(app.Ratio, 1)}
	tools, err := recordedTools(c)
	if err != nil {
		return Played{}, err
	}
	var llm model.LLM = script
	if app.Model != nil {
		llm = app.Model(llm)
	}
	root, err := llmagent.New(llmagent.Config{
		Name:  AgentName,
		Model: llm,
		Tools: tools,
		// ADK replaces words in braces in Instruction, but not in the result of a provider.
		InstructionProvider: func(agent.ReadonlyContext) (string, error) { return c.Instruction, nil },
	})
	if err != nil {
		return Played{}, fmt.Errorf("replay %s: %w", c.ID, err)
	}
	service := app.Service
	if times := times(c); times != nil {
		service = &clocked{Service: service, script: script, times: times}
	}
	config := runner.Config{
		AppName:        app.Ref.AppName,
		Agent:          root,
		SessionService: service,
		PluginConfig:   runner.PluginConfig{Plugins: app.Plugins},
	}
	runnerconfig.Change(ctx, &config)
	r, err := runner.New(config)
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

// player plays the turns of one conversation, one after the other.
type player struct {
	app    App
	script *script
	runner *runner.Runner
}

func (p *player) play(ctx context.Context, turn int) error {
	// A server cancels the context of a request when its client hangs up. The compaction service
	// recognizes by it that an interrupted turn is over.
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
		if !adk.Classify(ev).Is(adk.Responds) {
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

// textContent is a message with one text.
func textContent(text string, role genai.Role) *genai.Content {
	return genai.NewContentFromText(text, role)
}
