package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/oracle"
	"github.com/adk-go-ext/longsession/persistence"
)

// The rules that a finding can break. The examples are about a session of three events: the user's
// message e1, a call e2 and its response e3.
const (
	// RuleHidden: an event is hidden only if a summary covers it. If the view lacks e1, and no
	// current record covers e1, the model has lost what the user said.
	RuleHidden = "I1"
	// RuleAppended: events are numbered from 1 without gaps, in the order in which their rows were
	// inserted, and the session's row has the number of the last one. The numbers 1 and 3 reveal
	// that e2 was deleted.
	RuleAppended = "I2"
	// RuleFormed: the view is well-formed. A view with e3 but without e2 has a response without its
	// call, which providers refuse.
	RuleFormed = "I3"
	// RuleRaw: some events must be shown raw, however old. If nothing has answered e2 yet, no
	// summary may hide e2.
	RuleRaw = "I4"
	// RuleBounded: a branch shows no more summaries than allowed. With three allowed, a fourth means
	// that a merge did not happen.
	RuleBounded = "I5"
	// RuleCoveredBy: the mark on each event agrees with the records. If record r1 covers e1 and e2,
	// both rows have covered_by r1, and e3 has none.
	RuleCoveredBy = "covered_by"
	// RuleConflicted: the session is marked as contested exactly if its records conflict. Two
	// records that both cover e1 conflict, and a mark can name only one of them.
	RuleConflicted = "contested"
	// RuleLinks: the links between events, and the newest speakers, agree with the events. e2 and e3
	// are one unit with the number 2, and the newest event of the user is 1.
	RuleLinks = "links"
	// RuleState: each key of the session's state has the value that its newest event set. If e1 sets
	// city to Oslo and e3 sets it to Bergen, the state must say Bergen.
	RuleState = "state"
	// RuleTimes: the session was last updated at the time of its newest event, here e3.
	RuleTimes = "times"
	// RuleChain: each event's digest follows from its row and the previous digest. A change of one
	// letter in e2 breaks the digest of e2.
	RuleChain = "chain"
	// RuleSeal: the file agrees with a seal. If e2 was sealed and is gone, it was deleted since.
	RuleSeal = "seal"
	// RuleRecord: a compaction record can be read, is marked as one, and states the facts about the
	// events it names. A record of e1 and e2 that claims three events was changed.
	RuleRecord = "record"
	// RuleEvent: an event can be read, and its text is stored as text.
	RuleEvent = "event"
	// RuleSubtask: the session of a subtask has its parent, and the parent the call that it works for.
	// If order-1:sub:c1 is in the file and order-1 has no call c1, somebody changed one of the two. If
	// order-1 was deleted, that is a warning.
	RuleSubtask = "subtask"
	// RuleGuard: the totals that a guard stores with events can be read, are those of this session, and
	// only grow. If event 4 says 9 model calls and event 6 says 7, one of the two was changed.
	RuleGuard = "guard"
	// RuleResult: each stored tool result has a reference and all of its bytes. A result of 100,000
	// bytes with only one of its two rows has lost its end.
	RuleResult = "result"
	// RuleIndex: the index of words goes no further than the session, and finds what it has taken in. If it
	// has taken in e1 and does not find e1 by its words, recall cannot find it either.
	RuleIndex = "index"
	// RuleRead: the session can be read, and its view can be made.
	RuleRead = "read"
	// RuleLog: the write-ahead log, which may hold the newest events, is not missing.
	RuleLog = "log"
	// RuleIntegrity is SQLite's integrity_check.
	RuleIntegrity = "integrity"
	// RuleForeignKey is SQLite's foreign_key_check.
	RuleForeignKey = "foreign_key"
	// RuleSchema: tables, views and indexes are as persistence creates them.
	RuleSchema = "schema"
)

// Finding is a broken rule or, from [Causes], what broke one or more.
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
	// Events counts the events that it is about, up to the number Last, if there are several. More counts further
	// findings of the same kind about one event.
	Last   int64 `json:"last,omitempty"`
	Events int   `json:"events,omitempty"`
	More   int   `json:"more,omitempty"`
	// Also is what else does not fit, probably for the same reason.
	Also []Finding `json:"also,omitempty"`
	// Warning is true for what may be as it should be.
	Warning bool `json:"-"`

	kind  string  // the same for findings that say the same about different events
	seqs  []int64 // the events that it is about
	shift int64   // by how much the number of the event was higher when it was stored
}

// unread reports whether the finding prevents the view from being made.
func (f Finding) unread() bool { return f.Rule == RuleEvent || f.Rule == RuleRead }

