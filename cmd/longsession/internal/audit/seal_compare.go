package audit

import (
	"context"
	"fmt"
	"slices"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/persistence"
)

// Compared sums up a comparison with a seal.
type Compared struct {
	// Made is the time in the seal. Signed reports whether the signature was checked.
	Made   string `json:"made"`
	Signed bool   `json:"signed"`
	// Sessions and Events count the selected sessions in the seal and their events.
	Sessions int   `json:"sessions"`
	Events   int64 `json:"events"`
	// AddedSessions and AddedEvents count what was added to the file since.
	AddedSessions int   `json:"added_sessions"`
	AddedEvents   int64 `json:"added_events"`
	// Findings counts the differences.
	Findings int `json:"findings"`
}

// Against compares the file with a seal that [File.Seal] made of it earlier. It reports events that
// were changed, deleted, inserted or moved since; events that were added at the end are no findings.
// An error ends the comparison.
func (f *File) Against(ctx context.Context, seal *Seal, which Which, report func(Finding) error) (Compared, error) {
	c := comparison{Compared: Compared{Made: seal.Made}, report: report}
	err := f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error { return c.compare(ctx, snap, seal, which) })
	return c.Compared, err
}

// comparison is the work of [File.Against], and its result so far.
type comparison struct {
	Compared
	report func(Finding) error
}

func (c *comparison) find(s *SealedSession, seq int64, id, format string, args ...any) error {
	return c.findAll(s, seq, 1, id, format, args...)
}

// findAll reports a difference of so many events in a row.
func (c *comparison) findAll(s *SealedSession, seq, events int64, id, format string, args ...any) error {
	c.Findings++
	one := Finding{Seq: seq, Event: id, Rule: RuleSeal, Text: fmt.Sprintf(format, args...)}
	if events > 1 {
		one.Last = seq + events - 1
	}
	if s != nil {
		one.App, one.User, one.Session = s.App, s.User, s.Session
	}
	return c.report(one)
}

// compare compares all selected sessions. A file of another identity was never sealed, so its
// sessions are not compared: each would be a finding.
func (c *comparison) compare(ctx context.Context, snap *persistence.Snapshot, seal *Seal, which Which) error {
	identity, err := sessionfile.Identity(ctx, snap)
	if err != nil {
		return err
	}
	if identity == "" {
		return c.find(nil, 0, "", "the file has lost its identity, and the seal is of %s: the table identity was changed", seal.Database)
	}
	if identity != seal.Database {
		return c.find(nil, 0, "", "the seal is of another session file (%s; this one is %s): the file was exchanged, or this is not its seal", seal.Database, identity)
	}
	chains, err := sessionfile.Chains(ctx, snap)
	if err != nil {
		return err
	}
	now := map[[3]string]sessionfile.Chain{}
	for _, chain := range chains {
		if which.has(chain.App, chain.User, chain.Session) {
			now[[3]string{chain.App, chain.User, chain.Session}] = chain
		}
	}
	for i := range seal.Sessions {
		sealed := &seal.Sessions[i]
		if !which.has(sealed.App, sealed.User, sealed.Session) {
			continue
		}
		c.Sessions++
		c.Events += sealed.Events
		key := [3]string{sealed.App, sealed.User, sealed.Session}
		chain, found := now[key]
		delete(now, key)
		if !found {
			err = c.find(sealed, 0, "", "the session was deleted, with its %s, or renamed", terminal.Plural(sealed.Events, "event"))
		} else {
			err = c.session(ctx, snap, sealed, chain)
		}
		if err != nil {
			return err
		}
	}
	c.AddedSessions = len(now)
	for _, chain := range now {
		c.AddedEvents += chain.Events
	}
	return nil
}

