package preset

import (
	"time"

	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/tokens"
)

// In is what settings are resolved from.
type In struct {
	// Flag, Environment, File and App are what these sources set. The flags are those that were given, not
	// those that have a default.
	Flag, Environment, File, App Values
	// OneShot is a run of one prompt (-p), and Piped one whose messages come from a pipe. Both are
	// unattended unless a source says otherwise.
	OneShot, Piped bool
	// Yolo is a run that asks for nothing. Like one prompt, it skips the small-tier guard.
	Yolo bool
	// Today decides which models are retired. Zero is the day of the tables, 2026-11-22.
	Today time.Time
	// Registry has the tiers, windows and prices of models. If nil, the built-in table of package tokens is
	// used.
	Registry *tokens.Registry
}

// Resolve resolves settings. The error joins a [*SettingError] for each value that is refused, and a
// [*SmallTierError] if the small-tier guard refuses the model.
func Resolve(in In) (Settings, error) {
	r := &resolver{in: in, layers: []layer{
		{FromFlag, &in.Flag, ""}, {FromEnvironment, &in.Environment, ""}, {FromFile, &in.File, ""}, {FromApp, &in.App, ""},
	}}
	r.check()
	if len(r.problems) > 0 {
		return Settings{}, join(r.problems)
	}
	r.posture()
	r.models()
	r.compaction()
	r.limits()
	r.guardSmallTier()
	if len(r.problems) > 0 {
		return Settings{}, join(r.problems)
	}
	return r.settings, nil
}

// layer is what one source sets.
type layer struct {
	source Source
	values *Values
	name   string // of a task class or a preset; other sources have a name for each key
}

// called returns what the source calls a key.
func (l layer) called(o *option) string {
	switch l.source {
	case FromFlag:
		return "--" + o.Flag
	case FromEnvironment:
		return o.Environment()
	case FromFile, FromApp:
		return o.Name
	}
	return l.name
}

// resolver makes settings, step by step. A later step may use what an earlier one resolved.
type resolver struct {
	in       In
	layers   []layer // nearest first
	settings Settings
	problems []error
}

func optionOf(key string) *option {
	for i := range options {
		if options[i].Name == key {
			return &options[i]
		}
	}
	panic("preset: no key " + key)
}

// find returns the value of the nearest source that sets it, or one with the default and its reason.
func find[T any](r *resolver, key string, at func(*Values) *T, otherwise T, reason string) Value[T] {
	for _, l := range r.layers {
		if p := at(l.values); p != nil {
			return Value[T]{*p, l.source, l.called(optionOf(key))}
		}
	}
	return Value[T]{otherwise, FromDefault, reason}
}

// refuse adds a problem with a value.
func refuse[T any](r *resolver, key string, v Value[T], reason string) {
	r.problems = append(r.problems, &SettingError{key, v.Value, v.Source, v.Name, reason})
}

// check refuses values that are wrong by themselves, in every source, used or not.
func (r *resolver) check() {
	for _, l := range r.layers {
		for i := range options {
			o := &options[i]
			if value, set, reason := o.given(l.values); set && reason != "" {
				r.problems = append(r.problems, &SettingError{o.Name, value, l.source, l.called(o), reason})
			}
		}
	}
}

// posture resolves what the session is for, and adds the layers that follow from it.
func (r *resolver) posture() {
	s := &r.settings
	s.Preset = find(r, "session.preset", func(v *Values) *string { return v.Preset }, "", "")
	s.Task = find(r, "session.task_class", func(v *Values) *Task { return v.Task }, "", "")
	alone, reason := false, ""
	switch {
	case r.in.OneShot:
		alone, reason = true, "for one prompt"
	case r.in.Piped:
		alone, reason = true, "for input from a pipe"
	}
	s.Unattended = find(r, "session.unattended", func(v *Values) *bool { return v.Unattended }, alone, reason)
	if c, given := classOf(s.Task.Value); given {
		values := c.values()
		r.layers = append(r.layers, layer{FromTask, &values, string(c.name)})
	}
	if s.Preset.Value == LongRun {
		values := longRun(s.Unattended.Value)
		r.layers = append(r.layers, layer{FromPreset, &values, LongRun})
	}
	s.Ask = find(r, "session.ask", func(v *Values) *Ask { return v.Ask }, AskAuto, "")
	s.SmallTierParent = find(r, "safety.small_tier_parent", func(v *Values) *SmallTier { return v.SmallTierParent }, SmallTierWarn, "")
	s.Checkpoint = find(r, "session.checkpoint", func(v *Values) *contexttool.Mode { return v.Checkpoint }, contexttool.ByOperator, "")
	s.CompactContext = find(r, "session.compact_context", func(v *Values) *bool { return v.CompactContext }, false, "")
	onLoop, reason := watchdog.Warn, ""
	if s.Unattended.Value {
		onLoop, reason = watchdog.Stop, "for an unattended run"
	}
	s.Watchdog = find(r, "safety.watchdog", func(v *Values) *watchdog.Mode { return v.Watchdog }, onLoop, reason)
}
