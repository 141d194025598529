package adk

import (
	"maps"
	"strings"

	"google.golang.org/adk/session"
)

// IsTemp reports whether a state key lives for its invocation only. Session services pass such keys
// to the running turn and store none of them.
func IsTemp(key string) bool { return strings.HasPrefix(key, session.KeyPrefixTemp) }

// WithoutTemp returns the event as a session service keeps it: ev itself, or a copy without the
// temporary keys of its state delta. It mirrors trimTempDeltaState in session/inmemory.go. The copy
// shares everything but the delta with ev.
func WithoutTemp(ev *session.Event) *session.Event {
	for key := range ev.Actions.StateDelta {
		if IsTemp(key) {
			kept := *ev
			kept.Actions.StateDelta = maps.Clone(ev.Actions.StateDelta)
			maps.DeleteFunc(kept.Actions.StateDelta, func(key string, _ any) bool { return IsTemp(key) })
			return &kept
		}
	}
	return ev
}
