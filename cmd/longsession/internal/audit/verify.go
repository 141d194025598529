package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/oracle"
	"github.com/adk-go-ext/longsession/persistence"
)

// The rules that a finding can break.
const (
	RuleHidden     = "I1"          // hidden only if summarized
	RuleAppended   = "I2"          // append-only: numbers without gaps, the counts agree
	RuleFormed     = "I3"          // the view is well-formed
	RuleRaw        = "I4"          // what must stay raw is shown raw
	RuleBounded    = "I5"          // no more summaries than allowed
	RuleCoveredBy  = "covered_by"  // the mark on an event agrees with the records
	RuleConflicted = "contested"   // the mark on the session agrees with the records
	RuleLinks      = "links"       // the links between events, and the newest speakers, agree with the events
	RuleState      = "state"       // the session's state has the values that its events set
	RuleTimes      = "times"       // the session's times agree with its events
	RuleChain      = "chain"       // each event's digest follows from its row and the previous digest
	RuleSeal       = "seal"        // the file agrees with the seal
	RuleRecord     = "record"      // a compaction record can be read and is marked as one
	RuleEvent      = "event"       // an event can be read
	RuleRead       = "read"        // the session can be read
	RuleLog        = "log"         // the write-ahead log is not missing
	RuleIntegrity  = "integrity"   // SQLite's integrity_check
	RuleForeignKey = "foreign_key" // SQLite's foreign_key_check
	RuleSchema     = "schema"      // tables, views and indexes are as persistence creates them
)

// Finding is a broken rule.
type Finding struct {
	// App, User and Session name the session; empty for the file itself.
	App     string `json:"app,omitempty"`
	User    string `json:"user,omitempty"`
	Session string `json:"session,omitempty"`
	// Seq and Event name the event, if it is about one; Event may also be the ID of a summary's
	// record.
	Seq   int64  `json:"seq,omitempty"`
	Event string `json:"event,omitempty"`
	Rule  string `json:"rule"`
	Text  string `json:"text"`
}

// unread reports whether the finding prevents the view from being made.
func (f Finding) unread() bool { return f.Rule == RuleEvent || f.Rule == RuleRead }

// Checked counts what was checked.
type Checked struct {
	Sessions int   `json:"sessions"`
	Events   int64 `json:"events"`
	Records  int   `json:"records"`
	// Undigested counts the events without a digest, from versions that wrote none. The file alone
	// does not reveal whether they were changed.
	Undigested int64 `json:"undigested"`
	// Views counts the sessions whose view could be made.
	Views int `json:"views"`
	// Gone counts the sessions that were deleted before they were checked; Sessions does not
	// include them.
	Gone     int `json:"gone"`
	Findings int `json:"findings"`
}

// Verify checks the file itself and the given sessions. It calls report for each finding, and
// checked after each session, even if that was deleted meanwhile. An error ends the check.
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
		if errors.Is(err, session.ErrNotFound) {
			done.Gone++
			checked(s)
			continue
		}
		if err = errors.Join(err, each(found)); err != nil {
			return done, err
		}
		done.Sessions++
		done.Events += int64(len(l.rows))
		done.Undigested += l.undigested
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

// examine checks a session. An event that cannot be read is a finding; the view is then not made.
// For a deleted session the error wraps [session.ErrNotFound].
func (f *File) examine(ctx context.Context, s *Session, maxSummaries int) (*loaded, []Finding, error) {
	e := &examination{loaded: &loaded{Session: s}}
	err := f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error { return e.check(ctx, f, snap, maxSummaries) })
	switch {
	case stop(ctx, err), errors.Is(err, session.ErrNotFound):
		return nil, nil, err
	case err != nil:
		e.find(0, "", RuleRead, "the session cannot be read: %v", err)
	}
	return e.loaded, e.found, nil
}

// check checks a session as it is in a snapshot.
func (e *examination) check(ctx context.Context, f *File, snap *persistence.Snapshot, maxSummaries int) error {
	l, err := loadRows(ctx, snap, e.Session)
	if err != nil {
		return err
	}
	e.loaded = l
	whole := e.checkNumbers()
	if err := e.checkOrder(ctx, snap); err != nil {
		return err
	}
	if err := e.checkChain(ctx, f, snap); err != nil {
		return err
	}
	e.checkRows()
	if err := e.checkTypes(ctx, snap); err != nil {
		return err
	}
	if l.readable() != nil {
		return nil
	}
	e.checkRecords(whole)
	// The links depend on all rows, so they cannot be checked if rows are missing.
	want := &wantLinks{}
	if whole {
		want = wantLinksOf(l.rows)
		e.checkTimes()
		if err := e.checkState(ctx, snap); err != nil {
			return err
		}
		if err := e.checkLinks(ctx, snap, want); err != nil {
			return err
		}
	}
	e.checkCoverage(want, whole)
	switch err := f.loadView(ctx, snap, l); {
	case stop(ctx, err):
		return err
	case err != nil:
		e.find(0, "", RuleRead, "the view cannot be made: %v", err)
		return nil
	}
	e.checkView()
	e.checkRaw()
	e.checkBound(maxSummaries)
	return nil
}

// stop reports whether an error has nothing to do with the file.
func stop(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, persistence.ErrWritten))
}

// checkView compares the view that an app would get with the whole history.
func (e *examination) checkView() {
	rules := map[oracle.Rule]string{oracle.Hidden: RuleHidden, oracle.Formed: RuleFormed, oracle.Raw: RuleRaw}
	for _, p := range oracle.Problems(e.events, e.view) {
		e.find(e.seqOf(p.Event), p.Event, rules[p.Rule], "%v", p)
	}
}

// seqOf returns the number of the event of an ID, 0 for a summary.
func (e *examination) seqOf(id string) int64 { return e.seq[e.byID[id]] }

// checkBound counts the summaries of each branch. Those of tool rounds may have one more for each
// agent.
func (e *examination) checkBound(most int) {
	count, agents := map[string]int{}, map[string]map[string]bool{}
	for _, ev := range e.summaries() {
		count[ev.Branch]++
		if m := e.records[ev.ID]; m != nil && m.MidTurn() {
			if agents[ev.Branch] == nil {
				agents[ev.Branch] = map[string]bool{}
			}
			agents[ev.Branch][m.Agent] = true
		}
	}
	for _, branch := range slices.Sorted(maps.Keys(count)) {
		n := count[branch]
		if allowed := most + len(agents[branch]); n > allowed {
			e.find(0, "", RuleBounded, "branch %q shows %d summaries, but %d are allowed: was it compacted by several processes, or with another MaxSummaries (see --max-summaries)?", branch, n, allowed)
		}
	}
}
