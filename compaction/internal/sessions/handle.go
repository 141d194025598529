package sessions

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
)

var _ filtered.Source = (*Handle)(nil)

// Handle is the service's own layer in a session that it gave out: the view, kept up to date by
// what is appended through the handle and by the records that the service stores.
type Handle struct {
	State *State
	// Inner is the session that the handle is a layer of, as the inner service knows it.
	Inner session.Session
	View  *view.View
	Meter *meter.Meter
	Turns meter.Turns
	Marks meter.Marks
	// Listed says that the handle does not know the session's history, because it comes from List.
	// No window is selected from it.
	Listed bool

	owner  *Sessions
	cursor *cursor
	// recent and after are the filters of the GetRequest, applied to the view; 0 and zero for none.
	// recent grows with what is appended.
	recent atomic.Int64
	after  time.Time
	// trimmed is what after left of the newest snapshot.
	trimmed atomic.Pointer[trimmed]
	// fitted is what was shortened of the newest snapshot.
	fitted atomic.Pointer[fitted]
	// read is the generation of the view that Events last returned, plus one: that of the prompt
	// that is under way. 0 before; shortenedPrompt if Events returned less than that view.
	read atomic.Int64
	// resumed is the workflow that goes on now, nil if none does.
	resumed atomic.Pointer[resumption]
	// places are those of the events that were shown, where ADK needs them.
	places places
	// isAhead says that the handle is a job's own; see Ahead.
	isAhead bool
	// partial is what the inner session left in storage, nil if it loaded everything.
	partial *partialLoad
}

// Append stores an event through the handle and adds it to the view. The caller holds State.Append.
// orphan says why a late answer is shown without its call; err is the inner service's.
func (h *Handle) Append(ctx context.Context, inner session.Session, ev *session.Event) (orphan, err error) {
	if err := h.owner.Inner.AppendEvent(ctx, inner, ev); err != nil {
		return nil, err
	}
	switch {
	case ev.Partial:
	case h.partial.lacksCallOf(ev):
		orphan = h.restoreCall(ctx, ev)
	default:
		h.appended(ev)
	}
	return orphan, nil
}

// Events returns the view, records included that the service stored through other handles.
func (h *Handle) Events() session.Events {
	events := h.events()
	if adk.ResumesRuns {
		return h.places.show(events)
	}
	return events
}

func (h *Handle) events() *view.Snapshot {
	h.CatchUp()
	events, generation := h.View.Version()
	shown := h.fitting(events)
	if h.read.Store(int64(generation) + 1); shown != events {
		h.read.Store(shortenedPrompt)
	}
	events = shown
	if recent := int(h.recent.Load()); recent > 0 {
		events = events.From(events.Len() - recent)
	}
	if h.after.IsZero() {
		return events
	}
	if last := h.trimmed.Load(); last != nil && last.of == events {
		return last.events
	}
	kept := slices.DeleteFunc(slices.Collect(events.All()), func(ev *session.Event) bool {
		return ev.Timestamp.Before(h.after)
	})
	next := &trimmed{of: events, events: view.NewSnapshot(kept)}
	h.trimmed.Store(next)
	return next.events
}

// shortenedPrompt is no generation of a view: what the provider counts for such a prompt says nothing about the view.
const shortenedPrompt = math.MaxInt64

// trimmed is what a reader is shown of one snapshot.
type trimmed struct{ of, events *view.Snapshot }

// CatchUp adds the records that the service stored since the handle last looked.
func (h *Handle) CatchUp() {
	if !h.Listed && h.State.news.has(h.cursor) {
		h.State.news.read(h.cursor, h.View.AppendRecord)
	}
}

// Ahead returns a handle for a background job whose view shows the drafts that wait to be stored as
// if they were, so that the next window is chosen with them in view. No turn sees what the job does
// to it.
func (h *Handle) Ahead() *Handle {
	if !h.isAhead {
		c := h.State.news.open()
		h.CatchUp()
		job := &Handle{owner: h.owner, State: h.State, Inner: h.Inner, cursor: c, View: h.View.Fork(), isAhead: true}
		job.Meter = meter.New(job.View, h.State.Prompts)
		h.State.closeWith(job, c)
		h = job
		for _, d := range h.State.Waiting.All() {
			h.View.AppendRecord(d.Preview())
		}
	}
	return h
}

// appended adds an event that was stored through the handle. The caller holds State.Append.
func (h *Handle) appended(ev *session.Event) {
	h.noteAppend(ev)
	h.View.Append(adk.WithoutTemp(ev))
	if adk.ResumesRuns {
		h.noteResumption(ev)
	}
}

// noteAppend notes what an event that is about to be added to the view means for the handle.
func (h *Handle) noteAppend(ev *session.Event) {
	if ev.UsageMetadata != nil {
		h.CatchUp()
		if _, generation := h.View.Version(); h.read.Load() > 0 && h.read.Load() != int64(generation)+1 {
			h.State.Learned.Events.MarkStale(ev)
		}
	}
	if h.recent.Load() > 0 && !adk.IsCompaction(ev) { // the view does not grow by a record
		h.recent.Add(1)
	}
	h.partial.note(ev)
}
