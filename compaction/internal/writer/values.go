package writer

import (
	"context"
	"slices"
	"sort"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/hanging"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/record"
)

// Ledger is what an assignment needs for the exact values of its record. Without Values, there are none.
type Ledger struct {
	Values *Values
	// MaxTokens is how much the values of the branch may take up, 0 for none.
	MaxTokens int
	// Hidden keeps the values out of the view, until another record takes them over.
	Hidden bool
	// Current are the current records of the branch.
	Current []*record.Metadata
	// Size is what the view shows behind the prose of a branch's summaries, given its current records.
	Size func([]*record.Metadata) int
}

// Values takes exact values from events for all sessions of a service. It is safe for concurrent use.
type Values struct {
	redact func(string) string     // nil: texts are taken as they are
	within time.Duration           // how long the values of one window may take where redact is not nil
	steps  hanging.Steps[struct{}] // one that hangs holds up the values of all sessions, and nothing else
}

// NewValues returns what takes values from texts that have gone through redact, nil for as they are.
func NewValues(redact func(string) string) *Values {
	return &Values{redact: redact, within: valuesTime}
}

// valuesTime is how long the values of one window may take if texts go through the app's function, which may not
// return. It takes milliseconds, unless the function is slow.
const valuesTime = 5 * time.Second

// ownTime is how long they may take otherwise. Nothing of the app's runs then, and the work is bounded by the window:
// a busy machine must not lose the values.
const ownTime = time.Hour

// of returns the values of a window: those of its events, and those of the records that it absorbs. The app's
// function sees both: it may have been added after an earlier record was stored. If it fails, there are none, and no later
// record takes them, because a record has only values of what it covers.
func (v *Values) of(ctx context.Context, events []*session.Event, absorbed []*record.Metadata, maxTokens int) (out []record.Value, err error) {
	var found []record.Value
	within := v.within
	if v.redact == nil {
		within = ownTime
	}
	// The context of the caller does not end this: a canceled turn is no failure of the function, and its summary is
	// stored all the same, so the summary would lack its values for good.
	err = v.steps.Run(context.WithoutCancel(ctx), within, struct{}{}, func(context.Context) error {
		lists := [][]record.Value{values.Of(events, v.redact)}
		for _, m := range absorbed {
			lists = append(lists, values.Redacted(m.Values, v.redact))
		}
		found = values.Merge(maxTokens, lists...)
		for i := range found {
			one := &found[i]
			one.Text, one.Author, one.Event = CleanText(one.Text), record.Normalize(one.Author), record.Normalize(one.Event)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// carryValues gives the draft's record the values of those that it absorbs.
func (d *Draft) carryValues(ctx context.Context, a *Assignment) {
	l, m := &a.Ledger, d.Meta
	if l.Values == nil || l.MaxTokens == 0 {
		return
	}
	if m.Values, d.ValuesLost = l.Values.of(ctx, nil, a.Window.Absorb, l.MaxTokens); !l.Hidden {
		m.LedgerTokens = l.MaxTokens
	}
}

// addValues gives the draft's record its values. It may use half of the tokens that the summary frees, so that a
// compaction always makes the prompt shorter, and by more than it adds.
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
	m.LedgerTokens = l.MaxTokens
	if a.Shorter > 0 { // the prompt is over the hard limit
		m.LedgerTokens = min(m.LedgerTokens, a.Shorter)
	}
	if l.Hidden {
		m.LedgerTokens = 0
	}
	if l.MaxTokens > 0 {
		m.Values, d.ValuesLost = l.Values.of(ctx, a.Window.Events, a.Window.Absorb, l.MaxTokens)
	}
	before, most := l.Size(l.Current), m.LedgerTokens
	free := a.Window.Tokens - promptsize.OfSummary(m)
	grows := func(ledger int) int {
		m.LedgerTokens = ledger
		d.Growth = l.Size(append(slices.Clip(others), m)) - before
		return d.Growth
	}
	if whole := grows(most); whole > free/2 {
		if grows(0) == whole { // another record says how many are shown
			grows(most)
		} else {
			fits := sort.Search(most, func(n int) bool { return grows(n+1) > free/2 })
			grows(fits)
		}
	}
	for d.Growth >= free && len(m.Values) > 0 {
		m.Values = m.Values[:len(m.Values)/2]
		grows(m.LedgerTokens)
	}
}
