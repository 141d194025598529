package chatcmd

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/layer/subtask/tools"
)

const (
	baseInstruction  = "You are a helpful assistant. The person reads your answers in a terminal, as plain text."
	filesInstruction = " With your tools you can read the files of the folder in which the person works. You cannot change them."
)

// worker is the agent with its tools.
type worker struct {
	agent agent.Agent
	tools []tool.Tool // its own, and those of the layers
	files *tools.Files
}

// close closes the folder.
func (w *worker) close() error {
	if w.files == nil {
		return nil
	}
	return w.files.Close()
}

// newWorker makes the agent. folder is what its tools read, "" for none. web adds a tool that fetches pages.
func newWorker(ctx context.Context, stack *longsession.Stack, s *Setup, folder string, web bool) (_ *worker, err error) {
	w := &worker{}
	defer func() {
		if err != nil {
			_ = w.close()
		}
	}()
	var bare []tool.Tool
	instruction := baseInstruction
	if folder != "" {
		if w.files, err = tools.NewFiles(tools.FilesConfig{Root: folder}); err != nil {
			return nil, fmt.Errorf("--folder: %w", err)
		}
		bare = asking(w.files.Tools(), s.Settings.Ask.Value.Asks(false))
		instruction += filesInstruction
	}
	if web {
		fetch, err := tools.NewFetch(tools.FetchConfig{})
		if err != nil {
			return nil, err
		}
		// An address can carry what the agent has read out of this machine.
		bare = append(bare, asking([]tool.Tool{fetch}, s.Settings.Ask.Value.Asks(true))...)
	}
	own := slices.Clone(bare)
	if s.Settings.AgenticTools.Value && len(bare) > 0 {
		wrappers, err := wrap(ctx, stack, s, bare)
		if err != nil {
			return nil, err
		}
		own = append(own, wrappers...)
	}
	w.tools = append(own, stack.Tools()...)
	// A provider, because ADK takes braces in a plain instruction for placeholders.
	said := stack.Ahead(func(agent.ReadonlyContext) (string, error) { return instruction, nil })
	w.agent, err = llmagent.New(llmagent.Config{
		Name: "assistant", Description: "the agent of longsession chat", Model: stack.Model(s.Model), Tools: w.tools, InstructionProvider: said,
	})
	return w, err
}

// wrap returns the tools that read in a context of their own.
func wrap(ctx context.Context, stack *longsession.Stack, s *Setup, bare []tool.Tool) ([]tool.Tool, error) {
	small, err := smallModel(ctx, s)
	if err != nil {
		return nil, err
	}
	run, err := stack.Subtasks(subtask.Config{Model: small, Parent: s.Model})
	if err != nil {
		return nil, err
	}
	return run.Wrappers(bare...)
}

// smallModel opens the model of tools that read in a context of their own.
func smallModel(ctx context.Context, s *Setup) (model.LLM, error) {
	if s.Settings.SmallModel.Value == s.Settings.Model.Value {
		return s.Model, nil
	}
	small, err := s.Open(ctx, s.Settings.SmallModel.Value)
	if err != nil {
		return nil, fmt.Errorf("--agentic-small-model: %w", err)
	}
	return small, nil
}

// toolset is a fixed set of tools.
type toolset []tool.Tool

func (toolset) Name() string { return "tools" }

func (t toolset) Tools(agent.ReadonlyContext) ([]tool.Tool, error) { return t, nil }

// asking returns tools that ask the person before they run.
func asking(all []tool.Tool, ask bool) []tool.Tool {
	if !ask {
		return all
	}
	wrapped, _ := tool.WithConfirmation(toolset(all), true, nil).Tools(noContext{}) // a fixed set has no error
	return wrapped
}

// noContext is the context of a fixed set of tools, which does not look at it.
type noContext struct{ agent.ReadonlyContext }

var _ context.Context = noContext{}
