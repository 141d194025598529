package selector

import (
	"slices"

	"github.com/adk-go-ext/longsession/record"
)

// window turns candidates, positions of one branch in ascending order, into a selection: whole units
// only, within what the summarizer can read, oldest first.
func (s *survey) window(branch string, candidates []int) Selection {
	sel := Selection{Branch: branch}
	if n := len(s.Events); n > 0 {
		for i := n - 1; i >= 0; i-- {
			if ev := s.Events[i]; ev != nil && ev.Branch == branch {
				sel.Through = ev
				break
			}
		}
	}
	chosen := s.wholeUnits(branch, candidates)
	fitting := s.fit(chosen)
	sel.Cut = len(fitting) < len(chosen)
	for _, i := range fitting {
		sel.Events = append(sel.Events, s.Events[i])
		sel.Tokens += s.Size(s.Events[i]) + EventOverhead
	}
	switch {
	case len(fitting) > 0:
	case len(chosen) > 0:
		sel.Reason = TooLarge
	case slices.ContainsFunc(candidates, func(i int) bool { return s.held[i] }):
		sel.Reason = Blocked
	default:
		sel.Reason = NothingEligible
	}
	return sel
}

// eligible reports whether an event may be summarized at all.
func (s *survey) eligible(i int) bool {
	ev := s.Events[i]
	return ev != nil && !s.pinned[i] && (s.Covered == nil || !s.Covered(ev))
}

// wholeUnits keeps the eligible candidates whose unit is, as far as it lies in the branch, covered
// already or a candidate too.
func (s *survey) wholeUnits(branch string, candidates []int) []int {
	in := make(map[int]bool, len(candidates))
	for _, i := range candidates {
		if s.eligible(i) {
			in[i] = true
		}
	}
	var out []int
	for _, i := range candidates {
		if !in[i] {
			continue
		}
		whole := true
		for _, j := range s.units.Of(i) {
			ev := s.Events[j]
			covered := s.Covered != nil && s.Covered(ev)
			if ev.Branch == branch && !in[j] && !covered {
				whole = false
				break
			}
		}
		if whole {
			out = append(out, i)
		}
	}
	return out
}

// fit returns as many of the oldest candidates as the summarizer can read, never a part of a unit. A
// unit that alone is too large is passed over.
func (s *survey) fit(candidates []int) []int {
	if s.MaxTokens <= 0 || s.Cost == nil {
		return candidates
	}
	member := make(map[int]bool, len(candidates))
	for _, i := range candidates {
		member[i] = true
	}
	taken := map[int]bool{}
	left := s.MaxTokens
	for _, i := range candidates {
		if taken[i] {
			continue
		}
		unit := []int{i}
		if of := s.units.Of(i); of != nil {
			unit = unit[:0]
			for _, j := range of {
				if member[j] {
					unit = append(unit, j)
				}
			}
		}
		cost := 0
		for _, j := range unit {
			cost += s.Cost(s.Events[j])
		}
		if cost > s.MaxTokens {
			continue
		}
		if cost > left {
			break
		}
		left -= cost
		for _, j := range unit {
			taken[j] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(candidates), func(i int) bool { return !taken[i] })
}

// grown empties a selection that has not reached the size it must have to be tried again.
func (s *survey) grown(sel Selection) Selection {
	if sel.Empty() || s.MinTokens == nil || sel.Tokens >= s.MinTokens(sel.Key()) {
		return sel
	}
	return Selection{Reason: TooSmall, Branch: sel.Branch, Through: sel.Through}
}

// absorbable returns the summaries of tool rounds of finished invocations that a window takes in:
// those that stand behind an event of the window's invocations.
func (s *survey) absorbable(branch string, window []*invocation) []*record.Metadata {
	var out []*record.Metadata
	for _, m := range s.Live {
		if m.Live() && m.Branch == branch && slices.ContainsFunc(window, func(v *invocation) bool { return v.id == m.EndInvocationID }) {
			out = append(out, m)
		}
	}
	return out
}
