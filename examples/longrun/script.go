package main

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/layer/subtask/tools"
	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// loopTask is the task on which the walker gets stuck, the first time.
const loopTask = 3

func question(task int) string {
	return fmt.Sprintf("Task %d: the tests of %s fail. What is its retry budget?", task+1, packageName(task%packages))
}

// walker is the script of the large model: the tool calls of a task one by one, and then an answer.
type walker struct {
	mu    sync.Mutex
	task  int
	step  int
	stuck bool // it repeats one call forever
}

// begin starts a task.
func (w *walker) begin(task int, stuck bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.task, w.step, w.stuck = task, 0, stuck
}

// next is the next content of the model.
func (w *walker) next(req *model.LLMRequest) *genai.Content {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls()
	w.step++
	switch {
	case withoutTools(req):
		return say("I have to stop here. The retry budget is not known yet.")
	case w.stuck && w.step > 2:
		return calls[2]
	case w.step <= len(calls):
		return calls[w.step-1]
	}
	return say(found(req, packageName(w.task%packages)))
}

// calls are the walker's calls for a task. Some of them try something forbidden.
func (w *walker) calls() []*genai.Content {
	dir := packageName(w.task % packages)
	calls := []*genai.Content{
		call(tools.ListDirName, "path", dir),
		call(tools.GlobName, "pattern", dir+"/**/*.go"),
		call(tools.ReadFileName, "path", dir+"/doc.go"),
		call(tools.ReadFileName, "path", dir+"/store.go"),
		call(tools.GrepName, "pattern", "^func (load|store)", "path", dir),
		call(subtask.ReadFileName, "path", dir+"/server.go", "question", "What is the retry budget of "+dir+"?"),
	}
	switch {
	case w.task%6 == 1:
		calls = append(calls, call(tools.ReadFileName, "path", "../../../etc/passwd"))
	case w.task%6 == 4:
		calls = append(calls, call(tools.FetchURLName, "url", "http://169.254.169.254/latest/meta-data/"))
	}
	if w.task%5 == 4 {
		calls = append(calls, call(contexttool.MarkTaskDoneName, "detail", fmt.Sprintf("surveyed the packages up to %s", dir)))
	}
	return calls
}

// reader is the script of the small model: it reads the file that it is asked about, and answers.
func reader(req *model.LLMRequest) *genai.Content {
	asked := texts(req.Contents)
	name := packageNames.FindString(asked)
	newest := req.Contents[len(req.Contents)-1]
	answer := found(req, name)
	switch ref := shortened(newest); {
	case withoutTools(req), strings.Contains(answer, "per minute"):
		return say(answer)
	case ref != "":
		return call(toolresult.ReadResultName, "ref_id", ref, "grep", "retry budget")
	case len(req.Contents) > 1:
		return say(answer)
	}
	return call(tools.ReadFileName, "path", name+"/server.go")
}

var (
	packageNames = regexp.MustCompile(`handler\d+`)
	budgets      = regexp.MustCompile(`[Tt]he retry budget of (handler\d+) is (\d+) per minute`)
)

// found is what the prompt has of a package's retry budget.
func found(req *model.LLMRequest, name string) string {
	for i := len(req.Contents) - 1; i >= 0; i-- {
		for _, m := range budgets.FindAllStringSubmatch(texts(req.Contents[i:i+1]), -1) {
			if m[1] == name {
				return fmt.Sprintf("The retry budget of %s is %s per minute.", name, m[2])
			}
		}
	}
	return "I cannot find the retry budget of " + name + "."
}

// texts is all text of contents, that of tool results included.
func texts(contents []*genai.Content) string {
	var b strings.Builder
	for _, content := range contents {
		for _, part := range content.Parts {
			b.WriteString(part.Text + "\n")
			if part.FunctionResponse == nil {
				continue
			}
			for _, value := range part.FunctionResponse.Response {
				fmt.Fprintln(&b, value)
			}
		}
	}
	return b.String()
}

// shortened returns the reference of a result that the model does not see whole, or "".
func shortened(newest *genai.Content) string {
	for _, part := range newest.Parts {
		if part.FunctionResponse != nil {
			ref, _ := part.FunctionResponse.Response["ref_id"].(string)
			return ref
		}
	}
	return ""
}

func say(text string) *genai.Content { return genai.NewContentFromText(text, genai.RoleModel) }

// call is a call of a tool with pairs of names and values.
func call(name string, pairs ...string) *genai.Content {
	args := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		args[pairs[i]] = pairs[i+1]
	}
	return genai.NewContentFromFunctionCall(name, args, genai.RoleModel)
}
