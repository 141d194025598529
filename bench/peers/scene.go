package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/adk/tool/toolconfirmation"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// What package replay cannot play, because it has one agent and its tools ask nobody.

// part is an agent's model, which gives the answers of a planted conversation in order, and measures its requests.
type part struct {
	watch *watch
	steps []conversation.Step
	turns []int // of each step
	asked int
}

var _ model.LLM = (*part)(nil)

func newPart(p *planted, s *sitting) *part {
	made := &part{watch: newWatch(p, s.writer, s.window)}
	for i, turn := range p.conversation.Turns {
		for _, step := range turn.Steps {
			made.steps, made.turns = append(made.steps, step), append(made.turns, i)
		}
	}
	return made
}

// Name implements [model.LLM].
func (*part) Name() string { return "part" }

// GenerateContent implements [model.LLM].
func (p *part) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if p.asked == len(p.steps) {
			yield(nil, errors.New("the model was asked more often than the conversation has answers"))
			return
		}
		size := p.watch.request(p.asked, p.turns[p.asked], req)
		answer := adk.DeepCopy(p.steps[p.asked].Answer)
		p.asked++
		yield(&model.LLMResponse{
			Content: answer, TurnComplete: true, FinishReason: genai.FinishReasonStop,
			UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(size), TotalTokenCount: int32(size)},
		}, nil)
	}
}

// newAgent returns an agent with tools that give the planted results of parts, and others.
func newAgent(name string, llm model.LLM, wrap func(model.LLM) model.LLM, parts []*part, others ...tool.Tool) (agent.Agent, error) {
	if wrap != nil {
		llm = wrap(llm)
	}
	answers, known := map[string]map[string]any{}, map[string]bool{}
	for _, other := range others {
		known[other.Name()] = true
	}
	for _, p := range parts {
		for _, step := range p.steps {
			for _, resp := range step.Responses {
				answers[resp.ID] = resp.Response
				if known[resp.Name] {
					continue
				}
				known[resp.Name] = true
				made, err := functiontool.New(functiontool.Config{Name: resp.Name, Description: "As planted."}, func(ctx agent.ToolContext, _ map[string]any) (map[string]any, error) {
					return adk.DeepCopy(answers[ctx.FunctionCallID()]), nil
				})
				if err != nil {
					return nil, err
				}
				others = append(others, made)
			}
		}
	}
	instruction := parts[0].watch.planted.conversation.Instruction
	return llmagent.New(llmagent.Config{
		Name: name, Description: "Works on its part.", Model: llm, Tools: others,
		InstructionProvider: func(agent.ReadonlyContext) (string, error) { return instruction, nil },
	})
}

// scene is a sitting of an app with agents of its own.
type scene struct {
	*sitting
	opened app
	runner *runner.Runner
	took   time.Duration
}

// stage opens a way for an app with the agent that root makes.
func stage(ctx context.Context, w way, window int, id string, root func(*sitting, app) (agent.Agent, error)) (*scene, error) {
	s, err := begin(ctx, w, window, course{}, compaction.SessionRef{AppName: "peers", UserID: "user", SessionID: id})
	if err != nil {
		return nil, err
	}
	opened, err := s.process(0)
	if err != nil {
		return nil, err
	}
	made, err := root(s, opened)
	if err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	config := runner.Config{
		AppName: s.ref.AppName, Agent: made, SessionService: opened.service, PluginConfig: runner.PluginConfig{Plugins: opened.plugins},
	}
	if opened.runner != nil {
		opened.runner(&config)
	}
	r, err := runner.New(config)
	if err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	return &scene{sitting: s, opened: opened, runner: r}, nil
}

// send plays one turn and returns its events.
func (s *scene) send(ctx context.Context, message *genai.Content) (events []*session.Event, err error) {
	begin := time.Now()
	defer func() { s.took += time.Since(begin) }()
	if err := s.opened.settle(ctx, s.ref); err != nil {
		return nil, err
	}
	for ev, err := range s.runner.Run(ctx, s.ref.UserID, s.ref.SessionID, adk.DeepCopy(message), agent.RunConfig{}) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.way.name, err)
		}
		events = append(events, ev)
		if !adk.Classify(ev).Is(adk.Responds) {
			continue
		}
		if err := s.opened.settle(ctx, s.ref); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// figures ends a scene whose parts have been played.
