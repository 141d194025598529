package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
)

const (
	// window is the number of turns a record covers, and recent the number of uncovered turns at
	// the end. Both are compaction's defaults.
	window, recent = 5, 5
	// summaries is the number of current summaries at the end of a session, if it is long enough.
	summaries = 5
	// summaryLength is a realistic length of a summary, in bytes.
	summaryLength = 1500
)

// fill writes one session of job.Events events.
func fill(ctx context.Context, svc session.Service, job Job) (Result, error) {
	sess, err := create(ctx, svc, sessionID(0))
	if err != nil {
		return Result{}, err
	}
	var result Result
	c := &compactor{last: job.Events/perTurn - recent}
	for n := range job.Events {
		ev := event(ctx, n)
		text, err := json.Marshal(ev)
		if err != nil {
			return Result{}, err
		}
		result.EventBytes += int64(len(text))
		if err := svc.AppendEvent(ctx, sess, ev); err != nil {
			return Result{}, fmt.Errorf("event %d: %w", n, err)
		}
		result.Appended++
		if job.Task != Compact {
			continue
		}
		if made := c.add(n, ev); made != nil {
			if err := svc.AppendEvent(ctx, sess, made); err != nil {
				return Result{}, fmt.Errorf("record after event %d: %w", n, err)
			}
		}
	}
	if job.Task == Compact && c.records == 0 {
		return Result{}, fmt.Errorf("%d events are too few for a compaction", job.Events)
	}
	return result, nil
}

// compactor creates the records of a session while it grows. Summaries are rolling: each record
// covers a window and absorbs the previous record, except the first record of each fifth of the
// session.
type compactor struct {
	last     int // turns to be covered
	records  int
	fifth    int
	previous string
	events   []*session.Event
}

// add receives the n-th event and returns a record when one is due.
func (c *compactor) add(n int, ev *session.Event) *session.Event {
	turns := (n + 1) / perTurn
	if turns > c.last {
		return nil
	}
	c.events = append(c.events, ev)
	if turns%window != 0 || (n+1)%perTurn != 0 {
		return nil
	}
	c.records++
	m := &record.Metadata{
		RecordID: fmt.Sprintf("4be1a1f0-25a1-4b26-9a52-%012d", c.records), Kind: record.KindSummary, Trigger: record.TriggerInvocations,
		StartTimestamp: c.events[0].Timestamp, StartInvocationID: c.events[0].InvocationID,
		EndTimestamp: ev.Timestamp, EndInvocationID: ev.InvocationID,
		EventCount: len(c.events), CreatedAt: ev.Timestamp, Through: record.RefTo(ev),
	}
	for _, covered := range c.events {
		m.Covered = append(m.Covered, record.RefTo(covered))
	}
	if fifth := turns * summaries / (c.last + 1); fifth == c.fifth && c.previous != "" {
		m.Absorbed = []string{c.previous}
	} else {
		c.fifth = fifth
	}
	sentence := fmt.Sprintf("Up to order ORD-%d everything is in transit with Parcel & Sons. ", turns)
	if err := m.SetText(strings.Repeat(sentence, summaryLength/len(sentence))); err != nil {
		panic(err) // encoding a string cannot fail
	}
	c.previous, c.events = m.RecordID, nil
	return histories.RecordEvent(m, ev.Timestamp)
}
