package compaction

import (
	"context"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
	"github.com/adk-go-ext/longsession/tokens"
)

// makeRoom sees to it that one more summary keeps the branch within MaxSummaries. A rolling summary
// takes the earlier ones in; otherwise two of them are merged first, as often as it takes. If a merge
// fails, the window waits: nothing is lost by it.
//
// Only summaries that stand in the same place become one. What was said before a turn must not read
// as a tool result of it, nor be cut off with it. So while a turn lives, each agent's rounds in it may
// have one summary beyond the bound.
func (s *CompactionSessionService) makeRoom(ctx context.Context, h *handle, t task, sel *selector.Selection) Outcome {
	for {
		placeOf := s.placeOf(h)
		rest := slices.DeleteFunc(s.summariesOf(h, sel.Branch), func(m *record.Metadata) bool {
			return contains(sel.Absorb, m.RecordID)
		})
		if len(rest) < s.policy.MaxSummaries {
			return Stored
		}
		merge, found := mergeOf(sel.Branch, rest, placeOf)
		if s.policy.MaxSummaries == 1 || !found {
			absorbPlace(sel, rest, placeOf)
			return Stored
		}
		if outcome := s.merge(ctx, h, t, merge); !outcome.written() {
			return outcome
		}
	}
}

// squeeze shrinks the summaries that the reader of a prompt over the hard limit sees, if nothing else can
// make the prompt shorter: it merges two of them, or, if no two may be merged, cuts the longest to half or
// as far below as the prompt needs. It declines if the prompt would exceed the window even with the shortest
// summaries.
func (s *CompactionSessionService) squeeze(ctx context.Context, h *handle, t task, f found) Outcome {
	if !t.forced || f.trigger != record.TriggerTokens || f.prompt.most < s.limits(h.state).limit {
		return Declined
	}
	if f.prompt.without(s.reclaimable(h, f.reader)) > s.limits(h.state).most {
		return Declined
	}
	placeOf := s.placeOf(h)
	var longest selector.Selection
	for _, branch := range h.meter.branches(h.view) {
		if !selector.Visible(f.reader, branch) {
			continue
		}
		summaries := s.summariesOf(h, branch)
		if merge, found := mergeOf(branch, summaries, placeOf); found {
			return s.merge(ctx, h, t, merge)
		}
		for _, m := range summaries {
			if one := mergeInto(branch, placeOf, m); one.Tokens > longest.Tokens {
				longest = one
			}
		}
	}
	// A cut loses detail, so it must be needed for certain: with the estimate alone it would be made after
	// every event whose report is still to come.
	prose := longest.Tokens - promptsize.Frame(record.KindSummary, longest.After != nil)
	if prose <= minSummary || f.prompt.likely < s.limits(h.state).limit {
		return Declined
	}
	mustFree := f.prompt.estimateOf(f.prompt.likely - s.limits(h.state).limit)
	t.shorter = max(minSummary, min(prose/2, prose-mustFree))
	return s.merge(ctx, h, t, longest)
}

// hopeless reports whether a prompt exceeds the whole window whatever is summarized and merged, even if
// estimates are off: a call for every event that comes in would buy nothing.
func (s *CompactionSessionService) hopeless(h *handle, f found) bool {
	if f.trigger != record.TriggerTokens || f.Cut {
		return false
	}
	return f.prompt.without(f.spare+s.reclaimable(h, f.reader)) > s.limits(h.state).most+s.limits(h.state).most/doubt
}

// reclaimable is how many estimated tokens the summaries that a reader sees could give back: all that they
// take up with their frames, less one summary of the shortest length for each place that has any.
func (s *CompactionSessionService) reclaimable(h *handle, reader string) int {
	type place struct {
		branch string
		standing
	}
	state, placeOf := h.view.State(), s.placeOf(h)
	shortest, sum := map[place]int{}, 0
	for _, ev := range state.View {
		m := state.Summary(ev)
		if m == nil || !selector.Visible(reader, ev.Branch) {
			continue
		}
		size, text := promptsize.OfEvent(ev), 0
		if prose, err := m.Text(); err == nil {
			text = tokens.Estimate(prose)
		}
		at := place{ev.Branch, placeOf(m)}
		sum += size
		shortest[at] = max(shortest[at], size-max(0, text-minSummary))
	}
	for _, size := range shortest {
		sum -= size
	}
	return sum
}

// merge writes one summary in the place of others.
func (s *CompactionSessionService) merge(ctx context.Context, h *handle, t task, merge selector.Selection) Outcome {
	t.trigger, t.kind, t.focus, t.note, t.pack = record.TriggerMerge, "", "", "", ""
	return s.write(ctx, h, t, merge)
}

