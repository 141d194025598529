package chart

import (
	"html/template"
	"slices"
	"time"

	"github.com/adk-go-ext/longsession/replay"
)

// view is the data of the templates.
type view struct {
	Title, Time   string
	Summary       string
	Advice        []string
	Ran           []string
	Policies      []string
	Best          int // index in Policies, of the first that cost least
	Totals        []totalRow
	Conversations []*conversation

	// Priced, Asked and Judged report whether there are dollars, summaries by a model, or
	// questions. Empty columns are left out.
	Priced, Asked, Judged bool

	Style          template.CSS
	Script         template.JS
	SecurityPolicy string
}

// totalRow is the row of a policy, or of the whole history, which only uses Without.
type totalRow struct {
	replay.Total
	Whole  bool
	Policy int
	// Best marks the cheapest policies, Tied one that shares its cost with another.
	Best, Tied bool
}

// conversation is a section of the page.
type conversation struct {
	Number int
	// Previous and Next are the numbers of its neighbors, or 0.
	Previous, Next int
	Runs           []run
}

// run is a conversation under one policy.
type run struct {
	*replay.Report
	Number int // the conversation's
	Policy int // index in view.Policies
}

// Several reports whether there is more than one policy.
func (v *view) Several() bool { return len(v.Policies) > 1 }

// First has the values that are equal under every policy: the conversation's name and size.
func (c *conversation) First() run { return c.Runs[0] }

// Curves returns the data of the section's chart.
func (c *conversation) Curves() []curve { return curves(c.Runs) }

func newView(page Page) *view {
	v := &view{Title: page.Title, Summary: page.Summary, Advice: page.Recommendation, Ran: page.Ran, Style: style, Script: script, SecurityPolicy: securityPolicy}
	if v.Title == "" {
		v.Title = "Replay"
	}
	if !page.Time.IsZero() {
		v.Time = page.Time.Format(time.RFC3339)
	}
	policies := map[string]int{}
	number := func(policy string) int {
		n, known := policies[policy]
		if !known {
			n = len(v.Policies)
			policies[policy] = n
			v.Policies = append(v.Policies, policy)
		}
		return n
	}
	v.addTotals(page.Totals, number)
	v.addReports(page.Reports, number)
	return v
}

// addTotals adds a row for each policy, after a row for the whole history that it is compared with.
func (v *view) addTotals(totals []replay.Total, number func(string) int) {
	best := Cheapest(totals)
	for i, t := range totals {
		if i == 0 || t.Without != totals[i-1].Without {
			v.Totals = append(v.Totals, totalRow{Total: t, Whole: true})
		}
		cheapest := slices.Contains(best, i) && len(totals) > 1
		v.Totals = append(v.Totals, totalRow{Total: t, Policy: number(t.Policy), Best: cheapest, Tied: cheapest && len(best) > 1})
		v.Priced = v.Priced || t.Without.Dollars > 0 || t.With.Dollars > 0
		v.Asked = v.Asked || t.Summarizer.Calls > 0 || t.Summarizer.Failed > 0
		v.Judged = v.Judged || t.Facts != nil
	}
	if len(best) > 0 {
		v.Best = number(totals[best[0]].Policy)
	}
}

// addReports groups the reports by conversation.
func (v *view) addReports(reports []*replay.Report, number func(string) int) {
	type name struct {
		file string
		line int
		id   string
	}
	known := map[name]*conversation{}
	for _, r := range reports {
		key := name{r.File, r.Line, r.ID}
		c := known[key]
		if c == nil {
			c = &conversation{Number: len(v.Conversations) + 1, Previous: len(v.Conversations)}
			if c.Previous > 0 {
				v.Conversations[c.Previous-1].Next = c.Number
			}
			known[key] = c
			v.Conversations = append(v.Conversations, c)
		}
		c.Runs = append(c.Runs, run{Report: r, Number: c.Number, Policy: number(r.Policy)})
	}
}
