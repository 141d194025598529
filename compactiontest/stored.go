package compactiontest

import (
	"context"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// reader gives the full history of a session.
type reader interface {
	Raw(context.Context, *session.GetRequest) (*session.GetResponse, error)
}

// maxLayers bounds how far a stack of services is unwrapped: one may claim to wrap itself.
const maxLayers = 64

// findReader returns the first service of a stack that gives the full history, nil for none.
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

// stored returns the full history, false if nobody gives it.
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

// checkRules holds a view of a new handle against the full history, with [Check].
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
			view[i] = byID[ev.ID] // a backend may make new events at every read
		}
	}
	if err := Check(raw, view); err != nil {
		p.add("a new handle: %w", err)
	}
}

// checkStored: storage has what was said, once each and unchanged, and nothing else but records.
func (p *play) checkStored() {
	raw, _ := p.stored()
	times := map[string]int{}
	for _, ev := range raw {
		if record.Is(ev) {
			continue
		}
		if _, known := p.keys[keyOf(ev)]; !known {
			p.add("storage has an event %s by %q that nobody appended, or not with this content: history is not what happened", ev.ID, ev.Author)
		}
		times[keyOf(ev)]++
	}
	for _, ev := range p.said {
		if n := times[keyOf(ev)]; n != 1 {
			p.add("storage has event %s %d times: history is not what happened", ev.ID, n)
		}
	}
}
