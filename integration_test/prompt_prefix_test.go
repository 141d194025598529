package integration_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/layer/prompt"
)

// manyAgents is a root with sub-agents that hand a conversation on to one another. In each turn, the agent that
// has the word calls a tool and hands over; the next one calls a tool and answers.
func manyAgents(subAgents, tools int) func(a *promptApp) agent.Agent {
	return func(a *promptApp) agent.Agent {
		offered := manyTools(a.t, tools)
		next := func(i int) string { return fmt.Sprint("helper_", (i+1)%subAgents) }
		made := func(name string, i int, subs []agent.Agent) agent.Agent {
			return a.agent(name, func(req *model.LLMRequest) *model.LLMResponse {
				turn, received := turnOf(req)
				switch {
				case req.Contents[len(req.Contents)-1].Parts[0].FunctionResponse == nil:
					return compactiontest.CallTool(fmt.Sprintf("tool_%02d", turn%tools), map[string]any{"n": turn})
				case !received:
					return compactiontest.CallTool("transfer_to_agent", map[string]any{"agent_name": next(i)})
				}
				return compactiontest.Say(fmt.Sprintf("%s is done with turn %d.", name, turn))
			}, func(cfg *llmagent.Config) { cfg.Tools, cfg.SubAgents = offered, subs })
		}
		var subs []agent.Agent
		for i := range subAgents {
			subs = append(subs, made(fmt.Sprint("helper_", i), i, nil))
		}
		return made("root", -1, subs)
	}
}

// turnOf returns the number in the newest question of a request, and whether another agent has handed the
// conversation on since.
func turnOf(req *model.LLMRequest) (turn int, received bool) {
	for _, c := range slices.Backward(req.Contents) {
		for _, p := range c.Parts {
			if _, err := fmt.Sscanf(p.Text, "Question %d", &turn); err == nil {
				return turn, received
			}
			received = received || strings.Contains(p.Text, "transfer_to_agent")
		}
	}
	return 0, received
}

// Over 100 turns of nine agents with 30 tools, each agent has one system instruction for each text of the
// sections, every broken prefix is reported with the section that broke it, and texts that change with every
// step break none.
func TestInstructionsChangeOnlyWithTheirSections(t *testing.T) {
	t.Parallel()
	project, skills := &changing{text: "# AGENTS.md\nUse {tabs}."}, &changing{text: "Skills: pdf"}
	a := newPromptApp(t, prompt.Config{
		Project: project, Memories: prompt.Text("The user is called {name}."), Skills: skills,
		Scratchpad: counting("Plan, version"), Status: counting("Step"),
	}, manyAgents(8, 30), func(a *promptApp) { a.measured = true })
	turns := 100
	if testkit.Brief() {
		turns = 40
	}
	for turn := range turns {
		switch turn {
		case turns * 4 / 10:
			project.set("# AGENTS.md\nUse {spaces}.", nil)
		case turns * 7 / 10:
			skills.set("Skills: pdf, xlsx", nil)
		}
		a.ask(fmt.Sprint("Question ", turn))
	}
	observed, broken := a.observed(), a.broken()
	agents := a.instructions()
	if len(agents) != 9 || len(a.sent) < 3*turns {
		t.Errorf("%d agents sent %d requests: the test shows too little", len(agents), len(a.sent))
	}
	phases := 0
	for name, different := range agents {
		if name == "root" {
			continue // it hands the conversation on in the first turn, and never gets it back
		}
		if len(different) != 3 {
			t.Errorf("%s has %d different instructions, want 3", name, len(different))
		}
		phases += len(different) - 1
	}
	if broken[0] != phases || broken[1]+broken[2] != 0 {
		t.Errorf("broken prefixes by the piece that differs: %v, want %d instructions and nothing else", broken, phases)
	}
	if observed["changed project"] != 8 || observed["changed skills"] != 8 || len(observed) != 2 {
		t.Errorf("observed %v, want 8 changes of project and of skills", observed)
	}
	sections := map[string]int{}
	for _, b := range a.breaks {
		sections[fmt.Sprint(b.Cause, ": ", b.Section)]++
	}
	if sections["instruction changed: project"] != 8 || sections["instruction changed: skills"] != 8 || len(sections) != 2 {
		t.Errorf("the meter reports %v", sections)
	}
	if calls := project.called(); calls != turns {
		t.Errorf("the source of the project was asked %d times in %d runs", calls, turns)
	}
	a.checkNotes()
}

// checkNotes checks that the end of each request has a status that no other request of its agent has there.
func (a *promptApp) checkNotes() {
	a.t.Helper()
	seen := map[string]bool{}
	for i, s := range a.sent {
		last := s.pieces[len(s.pieces)-1]
		if strings.Contains(last, "transfer_to_agent") {
			continue // nobody writes into the results of ADK's own tools
		}
		if !strings.Contains(last, "[Status, from the app") || !strings.Contains(last, "[Scratchpad, from the app") {
			a.t.Errorf("request %d ends with %s", i, last)
		}
		if seen[s.agent+last] {
			a.t.Errorf("request %d repeats %s", i, last)
		}
		seen[s.agent+last] = true
	}
}
