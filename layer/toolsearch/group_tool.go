package toolsearch

import (
	"errors"
	"iter"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
)

// What ADK asks of a tool beyond tool.Tool. It looks for a method set each time, so a wrapper must have
// exactly those of these methods that the tool inside has, where a method makes a difference: see
// TestPinWhatADKAsksOfATool.
type (
	// declarer is a tool with a declaration. Only such tools are packed into a request.
	declarer interface {
		Declaration() *genai.FunctionDeclaration
	}
	// runnable and streaming tools are dispatched. ADK asks for streaming first, so a tool that is both
	// streams. A tool that is neither is not found when it is called.
	runnable interface {
		declarer
		Run(ctx agent.ToolContext, args any) (map[string]any, error)
	}
	streaming interface {
		declarer
		RunStream(ctx agent.ToolContext, args any) iter.Seq2[string, error]
	}
	// requestProcessor is asked in every step. ADK ends the turn at a tool without it, and skips a toolset
	// without it.
	requestProcessor interface {
		ProcessRequest(ctx agent.ToolContext, req *model.LLMRequest) error
	}
	// displayer is a tool whose result is shown to the user when it ends the turn. A tool without the method
	// is treated as one that returns false.
	displayer interface {
		DisplayResultOnSkipSummarization() bool
	}
)

var (
	_ Categorized      = (*groupedTool)(nil)
	_ requestProcessor = (*groupedTool)(nil)
	_ displayer        = (*groupedTool)(nil)
	_ runnable         = groupedFunction{}
	_ streaming        = groupedStream{}
	_ streaming        = groupedBoth{}
	_ runnable         = groupedBoth{}
)

var (
	errTaken = errors.New("another tool of the agent has its name and is used")
	errIdle  = errors.New("it can neither be called nor change a request")
)

// groupedTool is a tool with a category. By itself it is for tools that only change requests.
type groupedTool struct {
	tool.Tool
	category Category
	group    *Grouped
	self     tool.Tool // the wrapper that ADK has
}

// groupedFunction is for a tool that returns a result.
type groupedFunction struct{ *groupedTool }

// groupedStream is for a tool that streams its result, and groupedBoth for one that can do either.
type (
	groupedStream struct{ *groupedTool }
	groupedBoth   struct{ groupedStream }
)

// wrap returns a tool with the group's category.
func (g *Grouped) wrap(t tool.Tool) tool.Tool {
	inner := &groupedTool{Tool: t, category: g.cfg.Category, group: g}
	_, runs := t.(runnable)
	_, streams := t.(streaming)
	switch {
	case runs && streams:
		inner.self = groupedBoth{groupedStream{inner}}
	case streams:
		inner.self = groupedStream{inner}
	case runs:
		inner.self = groupedFunction{inner}
	default:
		inner.self = inner
	}
	return inner.self
}

// Category returns the category of the group.
func (t *groupedTool) Category() Category { return t.category }

// Unwrap returns the tool inside.
func (t *groupedTool) Unwrap() tool.Tool { return t.Tool }

// DisplayResultOnSkipSummarization answers for the tool inside.
func (t *groupedTool) DisplayResultOnSkipSummarization() bool {
	inner, ok := t.Tool.(displayer)
	return ok && inner.DisplayResultOnSkipSummarization()
}

// Declaration returns that of the tool inside.
func (t groupedFunction) Declaration() *genai.FunctionDeclaration {
	return t.Tool.(declarer).Declaration()
}

// Declaration returns that of the tool inside.
func (t groupedStream) Declaration() *genai.FunctionDeclaration {
	return t.Tool.(declarer).Declaration()
}

// RunStream runs the tool inside.
func (t groupedStream) RunStream(ctx agent.ToolContext, args any) iter.Seq2[string, error] {
	return t.Tool.(streaming).RunStream(ctx, args)
}

// ProcessRequest has the tool inside put itself into the request, and takes its place there, so that the
// calls of the model come here. If another tool of the request has the name already, this one stays out of
// it: ADK would end the turn. An error or a panic of the tool inside leaves it out as well.
func (t *groupedTool) ProcessRequest(ctx agent.ToolContext, req *model.LLMRequest) error {
	name := t.Name()
	_, packs := t.Tool.(declarer)
	if _, taken := req.Tools[name]; taken && packs {
		t.group.leaveOut(ctx, name, errTaken)
		return nil
	}
	err := caught(func() error {
		if processor, ok := t.Tool.(requestProcessor); ok {
			return processor.ProcessRequest(ctx, req)
		}
		if !packs {
			return errIdle
		}
		pack(req, t.self)
		return nil
	})
	if err != nil {
		t.group.leaveOut(ctx, name, err)
		return nil
	}
	if _, packed := req.Tools[name]; packed && packs {
		req.Tools[name] = t.self
	}
	return nil
}

// pack puts a tool without a ProcessRequest of its own into a request, as ADK's toolutils.PackTool does.
func pack(req *model.LLMRequest, t tool.Tool) {
	if req.Tools == nil {
		req.Tools = map[string]any{}
	}
	req.Tools[t.Name()] = t
	decl := t.(declarer).Declaration()
	if decl == nil {
		return
	}
	if req.Config == nil {
		req.Config = &genai.GenerateContentConfig{}
	}
	for _, in := range req.Config.Tools {
		if in != nil && in.FunctionDeclarations != nil {
			in.FunctionDeclarations = append(in.FunctionDeclarations, decl)
			return
		}
	}
	req.Config.Tools = append(req.Config.Tools, &genai.Tool{FunctionDeclarations: []*genai.FunctionDeclaration{decl}})
}
