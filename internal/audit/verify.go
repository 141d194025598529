package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/invariant"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// The rules that a finding may be about.
const (
	RuleHidden     = "I1"          // hidden only if summarized
	RuleAppended   = "I2"          // append-only: numbers without holes, the counts agree
	RuleFormed     = "I3"          // the view is well-formed
	RuleRaw        = "I4"          // what must stay raw is shown raw
	RuleBounded    = "I5"          // not more summaries than allowed
	RuleCoveredBy  = "covered_by"  // the mark on an event is what the records say
	RuleContested  = "contested"   // so is the mark on the session
	RuleRecord     = "record"      // a compaction record can be read, and is marked as what it is
	RuleEvent      = "event"       // an event can be read
	RuleRead       = "read"        // the session can be read
	RuleIntegrity  = "integrity"   // SQLite's integrity_check
	RuleForeignKey = "foreign_key" // SQLite's foreign_key_check
)

// Finding is something that is not as it must be.
type Finding struct {
	// App, User and Session name the session; empty for the file itself.
	App     string `json:"app,omitempty"`
	User    string `json:"user,omitempty"`
	Session string `json:"session,omitempty"`
	// Seq and Event name the event, if it is about one; Event may also be the ID of a summary's record.
	Seq   int64  `json:"seq,omitempty"`
	Event string `json:"event,omitempty"`
	Rule  string `json:"rule"`
	Text  string `json:"text"`
}

// Checked says how much was checked.
type Checked struct {
	Sessions int   `json:"sessions"`
	Events   int64 `json:"events"`
	Records  int   `json:"records"`
	// Views counts the sessions whose view could be made.
	Views    int `json:"views"`
	Findings int `json:"findings"`
}

// Verify checks the file itself and sessions of it, reports each finding as it comes, and calls checked when
// it is through with a session. An error means that it could not go on.
func (f *File) Verify(ctx context.Context, sessions []*Session, maxSummaries int, report func(Finding) error, checked func(*Session)) (Checked, error) {
	var done Checked
	each := func(found []Finding) error {
		for _, one := range found {
			done.Findings++
			if err := report(one); err != nil {
				return err
			}
		}
		return nil
	}
	found, err := f.checkFile(ctx)
	if err = errors.Join(err, each(found)); err != nil {
		return done, err
	}
	for _, s := range sessions {
		l, found, err := f.examine(ctx, s, maxSummaries)
		if err = errors.Join(err, each(found)); err != nil {
			return done, err
		}
		done.Sessions++
		done.Events += int64(len(l.rows))
		for _, row := range l.rows {
			if row.Record {
				done.Records++
			}
		}
		if l.view != nil {
			done.Views++
		}
		checked(s)
	}
	return done, nil
}

// examination is the check of one session.
type examination struct {
	*loaded
	found []Finding
}

func (e *examination) find(seq int64, event, rule, format string, args ...any) {
	e.found = append(e.found, Finding{e.App, e.User, e.ID, seq, event, rule, fmt.Sprintf(format, args...)})
}

// examine checks a session. What cannot be read is a finding, and its view is not made then.
func (f *File) examine(ctx context.Context, s *Session, maxSummaries int) (*loaded, []Finding, error) {
	for range tries {
		l, err := f.loadRows(ctx, s)
		if stop(ctx, err) {
			return nil, nil, err
		}
		e := &examination{loaded: l}
		if err != nil {
			e.loaded = &loaded{Session: s}
			e.find(0, "", RuleRead, "the session cannot be read: %v", err)
			return e.loaded, e.found, nil
		}
		e.checkNumbers()
		e.checkRows()
		if l.readable() != nil {
			return l, e.found, nil
		}
		e.checkMarks()
		same, err := f.loadView(ctx, l)
		switch {
		case stop(ctx, err):
			return nil, nil, err
		case err != nil:
			e.find(0, "", RuleRead, "what the model sees cannot be read: %v", err)
			return l, e.found, nil
		case !same:
			continue
		}
		e.checkView()
		e.checkRaw()
		e.checkBound(maxSummaries)
		return l, e.found, nil
	}
	return nil, nil, fmt.Errorf("session %q: somebody appends to it all the time: try again when the app is less busy", s.Name())
}

// stop reports whether an error says nothing about the file.
func stop(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, persistence.ErrWritten) || errors.Is(err, session.ErrNotFound))
}

// checkNumbers: events are numbered 1, 2, 3... and the session says how many there are.
func (e *examination) checkNumbers() {
	next := int64(1)
	for _, row := range e.rows {
		if row.Seq > next {
			e.find(next, "", RuleAppended, "%s missing: rows were deleted; restore a backup", span(next, row.Seq-1))
		}
		next = row.Seq + 1
	}
	if e.Events != next-1 {
		e.find(0, "", RuleAppended, "the session says that its newest event is %d, and it is %d", e.Events, next-1)
	}
}

func span(from, to int64) string {
	if from == to {
		return fmt.Sprintf("event %d is", from)
	}
	return fmt.Sprintf("events %d to %d are", from, to)
}

// checkRows: events and records can be read, and records are marked as such.
func (e *examination) checkRows() {
	for _, row := range e.rows {
		if row.Err != nil {
			e.find(row.Seq, row.ID, RuleEvent, "cannot be read, so nothing else of this session was checked: %v", row.Err)
			continue
		}
		m, err := record.From(row.Event)
		switch {
		case err != nil:
			e.find(row.Seq, row.ID, RuleRecord, "the compaction record cannot be read, so it hides and shows nothing: %v", err)
		case m == nil && row.Record:
			e.find(row.Seq, row.ID, RuleRecord, "is marked as the record %q and is none", row.RecordID)
		case m != nil && (!row.Record || m.RecordID != row.RecordID):
			e.find(row.Seq, row.ID, RuleRecord, "is the record %q and marked as %s", m.RecordID, called(row.RecordID))
		}
	}
}

// checkView holds the view that an app would get against the whole history.
func (e *examination) checkView() {
	rules := map[invariant.Rule]string{invariant.Hidden: RuleHidden, invariant.Formed: RuleFormed, invariant.Raw: RuleRaw}
	for _, p := range invariant.Problems(e.events, e.view) {
		e.find(e.seqOf(p.Event), p.Event, rules[p.Rule], "%v", p)
	}
}

// seqOf returns the number of the event of an ID, 0 for a summary.
func (e *examination) seqOf(id string) int64 { return e.seq[e.byID[id]] }

// checkBound counts the summaries of each branch. Those of tool rounds may have one more for each agent.
func (e *examination) checkBound(most int) {
	count, agents := map[string]int{}, map[string]map[string]bool{}
	for _, ev := range e.summaries() {
		count[ev.Branch]++
		if m := e.records[ev.ID]; m != nil && m.Live() {
			if agents[ev.Branch] == nil {
				agents[ev.Branch] = map[string]bool{}
			}
			agents[ev.Branch][m.Agent] = true
		}
	}
	for _, branch := range slices.Sorted(maps.Keys(count)) {
		n := count[branch]
		if allowed := most + len(agents[branch]); n > allowed {
			e.find(0, "", RuleBounded, "branch %q shows %d summaries, and %d are allowed: was it compacted by several processes, or with another MaxSummaries (see --max-summaries)?", branch, n, allowed)
		}
	}
}
