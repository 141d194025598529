package replaycmd

import (
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"

	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/tokens"
)

// jsonReport writes JSON Lines, which docs/command.md describes. A later version may add fields,
// but none changes its meaning.
type jsonReport struct {
	plan *plan
	out  *json.Encoder
}

func newJSONReport(p *plan, w io.Writer) *jsonReport {
	out := json.NewEncoder(terminal.Harmless(w))
	out.SetEscapeHTML(false)
	return &jsonReport{p, out}
}

// jsonRun is the line of type "run".
type jsonRun struct {
	Type     string       `json:"type"`
	Version  string       `json:"version"`
	Model    string       `json:"model"`
	Prices   *jsonPrices  `json:"prices"` // null if unknown
	Fixed    string       `json:"fixed"`
	Policies []jsonPolicy `json:"policies"`
	LeftOut  []string     `json:"left_out,omitempty"`
}

// jsonPrices are in USD per million tokens.
type jsonPrices struct {
	Input  float64 `json:"input"`
	Cached float64 `json:"cached"`
	Output float64 `json:"output"`
}

// jsonPolicy describes a policy in the line of type "run".
type jsonPolicy struct {
	Name          string `json:"name"`
	Says          string `json:"says"`
	ContextWindow int    `json:"context_window"`
}

// jsonConversation is the line of type "conversation", one for each policy.
type jsonConversation struct {
	Type string `json:"type"`
	*replay.Report
	Findings []string `json:"findings,omitempty"`
}

// jsonError is the line of type "error", for a conversation that was left out. Message is the index of
// the message at fault; it is left out if none is.
type jsonError struct {
	Type         string `json:"type"`
	File         string `json:"file,omitempty"`
	Line         int    `json:"line,omitempty"`
	Column       int    `json:"column,omitempty"`
	Conversation string `json:"id,omitempty"`
	Message      *int   `json:"message,omitempty"`
	Error        string `json:"error"`
}

// jsonTotal is the line of type "total", one for each policy.
type jsonTotal struct {
	Type string `json:"type"`
	replay.Total
	// Recommendation is nil for a grid, for a run that ended early, and without prices.
	Recommendation *recommendation `json:"recommendation,omitempty"`

	Complete bool `json:"complete"`
	LeftOut  int  `json:"left_out"`
	Cheapest bool `json:"cheapest,omitempty"`
	// Hindsight is nil without --hindsight.
	Hindsight *jsonHindsight `json:"hindsight,omitempty"`
}

// jsonHindsight is the cheapest way that --hindsight found.
type jsonHindsight struct {
	// Ways is how many were compared, no compaction among them. Threshold is the size of the prompt at which the
	// cheapest compacts, in tokens, and 0 for no compaction.
	Ways      int     `json:"ways"`
	Threshold int     `json:"threshold"`
	Dollars   float64 `json:"dollars"`
}

func (r *jsonReport) begin() error {
	if r.plan.quiet {
		return nil
	}
	run := jsonRun{Type: "run", Version: r.plan.version, Model: r.plan.model.Name, Prices: pricesOf(r.plan.model), Fixed: fixedText(r.plan.fixed), LeftOut: r.plan.leftOut}
	for _, p := range r.plan.policies {
		run.Policies = append(run.Policies, jsonPolicy{p.Name, p.says, p.window})
	}
	return r.out.Encode(run)
}

// pricesOf returns nil for a model without prices.
func pricesOf(m tokens.Model) *jsonPrices {
	if !m.Priced() {
		return nil
	}
	return &jsonPrices{m.InputPrice, cachedPrice(m), m.OutputPrice}
}

func (r *jsonReport) played(reports []*replay.Report) error {
	if r.plan.quiet {
		return nil
	}
	for i, one := range reports {
		if err := r.out.Encode(jsonConversation{"conversation", one, judge(one, r.plan.policies[i].bare)}); err != nil {
			return err
		}
	}
	return nil
}

func (r *jsonReport) leftOut(err error) error {
	at := &conversation.Error{Message: -1, Problem: err.Error()}
	_ = errors.As(err, &at)
	line := jsonError{Type: "error", File: at.File, Line: at.Line, Column: at.Column, Conversation: at.Conversation, Error: at.Problem}
	if at.Message >= 0 {
		line.Message = &at.Message
	}
	return r.out.Encode(line)
}

func (r *jsonReport) end(sum *summary) error {
	best := cheapest(r.plan, sum)
	for i, total := range sum.totals {
		line := jsonTotal{Type: "total", Total: total, Recommendation: recommend(r.plan, sum), Complete: sum.complete, LeftOut: sum.leftOut, Cheapest: slices.Contains(best, i)}
		if len(r.plan.tried) > 0 {
			threshold, dollars := bestTried(r.plan, sum)
			line.Hindsight = &jsonHindsight{len(r.plan.tried) + 1, threshold, dollars}
		}
		if err := r.out.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