// Checked counts what was checked.
type Checked struct {
	Sessions int   `json:"sessions"`
	Events   int64 `json:"events"`
	Records  int   `json:"records"`
	Made
	// Undigested counts the events without a digest, from versions that wrote none. The file alone
	// does not reveal whether they were changed.
	Undigested int64 `json:"undigested"`
	// Views counts the sessions whose view could be made.
	Views int `json:"views"`
	// Gone counts the sessions that were deleted before they were checked; Sessions does not
	// include them.
	Gone     int `json:"gone"`
	Findings int `json:"findings"`
	Warnings int `json:"warnings"`
}

// Verify checks the file itself and the given sessions. It calls report for each finding, and
// checked after each session, even if that was deleted meanwhile. An error ends the check.
func (f *File) Verify(ctx context.Context, sessions []*Session, maxSummaries int, report func(Finding) error, checked func(*Session)) (Checked, error) {
	var done Checked
	each := func(found []Finding) error {
		for _, one := range found {
			if one.Warning {
				done.Warnings++
			} else {
				done.Findings++
			}
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
		if adk.IsNotFound(err) {
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
		records := counted{}
		for _, row := range l.rows {
			if row.Record {
				done.Records++
			}
			if row.Event != nil {
				records.take(row.Event)
			}
		}
		done.Made = done.plus(records.Made)
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
	e.found = append(e.found, Finding{App: e.App, User: e.User, Session: e.ID, Seq: seq, Event: event, Rule: rule, Text: fmt.Sprintf(format, args...), kind: format})
}

// warn notes what may be as it should be.
func (e *examination) warn(rule, format string, args ...any) {
	e.find(0, "", rule, format, args...)
	e.found[len(e.found)-1].Warning = true
}

// examine checks a session in one snapshot, so that an app that writes meanwhile causes no findings.
// An event that cannot be read is a finding; the view is then not made.
// For a deleted session the error wraps [compaction.ErrNotFound].
func (f *File) examine(ctx context.Context, s *Session, maxSummaries int) (*loaded, []Finding, error) {
	e := &examination{loaded: &loaded{Session: s}}
	err := f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error { return e.check(ctx, f, snap, maxSummaries) })
	switch {
	case stop(ctx, err), adk.IsNotFound(err):
		return nil, nil, err
	case err != nil:
		e.find(0, "", RuleRead, "the session cannot be read: %v", err)
	}
	return e.loaded, e.found, nil
}

// check checks a session as it is in a snapshot. The checks build on each other, so it stops early
// where the next ones would only repeat a finding:
//
//   - Numbers, order, digests and types need nothing but the rows.
//   - Records need events that can be read.
//   - Times, state and links also need all rows: if event 2 of 3 is missing, its response 3 would
//     seem to answer nothing.
//   - The view comes last, since a damaged session may have none.
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
	if err := e.checkResults(ctx, snap); err != nil {
		return err
	}
	if err := e.checkSubtask(ctx, snap); err != nil {
		return err
	}
	if l.unreadable != nil {
		return nil
	}
	e.checkRecords(whole)
	if err := e.checkLedger(ctx, snap); err != nil {
		return err
	}
	// Without all rows, the zero value expects no links, and checkCoverage ignores them.
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
	return e.checkIndex(ctx, snap)
}

// stop reports whether an error has nothing to do with the content of the file: the user pressed
// Ctrl-C, or an app began to write to a file that was opened as immutable. Such an error ends the
// whole check.
// Any other error is a finding about the session.
func stop(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, persistence.ErrWritten))
}

// checkView compares the view that an app would get with the whole history. Package oracle states the
// rules of a view once more, independently of the code that makes views.
func (e *examination) checkView() {
	rules := map[oracle.Rule]string{oracle.Hidden: RuleHidden, oracle.Formed: RuleFormed, oracle.Raw: RuleRaw}
	for _, p := range oracle.Problems(e.events, e.view) {
		e.find(e.seqOf(p.Event), p.Event, rules[p.Rule], "%v", p)
	}
}

// seqOf returns the number of the event of an ID, 0 for a summary.
func (e *examination) seqOf(id string) int64 { return e.seq[e.byID[id]] }

// checkBound counts the summaries of each branch. A branch may show one more for each agent whose
// tool rounds are summarized in a running turn. For example, with 3 allowed and one summary of tool
// rounds by the agent desk among them, 4 summaries are fine and 5 are a finding.
func (e *examination) checkBound(most int) {
	count, agents := map[string]int{}, map[string]map[string]bool{}
	for _, ev := range e.summaries() {
		lane := adk.Lane(ev)
		count[lane]++
		if m := e.records[ev.ID]; m != nil && m.MidTurn() {
			if agents[lane] == nil {
				agents[lane] = map[string]bool{}
			}
			agents[lane][m.Agent] = true
		}
	}
	for _, branch := range slices.Sorted(maps.Keys(count)) {
		n := count[branch]
		if allowed := most + len(agents[branch]); n > allowed {
			e.find(0, "", RuleBounded, "branch %q shows %d summaries, but %d are allowed: was it compacted by several processes, or with another MaxSummaries (see --max-summaries)?", branch, n, allowed)
		}
	}
}
