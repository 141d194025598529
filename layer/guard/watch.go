package guard

import (
	"slices"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/notes"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/tokens"
)

// watch feeds a watchdog with the events of runs. Events come in the order in which they are stored, while
// callbacks of tools that run in parallel come in any order.
type watch struct {
	dog *watchdog.Watchdog
	// asked has the newest event with calls of each lane, until its responses come.
	asked *lru.Cache[laneKey, asked]
	// paid has what the newest model call of each agent has cost, until its event comes. It is nil if no signal
	// of the app could want to know.
	paid *lru.Cache[caller, tokens.Nano]
}

// asked is an event with calls, and the cost of the answer.
type asked struct {
	ev   *session.Event
	cost tokens.Nano
}

type laneKey struct{ invocation, lane string }

// maxAsked bounds the events that wait for responses which never come.
const maxAsked = 1_024

// newWatch returns what feeds a watchdog, nil if it is off.
func newWatch(cfg watchdog.Config) (*watch, error) {
	if cfg.Mode == watchdog.Off {
		return nil, nil
	}
	dog, err := watchdog.New(cfg)
	if err != nil {
		return nil, err
	}
	w := &watch{dog: dog}
	w.asked, _ = lru.New[laneKey, asked](maxAsked) // fails only for a size that is not positive
	if len(cfg.Signals) > 0 {
		w.paid, _ = lru.New[caller, tokens.Nano](maxAsked)
	}
	return w, nil
}

// pays notes what a model call has cost.
func (w *watch) pays(who caller, usd tokens.Nano) {
	if w != nil && w.paid != nil {
		w.paid.Add(who, usd)
	}
}

// cost returns what the model call behind an event has cost.
func (w *watch) cost(who caller) (usd tokens.Nano) {
	if w.paid != nil {
		usd, _ = w.paid.Peek(who)
		w.paid.Remove(who)
	}
	return usd
}

// watched shows an event to the watchdog before it is stored, and does what follows: it tells the observer,
// writes a note into the event, or stops the turn.
func (g hooks) watched(ctx agent.InvocationContext, ev *session.Event, who caller, p ledger.Payer) {
	if g.watch == nil {
		return
	}
	step, whole := g.watch.step(ev, who)
	if !whole {
		return
	}
	verdict := g.watch.dog.Observe(step)
	for _, a := range verdict.Alerts {
		o := who.observation(Alerted, p)
		o.Reason = a.Signal + ": " + a.Text
		g.observe(ctx, o)
	}
	if verdict.Note != "" && ctx.RunConfig() != nil { // in a live run, another goroutine sends the event to the model
		notes.Watchdog.Into(ev.Content, verdict.Note, adk.IsExempt)
	}
	if verdict.Stop == nil {
		return
	}
	stop := ledger.Stop{Kind: ledger.Watchdog, Scope: ledger.Turn, Spent: verdict.Stop.Text}
	if g.childOf(ctx) != nil {
		stop.Scope = ledger.Subtask
	}
	if p.Halt(stop) {
		g.tripped(ctx, who, p, []ledger.Stop{stop})
	}
}

// step returns the step that an event completes, and whether it completes one: an event with responses
// completes that of their calls, and an event with text and no calls is one.
func (w *watch) step(ev *session.Event, who caller) (s watchdog.Step, whole bool) {
	key := laneKey{ev.InvocationID, adk.Lane(ev)}
	responses := adk.FunctionResponses(ev)
	switch {
	case len(adk.FunctionCalls(ev)) > 0:
		if ev.Author != "user" {
			w.asked.Add(key, asked{ev, w.cost(who)})
		}
		return s, false
	case len(responses) > 0:
		a, found := w.asked.Peek(key)
		if !found {
			return s, false
		}
		w.asked.Remove(key)
		s = newStep(a.ev, a.cost)
		s.Time = ev.Timestamp
		w.pair(&s, a.ev, ev, responses)
		return s, len(s.Calls) > 0
	case ev.Author != "user" && says(ev.Content):
		return newStep(ev, w.cost(who)), true
	}
	return s, false
}

func newStep(ev *session.Event, cost tokens.Nano) watchdog.Step {
	return watchdog.Step{
		Invocation: ev.InvocationID, Branch: adk.Lane(ev), Agent: ev.Author, Text: says(ev.Content),
		PromptTokens: tokens.UsageOf(ev.UsageMetadata).PromptTokens, Cost: cost, Time: ev.Timestamp,
	}
}

// pair adds the calls that are answered. A long-running call has a placeholder for a result, and one that
// waits for a confirmation has none.
func (w *watch) pair(s *watchdog.Step, asked, answered *session.Event, responses []*genai.FunctionResponse) {
	waiting := adk.RequestedConfirmations(answered)
	for _, call := range adk.FunctionCalls(asked) {
		if !adk.Prompted(call.Name) || call.Name == stopToolName ||
			slices.Contains(asked.LongRunningToolIDs, call.ID) || slices.Contains(waiting, call.ID) {
			continue
		}
		i := slices.IndexFunc(responses, func(r *genai.FunctionResponse) bool { return r.ID == call.ID })
		if i < 0 || responses[i].Response == nil {
			continue
		}
		s.Calls = append(s.Calls, w.dog.Call(call.ID, call.Name, call.Args, responses[i].Response))
		s.Files = append(s.Files, w.dog.Files(call.Name, call.Args)...)
	}
}

// says reports whether a content has text for the user.
func says(c *genai.Content) bool {
	return c != nil && slices.ContainsFunc(c.Parts, func(p *genai.Part) bool {
		return p != nil && !p.Thought && strings.TrimSpace(p.Text) != ""
	})
}

// end forgets an invocation.
func (w *watch) end(invocation string) {
	if w == nil {
		return
	}
	w.dog.Forget(invocation)
	for _, key := range w.asked.Keys() {
		if key.invocation == invocation {
			w.asked.Remove(key)
		}
	}
	if w.paid == nil {
		return
	}
	for _, who := range w.paid.Keys() {
		if who.invocation == invocation {
			w.paid.Remove(who)
		}
	}
}