// takeNewest makes a window that is too small for a summary of its own take in the newest summary of its place: the
// two have one frame together.
func takeNewest(sel *selector.Selection, summaries []*record.Metadata, placeOf func(*record.Metadata) standing) {
	alone := selector.Selection{After: sel.After, Agent: sel.Agent}
	absorbPlace(&alone, summaries, placeOf)
	if n := len(alone.Absorb); n > 0 && !contains(sel.Absorb, alone.Absorb[n-1].RecordID) {
		sel.Absorb = append(sel.Absorb, alone.Absorb[n-1])
		sel.Tokens += promptsize.OfSummary(alone.Absorb[n-1])
	}
}

// absorbPlace makes the window's record take in the summaries that stand where it will stand.
func absorbPlace(sel *selector.Selection, summaries []*record.Metadata, placeOf func(*record.Metadata) standing) {
	here := front
	if sel.After != nil {
		here = standing{sel.Agent, keyOfRef(record.RefTo(sel.After))}
	}
	for _, m := range summaries {
		if placeOf(m) == here {
			sel.Absorb = append(sel.Absorb, m)
			sel.Tokens += promptsize.OfSummary(m)
		}
	}
}

// summariesOf returns the branch's live records in the order of the view.
func (s *CompactionSessionService) summariesOf(h *handle, branch string) []*record.Metadata {
	h.catchUp()
	live := h.view.State().Live
	return slices.DeleteFunc(slices.Clone(live), func(m *record.Metadata) bool { return m.Branch != record.Normalize(branch) })
}

func contains(records []*record.Metadata, id string) bool {
	return slices.ContainsFunc(records, func(m *record.Metadata) bool { return m.RecordID == id })
}

// mergeOf chooses two summaries of one place to become one: the lowest-level adjacent pair of equal
// level, older first, else the adjacent pair whose higher level is lowest. Merged so, like the runs of
// a log-structured store, a fact is rewritten O(log n) times. It reports false where no two stand in
// one place.
func mergeOf(branch string, summaries []*record.Metadata, placeOf func(*record.Metadata) standing) (selector.Selection, bool) {
	best := pair{}
	for i := range summaries {
		for j := i + 1; j < len(summaries); j++ {
			if placeOf(summaries[i]) == placeOf(summaries[j]) {
				best = best.orBetter(summaries[i], summaries[j])
				break
			}
		}
	}
	if best.older == nil {
		return selector.Selection{}, false
	}
	return mergeInto(branch, placeOf, best.older, best.newer), true
}

// mergeInto is the selection of summaries that stand in one place, to become one.
func mergeInto(branch string, placeOf func(*record.Metadata) standing, summaries ...*record.Metadata) selector.Selection {
	sel := selector.Selection{Branch: branch, Absorb: summaries}
	for _, m := range summaries {
		sel.Tokens += promptsize.OfSummary(m)
	}
	if newest := summaries[len(summaries)-1]; placeOf(newest) != front {
		sel.After, sel.Agent = eventAt(newest.After), newest.Agent
	}
	return sel
}

type pair struct{ older, newer *record.Metadata }

func (p pair) orBetter(older, newer *record.Metadata) pair {
	if p.older == nil {
		return pair{older, newer}
	}
	equal, level := older.Level == newer.Level, max(older.Level, newer.Level)
	bestEqual, bestLevel := p.older.Level == p.newer.Level, max(p.older.Level, p.newer.Level)
	if equal != bestEqual && equal || equal == bestEqual && level < bestLevel {
		return pair{older, newer}
	}
	return p
}

// standing is where a summary is shown: in front, or behind an event.
type standing struct {
	agent string
	after eventKey
}

var front = standing{}

// placeOf tells where a summary has to stay. The summary of tool rounds may go to the front once the
// turn is over or another agent has spoken.
func (s *CompactionSessionService) placeOf(h *handle) func(*record.Metadata) standing {
	var stands func(*record.Metadata) bool
	return func(m *record.Metadata) standing {
		if !m.MidTurn() {
			return front
		}
		if stands == nil {
			stands = selector.MustStayInPlace(h.history(h.view.State()), s.params(h.state))
		}
		if !stands(m) {
			return front
		}
		return standing{agent: m.Agent, after: keyOfRef(m.After)}
	}
}

// eventAt returns an event that the reference names.
func eventAt(ref record.Ref) *session.Event {
	return &session.Event{ID: ref.ID, InvocationID: ref.InvocationID, Timestamp: ref.Timestamp, Author: ref.Author}
}
