package preset

import (
	"errors"
	"fmt"

	"github.com/adk-go-ext/longsession/internal/secrets"
	"github.com/adk-go-ext/longsession/tokens"
)

// Source is where a value comes from.
type Source string

// The sources, nearest first.
const (
	FromFlag        Source = "flag"
	FromEnvironment Source = "environment"
	FromFile        Source = "file"
	FromApp         Source = "app" // what the program itself sets
	FromTask        Source = "task class"
	FromPreset      Source = "preset"
	FromDefault     Source = "default"
)

// Value is a resolved value and its origin.
type Value[T any] struct {
	Value  T
	Source Source
	// Name is what set it, as the source calls it: "--threshold", "LONGSESSION_TASK",
	// "compaction.threshold_by_tier.small", "debug" for a task class, "longrun" or "tier mid" for a preset.
	// For a default it is the reason, or empty.
	Name string
}

// Origin is the source and the name: "flag --threshold".
func (v Value[T]) Origin() string { return origin(v.Source, v.Name) }

func origin(source Source, name string) string {
	if name == "" {
		return string(source)
	}
	return string(source) + " " + name
}

// nearness is smaller for a nearer source.
func (s Source) nearness() int {
	for i, one := range []Source{FromFlag, FromEnvironment, FromFile, FromApp, FromTask, FromPreset} {
		if s == one {
			return i
		}
	}
	return len(options)
}

// explicit reports whether somebody has set the value itself, and not a preset or a task class that has it.
func (s Source) explicit() bool { return s.nearness() <= FromApp.nearness() }

// SettingError is one value that is refused. It is no ConfigError, because people set it and not code: it names the flag,
// the variable or the key that has to be changed.
type SettingError struct {
	Key    string // as [Keys] names it
	Value  any    // as it was given
	Source Source // "" if [Values.Set] refused it
	Name   string // in the source
	Reason string // what is wrong with it, and what to do
}

// Error names the key, the value, the source and what to do. A password in an address is left out.
func (e *SettingError) Error() string {
	value := fmt.Sprint(e.Value)
	switch v := e.Value.(type) {
	case string:
		value = fmt.Sprintf("%.60q", secrets.Shown(v))
	case tokens.Nano:
		if v == 0 {
			value = "off" // as all ceilings are at 0
		}
	}
	from := ""
	if e.Source != "" {
		from = " (" + origin(e.Source, e.Name) + ")"
	}
	return fmt.Sprintf("%s is %s%s: %s", e.Key, value, from, e.Reason)
}

// join returns nil for no problems.
func join(problems []error) error {
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("settings: %w", errors.Join(problems...))
}