func (s *scene) figures(ctx context.Context, parts ...*part) (figures, error) {
	var watches []*watch
	for _, p := range parts {
		if p.asked != len(p.steps) {
			return figures{}, fmt.Errorf("%s: %s: the model was asked %d times where there are %d answers", s.way.name, p.watch.planted.conversation.ID, p.asked, len(p.steps))
		}
		watches = append(watches, p.watch)
	}
	f, err := s.end(ctx, watches...)
	f.took = s.took
	return f, err
}

// branches plays two agents that work side by side, on the same messages and each with results of its own.
func branches(ctx context.Context, w way, window int) (f figures, err error) {
	left, right := plant(desk("left", branchTurns)), plantFrom(desk("right", branchTurns), 0, 10_000)
	left.others, right.others = right.results, left.results
	var parts []*part
	s, err := stage(ctx, w, window, "branches", func(s *sitting, opened app) (agent.Agent, error) {
		parts = []*part{newPart(left, s), newPart(right, s)}
		var agents []agent.Agent
		for i, name := range branchNames {
			made, err := newAgent(name, parts[i], opened.model, parts[i:i+1])
			if err != nil {
				return nil, err
			}
			agents = append(agents, made)
		}
		return parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "both", SubAgents: agents}})
	})
	if err != nil {
		return figures{}, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	for _, turn := range left.conversation.Turns {
		if _, err := s.send(ctx, turn.User); err != nil {
			return figures{}, err
		}
	}
	return s.figures(ctx, parts...)
}

// pending plays a call that waits for a confirmation while the user talks about other things. One more turn follows the
// confirmation.
func pending(ctx context.Context, w way, window int) (f figures, err error) {
	c := desk("pending", pendingTurns)
	last := pendingTurns + 1
	c.Turns = append(c.Turns, conversation.Turn{
		User:  genai.NewContentFromText("Thank you. "+prose(2, 3), genai.RoleUser),
		Steps: []conversation.Step{{Answer: genai.NewContentFromText("Good bye.", genai.RoleModel)}},
	})
	refund := &genai.FunctionCall{ID: "refund", Name: "refund", Args: map[string]any{"order": 4000}}
	c.Turns = slices.Insert(c.Turns, 0, conversation.Turn{
		User:  genai.NewContentFromText("Refund order 4000. "+prose(0, 3), genai.RoleUser),
		Steps: []conversation.Step{{Answer: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: refund}}}}},
	})
	p := plant(c)
	receipt := &genai.FunctionResponse{ID: refund.ID, Name: refund.Name, Response: map[string]any{"receipt": prose(1, 2)}}
	p.result(receipt)
	// Whatever keeps the session short, ADK leaves what the user said since the call out of the request with its result.
	call := len(p.said) - 1
	p.answered[call]++
	p.said, p.answered = slices.Insert(p.said, call, 1), slices.Insert(p.answered, call, p.answered[call])
	ran := 0
	var only *part
	s, err := stage(ctx, w, window, c.ID, func(s *sitting, opened app) (agent.Agent, error) {
		only = newPart(p, s)
		only.steps = slices.Insert(only.steps, call, conversation.Step{Answer: genai.NewContentFromText("The money is on its way.", genai.RoleModel)})
		only.turns = slices.Insert(only.turns, call, pendingTurns)
		made, err := functiontool.New(functiontool.Config{Name: refund.Name, Description: "Pays back.", RequireConfirmation: true},
			func(agent.ToolContext, map[string]any) (map[string]any, error) {
				ran++
				return adk.DeepCopy(receipt.Response), nil
			})
		if err != nil {
			return nil, err
		}
		return newAgent(replay.AgentName, only, opened.model, []*part{only}, made)
	})
	if err != nil {
		return figures{}, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	asked := ""
	for _, turn := range p.conversation.Turns[:last] {
		events, err := s.send(ctx, turn.User)
		if err != nil {
			return figures{}, err
		}
		for _, ev := range events {
			if ev.Content == nil {
				continue
			}
			for _, part := range ev.Content.Parts {
				if call := part.FunctionCall; call != nil && call.Name == toolconfirmation.FunctionCallName {
					asked = call.ID
				}
			}
		}
	}
	if asked == "" || ran > 0 {
		return figures{}, fmt.Errorf("%s: the tool asked %q and ran %d times before it was confirmed", w.name, asked, ran)
	}
	answer := &genai.FunctionResponse{ID: asked, Name: toolconfirmation.FunctionCallName, Response: map[string]any{"confirmed": true}}
	if _, err := s.send(ctx, &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: answer}}}); err != nil {
		return figures{}, err
	}
	if ran != 1 {
		return figures{}, fmt.Errorf("%s: the confirmed tool ran %d times", w.name, ran)
	}
	if _, err := s.send(ctx, p.conversation.Turns[last].User); err != nil {
		return figures{}, err
	}
	return s.figures(ctx, only)
}

