package audit

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// States of a call that reports a finished task and has no checkpoint record.
const (
	// Pending: it is not written yet, or too little would have become shorter.
	Pending = "pending"
	// Refused: the call failed, and asks for nothing.
	Refused = "refused"
)

// Annotator adds to an event what follows from other events and sessions: the subtask that works for a call,
// the checkpoint that a call led to, and the stop of a guard. Its method Entry must be called for events in
// their order.
type Annotator struct {
	session     *Session
	checkpoints []checkpoint
	refused     map[string]bool // by ID of the call
	ledger      *Ledger         // of the events before, nil if there is none
}

// checkpoint is a checkpoint record, or one that absorbed some. It answers the calls of its lane up to
// the end of the turn that it reaches into: a turn has one checkpoint, however often the model asks.
type checkpoint struct {
	id, lane string
	absorbed bool // only stands in for others
	through  int64
}

// Annotate reads what an [Annotator] needs to know about a session, for its events from a number on.
func Annotate(ctx context.Context, f *File, s *Session, from int64) (*Annotator, error) {
	a := &Annotator{session: s, refused: map[string]bool{}}
	err := f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) (err error) {
		if a.checkpoints, err = checkpointsIn(ctx, snap, s, first); err != nil {
			return err
		}
		const all = "SELECT content FROM events WHERE session = ? AND instr(CAST(content AS TEXT), ?) > 0"
		if err := a.addRefused(ctx, snap, all, s.key, `"`+contexttool.MarkTaskDoneName+`"`); err != nil {
			return err
		}
		a.ledger, err = newestLedger(ctx, snap, s, from)
		return err
	})
	return a, err
}

// AnnotateRows is [Annotate] for some events in a row. It reads only what these events ask for, however long the
// session is: a page mostly has no call that reports a finished task, and no totals of a guard.
func AnnotateRows(ctx context.Context, f *File, s *Session, rows []*sessionfile.Row) (a *Annotator, err error) {
	err = f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) (err error) {
		if a, err = annotatorOf(ctx, snap, s, rows); err != nil {
			return err
		}
		for _, row := range rows {
			if row.Event != nil && row.Event.Actions.StateDelta[guard.StateKey] != nil {
				a.ledger, err = newestLedger(ctx, snap, s, row.Seq)
				return err
			}
		}
		return nil
	})
	return a, err
}

// annotatorOf returns an annotator of the calls in some events.
func annotatorOf(ctx context.Context, snap *persistence.Snapshot, s *Session, rows []*sessionfile.Row) (*Annotator, error) {
	a := &Annotator{session: s, refused: map[string]bool{}}
	began := int64(math.MaxInt64)
	for _, row := range rows {
		if !slices.ContainsFunc(adk.FunctionCalls(row.Event), func(c *genai.FunctionCall) bool { return c.Name == contexttool.MarkTaskDoneName }) {
			continue
		}
		const unit = "SELECT content FROM events WHERE session = ? AND unit = ?"
		if err := a.addRefused(ctx, snap, unit, s.key, row.Unit); err != nil {
			return nil, err
		}
		// A record that answers the call was stored after the beginning of its turn.
		began = min(began, row.Seq)
		const turn = "SELECT began FROM invocations WHERE session = ? AND id = ?"
		var seq int64
		if err := answers(ctx, snap, "invocations", turn, []any{s.key, row.Event.InvocationID}, []any{&seq}, func() { began = min(began, seq) }); err != nil {
			return nil, err
		}
	}
	if began == math.MaxInt64 {
		return a, nil
	}
	var err error
	a.checkpoints, err = checkpointsIn(ctx, snap, s, began)
	return a, err
}

