package preset

import (
	"fmt"
	"time"

	"github.com/adk-go-ext/longsession/tokens"
)

// models resolves which models are used, and the tier of the agent's own.
func (r *resolver) models() {
	s := &r.settings
	s.Provider = find(r, "agent.provider", func(v *Values) *Provider { return v.Provider }, "", "")
	s.Model = find(r, "agent.model", func(v *Values) *string { return v.Model }, "", "")
	r.reconcile()
	if s.Model.Value == "" {
		r.chooseModel()
	} else if s.Provider.Value == "" {
		s.Provider = Value[Provider]{ProviderOf(s.Model.Value), s.Model.Source, s.Model.Name}
	}
	r.replaceRetired("agent.model", &s.Model)
	r.describeModel()
	r.chooseSmallModel()
}

// reconcile decides between a provider and a model of another one: the nearer source counts.
func (r *resolver) reconcile() {
	p, m := &r.settings.Provider, &r.settings.Model
	if p.Value == "" || m.Value == "" || p.Value.serves(ProviderOf(m.Value)) {
		return
	}
	switch {
	case p.Source == m.Source:
		refuse(r, "agent.provider", *p, fmt.Sprintf("agent.model is %s (%s), which is a model of %s: change one of them", m.Value, m.Origin(), ProviderOf(m.Value)))
	case p.Source.nearness() < m.Source.nearness():
		*m = Value[string]{}
	default:
		*p = Value[Provider]{ProviderOf(m.Value), m.Source, m.Name}
	}
}

// chooseModel takes the model of the task's tier, or of the mid tier.
func (r *resolver) chooseModel() {
	s := &r.settings
	if s.Provider.Value == "" {
		s.Provider = Value[Provider]{Gemini, FromDefault, ""}
	}
	if c, given := classOf(s.Task.Value); given {
		s.Model = Value[string]{modelOf(s.Provider.Value, c.tier), FromTask, string(c.name)}
		return
	}
	s.Model = Value[string]{modelOf(s.Provider.Value, tokens.TierMid), FromDefault, "tier mid"}
}

// family is the provider whose models are suggested.
func (r *resolver) family() Provider {
	if of := ProviderOf(r.settings.Model.Value); of != "" {
		return of
	}
	return r.settings.Provider.Value
}

// retirement returns when a model is turned off where it is served, and whether it is already.
func (r *resolver) retirement(model string) (of retirement, over, known bool) {
	of, known = retirementOf(model)
	if !known || r.settings.Provider.Value == Vertex {
		return retirement{}, false, false
	}
	today := asOf
	if !r.in.Today.IsZero() {
		today = r.in.Today.Format(time.DateOnly)
	}
	return of, today >= of.Day, true
}

// current returns the model, or what is used instead of a retired one.
func (r *resolver) current(model string) string {
	if of, over, _ := r.retirement(model); over {
		return of.Instead
	}
	return model
}

// ofApp reports whether the app has the model in its hands. It calls that one whatever the settings say, and may know
// more than the table, such as a server that still has it.
func (r *resolver) ofApp(v Value[string]) bool {
	own := r.in.App.Model
	return v.Source == FromApp || own != nil && bare(*own) == bare(v.Value)
}

// replaceRetired takes another model for a retired one, and says so. One of the app stays, with a warning. A day that is
// still to come is announced.
func (r *resolver) replaceRetired(key string, v *Value[string]) {
	of, over, known := r.retirement(v.Value)
	switch {
	case over && r.ofApp(*v):
		r.note("%s is %s (%s), which its provider turned off on %s. It stays, because the app has chosen it: if calls fail, change the app to %s.", key, v.Value, v.Origin(), of.Day, of.Instead)
	case known && r.ofApp(*v):
		r.note("%s is %s (%s), which its provider will turn off on %s: change the app to %s by then.", key, v.Value, v.Origin(), of.Day, of.Instead)
	case over:
		r.note("%s is %s (%s), which was turned off on %s: %s is used instead.", key, v.Value, v.Origin(), of.Day, of.Instead)
		v.Value = of.Instead
	case known:
		r.note("%s is %s (%s), which will be turned off on %s. From then on %s is used instead.", key, v.Value, v.Origin(), of.Day, of.Instead)
	}
}

// describeModel looks the agent's model up, and notes what is unknown about it.
func (r *resolver) describeModel() {
	s := &r.settings
	row, known := r.in.Registry.Lookup(s.Model.Value)
	s.Tier = row.Tier
	if known && s.Tier != "" {
		return
	}
	window, sure := r.in.Registry.Window(s.Model.Value)
	assumed := ""
	if !sure {
		assumed = fmt.Sprintf(", and a context window of %d tokens is assumed", window)
	}
	r.note("agent.model is %s (%s), whose tier is not known: the thresholds of models without a tier are used instead, %v and %v%s.",
		s.Model.Value, s.Model.Origin(), unclassified.Compact, unclassified.Block, assumed)
}

// chooseSmallModel resolves the model of agentic tools.
func (r *resolver) chooseSmallModel() {
	s := &r.settings
	s.AgenticTools = find(r, "agent.agentic_tools", func(v *Values) *bool { return v.AgenticTools }, false, "")
	small, reason := modelOf(r.family(), tokens.TierSmall), "tier small"
	if small == "" {
		small, reason = s.Model.Value, "the agent's own model"
	}
	s.SmallModel = find(r, "agent.agentic_small_model", func(v *Values) *string { return v.SmallModel }, small, reason)
	if s.SmallModel.Source.explicit() && !s.AgenticTools.Value && s.SmallModel.Source.nearness() <= s.AgenticTools.Source.nearness() {
		refuse(r, "agent.agentic_small_model", s.SmallModel, fmt.Sprintf("agent.agentic_tools is false (%s), so no tool would use it: turn them on, or leave it out", s.AgenticTools.Origin()))
	}
	if !s.AgenticTools.Value {
		s.SmallModel.Value = r.current(s.SmallModel.Value) // not used, so there is nothing to say
		return
	}
	r.replaceRetired("agent.agentic_small_model", &s.SmallModel)
	if s.SmallModel.Value == s.Model.Value && s.SmallModel.Source == FromDefault {
		r.note("No small model of the provider of %s is known: agentic tools use %s itself. Set agent.agentic_small_model to save money.", s.Model.Value, s.Model.Value)
	}
}

func (r *resolver) note(format string, args ...any) {
	r.settings.Notes = append(r.settings.Notes, fmt.Sprintf(format, args...))
}
