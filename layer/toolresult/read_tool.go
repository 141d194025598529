package toolresult

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/recalled"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// readTool is the tool read_result. It has the methods that ADK looks for in a function tool.
type readTool struct {
	src         store.Source
	limit, most int
	timeout     time.Duration // 0: none
	logger      *slog.Logger
	repeats     repeats
	texts       *textCache
	parameters  *genai.Schema
}

var _ tool.Tool = (*readTool)(nil)

// Name implements tool.Tool.
func (*readTool) Name() string { return ReadResultName }

// Description implements tool.Tool.
func (*readTool) Description() string {
	return "Reads a tool result that is shown shortened. Use it when a result has a " + refKey +
		" and you need a part of it that is not shown; the tool that returned the result need not run again." +
		" Returns the piece at offset, and next_offset for the following piece, until done is true."
}

// IsLongRunning implements tool.Tool.
func (*readTool) IsLongRunning() bool { return false }

// Declaration returns the same declaration in every request, in every process.
func (r *readTool) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: r.Name(), Description: r.Description(), Parameters: r.parameters}
}

func readParameters(limit, most int) *genai.Schema {
	return &genai.Schema{
		Type: genai.TypeObject,
		Properties: map[string]*genai.Schema{
			refKey:   {Type: genai.TypeString, Description: "The " + refKey + " of the shortened result."},
			"offset": {Type: genai.TypeInteger, Description: "Where to begin, in bytes. Default 0."},
			"limit":  {Type: genai.TypeInteger, Description: fmt.Sprintf("How many bytes to return. Default %d, at most %d.", limit, most)},
			"grep": {Type: genai.TypeString, Description: "Return only the lines that match this regular expression (RE2), as line:offset:text." +
				" (?i) at the start ignores case."},
			"lines": {Type: genai.TypeString, Description: `Return these lines, counted from 1: "120-180", "120", "120-" or, for the last 50, "-50".`},
			"field": {Type: genai.TypeString, Description: "If the result is a JSON object: read the text of this top-level field, such as stdout, instead of the JSON."},
		},
		PropertyOrdering: []string{refKey, "offset", "limit", "grep", "lines", "field"},
		Required:         []string{refKey},
	}
}

// refInText is how a text names a whole result: words that the budget has shortened, and a result of another agent,
// which ADK shows as words.
var refInText = regexp.MustCompile(refKey + `\W{1,8}r-[0-9a-f]{16}\b`)

// NeededIn reports whether a request may have something to read: the agent has tools of its own, the contents show a
// result that is shortened, or the instruction names the tool. [adk.Declare] asks.
func (*readTool) NeededIn(req *model.LLMRequest) bool {
	return hasResults(req.Config) || slices.ContainsFunc(req.Contents, hasRef) || adk.Instructs(req, ReadResultName)
}

// hasResults reports whether a model is offered tools whose results may be shortened.
func hasResults(config *genai.GenerateContentConfig) bool {
	if config == nil {
		return false
	}
	for _, t := range config.Tools {
		if t != nil && slices.ContainsFunc(t.FunctionDeclarations, func(d *genai.FunctionDeclaration) bool { return d != nil && !isShort(d.Name) }) {
			return true
		}
	}
	return false
}

// isShort reports whether results of a tool are never cut: ADK reads them, or a layer of this module bounds them. Where they
// are masked, [hasRef] finds the masks.
func isShort(name string) bool {
	return adk.IsExempt(name) || recalled.IsTool(name) || name == "mark_task_done" || name == "compact_context"
}

// hasRef reports whether a content shows something shortened.
func hasRef(c *genai.Content) bool {
	return c != nil && slices.ContainsFunc(c.Parts, func(p *genai.Part) bool {
		if p == nil {
			return false
		}
		if r := p.FunctionResponse; r != nil {
			_, shortened := IsShortened(r.Name, r.Response)
			return shortened
		}
		return refInText.MatchString(p.Text)
	})
}

// ProcessRequest puts the tool into a request of an agent that has it among its own tools.
func (r *readTool) ProcessRequest(_ agent.ToolContext, req *model.LLMRequest) error {
	if !adk.AddTool(req, r) {
		return fmt.Errorf("another tool of the agent has the name %q: rename or remove it", ReadResultName)
	}
	return nil
}

// Run answers a call. It returns no error: the model can act on an answer.
func (r *readTool) Run(ctx agent.ToolContext, args any) (map[string]any, error) {
	values, _ := args.(map[string]any)
	parsed, problem := parseReadArgs(values)
	if problem != "" {
		return readError(problem), nil
	}
	if adk.IsNil(ctx) {
		return readError(store.ErrUnknownRef.Error()), nil
	}
	a, err := r.bounded(ctx, ownerOf(ctx), parsed)
	var wrong argumentError
	switch {
	case err == nil:
		return a.response(parsed.ref), nil
	case errors.As(err, &wrong):
		return readError(string(wrong)), nil
	case errors.Is(err, store.ErrUnknownRef):
		return readError(store.ErrUnknownRef.Error()), nil
	}
	orDefaultLogger(r.logger).WarnContext(ctx, "read_result cannot read", "error", err)
	return readError("The result cannot be read at the moment. Try again later, or go on without it."), nil
}

// bounded reads within the timeout, and survives a source that hangs or panics.
func (r *readTool) bounded(ctx context.Context, owner store.Owner, args readArgs) (answer, error) {
	if r.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.timeout)
		defer cancel()
	}
	type outcome struct {
		answer answer
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.err = panicked(p)
			}
			done <- o
		}()
		o.answer, o.err = r.read(ctx, owner, args)
	}()
	select {
	case o := <-done:
		return o.answer, o.err
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
}

// readError is the answer to a call that cannot be answered with content.
func readError(text string) map[string]any { return map[string]any{errorKey: text} }

// response returns the answer as the model sees it. It names the result, so that the answer can be masked
// without being stored.
func (a answer) response(ref string) map[string]any {
	out := map[string]any{
		refKey:        ref,
		"content":     a.content,
		"offset":      int(a.offset),
		"next_offset": int(a.next),
		"total_bytes": int(a.size),
		"done":        a.done,
	}
	if a.lines >= 0 {
		out["total_lines"] = int(a.lines)
	}
	if a.hex {
		out["encoding"] = "hex"
	}
	if len(a.notes) > 0 {
		out["note"] = strings.Join(a.notes, " ")
	}
	return out
}
