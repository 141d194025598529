package compactiontest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
)

func appenderCases() []Case {
	return []Case{
		{
			Name: "AppendRecord stores the record and nothing else",
			Explain: "Checks that storing a record changes neither the session's state nor its last update time, whichever handle is used. The compaction service " +
				"stores records while turns are running. If a record moves the update time, ADK's database service rejects the next append of every running turn as stale.",
			Check: appending(checkInsertion),
		},
		{
			Name: "AppendRecord makes no turn stale",
			Explain: "Checks that a turn can keep appending through its handle after a record is stored through another handle. Otherwise a background job that finishes " +
				"at the wrong moment fails the user's turn halfway.",
			Check: appending(func(p *innerPlay, a recordAppender) {
				p.turns(3)
				if err := a.AppendRecord(p.ctx, p.load(), p.recordOf("r", 0, 2)); err != nil {
					p.add("append a record: %w", err)
				}
				p.turns(1)
				if n := len(p.storedEvents()); n != p.stored+1 {
					p.add("%d events are stored, want %d and a record", n, p.stored)
				}
			}),
		},
		{
			Name: "AppendRecord can be repeated",
			Explain: "Checks that a record whose ID is already stored is not stored again. A database may store a record and lose the reply, so the compaction service " +
				"offers the record again. If both copies are stored, every count and every audit of the session is wrong.",
			Check: appending(func(p *innerPlay, a recordAppender) {
				p.turns(3)
				first, again := p.recordOf("r", 0, 2), p.recordOf("r", 0, 2)
				again.ID, again.InvocationID = "another-event", "another-invocation"
				for _, ev := range []*session.Event{first, again} {
					if err := a.AppendRecord(p.ctx, p.live, ev); err != nil {
						p.add("append two records with the same ID: %w", err)
					}
				}
				if n := len(p.storedEvents()); n != p.stored+1 {
					p.add("%d events are stored, want %d and one record", n, p.stored)
				}
				if again.ID != first.ID {
					p.add("the second call set the event's ID to %s, want the ID of the stored event, %s", again.ID, first.ID)
				}
			}),
		},
		{
			Name: "AppendRecord refuses superseded records",
			Explain: "Checks that a record is refused if its events are already covered or missing, or if a record it absorbs is no longer current. The error must have " +
				"Superseded() in its chain. Two processes may summarize one session at once. Without the check, both summaries are shown and the model reads everything twice.",
			Check: appending(checkSuperseded),
		},
		{
			Name: "AppendRecord accepts one of several writers",
			Explain: "Checks that the check and the insertion are one transaction. If two writers both pass the check before either stores, both records are stored " +
				"and the model reads everything twice.",
			Check: appending(checkWriters),
		},
		{
			Name: "AppendRecord returns errors that callers can tell apart",
			Explain: "Checks that a missing session yields compaction.ErrNotFound, and that a call with a canceled context stores nothing. The compaction service drops " +
				"records of deleted sessions and retries after every other error. If it cannot tell the two apart, it retries forever or loses a summary.",
			Check: appending(func(p *innerPlay, a recordAppender) {
				p.turns(3)
				rec := p.recordOf("r", 0, 2)
				if err := a.AppendRecord(p.ctx, elsewhere{}, rec); !adk.IsNotFound(err) || isSuperseded(err) {
					p.add("append a record to a session that does not exist: %v, want compaction.ErrNotFound", err)
				}
				ctx, cancel := context.WithCancel(p.ctx)
				cancel()
				if err := a.AppendRecord(ctx, p.live, rec); err == nil {
					p.add("append a record with a canceled context: no error")
				}
				if n := len(p.storedEvents()); n != p.stored {
					p.add("%d events are stored after two calls that had to fail, want %d", n, p.stored)
				}
			}),
		},
	}
}

func appending(f func(p *innerPlay, a recordAppender)) func(context.Context, session.Service) error {
	return func(ctx context.Context, service session.Service) error {
		a, ok := service.(recordAppender)
		if !ok {
			return fmt.Errorf("%w: AppendRecord", errNotOffered)
		}
		return playingInner(func(p *innerPlay) { f(p, a) })(ctx, service)
	}
}

func isSuperseded(err error) bool {
	var superseded interface{ Superseded() bool }
	return errors.As(err, &superseded) && superseded.Superseded()
}

