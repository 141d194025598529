package integration_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
)

// scope is the part of its branch that an agent must see.
type scope int

const (
	everything  scope = iota
	currentTurn       // IncludeContents "none": everything since the user's message
	ownTools          // IncludeContents "none" after another agent: the results of its own tools in this turn
)

// actor is the model of one agent. It checks every request and answers from a plan.
type actor struct {
	t      *testing.T
	app    *app
	name   string
	branch string
	scope  scope
	// noUsage makes the model report no token counts.
	noUsage bool
	model   *compactiontest.Model
	// asked counts the requests.
	asked int
	// largest is the size of the largest request, in tokens.
	largest int
	mixed   bool
	// improvise answers requests beyond the plan, if not nil.
	improvise func(*model.LLMRequest) *model.LLMResponse

	mu   sync.Mutex
	plan []func(*model.LLMRequest) *model.LLMResponse
}

func newActor(a *app, name, branch string) *actor {
	x := &actor{t: a.t, app: a, name: name, branch: branch}
	x.model = compactiontest.NewModel("model-of-"+name, func(n int, req *model.LLMRequest) *model.LLMResponse {
		x.asked = n + 1
		return x.answer(req)
	})
	a.actors = append(a.actors, x)
	return x
}

// will appends answers to the plan.
func (x *actor) will(answers ...*model.LLMResponse) {
	for _, resp := range answers {
		x.willDo(func(*model.LLMRequest) *model.LLMResponse { return resp })
	}
}

func (x *actor) willDo(answer func(*model.LLMRequest) *model.LLMResponse) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.plan = append(x.plan, answer)
}

func (x *actor) answer(req *model.LLMRequest) *model.LLMResponse {
	tokens := promptTokens(req)
	x.largest = max(x.largest, tokens)
	x.check(req)
	if x.app.mode.flushed && (x.app.store.Name == "inmemory" || x.asked%3 == 0) {
		x.app.flush()
	}
	x.mu.Lock()
	if len(x.plan) == 0 && x.improvise != nil {
		x.plan = append(x.plan, x.improvise)
	}
	if len(x.plan) == 0 {
		x.mu.Unlock()
		x.t.Errorf("%s got more requests than its script expects", x.name)
		return compactiontest.Say("I have nothing more to say.")
	}
	next := x.plan[0]
	x.plan = x.plan[1:]
	x.mu.Unlock()
	resp := next(req)
	if !x.noUsage {
		resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
			PromptTokenCount: int32(tokens), CandidatesTokenCount: int32(jsonSize(resp.Content) / 4),
		}
	}
	return resp
}

// unplayed drops the remaining answers of the plan and returns their number.
func (x *actor) unplayed() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := len(x.plan)
	x.plan = nil
	return n
}

// lastRequest returns the newest request's contents.
func (x *actor) lastRequest() []*genai.Content {
	requests := x.model.Requests()
	if len(requests) == 0 {
		x.t.Fatalf("%s was never asked", x.name)
	}
	return requests[len(requests)-1]
}

// check checks that a request has everything it must have, and nothing that it must not have.
func (x *actor) check(req *model.LLMRequest) {
	if x.app.unchecked {
		return
	}
	seen := histories.FactsInContents(req.Contents)
	must := x.app.ledger.where(func(f told, turn int) bool {
		switch {
		case !adk.Visible(x.branch, f.branch):
			return false
		case x.scope == currentTurn:
			return f.turn == turn
		case x.scope == ownTools:
			return f.turn == turn && f.teller == x.name
		}
		return true
	})
	var missing []string
	for _, fact := range must {
		if !slices.Contains(seen, fact) {
			missing = append(missing, fact)
		}
	}
	if x.app.answersLate && endsWithResponse(req.Contents) {
		// ADK leaves out what was said between the call and its answer. It must not leave out a summary.
		raw := x.app.rawFacts()
		missing = slices.DeleteFunc(missing, func(fact string) bool { return slices.Contains(raw, fact) })
	}
	if len(missing) > 0 && !x.app.forgetful {
		x.t.Errorf("%s, request %d: %d of %d facts are missing: %v", x.name, x.asked, len(missing), len(must), missing)
	}
	for _, fact := range x.app.ledger.where(func(f told, _ int) bool { return !adk.Visible(x.branch, f.branch) }) {
		if slices.Contains(seen, fact) {
			x.t.Errorf("%s sees %s, which belongs to another branch", x.name, fact)
		}
	}
	problems := requests.Pairs(req.Contents)
	if x.app.strict {
		problems = refusals(req.Contents, x.app.unordered)
	}
	for _, problem := range problems {
		x.t.Errorf("%s, request %d: %s", x.name, x.asked, problem)
	}
	x.checkQuestion(req.Contents)
	x.checkRounds(req.Contents)
}

