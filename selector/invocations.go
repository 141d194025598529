package selector

import (
	"math"
	"slices"
	"time"
)

// Invocations selects for the invocation trigger: due when Threshold complete invocations began
// after the branch's furthest through, or when that many uncovered ones lie beyond the newest
// Overlap. The window covers complete invocations but the newest Overlap, at most Threshold+Overlap
// of them, so that a backlog drains in windows of bounded size.
func Invocations(h History, p Params, branch string) Selection {
	if p.Threshold <= 0 {
		return Selection{Reason: NotDue, Branch: branch, Missing: math.MaxInt}
	}
	s := newSurvey(h, p)
	complete := s.completeIn(branch)
	began := s.beganAfter(branch, complete)
	older := s.older(branch, complete, p.Overlap)
	if began < p.Threshold && len(older) < p.Threshold {
		return Selection{Reason: NotDue, Branch: branch, Missing: p.Threshold - max(began, len(older))}
	}
	return s.take(branch, older, p.Threshold+p.Overlap)
}

// Manual selects everything complete but the newest keep invocations, whether anything is due or not.
func Manual(h History, p Params, branch string, keep int) Selection {
	s := newSurvey(h, p)
	older := s.older(branch, s.completeIn(branch), keep)
	return s.take(branch, older, len(older))
}

// completeIn returns the complete invocations that have an event in the branch, oldest first.
func (s *survey) completeIn(branch string) []*invocation {
	here := map[*invocation]bool{}
	for i, ev := range s.Events {
		if ev != nil && ev.Branch == branch && s.of[i] != nil {
			here[s.of[i]] = true
		}
	}
	var out []*invocation
	for _, v := range s.invocations {
		if here[v] && v.complete() {
			out = append(out, v)
		}
	}
	return out
}

// beganAfter counts the invocations that began after the furthest through of the branch's records.
func (s *survey) beganAfter(branch string, complete []*invocation) int {
	position := -1
	var moment time.Time
	for _, m := range s.Live {
		if m.Branch != branch || m.Through.IsZero() {
			continue
		}
		if i, ok := s.index.Find(m.Through); ok {
			position = max(position, i)
		} else if m.Through.Timestamp.After(moment) {
			moment = m.Through.Timestamp
		}
	}
	n := 0
	for _, v := range complete {
		if v.first > position && (moment.IsZero() || s.Events[v.first].Timestamp.After(moment)) {
			n++
		}
	}
	return n
}

// older returns the complete invocations but the newest keep that still have something to
// summarize. One that a pin or an open call keeps whole does not count, or it would hold up the rest.
func (s *survey) older(branch string, complete []*invocation, keep int) []*invocation {
	complete = complete[:max(0, len(complete)-keep)]
	useful := map[*invocation]bool{}
	for i, ev := range s.Events {
		if ev != nil && ev.Branch == branch && s.of[i] != nil && s.eligible(i) {
			useful[s.of[i]] = true
		}
	}
	var out []*invocation
	for _, v := range complete {
		if useful[v] {
			out = append(out, v)
		}
	}
	return out
}

// take makes a window of the oldest limit invocations, or of more if a window of that size was tried
// before and did not come out shorter.
func (s *survey) take(branch string, older []*invocation, limit int) Selection {
	for {
		n := min(limit, len(older))
		sel := s.grown(s.windowOver(branch, older[:n]))
		if sel.Reason != TooSmall || n == len(older) {
			sel.Cut = sel.Cut || n < len(older)
			return sel
		}
		limit = max(limit+1, limit*3/2)
	}
}

func (s *survey) windowOver(branch string, chosen []*invocation) Selection {
	var candidates []int
	for i, ev := range s.Events {
		if ev != nil && ev.Branch == branch && s.of[i] != nil && slices.Contains(chosen, s.of[i]) {
			candidates = append(candidates, i)
		}
	}
	sel := s.window(branch, candidates)
	if !sel.Empty() {
		sel.Absorb = s.absorbable(branch, chosen)
		for _, m := range sel.Absorb {
			sel.Tokens += m.CompactedTokens
		}
	}
	return sel
}
