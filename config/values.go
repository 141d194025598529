package config

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/adk-go-ext/longsession/preset"
)

// Values are what one source sets. The zero value sets nothing. A copy shares nothing with the original once
// [Values.Set] was called on it.
type Values struct {
	// Preset are the values of package preset. An app may set them directly.
	Preset preset.Values
	own    map[string]any    // by the name of the key
	names  map[string]string // what the source calls a value, by the key that it is stored under
	set    map[string]string // the name by which a value was set, by the key that it is stored under
}

// Set sets a value by the name of its key, from text as a flag has it. The error is a [*preset.ConfigError] without a
// source.
func (v *Values) Set(name, text string) error {
	o, known := find(name)
	if !known {
		return &preset.ConfigError{Key: name, Value: text, Reason: "there is no such key" + didYouMean(name)}
	}
	stored := o
	if o.SameAs != "" {
		stored, _ = find(o.SameAs)
	}
	if before, set := v.set[stored.Name]; set && before != name {
		at := ""
		if place := strings.TrimSuffix(v.names[stored.Name], " "+before); place != before {
			at = " (" + place + ")"
		}
		return &preset.ConfigError{Key: name, Value: text, Reason: fmt.Sprintf("%s is set, too%s, and both mean the same: remove one of them", before, at)}
	}
	if stored.parse == nil {
		if err := v.Preset.Set(stored.Name, text); err != nil {
			return &preset.ConfigError{Key: name, Value: text, Reason: reasonOf(err)}
		}
	} else {
		value, reason := stored.parse(strings.TrimSpace(text))
		if reason != "" {
			return &preset.ConfigError{Key: name, Value: text, Reason: reason}
		}
		v.own = maps.Clone(v.own)
		put(&v.own, stored.Name, value)
	}
	v.names = maps.Clone(v.names)
	put(&v.names, stored.Name, name)
	v.set = maps.Clone(v.set)
	put(&v.set, stored.Name, name)
	return nil
}

func put[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}

func reasonOf(err error) string {
	var refused *preset.ConfigError
	if errors.As(err, &refused) {
		return refused.Reason
	}
	return err.Error()
}

// Environment reads the variables of all keys. lookup is os.LookupEnv. A variable that is set to nothing is unset. The
// error joins a [*preset.ConfigError] for each value that is refused.
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
			problems = append(problems, &preset.ConfigError{Key: k.Name, Value: text, Source: preset.FromEnvironment, Name: name, Reason: reasonOf(err)})
			continue
		}
		v.names[k.Name] = name
	}
	return v, errors.Join(problems...)
}
