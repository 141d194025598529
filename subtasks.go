package longsession

import (
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/layer/subtask"
)

// Subtasks returns a runner of subtasks over the stack: their sessions are in the same storage, with the same
// layers, and what they cost counts for the session that calls them. Fields of cfg that are not set are filled
// in: Service, Guard, Registry and Wrap. Give the tools of [subtask.Runner.Wrappers] to the agent.
//
// Each request of a subtask is made to fit into its context window, and its long tool results are shortened and
// can be read whole. The sections of the instruction and the search for tools are left out: a subtask sees its
// own prompt only.
func (s *Stack) Subtasks(cfg subtask.Config) (*subtask.Runner, error) {
	if cfg.Service == nil {
		cfg.Service = s.Sessions
	}
	if cfg.Guard == nil {
		cfg.Guard = s.Guard
	}
	if cfg.Registry == nil {
		cfg.Registry = s.registry
	}
	if cfg.Wrap == nil {
		cfg.Wrap = s.fit
	}
	return subtask.New(cfg)
}

// fit puts the budget around the model of a subtask.
func (s *Stack) fit(llm model.LLM) model.LLM {
	if s.meter == nil {
		return llm
	}
	s.offer()
	return s.meter.Model(llm)
}
