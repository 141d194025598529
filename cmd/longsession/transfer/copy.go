package transfer

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// A portion is stored in one transaction. It ends with the first limit that it reaches.
const (
	portionEvents = 250
	portionBytes  = 4 << 20
	// mostStrings is how many strings are looked for at most before all are forgotten.
	mostStrings = 1000
)

// Options change how sessions are copied.
type Options struct {
	// DryRun compares and counts, and writes nothing.
	DryRun bool
	// ReplaceNUL stores U+FFFD for each NUL character, and for bytes that are not UTF-8, which PostgreSQL does not store.
	// Otherwise an event with one is an error.
	ReplaceNUL bool
	// Unchecked leaves out the comparison behind the copy.
	Unchecked bool
	// Progress is called for every portion with the number of its events, if it is not nil.
	Progress func(events int)
}

// Result is what was done with one session.
type Result struct {
	Name
	// Events is the number of events of the source, records included. Copied is how many of them the target did not have.
	Events int `json:"events"`
	Copied int `json:"copied"`
	// Records is the number of compaction records among Events.
	Records int `json:"compactions"`
	// Shown is the number of events and summaries in the view. It and Digest are not set by a dry run.
	Shown int `json:"view_events,omitempty"`
	// Digest is a digest of all events, in hexadecimal: equal for source and target.
	Digest string `json:"digest,omitempty"`
	Losses Losses `json:"losses"`
	// Findings say what is not the same in the target; none after a good copy.
	Findings []string `json:"findings"`
}

// DifferentError is the error of a session that the target has, but not as a beginning of the source's.
type DifferentError struct {
	Name
	// Seq is the number of the first event that differs, from 1. If the target has more events than the source, it is that
	// of the first which only the target has.
	Seq int
	// Where names the target.
	Where string
	ahead bool
}

func (e *DifferentError) Error() string {
	if e.ahead {
		return fmt.Sprintf("session %q has gone on in the %s: event %d is only there; nothing was changed. Copy it in the other direction, or delete it there first", e.Name, e.Where, e.Seq)
	}
	return fmt.Sprintf("session %q is another one in the %s: event %d differs; nothing was changed. Copy to another target, or delete it there first", e.Name, e.Where, e.Seq)
}

// DeletedError is the error of a session that the source no longer has. It wraps [compaction.ErrNotFound].
type DeletedError struct{ Name }

func (e *DeletedError) Error() string {
	return fmt.Sprintf("session %q: %v: it was just deleted", e.Name, adk.ErrNotFound)
}

func (e *DeletedError) Unwrap() error { return adk.ErrNotFound }

