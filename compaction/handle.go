package compaction

import (
	"slices"
	"sync/atomic"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
)

var _ filtered.Source = (*handle)(nil)

// handle is the service's own layer in a session that it gave out: the view, kept up to date by what
// is appended through the handle and by the records that the service stores.
type handle struct {
	service *CompactionSessionService
	state   *sessionState
	// inner is the session that the handle is a layer of, as the inner service knows it.
	inner  session.Session
	cursor *cursor
	view   *view.View
	meter  *meter.Meter
	turns  meter.Turns
	// recent and after are the filters of the GetRequest, applied to the view; 0 and zero for none.
	// recent grows with what is appended.
	recent atomic.Int64
	after  time.Time
	// trimmed is what after left of the newest snapshot.
	trimmed atomic.Pointer[trimmed]
	// read is the generation of the view that Events last returned, plus one: that of the prompt that is
	// under way. 0 before.
	read atomic.Int64
	// listed says that the handle does not know the session's history (it comes from List), so
	// nothing is selected from it.
	listed bool
	// isAhead says that the handle is a job's own; see ahead.
	isAhead bool
	// active is the inner session if storage holds more events than it loaded, else nil, and unloaded how
	// many it left. called are the calls made through the handle since, and brought the covered events that
	// late answers brought back; both are guarded by state.append.
	active   PartialSession
	unloaded int
	called   map[adk.CallKey]bool
	brought  map[string]bool
}

// Events returns the view, records included that the service stored through other handles.
func (h *handle) Events() session.Events {
	h.catchUp()
	events, generation := h.view.Version()
	h.read.Store(int64(generation) + 1)
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

// trimmed is what a GetRequest's After leaves of one snapshot.
type trimmed struct{ of, events *view.Snapshot }

// catchUp adds the records that the service stored since the handle last looked.
func (h *handle) catchUp() {
	if !h.listed && h.state.news.has(h.cursor) {
		h.state.news.read(h.cursor, h.view.AppendRecord)
	}
}

// ahead returns a handle for a background job whose view shows the drafts that wait to be stored as if
// they were, so that the next window is chosen with them in view. No turn sees what the job does to it.
func (h *handle) ahead() *handle {
	if !h.isAhead {
		c := h.state.news.open()
		h.catchUp()
		job := &handle{service: h.service, state: h.state, inner: h.inner, cursor: c, view: h.view.Fork(), isAhead: true}
		job.meter = meter.New(job.view, h.state.prompts)
		h.state.closeWith(job, c)
		h = job
	}
	for _, d := range h.state.waiting.All() {
		h.view.AppendRecord(d.event(d.meta, d.meta.CreatedAt))
	}
	return h
}

// appended adds an event that was stored through the handle. The caller holds state.append.
func (h *handle) appended(ev *session.Event) {
	h.grown(ev)
	h.view.Append(adk.WithoutTemp(ev))
}

// grown notes what an event that is about to be added to the view means for the handle.
func (h *handle) grown(ev *session.Event) {
	if ev.UsageMetadata != nil {
		h.catchUp()
		if _, generation := h.view.Version(); h.read.Load() > 0 && h.read.Load() != int64(generation)+1 {
			h.state.learned.Events.MarkStale(ev)
		}
	}
	if h.recent.Load() > 0 {
		h.recent.Add(1)
	}
	if h.active != nil {
		for _, call := range adk.FunctionCalls(ev) {
			h.called[adk.CallKey{Branch: ev.Branch, ID: call.ID}] = true
		}
	}
}