// experts plays an agent whose tool is an agent. ADK runs that one in a session of its own for each call, where no
// plugin and no session service of the app reaches it.
func experts(ctx context.Context, w way, window int) (f figures, err error) {
	const expert = "expert"
	main := &conversation.Conversation{ID: "experts", Instruction: "You ask the expert."}
	var subs []*planted
	for i := range expertCalls {
		sub := reading(fmt.Sprint("expert-", i), 1, expertSteps, func(n int) int { return 60 + n*7%45 })
		first := 1_000 * (i + 1)
		p := plantFrom(sub, first, first)
		subs = append(subs, p)
		id := fmt.Sprint("ask-", i)
		main.Turns = append(main.Turns, conversation.Turn{
			User: genai.NewContentFromText(fmt.Sprintf("Ask about log %d. %s", i, prose(i, 2)), genai.RoleUser),
			Steps: []conversation.Step{{
				Answer: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{
					ID: id, Name: expert, Args: map[string]any{"request": p.conversation.Turns[0].User.Parts[0].Text},
				}}}},
				Responses: []*genai.FunctionResponse{{ID: id, Name: expert, Response: map[string]any{"result": prose(i, 12)}}},
			}, {Answer: genai.NewContentFromText(prose(i+1, 3), genai.RoleModel)}},
		})
	}
	outer := plant(main)
	for i, sub := range subs {
		steps := sub.conversation.Turns[0].Steps
		steps[len(steps)-1].Answer = genai.NewContentFromText(outer.conversation.Turns[i].Steps[0].Responses[0].Response["result"].(string), genai.RoleModel)
	}
	var asking *part
	var asked []*part
	s, err := stage(ctx, w, window, main.ID, func(s *sitting, opened app) (agent.Agent, error) {
		asking = newPart(outer, s)
		for _, sub := range subs {
			made := newPart(sub, s)
			made.watch.aside = opened.aside
			asked = append(asked, made)
		}
		made, err := newAgent(expert, relay(asked), opened.model, asked)
		if err != nil {
			return nil, err
		}
		return newAgent(replay.AgentName, asking, opened.model, []*part{asking}, agenttool.New(made, nil))
	})
	if err != nil {
		return figures{}, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	for _, turn := range outer.conversation.Turns {
		if _, err := s.send(ctx, turn.User); err != nil {
			return figures{}, err
		}
	}
	return s.figures(ctx, append(asked, asking)...)
}

// relay is a model that gives the answers of one part after the other.
type relay []*part

// Name implements [model.LLM].
func (relay) Name() string { return "relay" }

// GenerateContent implements [model.LLM].
func (r relay) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	for _, p := range r {
		if p.asked < len(p.steps) {
			return p.GenerateContent(ctx, req, stream)
		}
	}
	return r[len(r)-1].GenerateContent(ctx, req, stream)
}
