package compactiontest

import (
	"context"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// reader returns the full history of a session.
type reader interface {
	Raw(context.Context, *session.GetRequest) (*session.GetResponse, error)
}

// maxLayers limits how deep a stack of services is unwrapped, because a service may wrap itself.
const maxLayers = 64

// findReader returns the first service of a stack that returns the full history, or nil.
func findReader(service session.Service) reader {
	for range maxLayers {
		if r, ok := service.(reader); ok {
			return r
		}
		wrapper, ok := service.(interface{ Unwrap() session.Service })
		if !ok {
			break
		}
		service = wrapper.Unwrap()
	}
	return nil
}

// stored returns the full history, or false if no service of the stack returns it.
func (p *play) stored() (events []*session.Event, ok bool) {
	r := findReader(p.service)
	if r == nil {
		return nil, false
	}
	resp, err := r.Raw(p.ctx, suiteRequest())
	if err != nil {
		p.add("read the full history: %w", err)
		return nil, true
	}
	return slices.Collect(resp.Session.Events().All()), true
}

// checkRules compares the view of a new handle with the full history, using [Check].
func (p *play) checkRules(s *seen) {
	raw, ok := p.stored()
	if !ok {
		return
	}
	byID := map[string]*session.Event{}
	for _, ev := range raw {
		byID[ev.ID] = ev
	}
	view := slices.Clone(s.events)
	for i, ev := range view {
		if ev != nil && byID[ev.ID] != nil {
			view[i] = byID[ev.ID] // a backend may create new events on every read
		}
	}
	if err := Check(raw, view); err != nil {
		p.add("a new handle: %w", err)
	}
}

// checkStored checks that storage holds every appended event once and unchanged, and otherwise only
// records.
func (p *play) checkStored() {
	raw, _ := p.stored()
	times := map[string]int{}
	for _, ev := range raw {
		if record.Is(ev) {
			continue
		}
		if _, known := p.keys[keyOf(ev)]; !known {
			p.add("storage has an event %s by %q that was not appended, or not with this content: the history is wrong", ev.ID, ev.Author)
		}
		times[keyOf(ev)]++
	}
	for _, ev := range p.said {
		if n := times[keyOf(ev)]; n != 1 {
			p.add("storage has event %s %d times: the history is wrong", ev.ID, n)
		}
	}
}
