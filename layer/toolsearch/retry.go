package toolsearch

import (
	"context"
	"iter"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/tokens"
)

// Retried is the kind of an [Observation]: the model called a tool that was not declared, and the provider
// discarded the call. The request was sent once more, with all tools declared.
const Retried Kind = "retried"

// attempt passes the responses of one call of the model on.
type attempt struct {
	*bridge
	yield func(*model.LLMResponse, error) bool
	last  bool // there will be no other, so that nothing is held back
	known calls

	yielded bool // something was passed on, and perhaps shown
	spoken  bool // the model has said or called something
	// held are responses that say nothing, until it is known whether there will be another attempt: what is
	// around this layer can handle an error of that attempt only if nothing was passed on.
	held []*model.LLMResponse
}

// run passes responses on. It reports whether the provider discarded a call, and there is nothing else: then
// responses are held back.
func (a *attempt) run(responses iter.Seq2[*model.LLMResponse, error]) (unexpected bool) {
	for resp, err := range responses {
		if err != nil {
			if a.release() {
				a.pass(resp, err)
			}
			return false
		}
		a.spoken = a.spoken || a.last || speaks(resp)
		unexpected = !a.spoken && (unexpected || resp != nil && resp.FinishReason == genai.FinishReasonUnexpectedToolCall)
		if !a.spoken && (isEmpty(resp) || !resp.Partial) {
			a.held = append(a.held, resp)
			continue
		}
		if !a.release() || !a.pass(resp, nil) {
			return false
		}
	}
	if !unexpected {
		a.release()
	}
	return unexpected
}

// pass passes one response on, as ADK sees it, and reports whether the caller wants more.
func (a *attempt) pass(resp *model.LLMResponse, err error) bool {
	a.yielded = true
	return a.yield(a.response(resp, &a.known), err)
}

// release passes on what was held back, and reports whether the caller wants more.
func (a *attempt) release() bool {
	held := a.held
	a.held = nil
	for _, resp := range held {
		if !a.pass(resp, nil) {
			return false
		}
	}
	return true
}

// isEmpty reports whether a response has no content at all.
func isEmpty(resp *model.LLMResponse) bool {
	return resp == nil || resp.Content == nil || len(resp.Content.Parts) == 0
}

// speaks reports whether a response has content that a second attempt would repeat, or replace. Thoughts are
// none: nobody takes them for the answer.
func speaks(resp *model.LLMResponse) bool {
	if isEmpty(resp) {
		return false
	}
	for _, part := range resp.Content.Parts {
		if part != nil && !part.Thought && (part.Text != "" || part.FunctionCall != nil || part.InlineData != nil || part.FileData != nil ||
			part.ExecutableCode != nil || part.CodeExecutionResult != nil || part.FunctionResponse != nil || part.ToolCall != nil || part.ToolResponse != nil) {
			return true
		}
	}
	return false
}

// usage returns the last usage that the held responses report.
func (a *attempt) usage() tokens.Usage {
	var last *genai.GenerateContentResponseUsageMetadata
	for _, resp := range a.held {
		if resp != nil && resp.UsageMetadata != nil {
			last = resp.UsageMetadata
		}
	}
	return tokens.UsageOf(last)
}

// retried is the observation of a first attempt whose answer was discarded.
func (a *attempt) retried(ctx context.Context, req *model.LLMRequest) Observation {
	who, _ := callerOf(ctx, req.Model)
	o := who.observation(Retried)
	o.Deferred, o.Usage = len(a.deferred), a.usage()
	o.Reason = "the model called a tool that was not declared, and the provider discarded the call"
	return o
}
