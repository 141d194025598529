package config

import (
	"errors"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/adk-go-ext/longsession/preset"
)

// Values are what one source sets. The zero value sets nothing. A copy shares nothing with the original once
// [Values.Set] was called on it.
type Values struct {
	// Preset are the values of package preset. An app may set them directly.
	Preset preset.Values
	own    map[string]any    // by the name of the key
	texts  map[string]string // what was set, by the name that it was set by
	places map[string]string // what the source calls a value, by the same name
	set    map[string]string // the name whose value counts, by the key that it is stored under
}

// Set sets a value by the name of its key, from text as a flag has it. Of two names of one value, the stricter value
// counts, and [Resolve] notes the other one. The error is a [*preset.SettingError] without a source.
func (v *Values) Set(name, text string) error {
	o, known := find(name)
	if !known {
		return &preset.SettingError{Key: name, Value: text, Reason: "there is no such key" + didYouMean(name)}
	}
	stored, _ := find(o.stored())
	if _, reason := stored.read(&preset.Values{}, text); reason != "" {
		return &preset.SettingError{Key: name, Value: text, Reason: reason}
	}
	v.texts, v.places, v.set = maps.Clone(v.texts), maps.Clone(v.places), maps.Clone(v.set)
	put(&v.texts, name, text)
	put(&v.places, name, name)
	first := v.strictest(stored.Name, name)
	put(&v.set, stored.Name, first)
	if value, _ := stored.read(&v.Preset, v.texts[first]); value != nil {
		v.own = maps.Clone(v.own)
		put(&v.own, stored.Name, value)
	}
	return nil
}

// read sets a value of package preset, or returns one of this package.
func (o *option) read(to *preset.Values, text string) (value any, reason string) {
	if o.parse != nil {
		return o.parse(strings.TrimSpace(text))
	}
	if err := to.Set(o.Name, text); err != nil {
		return nil, reasonOf(err)
	}
	return nil, ""
}

// strictest returns the name of a key whose value counts, name if all are alike. Every key with several names is a limit
// or a threshold that is stricter if it is lower, and 0 is off or takes no part.
func (v *Values) strictest(key, name string) string {
	for i := range options {
		if other := &options[i]; other.stored() == key && strictness(v.texts[other.Name]) < strictness(v.texts[name]) {
			name = other.Name
		}
	}
	return name
}

// strictness is lower for a stricter value. What was not set and what is no number is not strict.
func strictness(text string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || n == 0 {
		return math.Inf(1)
	}
	return n
}

// name returns what the source calls the value of a key. Values that an app has set directly are called by the key.
func (v *Values) name(key string) string {
	first, set := v.set[key]
	if !set {
		return key
	}
	return v.places[first]
}

// place returns where a name was set, without the name.
func (v *Values) place(name string) string { return strings.TrimSuffix(v.places[name], " "+name) }

func put[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}

func reasonOf(err error) string {
	var refused *preset.SettingError
	if errors.As(err, &refused) {
		return refused.Reason
	}
	return err.Error()
}

// Environment reads the variables of all keys. lookup is os.LookupEnv. A variable that is set to nothing is unset. The
// error joins a [*preset.SettingError] for each value that is refused.
func Environment(lookup func(name string) (string, bool)) (Values, error) {
	var v Values
	var problems []error
	for _, k := range Keys() {
		name := k.Environment()
		if name == "" {
			continue
		}
		text, found := lookup(name)
		if !found || text == "" {
			continue
		}
		if err := v.Set(k.Name, text); err != nil {
			problems = append(problems, &preset.SettingError{Key: k.Name, Value: text, Source: preset.FromEnvironment, Name: name, Reason: reasonOf(err)})
			continue
		}
		v.places[k.Name] = name
	}
	return v, errors.Join(problems...)
}