// Check reads the sessions and returns an error for the first event that the target would refuse, before anything is
// written. It leaves out sessions that were deleted meanwhile, which [Copy] reports.
func Check(ctx context.Context, from, to Store, names []Name, o Options) error {
	for _, name := range names {
		if reason := to.refuses(&row{id: name.App, invocation: name.User, author: name.ID}); reason != "" {
			return fmt.Errorf("session %q cannot be copied: a name of it has %s, which PostgreSQL does not store: copy the other sessions by --app, --user or SESSION", name, reason)
		}
		_, err := from.read(ctx, name, func(r *reading) error {
			if reason := refusesState(to, r); reason != "" && !o.ReplaceNUL {
				return fmt.Errorf("session %q cannot be copied: %s, which PostgreSQL does not store: copy with --replace-nul, which writes U+FFFD", name, reason)
			}
			seq := 0
			for ev, err := range r.events {
				if err != nil {
					return err
				}
				seq++
				if _, _, err := prepare(to, name, seq, ev, o, Losses{}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// refusesState returns why the target would refuse the state, "" if it takes it.
func refusesState(to Store, r *reading) string {
	text, err := json.Marshal(r.state)
	if err != nil {
		return err.Error()
	}
	if reason := to.refuses(&row{custom: text}); reason != "" {
		return "its state has " + reason
	}
	return ""
}

// prepare returns the row to store for an event, and the event as that row has it.
func prepare(to Store, name Name, seq int, ev *session.Event, o Options, lost Losses) (*row, *session.Event, error) {
	fail := func(format string, args ...any) (*row, *session.Event, error) {
		return nil, nil, fmt.Errorf("session %q: event %d"+format, append([]any{name, seq}, args...)...)
	}
	_, toFile := to.(*file)
	if toFile {
		adk.SetLane(ev, adk.Lane(ev)) // as the file will have it: a command for ADK v1 exports a scope behind the branch
	}
	r, err := rowOf(ev)
	if err != nil {
		return fail(": %w", err)
	}
	if r.id == "" {
		return fail(" has no ID")
	}
	if toFile && r.partial {
		return fail(" (%s) cannot be copied: it is partial", ev.ID)
	}
	reason := to.refuses(r)
	if reason == "" {
		return r, ev, nil
	}
	if !o.ReplaceNUL {
		return fail(" (%s) cannot be copied: it has %s, which PostgreSQL does not store: copy with --replace-nul, which writes U+FFFD", strings.ToValidUTF8(ev.ID, "\ufffd"), reason)
	}
	lost.count(lostNUL, 1)
	for _, text := range r.texts() {
		*text = strings.ToValidUTF8(strings.ReplaceAll(*text, "\x00", "\ufffd"), "\ufffd")
	}
	for _, column := range r.columns() {
		if column != &r.actions {
			*column = replaceNUL(*column)
		}
	}
	if ev, err = r.event(); err != nil { // the view is compared with that of what is stored
		return fail(": %w", err)
	}
	return r, ev, nil
}

// seen is what a comparison needs of a session.
type seen struct {
	digests   []digest
	skeletons []*session.Event
	records   int
	order     order
	strings   map[string]string
}

// same returns one string for equal ones: authors, branches and names of tools are few, and an invocation has several events.
func (s *seen) same(text string) string {
	known, found := s.strings[text]
	if found {
		return known
	}
	if s.strings == nil || len(s.strings) >= mostStrings {
		s.strings = map[string]string{}
	}
	s.strings[text] = text
	return text
}

// add takes the next event in. It returns by how much the event had to move.
func (s *seen) add(r *row, ev *session.Event) (moved bool, err error) {
	s.skeletons = append(s.skeletons, skeleton(ev, s.same))
	if r.record {
		s.records++
	}
	moved = s.order.next(r) > 0
	d, err := r.digest()
	s.digests = append(s.digests, d)
	return moved, err
}

// views returns the view of the events, one text for each of its entries.
func (s *seen) views() []string {
	var shown []string
	for _, ev := range view.Project(s.skeletons) {
		text, err := json.Marshal(ev.Content)
		if err != nil {
			text = []byte(err.Error())
		}
		shown = append(shown, ev.ID+" "+ev.Author+" "+adk.Lane(ev)+" "+string(text))
	}
	return shown
}

// take reads a session of the target.
func take(ctx context.Context, from Store, name Name) (*seen, *header, error) {
	s := &seen{}
	var h *header
	_, err := from.read(ctx, name, func(r *reading) error {
		h = &r.header
		for ev, err := range r.events {
			if err != nil {
				return err
			}
			one, err := rowOf(ev)
			if err != nil {
				return err
			}
			if _, err := s.add(one, ev); err != nil {
				return err
			}
		}
		return nil
	})
	return s, h, err
}

// Copy copies one session, or the rest of one that the target has the beginning of, and compares the two. It never
// changes an event of the target. The error is a [*DifferentError] if the target has another session of that name,
// and a [*DeletedError] if the source has none. After any other error, or a kill, call it again: it goes on where it stopped.
func Copy(ctx context.Context, from, to Store, name Name, o Options) (*Result, error) {
	have, existing, err := take(ctx, to, name)
	if err != nil {
		return nil, err
	}
	c := &copying{to: to, name: name, o: o, have: have.digests, created: existing != nil, result: &Result{Name: name, Losses: Losses{}, Findings: []string{}}}
	have.skeletons = nil
	found, err := from.read(ctx, name, func(r *reading) error { return c.run(ctx, r) })
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, &DeletedError{name}
	case o.DryRun || o.Unchecked:
		return c.result, nil
	}
	return c.result, c.check(ctx)
}

// copying is one Copy.
type copying struct {
	to      Store
	name    Name
	o       Options
	have    []digest
	created bool
	source  seen
	header  header
	result  *Result

	portion []*row
	bytes   int
}

func (c *copying) run(ctx context.Context, r *reading) error {
	c.header = r.header
	if c.o.ReplaceNUL && refusesState(c.to, r) != "" {
		if err := withoutNUL(&c.header); err != nil {
			return err
		}
		c.result.Losses.count(lostNUL, 1)
	}
	for ev, err := range r.events {
		if err != nil {
			return err
		}
		if err := c.event(ctx, ev); err != nil {
			return err
		}
	}
	n := len(c.source.digests)
	if n < len(c.have) {
		return &DifferentError{Name: c.name, Seq: n + 1, Where: c.to.Where(), ahead: true}
	}
	if err := c.flush(ctx); err != nil {
		return err
	}
	c.result.Events, c.result.Records = n, c.source.records
	c.result.Losses.Add(r.lost)
	if _, toDatabase := c.to.(*database); toDatabase {
		c.result.Losses.count(lostResults, r.results)
	}
	if c.o.DryRun {
		return nil
	}
	if err := c.create(ctx); err != nil {
		return err
	}
	return c.to.finish(ctx, &c.header)
}

// event compares or stores the next event of the source.
func (c *copying) event(ctx context.Context, ev *session.Event) error {
	seq := len(c.source.digests)
	r, stored, err := prepare(c.to, c.name, seq+1, ev, c.o, c.result.Losses)
	if err != nil {
		return err
	}
	c.to.losses(ev, c.result.Losses)
	original := r.time
	moved, err := c.source.add(r, stored)
	if err != nil {
		return err
	}
	_, toDatabase := c.to.(*database)
	if toDatabase && moved {
		c.result.Losses.count(lostOrder, 1)
	}
	if seq < len(c.have) {
		if c.source.digests[seq] != c.have[seq] {
			return &DifferentError{Name: c.name, Seq: seq + 1, Where: c.to.Where()}
		}
		return nil
	}
	if !toDatabase {
		r.time = original
	}
	c.portion = append(c.portion, r)
	for _, column := range r.columns() {
		c.bytes += len(*column)
	}
	if len(c.portion) >= portionEvents || c.bytes >= portionBytes {
		return c.flush(ctx)
	}
	return nil
}

func (c *copying) create(ctx context.Context) error {
	if c.created {
		return nil
	}
	c.created = true
	return c.to.create(ctx, &c.header)
}

func (c *copying) flush(ctx context.Context) error {
	if !c.o.DryRun && len(c.portion) > 0 {
		if err := c.create(ctx); err != nil {
			return err
		}
		if err := c.to.append(ctx, &c.header, c.portion); err != nil {
			return err
		}
	}
	c.result.Copied += len(c.portion)
	if c.o.Progress != nil {
		c.o.Progress(len(c.portion))
	}
	c.portion, c.bytes = nil, 0
	return nil
}

// check reads the target and compares it with what was read of the source.
func (c *copying) check(ctx context.Context) error {
	want := c.source.views()
	c.source.skeletons = nil // so that memory never holds those of both sides
	got, h, err := take(ctx, c.to, c.name)
	if err != nil {
		return err
	}
	if h == nil {
		return errors.New("the copy was deleted in the " + c.to.Where())
	}
	finding := func(format string, args ...any) {
		c.result.Findings = append(c.result.Findings, fmt.Sprintf(format, args...))
	}
	n := len(c.source.digests)
	if len(got.digests) < n {
		finding("%d of %d events are missing", n-len(got.digests), n)
	}
	if len(got.digests) > n {
		finding("%d events more than the source: somebody uses the copy", len(got.digests)-n)
	}
	for i := range min(n, len(got.digests)) {
		if got.digests[i] != c.source.digests[i] {
			finding("event %d is not the same", i+1)
			break
		}
	}
	if shown := got.views(); len(got.digests) == n && !slices.Equal(shown, want) {
		finding("the view is not the same: %d entries instead of %d", len(shown), len(want))
	}
	c.result.Shown = len(want)
	for key, value := range c.header.state {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		there, err := json.Marshal(h.state[key])
		if err != nil {
			return err
		}
		if _, has := h.state[key]; has && sameJSON(text, there) {
			continue
		}
		if shared(key) {
			c.result.Losses.count(lostShared, 1)
		} else {
			finding("state %q is not the same", key)
		}
	}
	c.result.Digest = chainOf(got.digests)
	return nil
}

// chainOf returns a digest of digests.
func chainOf(all []digest) string {
	var sum digest
	for _, d := range all {
		sum = sumOf(sum, d)
	}
	return hex.EncodeToString(sum[:])
}

// withoutNUL replaces NUL characters in a state.
func withoutNUL(h *header) error {
	text, err := json.Marshal(h.state)
	if err != nil {
		return err
	}
	h.state = nil
	return decode(replaceNUL(text), &h.state)
}

// isRecord reports whether the custom metadata of an event without content is that of a compaction record.
func isRecord(custom []byte) bool {
	if !strings.Contains(string(custom), record.Key) {
		return false
	}
	var metadata map[string]json.RawMessage
	if decode(custom, &metadata) != nil {
		return false
	}
	_, is := metadata[record.Key]
	return is
}
