package replaycmd

import (
	"context"
	"log/slog"
	"reflect"
	"slices"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// Names of the ways in JSON. Those of layers are the values of --layers.
const (
	wayNothing = "nothing" // no compaction; it is in every report
	wayPrice   = "price"   // the library's default
	wayTurns   = "turns"   // the sliding window of ADR-009
	wayFlags   = "flags"   // the policy of the flags, if it is none of the others
	wayRecall  = recallOnly
	wayLedger  = "ledger" // the default without exact values, to see what these cost
)

// way is one way of keeping conversations short that a recommendation compares.
type way struct {
	replay.Policy
	key string
	// ofFlags reports that it is the policy of the flags, whose report serves.
	ofFlags bool
}

// addWays adds what a recommendation compares: the default first, and what differs from it in one thing. The extractive
// summarizer writes all summaries, so that no model is called. A way that contradicts the other flags is left out. Where a model
// writes the summaries, nothing is recommended: what its own cost and keep cannot be compared with those.
func (p *plan) addWays() {
	if p.isGrid() || p.asksModel() || p.noRecommendation || !p.model.Priced() {
		return
	}
	base, standard := p.flags.policy, defaultPolicy()
	base.summarizer, base.noLedger = standard.summarizer, standard.noLedger
	base.layers.which = noLayers
	base.cfg.InvocationThreshold, base.cfg.OverlapSize = standard.cfg.InvocationThreshold, standard.cfg.OverlapSize
	base.cfg.SafetyRatio, base.cfg.TokenThreshold = standard.cfg.SafetyRatio, standard.cfg.TokenThreshold
	p.addWay(wayPrice, base)
	if len(p.ways) == 0 {
		return // nothing to compare with
	}
	turns := base
	turns.cfg.InvocationThreshold = compaction.DefaultConfig().InvocationThreshold // and the safety ratio that goes with it
	p.addWay(wayTurns, turns)
	for _, layers := range []string{toolResults, toolSearch, allLayers, wayRecall} {
		layered := base
		layered.layers.which = layers
		p.addWay(layers, layered)
	}
	bare := base
	bare.noLedger = true
	p.addWay(wayLedger, bare)
	// An app can compact as configured, but not where a recording happens to say so.
	if !slices.ContainsFunc(p.ways, func(w way) bool { return w.ofFlags }) && p.policies[0].When == replay.AsConfigured {
		p.ways = append(p.ways, way{Policy: p.policies[0].Policy, key: wayFlags, ofFlags: true})
	}
}

func (p *plan) addWay(key string, policy policy) {
	built, err := policy.build(key, nil, false)
	if err != nil {
		return
	}
	built.Config.Logger = slog.New(slog.DiscardHandler) // what it would say is about a run that nobody asked for
	p.ways = append(p.ways, way{Policy: built, key: key, ofFlags: !p.mirror && reflect.DeepEqual(policy, p.flags.policy)})
}

// applies reports whether a way can differ from the default in a conversation, as far as one can tell before it is played.
func (w way) applies(c *conversation.Conversation) bool {
	calls := slices.ContainsFunc(c.Turns, func(t conversation.Turn) bool {
		return slices.ContainsFunc(t.Steps, func(s conversation.Step) bool { return len(s.Responses) > 0 })
	})
	switch w.key {
	case toolResults:
		return calls
	case toolSearch:
		return len(c.Tools) > 0
	case allLayers:
		return calls && len(c.Tools) > 0 // else one of the two is the same
	}
	return true
}

// late reports whether a way differs from the default only once there is a summary.
func (w way) late() bool { return w.key == wayRecall || w.key == wayLedger }

// playWays fills in the reports of a conversation under each way. own are those of the policies of the flags, and early
// those of earlyWays. What cannot differ from the default is not played, and has its report.
func (r *replaying) playWays(ctx context.Context, c *conversation.Conversation, own, early []*replay.Report) ([]*replay.Report, error) {
	ways := r.plan.ways
	if len(ways) == 0 {
		return nil, nil
	}
	all := make([]*replay.Report, len(ways))
	for i, w := range ways {
		switch {
		case w.ofFlags:
			all[i] = own[0]
		case r.early(w, c):
			all[i], early = early[0], early[1:]
		}
	}
	standard := all[0]
	if len(standard.Compactions) > 0 {
		var policies []replay.Policy
		for _, w := range ways {
			if w.late() && !w.ofFlags {
				policies = append(policies, w.Policy)
			}
		}
		late, err := r.compare(ctx, c, policies, r.plan.options(r.progress.played))
		if err != nil {
			return nil, err
		}
		for i, w := range ways {
			if w.late() && !w.ofFlags {
				all[i], late = late[0], late[1:]
			}
		}
	}
	for i, w := range ways {
		if all[i] == nil {
			same := *standard
			same.Policy = w.Name
			all[i] = &same
		}
	}
	return all, nil
}

// early reports whether a way is played together with the policies of the flags.
func (r *replaying) early(w way, c *conversation.Conversation) bool {
	return !w.ofFlags && !w.late() && w.applies(c)
}

// earlyWays are the policies that are played together with those of the flags, which shares the run without compaction.
func (r *replaying) earlyWays(c *conversation.Conversation) (policies []replay.Policy) {
	for _, w := range r.plan.ways {
		if r.early(w, c) {
			policies = append(policies, w.Policy)
		}
	}
	return policies
}

// compared is the result of one way over all conversations.
type compared struct {
	replay.Total
	// applied is the number of conversations in which it could differ from the default.
	applied int
}

// addWays adds the reports of a conversation under each way.
func (s *summary) addWays(p *plan, c *conversation.Conversation, reports []*replay.Report) {
	for i, r := range reports {
		s.ways[i].Add(r)
		if p.ways[i].applies(c) {
			s.ways[i].applied++
		}
	}
	if len(reports) == 0 {
		return
	}
	for _, call := range reports[0].Calls {
		if call.Without > reports[0].Limit {
			s.overWithout++
		}
	}
}
