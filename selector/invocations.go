package selector

import (
	"math"
	"time"

	"github.com/adk-go-ext/longsession/record"
)

// Invocations selects for the invocation trigger: due when Threshold complete invocations began
// after the branch's furthest through, or when that many uncovered ones lie beyond the newest
// Overlap. The window covers complete invocations but the newest Overlap, as many as the summarizer
// can read in one call: a history that grew before compaction was turned on, or while the summarizer
// failed, costs few calls.
func Invocations(h Input, p Params, branch string) Selection {
	if p.Threshold <= 0 {
		return Selection{Reason: NotDue, Branch: branch, Missing: math.MaxInt}
	}
	s := analyze(h, p)
	complete := s.in(branch, (*invocation).complete)
	b := s.backlog(branch, complete, p.Overlap)
	if max(s.beganAfter(branch, complete), len(b.older)) < p.Threshold {
		return Selection{Reason: NotDue, Branch: branch, Missing: s.missing(branch)}
	}
	return s.window(b)
}

// Manual selects everything complete but the newest keep invocations, whether anything is due or not.
func Manual(h Input, p Params, branch string, keep int) Selection {
	s := analyze(h, p)
	b := s.backlog(branch, s.in(branch, (*invocation).complete), keep)
	return s.window(b)
}

// in returns the invocations of a kind that say something in the branch, oldest first.
func (s *analysis) in(branch string, kind func(*invocation) bool) []*invocation {
	here := map[*invocation]bool{}
	for i, ev := range s.Events {
		if s.says(i) && ev.Branch == branch && s.of[i] != nil {
			here[s.of[i]] = true
		}
	}
	var out []*invocation
	for _, v := range s.invocations {
		if here[v] && kind(v) {
			out = append(out, v)
		}
	}
	return out
}

// beganAfter counts the invocations that began after the furthest through of the branch's records.
func (s *analysis) beganAfter(branch string, invocations []*invocation) int {
	position := -1
	var moment time.Time
	for _, m := range s.Current {
		if m.Branch != record.Normalize(branch) || m.Through.IsZero() {
			continue
		}
		if i, ok := s.index.Find(m.Through); ok {
			position = max(position, i)
		} else if m.Through.Timestamp.After(moment) {
			moment = m.Through.Timestamp
		}
	}
	n := 0
	for _, v := range invocations {
		if position >= 0 && v.displaced {
			continue
		}
		if v.first > position && (moment.IsZero() || s.Events[v.first].Timestamp.After(moment)) {
			n++
		}
	}
	return n
}

// missing returns how many more invocations must begin before the trigger can be due, and 1 where
// none need to: an answer may complete invocations that have begun, and free events of old ones.
func (s *analysis) missing(branch string) int {
	possible := s.in(branch, func(*invocation) bool { return true })
	known := map[*invocation]bool{}
	for _, v := range possible {
		known[v] = true
	}
	uncovered := map[*invocation]bool{}
	for i, ev := range s.Events {
		if ev != nil && ev.Branch == branch && s.of[i] != nil && !s.covered(i) {
			uncovered[s.of[i]] = true
		}
	}
	for _, v := range s.invocations {
		if !known[v] && v.active() { // it may yet say something in this branch
			possible, uncovered[v] = append(possible, v), true
		}
	}
	older := 0
	for _, v := range possible[:max(0, len(possible)-s.Overlap)] {
		if uncovered[v] {
			older++
		}
	}
	return max(1, s.Threshold-max(older, s.beganAfter(branch, possible)))
}

// backlog is what the finished past of a branch has left to summarize.
type backlog struct {
	branch string
	groups []unitGroup
	// older are the invocations, oldest first, that have something a window can take. One that a pin,
	// an open call or its size keeps whole is none of them, or it would hold up the rest.
	older []*invocation
}

// backlog looks at all but the newest keep of the given invocations. What a live one has to summarize
// goes behind its question, apart from earlier turns; see [Tokens].
func (s *analysis) backlog(branch string, invocations []*invocation, keep int) *backlog {
	past := map[*invocation]bool{}
	for _, v := range invocations[:max(0, len(invocations)-keep)] {
		past[v] = !v.active()
	}
	var candidates []int
	for i, ev := range s.Events {
		if ev != nil && ev.Branch == branch && past[s.of[i]] {
			candidates = append(candidates, i)
		}
	}
	b := &backlog{branch: branch, groups: s.groups(branch, candidates)}
	useful := map[*invocation]bool{}
	for _, p := range b.groups {
		if p.says && s.fits(p) {
			useful[p.owner] = true
		}
	}
	for _, v := range invocations {
		if useful[v] {
			b.older = append(b.older, v)
		}
	}
	return b
}

// window makes a window of the oldest invocations, as many as the summarizer can read in one call.
func (s *analysis) window(b *backlog) Selection {
	if len(b.older) == 0 {
		return s.windowOf(b.branch, b.groups) // which says why there is nothing
	}
	return s.unlessTooSmall(s.windowOver(b, b.older))
}

// windowOver makes a window of the chosen invocations and of what changed state before their end.
func (s *analysis) windowOver(b *backlog, chosen []*invocation) Selection {
	in := map[*invocation]bool{}
	for _, v := range chosen {
		in[v] = true
	}
	last := chosen[len(chosen)-1].ordinal
	var groups []unitGroup
	for _, p := range b.groups {
		if in[p.owner] || !p.says && p.owner.ordinal <= last {
			groups = append(groups, p)
		}
	}
	sel := s.windowOf(b.branch, groups)
	s.absorb(&sel, in)
	return sel
}