// session compares one session with its seal. The digest of the last sealed event vouches for all
// events before it, so one comparison suffices if nothing changed: with three events sealed and five
// in the file now, the third digest must be the sealed one, and two events were added. Only if it
// differs, session works out what happened to which event.
//
// A session that was created at another time is another session, unless it still has a sealed event:
// then it is the same one, and its creation time was changed.
func (c *comparison) session(ctx context.Context, snap *persistence.Snapshot, sealed *SealedSession, chain sessionfile.Chain) error {
	intact := sealed.Events == 0 && chain.Genesis().String() == sealed.Digest
	var rows []rowNow
	for link, err := range chain.Links(ctx, snap) {
		if err != nil {
			return err
		}
		if rows = append(rows, rowNow{fingerprintOf(link.Content), link.Seq, link.ID}); int64(len(rows)) == sealed.Events {
			intact = link.Digest.String() == sealed.Digest
		}
	}
	if intact {
		c.AddedEvents += int64(len(rows)) - sealed.Events
		return nil
	}
	// From here on something differs. If no row explains it, the last line of this function does.
	before := c.Findings
	prints := sealed.fingerprints()
	if sealed.Created != chain.Created {
		if !anySealed(prints, rows) {
			c.AddedEvents += int64(len(rows))
			return c.find(sealed, 0, "", "the session was deleted, with its %s, and another one was created under its name at %s", terminal.Plural(sealed.Events, "event"), chain.Created)
		}
		if err := c.find(sealed, 0, "", "the session was created at %s, but now claims %s", sealed.Created, chain.Created); err != nil {
			return err
		}
	}
	d := diffRows(prints, rows)
	c.AddedEvents += int64(d.added)
	if err := c.rows(sealed, d, rows); err != nil || c.Findings > before {
		return err
	}
	return c.find(sealed, 0, "", "the numbers of the events changed since they were sealed, or the digest and the rows of the seal do not agree")
}

// anySealed reports whether the file still has any of the sealed events of a session.
func anySealed(prints []fingerprint, rows []rowNow) bool {
	known := make(map[fingerprint]bool, len(prints))
	for _, m := range prints {
		known[m] = true
	}
	return slices.ContainsFunc(rows, func(row rowNow) bool { return known[row.print] })
}

// rows reports what happened to the events of a session.
func (c *comparison) rows(sealed *SealedSession, d rowDiff, now []rowNow) error {
	err := findRuns(c, sealed, d.changed, func(p rowPair) (int64, string) { return p.sealed, now[p.now].id },
		"differs from the seal: it was changed, or replaced", "differ from the seal: they were changed, or replaced")
	if err != nil {
		return err
	}
	if err := findRuns(c, sealed, d.deleted, func(seq int64) (int64, string) { return seq, "" }, "was deleted", "were deleted"); err != nil {
		return err
	}
	err = findRuns(c, sealed, d.inserted, func(j int) (int64, string) { return now[j].seq, now[j].id },
		"was inserted among the sealed ones", "were inserted among the sealed ones")
	if err != nil {
		return err
	}
	for _, p := range d.moved {
		if err := c.find(sealed, now[p.now].seq, now[p.now].id, "event %d was moved: it was sealed as event %d", now[p.now].seq, p.sealed); err != nil {
			return err
		}
	}
	return nil
}

// findRuns reports events that share a fate, with one finding for each run of consecutive numbers:
// the events 3, 4, 5 and 9 make two findings, "events 3 to 5 were deleted" and "event 9 was
// deleted". Only a finding about a single event has that event's ID.
func findRuns[T any](c *comparison, sealed *SealedSession, events []T, event func(T) (seq int64, id string), one, many string) error {
	for len(events) > 0 {
		first, id := event(events[0])
		n := int64(1)
		for int(n) < len(events) {
			if seq, _ := event(events[n]); seq != first+n {
				break
			}
			n++
		}
		if n > 1 {
			id = ""
		}
		if err := c.findAll(sealed, first, n, id, "%s", eventRange(first, n, one, many)); err != nil {
			return err
		}
		events = events[n:]
	}
	return nil
}

// eventRange begins a sentence about n events: "event 3 was" or "events 3 to 5 were".
func eventRange(first, n int64, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("event %d %s", first, one)
	}
	return fmt.Sprintf("events %d to %d %s", first, first+n-1, many)
}
