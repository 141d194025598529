package integration_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// check checks a request as a strict provider does, and returns its size in tokens.
func (w *worker) check(req *model.LLMRequest) int {
	w.calls++
	data, err := json.Marshal(map[string]any{"contents": req.Contents, "config": req.Config})
	if err != nil {
		w.a.t.Errorf("%s, request %d: %v", w.name, w.calls, err)
	}
	contents, fixed := promptsize.OfRequest(req)
	size := contents + fixed
	w.a.seen.request(string(data), size, w.foreign)
	for _, problem := range w.problems(req) {
		w.a.t.Errorf("%s, request %d: %s", w.name, w.calls, problem)
	}
	if size > w.a.window && !w.a.bare {
		w.a.t.Errorf("%s, request %d: %d tokens, and the window has %d", w.name, w.calls, size, w.a.window)
	}
	return size
}

func (w *worker) problems(req *model.LLMRequest) []string {
	problems := refusals(req.Contents, true)
	if w.a.loose {
		problems = slices.DeleteFunc(problems, func(p string) bool { return p == "the request ends with a turn of the model" })
	}
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for i, content := range req.Contents {
		for k, part := range content.Parts {
			switch {
			case part.FunctionCall != nil && !bytes.Equal(part.ThoughtSignature, signature(part.FunctionCall)):
				add("content %d, part %d: the signature is %q", i, k, part.ThoughtSignature)
			case !utf8.ValidString(part.Text):
				add("content %d, part %d is no UTF-8", i, k)
			case part.FunctionResponse != nil:
				if what := invalid(part.FunctionResponse.Response); what != "" {
					add("content %d, part %d: the response of %s %s", i, k, part.FunctionResponse.Name, what)
				}
			}
		}
	}
	names := map[string]bool{}
	if req.Config != nil {
		for _, group := range req.Config.Tools {
			for _, declared := range group.FunctionDeclarations {
				if names[declared.Name] {
					add("%s is declared twice", declared.Name)
				}
				names[declared.Name] = true
				if req.Tools[declared.Name] == nil {
					add("%s is declared, and ADK would not run it", declared.Name)
				}
			}
		}
	}
	if names[toolsearch.CallToolName] {
		for i, content := range req.Contents {
			for _, call := range calledIn(content) {
				if !names[call] {
					add("content %d has a call or a response of %s, which is not declared", i, call)
				}
			}
		}
	}
	return problems
}

// calledIn are the names of the calls and responses in a content.
func calledIn(content *genai.Content) []string {
	var names []string
	for _, call := range requests.Calls(content) {
		names = append(names, call.Name)
	}
	for _, response := range requests.Responses(content) {
		names = append(names, response.Name)
	}
	return names
}

// invalid reports why a response is no valid JSON in UTF-8, or "".
func invalid(response map[string]any) string {
	data, err := json.Marshal(response)
	switch {
	case err != nil:
		return err.Error()
	case !utf8.Valid(data):
		return "is no UTF-8"
	case bytes.ContainsRune(data, utf8.RuneError) || bytes.Contains(data, []byte(`\ufffd`)):
		return "has a character that was cut in two"
	}
	return ""
}

// readAll has a model read every result back that any model ever saw by its reference, and checks that it
// gets each byte. It returns the number of results.
func (a *toolApp) readAll() int {
	a.t.Helper()
	a.seen.mu.Lock()
	refs := slices.Clone(a.seen.refs)
	clear(a.seen.read)
	a.seen.mu.Unlock()
	w := a.workers[0]
	for part := range slices.Chunk(refs, 5) {
		w.mu.Lock()
		w.must = slices.Clone(part)
		w.mu.Unlock()
		a.ask("Please read these results again.")
	}
	return a.checkRead(refs)
}

func (a *toolApp) checkRead(refs []string) int {
	a.t.Helper()
	a.seen.mu.Lock()
	defer a.seen.mu.Unlock()
	for _, found := range refs {
		want, known := a.seen.results[found]
		got, read := a.seen.read[found]
		switch {
		case !known:
			a.t.Errorf("the reference %s is of no result that a tool returned", found)
		case !read:
			a.t.Errorf("%s was not read back", found)
		case got != want:
			a.t.Errorf("%s: %d bytes were read back, want %d: %.80q", found, len(got), len(want), got)
		}
	}
	return len(refs)
}

// summaries returns how many summaries the view of the session has.
func (a *toolApp) summaries() int {
	a.t.Helper()
	status, err := a.stack.Sessions.Status(a.t.Context(), ref)
	if err != nil {
		a.t.Fatal(err)
	}
	return len(status.Summaries)
}
