package gemini_test

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// problems returns the reasons why Gemini would reject a request or misread it, or nil for a valid
// request. If late is true, calls may come after text of the model: ADK moves a late answer to its
// call, so that the calls by which the model went on from there follow what was said between.
func problems(body []byte, late bool) []string {
	if !utf8.Valid(body) {
		return []string{"the body is not valid UTF-8"}
	}
	req, err := decodeWire(body)
	if err != nil {
		return []string{err.Error()}
	}
	r := &rules{req: req, late: late}
	r.checkContents()
	r.checkCalls()
	r.checkEnds()
	r.checkFrame()
	return r.found
}

type rules struct {
	req   *wireRequest
	late  bool
	found []string
}

func (r *rules) problem(format string, args ...any) {
	r.found = append(r.found, fmt.Sprintf(format, args...))
}

func (r *rules) checkContents() {
	if len(r.req.Contents) == 0 {
		r.problem("contents is not specified")
	}
	for i, c := range r.req.Contents {
		if c.Role != "user" && c.Role != "model" {
			r.problem("content %d: role %q: use a valid role: user, model", i, c.Role)
		}
		r.checkParts(fmt.Sprintf("content %d", i), c)
		if c.Role == "user" && len(c.calls()) > 0 {
			r.problem("content %d: a user's turn calls a function", i)
		}
		if c.Role == "model" && len(c.responses()) > 0 {
			r.problem("content %d: a model's turn holds a function response", i)
		}
	}
}

func (r *rules) checkParts(where string, c wireContent) {
	if len(c.Parts) == 0 {
		r.problem("%s: parts must not be empty", where)
	}
	for j, p := range c.Parts {
		data := 0
		for _, set := range []bool{p.Text != nil, p.FunctionCall != nil, p.FunctionResponse != nil} {
			if set {
				data++
			}
		}
		switch {
		case data != 1:
			r.problem("%s, part %d: %d of text, call and response are set; required oneof field 'data' must have one", where, j, data)
		case p.Text != nil && *p.Text == "":
			r.problem("%s, part %d: the text is empty", where, j)
		case p.Text != nil && strings.ContainsRune(*p.Text, utf8.RuneError):
			r.problem("%s, part %d: a character was cut in two", where, j)
		case p.FunctionCall != nil && p.FunctionCall.Name == "" || p.FunctionResponse != nil && p.FunctionResponse.Name == "":
			r.problem("%s, part %d: name must not be empty", where, j)
		}
	}
}

// checkCalls checks that a turn with function calls is neither first nor after other calls, that
// the responses to exactly these calls follow it, and that no other turn has responses.
func (r *rules) checkCalls() {
	contents := r.req.Contents
	for i, c := range contents {
		if calls := c.calls(); len(calls) > 0 {
			if i == 0 || !r.mayCallBehind(contents[i-1]) {
				r.problem("content %d: a function call turn must come immediately after a user turn or after a function response turn", i)
			}
			if i+1 == len(contents) || len(contents[i+1].responses()) == 0 {
				r.problem("content %d: the calls of %v are not answered by the next turn", i, callNames(calls))
			} else {
				r.checkAnswers(i, calls, contents[i+1])
			}
		}
		if responses := c.responses(); len(responses) > 0 && (i == 0 || len(contents[i-1].calls()) == 0) {
			r.problem("content %d: a function response turn must come immediately after a function call turn", i)
		}
	}
}

// mayCallBehind reports whether a function call turn may follow a turn. The API documentation names
// only user turns and function responses. Reports disagree on whether text of the model in its own
// content is rejected.
func (r *rules) mayCallBehind(before wireContent) bool {
	return before.Role == "user" || r.late && len(before.calls()) == 0
}

func (r *rules) checkAnswers(i int, calls []*wireCall, next wireContent) {
	responses := next.responses()
	if len(responses) != len(next.Parts) {
		r.problem("content %d: a function response turn holds other parts too", i+1)
	}
	if len(responses) != len(calls) {
		r.problem("content %d: %d function responses for %d function calls", i+1, len(responses), len(calls))
	}
	open := slices.Clone(calls)
	for _, response := range responses {
		at := slices.IndexFunc(open, func(call *wireCall) bool { return answers(response, call) })
		if at < 0 {
			r.problem("content %d: the response of %s (id %q, n=%v) answers no call of the turn before", i+1, response.Name, response.ID, response.Response["n"])
			continue
		}
		open = slices.Delete(open, at, at+1)
	}
	for _, call := range calls {
		if strings.HasPrefix(call.ID, "adk-") {
			r.problem("content %d: the ID %s is ADK's own: the API never gave it", i, call.ID)
		}
	}
}

// answers compares name and ID. The tools of these tests also repeat their argument n, so that
// swapped responses are detected where the API has no IDs.
func answers(response *wireResponse, call *wireCall) bool {
	args := call.Args
	if nested, through := args["arguments"].(map[string]any); through && call.Name == "tool_call" {
		args = nested
	}
	asked, answered := args["n"], response.Response["n"]
	return response.Name == call.Name && response.ID == call.ID && (answered == nil || fmt.Sprint(asked) == fmt.Sprint(answered))
}

func callNames(calls []*wireCall) []string {
	var names []string
	for _, call := range calls {
		names = append(names, call.Name)
	}
	return names
}

// checkEnds checks that the first content is the user's, and that the last is the user's or has the
// responses of the model's own tools.
func (r *rules) checkEnds() {
	contents := r.req.Contents
	if len(contents) == 0 {
		return
	}
	if contents[0].Role != "user" {
		r.problem("the first content has role %q: a conversation begins with a user turn", contents[0].Role)
	}
	if last := contents[len(contents)-1]; last.Role != "user" {
		r.problem("the last content has role %q: a request ends with a user turn or with function responses", last.Role)
	}
}

// checkFrame checks that the instruction is text without a role of the conversation, and that a
// request for a summary has no instruction and no tools.
func (r *rules) checkFrame() {
	if s := r.req.SystemInstruction; s != nil {
		if s.Role == "model" || s.Role == "function" {
			r.problem("the system instruction has role %q", s.Role)
		}
		r.checkParts("system instruction", *s)
		if len(s.calls())+len(s.responses()) > 0 {
			r.problem("the system instruction is more than text")
		}
	}
	for _, tools := range r.req.Tools {
		for _, declaration := range tools.FunctionDeclarations {
			if declaration.Name == "" {
				r.problem("a function without a name is declared")
			}
		}
	}
	if !r.req.isSummary() {
		return
	}
	if len(r.req.Tools) > 0 || len(r.req.ToolConfig) > 0 {
		r.problem("a request for a summary carries tools")
	}
	if r.req.SystemInstruction != nil {
		r.problem("a request for a summary carries an agent's instruction")
	}
}
