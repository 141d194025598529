package replay

import (
	"fmt"
	"math"
	"strconv"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/tokens"
)

// checkpointTool is the tool by which a model reports a finished task, see package contexttool.
const checkpointTool = "mark_task_done"

// Alert is a pattern that the watchdog found in the recorded calls.
type Alert struct {
	// Turn counts from 1, and Call is the index in Calls of the answer that completed the pattern.
	Turn int `json:"turn"`
	Call int `json:"call"`
	// Signal, Severity, Tool and Text are those of the watchdog. Tool is "" for several or none.
	Signal   string `json:"signal"`
	Severity string `json:"severity"`
	Tool     string `json:"tool,omitempty"`
	Text     string `json:"text"`
}

// WouldStop is where a guard would have ended a conversation, which was played to its end.
type WouldStop struct {
	// Kind is "cost_ceiling" or "watchdog".
	Kind string `json:"kind"`
	// Turn counts from 1. Call is the index in Calls of the last call that would have been made, and
	// CallsAfter counts those that would not: for the watchdog, of the turn.
	Turn       int `json:"turn"`
	Call       int `json:"call"`
	CallsAfter int `json:"calls_after"`
	// Text is what was spent and the bound, or the pattern.
	Text string `json:"text"`
}

// Marked is a recorded call by which the model reported a finished task.
type Marked struct {
	Turn   int    `json:"turn"`
	Call   int    `json:"call"`
	Detail string `json:"detail"`
}

// spend is what was spent before or with a call.
type spend struct {
	call int
	usd  tokens.Nano
}

// nanos is a cost in dollars, rounded up. A cost that is no number is 0.
func nanos(dollars float64) tokens.Nano {
	if n := math.Ceil(dollars * float64(tokens.Dollar)); n > 0 && n < math.MaxInt64/2 {
		return tokens.Nano(n)
	}
	return 0
}

// guarded judges a run that was played to its end.
type guarded struct{ *run }

// fill fills in what a guard would have done: the alerts of its watchdog, and where it would
// have stopped. The conversation was played to its end all the same.
func (r guarded) fill() error {
	if err := r.watch(); err != nil {
		return err
	}
	if r.opts.Ceiling > 0 && r.opts.Model.Priced() {
		r.stopAtCeiling()
	}
	call := 0
	for turn, t := range r.c.Turns {
		for i, step := range t.Steps {
			for _, c := range callsOf(step.Answer) {
				if c.Name == checkpointTool {
					detail, _ := c.Args["detail"].(string)
					r.report.Checkpoints = append(r.report.Checkpoints, Marked{turn + 1, call + i, detail})
				}
			}
		}
		call += max(1, len(t.Steps))
	}
	return nil
}

// watch shows the recorded calls and results to a watchdog in mode Stop: its alerts are the same in
// every mode.
func (r guarded) watch() error {
	if r.opts.Watchdog == nil || r.opts.Watchdog.Mode == watchdog.Off {
		return nil
	}
	cfg := *r.opts.Watchdog
	cfg.Mode, cfg.CallsAlone = watchdog.Stop, false
	w, err := watchdog.New(cfg)
	if err != nil {
		return err
	}
	call := 0
	for turn, t := range r.c.Turns {
		stopped := false
		for i := range t.Steps {
			verdict := w.Observe(r.step(w, turn, call+i))
			for _, a := range verdict.Alerts {
				r.report.Alerts = append(r.report.Alerts, Alert{turn + 1, call + i, a.Signal, a.Severity.String(), a.Tool, a.Text})
			}
			if rest := len(t.Steps) - i - 1; verdict.Stop != nil && !stopped && rest > 0 {
				stopped = true
				r.report.WouldStop = append(r.report.WouldStop, WouldStop{"watchdog", turn + 1, call + i, rest, verdict.Stop.Signal + ": " + verdict.Stop.Text})
			}
		}
		w.Forget(strconv.Itoa(turn))
		call += max(1, len(t.Steps))
	}
	return nil
}

// step is an answer as a watchdog sees it.
func (r guarded) step(w *watchdog.Watchdog, turn, call int) watchdog.Step {
	first := callOf(r.c, turn, 0)
	recorded := r.c.Turns[turn].Steps[call-first]
	s := watchdog.Step{Invocation: strconv.Itoa(turn), Agent: "agent", Time: recorded.Time}
	for i, c := range callsOf(recorded.Answer) {
		var response map[string]any
		if i < len(recorded.Responses) {
			response = recorded.Responses[i].Response
		}
		s.Calls = append(s.Calls, w.Call(c.ID, c.Name, c.Args, response))
		s.Files = append(s.Files, w.Files(c.Name, c.Args)...)
	}
	for _, p := range parts(recorded.Answer) {
		s.Text = s.Text || p.Text != "" && !p.Thought
	}
	if call < len(r.usages) {
		s.PromptTokens, s.Cost = r.usages[call].PromptTokens, r.opts.Model.Nanos(r.usages[call])
	}
	return s
}

// stopAtCeiling finds the call that reaches Options.Ceiling. Summaries count as soon as they are written.
func (r guarded) stopAtCeiling() {
	summaries := map[int]tokens.Nano{}
	for _, s := range r.spends {
		summaries[s.call] += s.usd
	}
	spent := tokens.Nano(0)
	for call, usage := range r.usages {
		spent += summaries[call]
		at := call - 1 // before this call
		if spent < r.opts.Ceiling {
			usage.OutputTokens = r.outputOf(call)
			spent += r.opts.Model.Nanos(usage)
			at = call
		}
		if spent >= r.opts.Ceiling {
			r.report.WouldStop = append(r.report.WouldStop, WouldStop{"cost_ceiling", turnOf(r.c, max(at, 0)) + 1, at, len(r.usages) - at - 1,
				fmt.Sprintf("%v of %v", spent, r.opts.Ceiling)})
			return
		}
	}
}

// callsOf returns the function calls of an answer.
func callsOf(answer *genai.Content) []*genai.FunctionCall {
	var calls []*genai.FunctionCall
	for _, p := range parts(answer) {
		if p.FunctionCall != nil {
			calls = append(calls, p.FunctionCall)
		}
	}
	return calls
}

// turnOf is the turn of a call, counting turns from 0. A call that the recording does not have belongs
// to the last turn.
func turnOf(c *conversation.Conversation, call int) int {
	for turn, t := range c.Turns {
		if call -= max(1, len(t.Steps)); call < 0 {
			return turn
		}
	}
	return len(c.Turns) - 1
}

// outputOf is the size of the answer to a call, 0 for a call that the recording does not have.
func (r guarded) outputOf(call int) int {
	for _, t := range r.c.Turns {
		n := max(1, len(t.Steps))
		if call < n && call < len(t.Steps) {
			return outputTokens(t.Steps[call])
		}
		if call < n {
			return tokens.Estimate(placeholder)
		}
		call -= n
	}
	return 0
}

// costs are what a run has cost by the end of each call, in USD, from the prompts of the calls and from what was spent
// on summaries before them.
func (r guarded) costs(prompts []tokens.Usage, summaries []spend) []float64 {
	all := make([]float64, len(prompts))
	sum := tokens.Nano(0)
	for call, usage := range prompts {
		for len(summaries) > 0 && summaries[0].call <= call {
			sum += summaries[0].usd
			summaries = summaries[1:]
		}
		usage.OutputTokens = r.outputOf(call)
		sum += r.opts.Model.Nanos(usage)
		all[call] = sum.USD()
	}
	return all
}
