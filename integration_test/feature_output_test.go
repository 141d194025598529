package integration_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// The outputs are structured answers, thoughts, and answers of agents that see only the current
// turn.
func TestEveryKindOfOutputLosesNothing(t *testing.T) {
	t.Parallel()
	features := []feature{
		{name: "output schema", branches: []string{""}, prepare: func(a *app) play { return a.structured(false) }},
		{name: "output schema beside tools", branches: []string{""}, prepare: func(a *app) play { return a.structured(true) }},
		{name: "current turn only", branches: []string{""}, prepare: func(a *app) play {
			first, second := newActor(a, "researcher", ""), newActor(a, "writer", "")
			first.scope, second.scope = currentTurn, ownTools
			change := func(cfg *llmagent.Config) {
				cfg.Tools, cfg.IncludeContents = []tool.Tool{a.lookup()}, llmagent.IncludeContentsNone
			}
			return play{root: a.sequence("pipeline", a.llm(first, change), a.llm(second, change)), turn: func(i int) {
				for range 1 + i%4 {
					first.will(a.lookups(1))
					second.will(a.lookups(2))
				}
				first.will(answer())
				second.will(answer())
				a.ask()
			}}
		}},
	}
	if adk.Major == 1 { // v2 asks a model once more that has only thought
		features = append(features, feature{name: "thoughts", branches: []string{""}, prepare: (*app).thinking})
	}
	playAll(t, features)
}

// older is a model that does not support a schema together with tools. ADK then gives it a tool for
// its answer.
type older struct{ model.LLM }

func (older) Name() string                       { return "gemini-2.5-flash" }
func (older) GetGoogleLLMVariant() genai.Backend { return genai.BackendGeminiAPI }

// structured is an app whose answers are JSON with a fact, and are stored in the session's state.
func (a *app) structured(tools bool) play {
	x := newActor(a, "assistant", "")
	last := ""
	schema := &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"code": {Type: genai.TypeString}}, Required: []string{"code"}}
	root := a.llm(x, func(cfg *llmagent.Config) {
		cfg.OutputSchema, cfg.OutputKey, cfg.Instruction = schema, "latest", "The latest is {latest?}."
		if tools {
			cfg.Model, cfg.Tools = older{x.model}, []tool.Tool{a.lookup()}
		}
	})
	return play{root: root, turn: func(i int) {
		fact := compactiontest.Fact(a.ledger.number())
		if tools {
			x.will(a.lookups(1))
		}
		x.willDo(func(req *model.LLMRequest) *model.LLMResponse {
			if said := canonical(req.Config.SystemInstruction); !strings.Contains(said, last) {
				a.t.Errorf("turn %d: the instruction lacks %s: %s", a.turns, last, said)
			}
			if tools {
				return compactiontest.CallTool("set_model_response", map[string]any{"code": fact})
			}
			if req.Config.ResponseSchema == nil {
				a.t.Error("the request has no schema")
			}
			return compactiontest.Say(fmt.Sprintf(`{"code":%q}`, fact))
		})
		a.ask()
		last = fact
		a.ledger.tell(fact, "", x.name)
	}}
}

// thinking is an app whose model thinks before it calls a tool and before it answers, and sometimes
// only thinks. A provider requires the signature of a thought together with its call.
func (a *app) thinking() play {
	x := newActor(a, "assistant", "")
	signature := []byte("signed by the model")
	signed := 0
	check := func(req *model.LLMRequest) {
		for _, c := range req.Contents {
			for _, part := range c.Parts {
				if isSummary(c) && part.Thought {
					a.t.Error("a summary is shown as a thought")
				}
				if part.FunctionCall == nil {
					continue
				}
				if signed++; string(part.ThoughtSignature) != string(signature) {
					a.t.Errorf("turn %d: a call has lost its thought's signature: %s", a.turns, canonical(part))
				}
			}
		}
	}
	say := func(resp *model.LLMResponse, thoughts ...string) {
		x.willDo(func(req *model.LLMRequest) *model.LLMResponse {
			check(req)
			for _, part := range resp.Content.Parts {
				part.ThoughtSignature = signature
			}
			for _, thought := range thoughts {
				resp.Content.Parts = append([]*genai.Part{{Text: thought, Thought: true}}, resp.Content.Parts...)
			}
			return resp
		})
	}
	return play{root: a.withLookup(x), turn: func(i int) {
		say(a.lookups(1+i%2), "I should look that up.")
		switch i % 4 {
		case 1:
			say(&model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel}}, "There is nothing to say.")
		default:
			say(answer(), "That is all.", "I can answer now.")
		}
		a.ask()
	}, after: func() {
		if signed < a.turns {
			a.t.Errorf("only %d calls were checked in %d turns", signed, a.turns)
		}
	}}
}
