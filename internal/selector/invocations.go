package selector

import (
	"math"
	"slices"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// Invocations selects for the invocation trigger. The trigger is due when one of two counts reaches
// [Params.Threshold]:
//
//   - the complete invocations that began since the last window of the branch was chosen;
//   - the complete invocations that have uncovered events and are older than the newest
//     [Params.Overlap]. This works off a history that grew before compaction was turned on, or
//     while the summarizer failed.
//
// The window covers complete invocations except the newest Overlap, as many as the summarizer can
// read in one call. A threshold of 0 turns the trigger off.
func Invocations(h Input, p Params, branch string) Selection {
	if p.Threshold <= 0 {
		return Selection{Reason: NotDue, Branch: branch, Missing: math.MaxInt}
	}
	a := analyze(h, p)
	complete := a.in(branch, (*invocation).complete)
	b := a.backlog(branch, complete, p.Overlap)
	if max(a.beganAfter(branch, complete), len(b.older)) < p.Threshold {
		return Selection{Reason: NotDue, Branch: branch, Missing: a.missing(branch)}
	}
	sel := a.window(b)
	if sel.rest != nil {
		sel.rest.least = p.Threshold
	}
	return sel
}

// Manual selects all complete invocations of a branch except the newest keep, whether a trigger is
// due or not.
func Manual(h Input, p Params, branch string, keep int) Selection {
	a := analyze(h, p)
	b := a.backlog(branch, a.in(branch, (*invocation).complete), keep)
	return a.window(b)
}

// in returns the invocations of a kind that have a speaking event in the branch, oldest first.
func (a *analysis) in(branch string, kind func(*invocation) bool) []*invocation {
	here := map[*invocation]bool{}
	for i, ev := range a.Events {
		if a.speaks(i) && adk.Lane(ev) == branch && a.of[i] != nil {
			here[a.of[i]] = true
		}
	}
	var out []*invocation
	for _, v := range a.invocations {
		if here[v] && kind(v) {
			out = append(out, v)
		}
	}
	return out
}

// beganAfter counts the invocations that began after the last window of the branch was chosen:
// after the furthest event that a current record names as its Through. If that event is not loaded,
// its time decides.
func (a *analysis) beganAfter(branch string, invocations []*invocation) int {
	position := -1       // of the furthest Through at hand
	var moment time.Time // of the furthest Through that is not at hand
	for _, m := range a.Current {
		if m.Branch != record.Normalize(branch) || m.Through.IsZero() {
			continue
		}
		if i, ok := a.index.Find(m.Through); ok {
			position = max(position, i)
		} else if m.Through.Timestamp.After(moment) {
			moment = m.Through.Timestamp
		}
	}
	n := 0
	for _, v := range invocations {
		if v.first > position && (moment.IsZero() || a.Events[v.first].Timestamp.After(moment)) {
			n++
		}
	}
	return n
}

// missing returns how many more invocations must begin before the trigger can be due. It returns at
// least 1, even if no more need to begin: an answer may complete invocations that have begun, or
// set free events of old ones. The caller can skip its check until that many have begun.
func (a *analysis) missing(branch string) int {
	// Count as Invocations does, but optimistically: every invocation might be complete, and every
	// uncovered event might be free to be summarized.
	possible := a.in(branch, func(*invocation) bool { return true })
	known := map[*invocation]bool{}
	for _, v := range possible {
		known[v] = true
	}
	uncovered := map[*invocation]bool{}
	for i, ev := range a.Events {
		if ev != nil && adk.Lane(ev) == branch && a.of[i] != nil && !a.covered(i) {
			uncovered[a.of[i]] = true
		}
	}
	for _, v := range a.invocations {
		// These may yet speak in this branch without anything beginning. If any other invocation goes on,
		// callers count it as one that begins.
		if !known[v] && (v.active() || v == a.speaking) {
			possible, uncovered[v] = append(possible, v), true
		}
	}
	older := 0
	for _, v := range possible[:max(0, len(possible)-a.Overlap)] {
		if uncovered[v] {
			older++
		}
	}
	return max(1, a.Threshold-max(older, a.beganAfter(branch, possible)))
}

// backlog is the part of a branch's finished past that is still to be summarized.
type backlog struct {
	branch string
	groups []unitGroup
	// own are the groups of what agent has said and done since the event after. Their summary is shown behind that event.
	own   []unitGroup
	agent string
	after *session.Event
	// older are the invocations that have something a window can take, oldest first. An invocation
	// that a pin, an open call or its size keeps raw does not count, or it would make the trigger
	// due forever.
	older []*invocation
}

// backlog collects all given invocations but the newest keep. It skips active ones: their tool
// rounds are summarized apart from earlier turns, see [Tokens].
func (a *analysis) backlog(branch string, invocations []*invocation, keep int) *backlog {
	past := map[*invocation]bool{}
	for _, v := range invocations[:max(0, len(invocations)-keep)] {
		past[v] = !v.active()
	}
	var candidates, own []int
	agent, after := a.lastWords(branch)
	for i, ev := range a.Events {
		switch {
		case ev == nil || adk.Lane(ev) != branch || !past[a.of[i]]:
		case after >= 0 && i > after && ev.Author == agent:
			own = append(own, i)
		default:
			candidates = append(candidates, i)
		}
	}
	b := &backlog{branch: branch, groups: a.groups(branch, candidates), own: a.groups(branch, own), agent: agent}
	if after >= 0 {
		b.after = a.Events[after]
	}
	useful := map[*invocation]bool{}
	for _, p := range slices.Concat(b.groups, b.own) {
		if p.speaks && a.fits(p) {
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

// window selects the oldest invocations of a backlog, as many as the summarizer can read in one
// call, and the changes of state before their end. What lies behind the event that its agent works on comes last.
func (a *analysis) window(b *backlog) Selection {
	sel, chosen := b.oldest(a, b.groups)
	a.absorb(&sel, chosen)
	sel = a.unlessTooSmall(sel)
	if !sel.Empty() || len(b.own) == 0 {
		return sel
	}
	own, _ := b.oldest(a, b.own)
	if !own.Empty() {
		own.Agent, own.After, own.rest = b.agent, b.after, nil
	}
	own = a.unlessTooSmall(own)
	if own.Empty() && sel.Reason != NothingEligible {
		return sel // its reason is the better one
	}
	return own
}

// oldest packs the groups among those of a backlog that a window may take, and returns the invocations that they are of.
func (b *backlog) oldest(a *analysis, among []unitGroup) (sel Selection, chosen map[*invocation]bool) {
	if len(b.older) == 0 {
		sel, _ = a.pack(b.branch, among)
		return sel, nil // empty, with the reason
	}
	chosen = map[*invocation]bool{}
	for _, v := range b.older {
		chosen[v] = true
	}
	// An invocation whose speaking events are all covered may have changes of state left. The
	// window takes them too, or they would stay in the view for good.
	last := b.older[len(b.older)-1].ordinal
	groups := slices.DeleteFunc(slices.Clone(among), func(g unitGroup) bool {
		return !chosen[g.owner] && (g.speaks || g.owner.ordinal > last)
	})
	sel, _ = a.pack(b.branch, groups)
	return sel, chosen
}