// checkpointsIn returns the checkpoint records of a session from a number on, including those that were absorbed. It
// leaves out records that cannot be read.
func checkpointsIn(ctx context.Context, snap *persistence.Snapshot, s *Session, from int64) (found []checkpoint, err error) {
	var seq int64
	var metadata []byte
	names := map[int]string{} // the event that a checkpoint reaches to
	err = answers(ctx, snap, "events", "SELECT seq, coalesce(custom_metadata, '') FROM events WHERE session = ? AND record_id IS NOT NULL AND seq >= ? ORDER BY seq", []any{s.key, from}, []any{&seq, &metadata}, func() {
		var values map[string]any
		if json.Unmarshal(metadata, &values) != nil {
			return
		}
		m, err := record.Decode(values[record.Key])
		reached := record.Ref{}
		switch {
		case err != nil:
			return
		case m.Kind == record.KindCheckpoint:
			reached = m.Through
		case m.CheckpointThrough.IsZero():
			return
		default:
			reached = m.CheckpointThrough
		}
		names[len(found)] = reached.ID
		found = append(found, checkpoint{m.RecordID, m.Branch, m.Kind != record.KindCheckpoint, seq})
	})
	if err != nil {
		return nil, err
	}
	for i, id := range names {
		const question = `SELECT max(t.seq, coalesce((SELECT max(e.seq) FROM events e WHERE e.session = t.session AND e.invocation_id = t.invocation_id), 0))
			FROM events t WHERE t.session = ? AND t.id = ?`
		err := answers(ctx, snap, "events", question, []any{s.key, id}, []any{&seq}, func() { found[i].through = seq })
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// addRefused adds the calls for a checkpoint that failed, according to the contents that a query returns.
func (a *Annotator) addRefused(ctx context.Context, snap *persistence.Snapshot, query string, args ...any) error {
	var text []byte
	return answers(ctx, snap, "events", query, args, []any{&text}, func() {
		var content genai.Content
		if json.Unmarshal(text, &content) != nil {
			return
		}
		for _, p := range content.Parts {
			if p != nil && p.FunctionResponse != nil && p.FunctionResponse.Name == contexttool.MarkTaskDoneName && p.FunctionResponse.Response["error"] != nil {
				a.refused[p.FunctionResponse.ID] = true
			}
		}
	})
}

// Entry returns an event for people to read, with what the annotator knows about it.
func (a *Annotator) Entry(row *sessionfile.Row) Entry {
	e := EntryOf(row)
	a.annotate(&e)
	a.follow(&e, row)
	return e
}

// annotate fills in what the annotator knows.
func (a *Annotator) annotate(e *Entry) {
	for i := range e.Calls {
		c := &e.Calls[i]
		if child := a.session.child(c.ID); child != nil {
			c.Subtask = child.ID
		}
		if c.Name == contexttool.MarkTaskDoneName {
			c.Checkpoint = a.answer(e, c.ID)
		}
	}
}

// follow fills in what a guard stored with an event. A stop that ended the turn has its kind as the
// event's error code.
func (a *Annotator) follow(e *Entry, row *sessionfile.Row) {
	if row.Event == nil {
		return
	}
	l, err := ledgerOf(row.Seq, row.Event)
	if err == nil && l != nil && l.owner == a.session.Name() {
		e.Spent = &l.Total
		e.Stop, e.Reset = l.change(a.ledger)
		a.ledger = l
	}
	if e.Stop == nil && slices.Contains(kinds, guard.Kind(row.Event.ErrorCode)) {
		e.Stop = &Stop{Kind: row.Event.ErrorCode}
	}
}

// answer returns the ID of the first checkpoint record that answers a call in an event.
func (a *Annotator) answer(e *Entry, call string) string {
	if a.refused[call] {
		return Refused
	}
	lane := record.Normalize(adk.JoinLane(e.Branch, e.Scope))
	for _, c := range a.checkpoints {
		if c.lane == lane && c.through >= e.Seq {
			return c.id
		}
	}
	return Pending
}

// pending counts the calls of an event that ask for a checkpoint which was not written yet.
func (a *Annotator) pending(row *sessionfile.Row) (n int) {
	e := Entry{Seq: row.Seq}
	e.Branch, e.Scope = adk.SplitLane(adk.Lane(row.Event))
	for _, call := range adk.FunctionCalls(row.Event) {
		if call.Name == contexttool.MarkTaskDoneName && a.answer(&e, call.ID) == Pending {
			n++
		}
	}
	return n
}

// written counts the checkpoint records.
func (a *Annotator) written() (n int) {
	for _, c := range a.checkpoints {
		if !c.absorbed {
			n++
		}
	}
	return n
}
