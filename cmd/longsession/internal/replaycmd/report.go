package replaycmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/replay"
)

// report writes the results of a replay while it runs. One goroutine calls its methods.
type report interface {
	// begin is called first.
	begin() error
	// played is called for each conversation, with one report for each policy.
	played(reports []*replay.Report) error
	// leftOut is called for each conversation that --keep-going left out.
	leftOut(err error) error
	// end is called last, even after an error.
	end(sum *summary) error
}

// summary is the result of the whole run.
type summary struct {
	totals []replay.Total // one for each policy
	tried  []replay.Total // one for each that --hindsight tries
	ways   []compared     // one for each that the recommendation compares
	// overWithout counts the prompts without compaction that exceed the window.
	overWithout int
	// complete is false if the run ended early.
	complete bool
	leftOut  int
	findings int
}

// newSummary returns the summary of a run that has not begun.
func newSummary(p *plan) *summary {
	s := &summary{totals: make([]replay.Total, len(p.policies)), tried: make([]replay.Total, len(p.tried)), ways: make([]compared, len(p.ways))}
	for i, policy := range p.policies {
		s.totals[i].Policy = policy.Name
	}
	return s
}

// conversations is the number of conversations that were played.
func (s *summary) conversations() int { return s.totals[0].Conversations }

// silent names the first policy whose summaries a model should have written, and has not: each attempt failed. It is ""
// if there is none.
func (s *summary) silent(p *plan) string {
	for i, t := range s.totals {
		if p.policies[i].Config.Model != nil && t.Summarizer.Failed > 0 && t.Summarizer.Written == 0 {
			return t.Policy
		}
	}
	return ""
}

// add adds the reports of a conversation.
func (s *summary) add(p *plan, reports []*replay.Report) {
	for i, r := range reports {
		s.totals[i].Add(r)
		s.findings += len(judge(r, p.policies[i].bare))
	}
}

// judge returns the findings in a report: a line for each rule of [replay.Checker] that it breaks. A
// bare policy does not keep prompts under the limit, so for it a prompt over the limit is no finding.
func judge(r *replay.Report, bare bool) []string {
	var broken *replay.CheckError
	if !errors.As(replay.Checker{AllowOverlong: bare}.Check(r), &broken) {
		return nil
	}
	times := map[string]int{}
	for _, failure := range broken.Failures {
		times[failure.Rule]++
	}
	var found []string
	for i, failure := range broken.Failures {
		if i > 0 && broken.Failures[i-1].Rule == failure.Rule {
			continue // the line of the first failure counts them all
		}
		text := failure.Text
		switch failure.Rule {
		case "pairs":
			text = terminal.Plural(r.Orphans, "orphan") + ": a call was sent without its result, or a result without its call"
		case "view":
			text = terminal.Plural(r.Hidden, "violation") + " of the rules for a view"
		case "calls":
			text = terminal.Plural(r.With.ModelCalls-r.Without.ModelCalls, "model call") + " more than without compaction"
		case "limit":
			text = fmt.Sprintf("%s over the limit of %s tokens, although the events that must stay raw would fit", terminal.Plural(times[failure.Rule], "prompt"), terminal.Commas(r.Limit))
		}
		found = append(found, text)
	}
	return found
}

// output is the destination of a report. It refuses all writes after one that failed, for example
// because the reader of a pipe is gone.
type output struct {
	to  io.Writer
	err error // of the failed write
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	if err != nil {
		o.err = exit.Failed("the report could not be written: %w", err)
	}
	return n, o.err
}