func checkInsertion(p *innerPlay, a recordAppender) {
	p.turns(2)
	p.h.User("inv-state", "Call me Ada.").Last().Actions.StateDelta = map[string]any{"name": "Ada"}
	stale := p.load()
	p.turns(1)
	shown, updated := stale.Events().Len(), stale.LastUpdateTime()
	before := p.load()
	rec := p.recordOf("r", 0, 2)
	rec.Timestamp = histories.Epoch.Add(1)
	if err := a.AppendRecord(p.ctx, stale, rec); err != nil {
		p.add("append a record through a stale handle: %w", err)
	}
	after := p.load()
	if !sameTime(after.LastUpdateTime(), before.LastUpdateTime()) {
		p.add("storing a record moved the session's last update time from %v to %v", before.LastUpdateTime(), after.LastUpdateTime())
	}
	if was, is := asJSON(maps.Collect(before.State().All())), asJSON(maps.Collect(after.State().All())); was != is {
		p.add("storing a record changed the state from %s to %s", was, is)
	}
	if stale.Events().Len() != shown || !stale.LastUpdateTime().Equal(updated) {
		p.add("AppendRecord modified the caller's handle")
	}
	found := 0
	for ev := range after.Events().All() {
		m, err := record.From(ev)
		if err != nil || m == nil {
			continue
		}
		found++
		if ev.ID != rec.ID || m.RecordID != "r" || ev.Content != nil || len(m.Covered) != 2 {
			p.add("event %s stores record %q over %d events, want event %s with record r over 2 events and no content", ev.ID, m.RecordID, len(m.Covered), rec.ID)
		}
		if !sameTime(ev.Timestamp, before.LastUpdateTime()) || !sameTime(rec.Timestamp, ev.Timestamp) {
			p.add("the stored record has time %v and the caller's event has %v, want %v, the session's last update time", ev.Timestamp, rec.Timestamp, before.LastUpdateTime())
		}
	}
	if found != 1 || after.Events().Len() != before.Events().Len()+1 {
		p.add("got %d records in %d events, want one record and one event more than %d", found, after.Events().Len(), before.Events().Len())
	}
}

func checkSuperseded(p *innerPlay, a recordAppender) {
	p.turns(6)
	store := func(what string, rec *session.Event, superseded bool) *session.Event {
		err := a.AppendRecord(p.ctx, p.live, rec)
		switch {
		case superseded && err == nil:
			p.add("a record %s is stored", what)
		case superseded && !isSuperseded(err):
			p.add("a record %s is refused with %v, want an error with Superseded() in its chain", what, err)
		case !superseded && err != nil:
			p.add("a record %s: %w", what, err)
		}
		return rec
	}
	unknown := histories.Amend(p.recordOf("unknown", 0, 2), func(m *record.Metadata) {
		m.Covered[0] = record.Ref{ID: "no such event", InvocationID: "none", Author: "user", Timestamp: histories.Epoch}
	})
	store("over an event that is not stored", unknown, true)
	first := store("over two events", p.recordOf("first", 0, 2), false)
	second := store("over the next two", p.recordOf("second", 2, 4), false)
	store("over an event that another one covers", p.recordOf("third", 3, 6), true)
	store("that absorbs two", histories.Absorb("merged", first, second), false)
	store("that absorbs one that is absorbed", histories.Absorb("again", first), true)
	store("that absorbs one that is not stored", histories.Absorb("stranger", p.recordOf("nobody", 4, 6)), true)
	if n := len(p.storedEvents()); n != p.stored+3 {
		p.add("%d events are stored, want %d and three records", n, p.stored)
	}
}

// innerWriters is the number of goroutines that offer a record over the same events at once.
const innerWriters = 8

func checkWriters(p *innerPlay, a recordAppender) {
	p.turns(3)
	var records [innerWriters]*session.Event
	for i := range records {
		records[i] = p.recordOf(fmt.Sprint("r", i), 0, 4)
	}
	var errs [innerWriters]error
	var wg sync.WaitGroup
	for i, rec := range records {
		wg.Go(func() { errs[i] = a.AppendRecord(p.ctx, p.live, rec) })
	}
	wg.Wait()
	written := 0
	for _, err := range errs {
		switch {
		case err == nil:
			written++
		case !isSuperseded(err):
			p.add("the later record is refused with %v, want an error with Superseded() in its chain", err)
		}
	}
	if n := len(p.storedEvents()); written != 1 || n != p.stored+1 {
		p.add("%d writers of the same events: %d succeeded and %d records are stored, want 1 and 1", innerWriters, written, n-p.stored)
	}
}