// endsWithResponse reports whether a prompt ends with a function response.
func endsWithResponse(contents []*genai.Content) bool {
	return len(contents) > 0 && slices.ContainsFunc(contents[len(contents)-1].Parts, func(p *genai.Part) bool { return p.FunctionResponse != nil })
}

// rawFacts returns the facts that the view shows outside of summaries.
func (a *app) rawFacts() []string {
	resp, err := a.svc.Get(context.WithoutCancel(a.t.Context()), getRequest())
	if err != nil {
		a.t.Error(err)
		return nil
	}
	var raw []*genai.Content
	for ev := range resp.Session.Events().All() {
		if ev.Content != nil && !isSummary(ev.Content) {
			raw = append(raw, ev.Content)
		}
	}
	return histories.FactsInContents(raw)
}

// checkRounds checks that events after the question, which the model takes for its own tool calls,
// belong to this turn.
func (x *actor) checkRounds(contents []*genai.Content) {
	current := x.app.ledger.where(func(f told, turn int) bool { return f.turn == turn })
	at := slices.IndexFunc(contents, x.isQuestion)
	for i, c := range contents {
		if i < at || at < 0 && x.scope != ownTools || !isSummary(c) || !isRounds(c) {
			continue
		}
		older := slices.DeleteFunc(histories.FactsInContents([]*genai.Content{c}), func(fact string) bool { return slices.Contains(current, fact) })
		if len(older) > 0 && !x.mixed {
			x.mixed = true // once is enough
			x.t.Errorf("%s, request %d: facts of earlier turns are shown as tool calls of this turn: %v", x.name, x.asked, older)
		}
	}
}

func (x *actor) isQuestion(c *genai.Content) bool {
	return c.Role == genai.RoleUser && len(c.Parts) == 1 && c.Parts[0].Text == x.app.question
}

// checkQuestion checks that the user's question is unchanged and comes after all summaries of the
// past.
func (x *actor) checkQuestion(contents []*genai.Content) {
	if x.app.question == "" || x.scope == ownTools {
		return
	}
	at := slices.IndexFunc(contents, x.isQuestion)
	if at < 0 {
		x.t.Errorf("%s, request %d: the question is missing: %q", x.name, x.asked, x.app.question)
		return
	}
	for i, c := range contents {
		if isSummary(c) && !isRounds(c) && i > at {
			x.t.Errorf("%s, request %d: a summary of the past comes after the question, as if the user had just said it", x.name, x.asked)
		}
	}
	if contents[0].Role != genai.RoleUser {
		x.t.Errorf("%s, request %d begins with role %q", x.name, x.asked, contents[0].Role)
	}
}

func isSummary(c *genai.Content) bool {
	return len(c.Parts) > 0 && (strings.HasPrefix(c.Parts[0].Text, "[Summary of ") || strings.HasPrefix(c.Parts[0].Text, "[Checkpoint of "))
}

// isRounds reports whether content is a summary of tool calls of the running turn.
func isRounds(c *genai.Content) bool {
	return strings.HasPrefix(c.Parts[0].Text, "[Summary of earlier tool calls")
}

// promptTokens returns the approximate prompt size that a provider would report.
func promptTokens(req *model.LLMRequest) int { return 100 + jsonSize(req.Contents)/4 }

func jsonSize(v any) int {
	data, _ := json.Marshal(v)
	return len(data)
}

func (a *app) flush() {
	if err := a.svc.Flush(context.WithoutCancel(a.t.Context()), ref); err != nil {
		a.t.Errorf("Flush: %v", err)
	}
}
