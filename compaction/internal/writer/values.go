package writer

import (
	"context"
	"log/slog"
	"slices"
	"sort"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/hanging"
	"github.com/adk-go-ext/longsession/internal/kept"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/said"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// Ledger is what an assignment needs for the exact values of its record, and for what the user said. Without Values, there
// is neither.
type Ledger struct {
	Values *Values
	// MaxTokens is how much the values of the branch may take up, and SaidTokens what the user said in it, 0 for none. It
	// is SaidWithTools where the agent calls tools.
	MaxTokens, SaidTokens, SaidWithTools int
	// Hidden keeps both out of the view, until another record takes them over.
	Hidden bool
	// Current are the current records of the branch.
	Current []*record.Metadata
	// Shown are the events of the view, those of the window among them.
	Shown []*session.Event
	// Size is what the view shows behind the prose of a branch's summaries, given its current records.
	Size func([]*record.Metadata) int
}

// Values takes exact values, and what the user said, from events for all sessions of a service. It is safe for concurrent
// use.
type Values struct {
	redact func(string) string       // nil: texts are taken as they are
	person func(*session.Event) bool // nil: the forms of messages tell which of them a person wrote
	within time.Duration             // how long the values of one window may take where redact is not nil
	steps  hanging.Steps[struct{}]   // one that hangs holds up the values of all sessions, and nothing else
}

// NewValues returns what takes values from texts that have gone through redact, nil for as they are. person reports
// whether a person wrote a message, nil for what its form tells.
func NewValues(redact func(string) string, person func(*session.Event) bool) *Values {
	return &Values{redact: redact, person: person, within: valuesTime}
}

// valuesTime is how long the values of one window may take if texts go through the app's function, which may not
// return. It takes milliseconds, unless the function is slow.
const valuesTime = 5 * time.Second

// ownTime is how long they may take otherwise. Nothing of the app's runs then, and the work is bounded by the window:
// a busy machine must not lose the values.
const ownTime = time.Hour

// taken is what was taken from a window.
type taken struct {
	values []record.Value
	said   []record.Value
	// userTokens is how much the user said in the events.
	userTokens int
	// asks means that the events end with a question for a secret.
	asks bool
	// best are the best values, to measure how many of them a summary keeps.
	best []record.Value
}

// measureTokens is how many tokens these take up at most.
const measureTokens = 2000

// of returns the values of a window, and what the user said in it: of its events, and of the records that it absorbs. The
// app's functions see both: they may have been added after an earlier record was stored. A text on which one panics is
// left out, and the panic is the error. If one does not return, there is nothing. No later record takes what is left out,
// because a record has only what it covers.
func (v *Values) of(ctx context.Context, events []*session.Event, absorbed []*record.Metadata, l *Ledger, measures bool) (taken, error) {
	asked, since := asksBefore(events, l.Current)
	answers, asks := said.Answers(events, asked, l.Shown, since)
	found := taken{asks: asks}
	var failed error
	places := survive.Places{Logger: slog.New(slog.DiscardHandler), Tell: func(_ string, err error) { failed = err }}
	redact, person := v.redact, v.person
	if redact != nil {
		redact = func(text string) (left string) {
			defer places.Survive("Redact")
			return v.redact(text)
		}
	}
	if person != nil {
		person = func(ev *session.Event) (is bool) {
			defer places.Survive("IsPerson")
			return v.person(ev)
		}
	}
	within := v.within
	if v.redact == nil && v.person == nil {
		within = ownTime
	}
	// The context of the caller does not end this: a canceled turn is no failure of a function, and its summary is
	// stored all the same, so the summary would lack its values for good.
	err := v.steps.Run(context.WithoutCancel(ctx), within, struct{}{}, func(context.Context) error {
		if l.MaxTokens > 0 {
			lists := exactOf(events, answers, absorbed, redact)
			found.values = values.Merge(l.MaxTokens, lists...)
			for i := range found.values {
				one := &found.values[i]
				one.Text, one.Author, one.Event = CleanText(one.Text), record.Normalize(one.Author), record.Normalize(one.Event)
			}
			if measures {
				found.best = values.Merge(measureTokens, lists...)
			}
		}
		if l.SaidTokens > 0 {
			lists := [][]record.Value{said.Of(events, answers, person, redact)}
			for _, s := range lists[0] {
				found.userTokens += tokens.Estimate(s.Text)
			}
			for _, m := range absorbed {
				lists = append(lists, said.Redacted(m.Said, redact))
			}
			found.said = said.Merge(lists...)
		}
		return nil
	})
	if err != nil {
		return taken{asks: true}, err // nobody knows
	}
	return found, failed
}

// asksBefore reports whether what was summarized before events asks for a secret, and when that was said, given the records of
// the branch. Without events, it reports whether the records end so.
func asksBefore(events []*session.Event, current []*record.Metadata) (asks bool, at time.Time) {
	var before *record.Metadata
	for _, m := range current {
		if len(events) > 0 && m.EndTimestamp.After(events[0].Timestamp) {
			continue
		}
		if before == nil || m.EndTimestamp.After(before.EndTimestamp) {
			before = m
		}
	}
	if before == nil {
		return false, time.Time{}
	}
	return before.AsksSecret, before.EndTimestamp
}

func exactOf(events []*session.Event, answers map[*session.Event]bool, absorbed []*record.Metadata, redact func(string) string) [][]record.Value {
	lists := [][]record.Value{values.Of(events, answers, redact)}
	for _, m := range absorbed {
		lists = append(lists, values.Redacted(m.Values, redact))
	}
	return lists
}

// redacts reports whether texts go through a function of the app.
func (v *Values) redacts() bool { return v != nil && v.redact != nil }

// redacted adds to a source what the app's function makes of the texts of a request: a summarizer may have read them so. The
// error is that of the function, which has panicked or does not return.
func (v *Values) redacted(ctx context.Context, req summarizer.Request, source *kept.Source) error {
	var texts []string
	err := v.steps.Run(context.WithoutCancel(ctx), v.within, struct{}{}, func(context.Context) error {
		kept.EachText(req.Events, func(text string) { texts = append(texts, v.redact(text)) })
		for _, text := range req.Summaries {
			texts = append(texts, v.redact(text))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, text := range texts {
		source.Add(text)
	}
	return nil
}

// take gives the draft's record what is taken from events and from the records that it absorbs. How much of it is shown is
// the most that may be.
func (d *Draft) take(ctx context.Context, a *Assignment, events []*session.Event) {
	l, m := &a.Ledger, d.Meta
	if l.MaxTokens > 0 || l.SaidTokens > 0 {
		if a.taken == nil {
			found, err := l.Values.of(ctx, events, a.Window.Absorb, l, a.measures)
			a.taken, a.takenErr = &found, err
		}
		m.Values, m.Said, m.UserTokens, m.AsksSecret, d.ValuesLost = a.taken.values, a.taken.said, a.taken.userTokens, a.taken.asks, a.takenErr
	}
	for _, gone := range a.Window.Absorb {
		m.UserTokens += gone.UserTokens
	}
	m.LedgerTokens, m.SaidTokens = l.MaxTokens, l.saidTokens(m, a.Window.Absorb, events)
	if l.Hidden {
		m.LedgerTokens, m.SaidTokens = 0, 0
	}
}

// saidTokens is how much of what the user said a record lets its branch show: none if no model has put any of it into
// other words, and none where the user writes more than a quarter of what is stored.
func (l *Ledger) saidTokens(m *record.Metadata, absorbed []*record.Metadata, events []*session.Event) int {
	spoken, all, most, reworded := 0, 0, l.SaidTokens, false
	for _, c := range append(slices.Clip(l.Current), m) {
		reworded = reworded || c.Model != ""
		spoken, all = spoken+c.UserTokens, all+c.OriginalTokens
		if c.SaidTokens > most {
			most = min(c.SaidTokens, l.SaidWithTools)
		}
	}
	for _, gone := range absorbed { // they are among the current ones
		spoken, all = spoken-gone.UserTokens, all-gone.OriginalTokens
	}
	if !reworded || spoken > all/userShare {
		return 0
	}
	if slices.ContainsFunc(events, func(ev *session.Event) bool { return len(adk.FunctionCalls(ev)) > 0 }) {
		most = l.SaidWithTools
	}
	return most
}

// userShare: a part of 4.
const userShare = 4

// carryValues gives the draft's record what those have that it absorbs.
func (d *Draft) carryValues(ctx context.Context, a *Assignment) {
	if a.Ledger.Values != nil {
		d.take(ctx, a, nil)
	}
}

// addValues gives the draft's record its values, and what the user said. Together they may use half of the tokens that the
// summary frees, so that a compaction always makes the prompt shorter, and by more than it adds. What the user said gives
// way first: fewer tokens of values hold more of what is asked for later.
func (d *Draft) addValues(ctx context.Context, a *Assignment) {
	l, m := &a.Ledger, d.Meta
	if l.Values == nil {
		return
	}
	var others []*record.Metadata
	for _, c := range l.Current {
		if !slices.ContainsFunc(a.Window.Absorb, func(gone *record.Metadata) bool { return gone.RecordID == c.RecordID }) {
			others = append(others, c)
		}
	}
	d.take(ctx, a, a.Window.Events)
	if a.Shorter > 0 { // the prompt is over the hard limit
		m.LedgerTokens, m.SaidTokens = min(m.LedgerTokens, a.Shorter), 0
	}
	before := l.Size(l.Current)
	free := a.Window.Tokens - promptsize.OfSummary(m)
	grows := func(shown *int, n int) int {
		*shown = n
		d.Growth = l.Size(append(slices.Clip(others), m)) - before
		return d.Growth
	}
	for _, shown := range []*int{&m.SaidTokens, &m.LedgerTokens} {
		most := *shown
		if whole := grows(shown, most); whole > free/2 {
			if grows(shown, 0) == whole { // another record says how many are shown
				grows(shown, most)
			} else {
				grows(shown, sort.Search(most, func(n int) bool { return grows(shown, n+1) > free/2 }))
			}
		}
	}
	for d.Growth >= free && len(m.Values)+len(m.Said) > 0 {
		m.Values, m.Said = m.Values[:len(m.Values)/2], said.Fewer(m.Said)
		grows(&m.LedgerTokens, m.LedgerTokens)
	}
}
