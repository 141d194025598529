package view

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// cover marks what the live records stand for.
func (p *projection) cover() {
	if p.gaps != nil {
		p.covered = slices.Clone(p.gaps.covered)
	}
	seen := map[*entry]bool{}
	for _, s := range p.live {
		s.each(seen, func(d *entry) { p.covered.addAll(d.covered) })
		s.absorbs, s.missing = nil, nil // or the summary would keep all that it stands for
	}
}

// anchorRounds finds the event that each summary of tool rounds stands behind and keeps it visible:
// the one the record names, else the one that opened the invocation. Without either the summary
// stands in front like any other.
func (p *projection) anchorRounds() {
	for _, s := range p.live {
		s.anchor = -1
		if !s.meta.MidTurn() {
			continue
		}
		if s.anchor = s.after; s.anchor < 0 {
			s.anchor = p.opening(s.meta.StartInvocationID)
		}
		if s.anchor >= 0 {
			p.hidden.remove(int(s.anchor))
		}
	}
}

// opening returns the position of the first user event of an invocation, -1 if it has none.
func (p *projection) opening(invocation string) int32 {
	if p.openings == nil {
		p.openings = map[string]int32{}
		for i, ev := range p.raw {
			if opens(ev) {
				if _, later := p.openings[ev.InvocationID]; !later {
					p.openings[ev.InvocationID] = int32(i)
				}
			}
		}
	}
	if i, ok := p.openings[invocation]; ok {
		return i
	}
	p.openings[invocation] = -1
	return -1
}

// opens reports whether an event may open an invocation.
func opens(ev *session.Event) bool {
	return adk.Classify(ev).Is(adk.ByUser) && ev.Content != nil && !record.Is(ev)
}

// keepNewest shows the newest event with content of the user, which ADK takes for the user's message
// and answers, and the newest of an agent, by which it routes. No selection covers them; a record
// from elsewhere may.
func (p *projection) keepNewest() {
	keep := func(is func(*session.Event) bool) (hidden bool) {
		for i := len(p.raw) - 1; i >= 0; i-- {
			if is(p.raw[i]) {
				hidden = p.hidden.has(i)
				p.hidden.remove(i)
				break
			}
		}
		return hidden
	}
	p.keepsUser, p.keepsAgent = keep(opens), keep(speaksAsAgent)
}

func speaksAsAgent(ev *session.Event) bool {
	return adk.Classify(ev).Is(adk.ByAgent) && !record.Is(ev)
}

// closeOver shows every unit whole of which a part is visible.
func (p *projection) closeOver(units *adk.Units) {
	if p.hidden.empty() {
		return
	}
	units.Each(func(members []int) {
		visible := slices.ContainsFunc(members, func(i int) bool { return !p.hidden.has(i) })
		if visible {
			for _, i := range members {
				p.hidden.remove(i)
			}
		}
	})
}
