package sessions

import (
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// minShown is the least that is shown of a text, in tokens.
const minShown = 48

// fitting is the last resort of a session whose requests nobody else keeps within the window: if the view is
// over the hard limit although all was summarized that may be, readers are shown only the beginning and the
// end of what is largest in it. How much follows from the view, from the window, and from what the provider has
// counted. ADK's own calls and the answers to them stay as they are, because ADK reads in the session which call a person
// has confirmed, and with what. So does the user's newest message: if it is too large, the provider says so. Summaries
// stay whole, too. The view itself, which summaries are written from, never changes.
func (h *Handle) fitting(events *view.Snapshot) *view.Snapshot {
	limits := h.State.Prompts.Limits() // nil until the agent's model is known
	if limits == nil || h.Listed || h.isAhead || h.owner.fits {
		return events
	}
	last := h.fitted.Load()
	if last == nil || last.of != events {
		last = h.fit(events)
		h.fitted.Store(last)
	}
	h.State.Prompts.Show(last.shown)
	return last.events
}

// fitted is what readers are shown of one snapshot, and how large that is, by branch.
type fitted struct {
	trimmed
	shown map[string]meter.Shown
}

// fit shortens a snapshot for each reader that it is too large for.
func (h *Handle) fit(events *view.Snapshot) *fitted {
	out := &fitted{trimmed{of: events, events: events}, map[string]meter.Shown{}}
	branches := h.Meter.Branches()
	for _, reader := range branches {
		size, most, over := h.Meter.Room(reader, len(branches) == 1)
		shown := meter.Shown{View: size, Tokens: size}
		if over {
			var events []*session.Event
			events, shown.Tokens = shortened(out.events.Slice(), most, reader, h.View.State())
			out.events = out.events.With(events)
		}
		out.shown[reader] = shown
	}
	return out
}

// shortened returns the events with the largest ones shortened, so that the reader sees at most limit tokens if that is
// possible. size is how many tokens the reader sees.
func shortened(events []*session.Event, limit int, reader string, state *view.State) (out []*session.Event, size int) {
	newest := -1
	for i, ev := range events {
		if class := adk.Classify(ev); class.Is(adk.ByUser) && !class.Is(adk.Responds) {
			newest = i
		}
	}
	out = events
	for most := limit / 2; most >= minShown; most /= 2 {
		out, size = slices.Clone(events), 0
		for i, ev := range events {
			if !adk.Visible(reader, adk.Lane(ev)) {
				continue
			}
			if i != newest && state.Summary(ev) == nil && promptsize.OfEvent(ev) > most {
				out[i] = shortenedEvent(ev, most)
			}
			size += promptsize.OfEvent(out[i])
		}
		if size <= limit {
			break
		}
	}
	return out, size
}

func shortenedEvent(ev *session.Event, most int) *session.Event {
	if ev.Content == nil {
		return ev
	}
	short := toolresult.Shorten(ev.Content, most, nil)
	if short == ev.Content {
		return ev
	}
	out := *ev
	out.Content = &genai.Content{Role: short.Role, Parts: slices.Clone(short.Parts)}
	for i, part := range ev.Content.Parts {
		if part != nil && readByADK(part) {
			out.Content.Parts[i] = part
		}
	}
	return &out
}

// readByADK reports whether ADK acts on what a part of a stored event says.
func readByADK(part *genai.Part) bool {
	switch {
	case part.FunctionCall != nil:
		return adk.IsRequest(part.FunctionCall.Name)
	case part.FunctionResponse != nil:
		return adk.IsRequest(part.FunctionResponse.Name)
	}
	return false
}
