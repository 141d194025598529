package preset

import (
	"fmt"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// compaction resolves when the session is compacted.
func (r *resolver) compaction() {
	s := &r.settings
	s.Threshold = r.threshold()
	s.BlockThreshold = r.blockThreshold()
	s.InvocationThreshold = find(r, "compaction.invocation_threshold", func(v *Values) *int { return v.InvocationThreshold }, 0, "")
	enabled := find(r, "compaction.enabled", func(v *Values) *bool { return v.Compaction }, true, "")
	if !enabled.Value {
		turnOff(r, "compaction.threshold", &s.Threshold, 0, shareText, enabled)
		turnOff(r, "compaction.invocation_threshold", &s.InvocationThreshold, compaction.Off, turnsText, enabled)
		return
	}
	if s.Threshold.Value >= s.BlockThreshold.Value {
		r.refuseThresholds()
	}
}

// threshold is that of the nearest source. Within one source, the entry for the tier of the model beats the
// plain one, and that beats the name of a pair.
func (r *resolver) threshold() Value[float64] {
	tier := r.settings.Tier
	for _, l := range r.layers {
		switch v := l.values; {
		case v.thresholdOf(tier) != nil:
			return Value[float64]{*v.thresholdOf(tier), l.source, l.called(optionOf("compaction.threshold_by_tier." + string(tier)))}
		case v.Threshold != nil:
			return Value[float64]{*v.Threshold, l.source, l.called(optionOf("compaction.threshold"))}
		case v.Thresholds != nil:
			return Value[float64]{pairFor(*v.Thresholds, tier).Compact, l.source, l.called(optionOf("compaction.thresholds"))}
		}
	}
	return Value[float64]{pairOfTier(tier).Compact, FromPreset, tierName(tier)}
}

func (r *resolver) blockThreshold() Value[float64] {
	tier := r.settings.Tier
	for _, l := range r.layers {
		switch v := l.values; {
		case v.BlockThreshold != nil:
			return Value[float64]{*v.BlockThreshold, l.source, l.called(optionOf("compaction.block_threshold"))}
		case v.Thresholds != nil:
			return Value[float64]{pairFor(*v.Thresholds, tier).Block, l.source, l.called(optionOf("compaction.thresholds"))}
		}
	}
	return Value[float64]{pairOfTier(tier).Block, FromPreset, tierName(tier)}
}

func pairFor(name string, tier tokens.Tier) thresholds {
	if pair, named := pairOf(name); named {
		return pair
	}
	return pairOfTier(tier)
}

func tierName(tier tokens.Tier) string {
	if tier == "" {
		return "no tier"
	}
	return "tier " + string(tier)
}

// refuseThresholds refuses a pair of which the first can never be reached. The error names the one that
// somebody has set.
func (r *resolver) refuseThresholds() {
	compact, block := r.settings.Threshold, r.settings.BlockThreshold
	const remedy = "compaction would never begin before the hard limit: lower compaction.threshold, or raise compaction.block_threshold"
	if compact.Source.explicit() || !block.Source.explicit() {
		refuse(r, "compaction.threshold", compact, fmt.Sprintf("compaction.block_threshold is %v (%s), and %s", block.Value, block.Origin(), remedy))
		return
	}
	refuse(r, "compaction.block_threshold", block, fmt.Sprintf("compaction.threshold is %v (%s), and %s", compact.Value, compact.Origin(), remedy))
}

// turnOff turns a trigger off because compaction is. One that a nearer source or another flag has turned on is refused.
// The other values of a block that is switched off stay where they are, for the day on which it is switched on: those
// are noted.
func turnOff[T int | float64](r *resolver, key string, v *Value[T], off T, text func(T) string, enabled Value[bool]) {
	because := fmt.Sprintf("compaction.enabled is false (%s)", enabled.Origin())
	switch near, switched := v.Source.nearness(), enabled.Source.nearness(); {
	case v.Value == off || !v.Source.explicit() || near > switched:
	case near < switched || v.Source == FromFlag:
		refuse(r, key, *v, because+", so it would have no effect: remove one of them")
		return
	default:
		r.note("%s is %s (%s), without effect: %s.", key, text(v.Value), v.Origin(), because)
	}
	*v = Value[T]{off, enabled.Source, enabled.Name}
}

// limits resolves the ceilings, and refuses those that cannot hold.
func (r *resolver) limits() {
	s := &r.settings
	s.MaxTurnCost = find(r, "agent.max_turn_cost_usd", func(v *Values) *tokens.Nano { return v.MaxTurnCost }, 0, "")
	s.MaxSessionCost = find(r, "agent.max_session_cost_usd", func(v *Values) *tokens.Nano { return v.MaxSessionCost }, 0, "")
	s.MaxToolIterations = find(r, "agent.max_tool_iterations", func(v *Values) *int { return v.MaxToolIterations }, 0, "")
	s.Landing = find(r, "agent.landing", func(v *Values) *guard.LandingMode { return v.Landing }, guard.LandingSoft, "")
	unpriced, reason := string(guard.UnpricedWarn), ""
	as, known := chargedAs[bare(s.Model.Value)]
	row, _ := r.in.Registry.Lookup(s.Model.Value)
	switch {
	case known && !row.Priced():
		unpriced, reason = as, "for "+s.Model.Value
	case s.Unattended.Value:
		unpriced, reason = string(guard.UnpricedRefuse), "for an unattended run"
	}
	s.Unpriced = find(r, "agent.unpriced", func(v *Values) *string { return v.Unpriced }, unpriced, reason)
	if s.Unpriced.Source == FromDefault && s.Unpriced.Value == as && known {
		r.note("%s has no price: it is charged as %s. Set agent.unpriced to choose otherwise, or give its price.", s.Model.Value, as)
	}
	r.requireCeiling()
	r.orderCeilings()
	r.requirePrices()
}

// requireCeiling refuses an unattended run without a ceiling of the session, unless that is meant.
func (r *resolver) requireCeiling() {
	s := &r.settings
	none := find(r, "agent.no_ceiling", func(v *Values) *bool { return v.NoCeiling }, false, "")
	ceiling := &s.MaxSessionCost
	switch {
	case none.Value && ceiling.Value > 0 && ceiling.Source == none.Source:
		refuse(r, "agent.no_ceiling", none, fmt.Sprintf("agent.max_session_cost_usd is %v (%s): remove one of them", ceiling.Value, ceiling.Origin()))
	case none.Value && none.Source.nearness() < ceiling.Source.nearness():
		*ceiling = Value[tokens.Nano]{0, none.Source, none.Name}
	case s.Unattended.Value && ceiling.Value == 0 && !none.Value:
		refuse(r, "agent.max_session_cost_usd", *ceiling, fmt.Sprintf("the run is unattended (%s), and nobody would stop it: set a ceiling, use the preset %s, or set agent.no_ceiling", s.Unattended.Origin(), LongRun))
	}
}

// orderCeilings reports a ceiling of a turn that the ceiling of the session makes useless.
func (r *resolver) orderCeilings() {
	turn, session := r.settings.MaxTurnCost, r.settings.MaxSessionCost
	if session.Value == 0 || turn.Value <= session.Value {
		return
	}
	if turn.Source.explicit() && turn.Source.nearness() <= session.Source.nearness() {
		refuse(r, "agent.max_turn_cost_usd", turn, fmt.Sprintf("agent.max_session_cost_usd is %v (%s), so it would never be reached: lower it, or raise the other", session.Value, session.Origin()))
		return
	}
	r.note("agent.max_turn_cost_usd is %v (%s), which is never reached: agent.max_session_cost_usd is %v (%s).", turn.Value, turn.Origin(), session.Value, session.Origin())
}

// requirePrices reports ceilings in USD over models without a price.
func (r *resolver) requirePrices() {
	s := &r.settings
	as := s.Unpriced.Value
	if as != string(guard.UnpricedWarn) && as != string(guard.UnpricedRefuse) {
		if row, _ := r.in.Registry.Lookup(as); !row.Priced() {
			refuse(r, "agent.unpriced", s.Unpriced, "that model has no price: use warn, refuse, or the name of a model that has one")
		}
		return
	}
	key, ceiling := "agent.max_session_cost_usd", s.MaxSessionCost
	if ceiling.Value == 0 || s.MaxTurnCost.Value > 0 && s.MaxTurnCost.Source.explicit() && !ceiling.Source.explicit() {
		key, ceiling = "agent.max_turn_cost_usd", s.MaxTurnCost
	}
	if ceiling.Value == 0 {
		return
	}
	used := []string{s.Model.Value}
	if s.AgenticTools.Value && s.SmallModel.Value != s.Model.Value {
		used = append(used, s.SmallModel.Value)
	}
	remedy := "give its price (--price in a chat, the registry in an app), choose another model"
	for i, model := range used {
		if i > 0 { // --price is that of the agent's model
			remedy = "give its price (the registry in an app), choose another agent.agentic_small_model"
		}
		row, _ := r.in.Registry.Lookup(model)
		switch {
		case row.Priced():
		case as == string(guard.UnpricedRefuse):
			refuse(r, key, ceiling, fmt.Sprintf("it cannot hold, because %s has no price and agent.unpriced is refuse (%s): %s, or set agent.unpriced to the name of a model at whose price it is charged", model, s.Unpriced.Origin(), remedy))
		case ceiling.Source.explicit() && !s.Unpriced.Source.explicit(): // who sets a ceiling relies on it
			refuse(r, key, ceiling, fmt.Sprintf("it cannot hold, because %s has no price: %s, set agent.unpriced to the name of a model at whose price it is charged, or to warn if the ceiling is for other models", model, remedy))
		default:
			r.note("%s is %v (%s), which cannot hold: %s has no price. Set agent.unpriced to the name of a model at whose price it is charged.", key, ceiling.Value, ceiling.Origin(), model)
		}
	}
}
