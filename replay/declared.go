package replay

import (
	"context"
	"iter"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// Declarations is what tool search did to the declarations of tools, see [Layers].
type Declarations struct {
	// Tools is how many tools the recording declares, and Deferred the most that one request left out.
	Tools    int `json:"tools"`
	Deferred int `json:"deferred"`
	// AllTokens adds up the estimates of all declarations of the agent's tools over all requests, and
	// Tokens of those that were sent, with the tools that take their place.
	AllTokens int `json:"all_tokens"`
	Tokens    int `json:"tokens"`
	// Searches is how many searches the model would have needed at most: one for each deferred tool that a
	// recorded answer calls, and one more whenever its schema may be out of view, after a compaction or
	// a change of the declarations. The replay does not play them, so requests do not have their answers.
	Searches int `json:"searches"`
}

func (d *Declarations) add(o Declarations) {
	d.Tools = max(d.Tools, o.Tools)
	d.Deferred = max(d.Deferred, o.Deferred)
	d.AllTokens += o.AllTokens
	d.Tokens += o.Tokens
	d.Searches += o.Searches
}

// declaring watches the declarations of all requests of a run.
type declaring struct {
	model.LLM
	tools []*genai.FunctionDeclaration
	sizes map[string]int // of tools
	sum   Declarations
	// found are the deferred tools that were called since the declarations or the summaries last changed.
	found     map[string]bool
	hash      uint64
	summaries int
}

func newDeclaring(tools []*genai.FunctionDeclaration) *declaring {
	d := &declaring{tools: tools, sizes: map[string]int{}, found: map[string]bool{}}
	d.sum.Tools = len(tools)
	for _, t := range tools {
		d.sizes[t.Name], _ = declarations([]*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{t}}})
	}
	return d
}

// watch puts d around the model that gives the recorded answers. A nil d returns the model itself.
func (d *declaring) watch(script model.LLM) model.LLM {
	if d == nil {
		return script
	}
	d.LLM = script
	return d
}

// report returns what d has seen, nil if d is nil.
func (d *declaring) report() *Declarations {
	if d == nil {
		return nil
	}
	return &d.sum
}

// GenerateContent implements [model.LLM].
func (d *declaring) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		deferred := d.request(req)
		for resp, err := range d.LLM.GenerateContent(ctx, req, stream) {
			if resp != nil {
				d.answer(resp.Content, deferred)
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

// request measures the declarations of a request, and returns the tools that it leaves out.
func (d *declaring) request(req *model.LLMRequest) (deferred map[string]bool) {
	sent := map[string]bool{}
	size, hash := 0, uint64(0)
	bridge := 0
	if req.Config != nil {
		size, hash = declarations(req.Config.Tools)
		for _, t := range req.Config.Tools {
			for _, declared := range t.FunctionDeclarations {
				sent[declared.Name] = true
				if declared.Name == toolsearch.SearchToolName || declared.Name == toolsearch.CallToolName {
					of, _ := declarations([]*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{declared}}})
					bridge += of
				}
			}
		}
	}
	all := size
	deferred = map[string]bool{}
	for _, t := range d.tools {
		if !sent[t.Name] {
			deferred[t.Name] = true
			all += d.sizes[t.Name]
		}
	}
	if len(deferred) > 0 {
		all -= bridge
	}
	d.sum.Tokens += size
	d.sum.AllTokens += all
	d.sum.Deferred = max(d.sum.Deferred, len(deferred))
	summaries := 0
	for _, c := range req.Contents {
		if promptsize.IsSummary(c) {
			summaries++
		}
	}
	if hash != d.hash || summaries != d.summaries {
		d.hash, d.summaries = hash, summaries
		clear(d.found)
	}
	return deferred
}

// answer counts the deferred tools in an answer that the model would have to search for.
func (d *declaring) answer(c *genai.Content, deferred map[string]bool) {
	for _, p := range parts(c) {
		if p.FunctionCall != nil && deferred[p.FunctionCall.Name] && !d.found[p.FunctionCall.Name] {
			d.found[p.FunctionCall.Name] = true
			d.sum.Searches++
		}
	}
}
