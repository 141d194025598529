package cli

import (
	"errors"

	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// report is what a replay writes while it runs. Its methods are called by one goroutine.
type report interface {
	// begin is called first.
	begin() error
	// played is called for each conversation, with one report for each policy.
	played(reports []*replay.Report) error
	// leftOut is called for each conversation that could not be read or played, under --keep-going.
	leftOut(err error) error
	// end is called last, whatever happened before.
	end(sum *summary) error
}

// summary is the whole run.
type summary struct {
	totals []replay.Total // one for each policy
	// complete is false if the run ended early.
	complete bool
	leftOut  int
	findings int
}

// newSummary returns the summary of a plan that has done nothing yet.
func newSummary(p *plan) *summary {
	s := &summary{totals: make([]replay.Total, len(p.policies))}
	for i, policy := range p.policies {
		s.totals[i].Policy = policy.Name
	}
	return s
}

// conversations is how many were played.
func (s *summary) conversations() int { return s.totals[0].Conversations }

// add takes the reports of a conversation in.
func (s *summary) add(p *plan, reports []*replay.Report) {
	for i, r := range reports {
		s.totals[i].Add(r)
		s.findings += len(judge(r, p.policies[i].bare))
	}
}

// where says where a broken conversation stands, as far as err knows.
func where(err error) *conversation.Error {
	var broken *conversation.Error
	if errors.As(err, &broken) {
		return broken
	}
	return &conversation.Error{Message: -1, Problem: err.Error()}
}
