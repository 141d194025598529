package guard

import (
	"errors"
	"fmt"
)

// ErrStopped marks every error with which a guard refuses a model call.
var ErrStopped = errors.New("stopped by the guard")

// Kind is the kind of limit that a [StopError] is about.
type Kind string

const (
	CostCeiling Kind = "cost_ceiling" // Limits.USD
	ModelCalls  Kind = "model_calls"  // Limits.ModelCalls
	TokenLimit  Kind = "tokens"       // Limits.Tokens
	WallTime    Kind = "wall_time"    // Limits.Wall
	Watchdog    Kind = "watchdog"     // the agent repeats itself
)

// Scope is what a limit applies to.
type Scope string

const (
	ScopeTurn    Scope = "turn"
	ScopeSession Scope = "session"
	ScopeSubtask Scope = "subtask"
)

// StopError is the error of a model call that was refused because a bound is reached, and what a turn says that has
// ended with its last call ([StopOf]). errors.Is finds [ErrStopped] in it.
type StopError struct {
	Kind  Kind
	Scope Scope
	// Spent and Bound are what was used and the bound, as texts with their unit: "$0.5012", "200 model
	// calls", "1,000,000 tokens", "10m0s". For the watchdog, Spent is the alert and Bound is "".
	Spent, Bound string
	// Landed: the bound is not reached, but another call might exceed it, and the last one that fits was made
	// without tools ([LandingSoft]).
	Landed bool
	// Retryable is always false: a retry ends in the same way.
	Retryable bool
}

// Error names the kind, the scope and both amounts.
func (e *StopError) Error() string {
	if e.Kind == Watchdog {
		return fmt.Sprintf("%v: %s: %s", ErrStopped, e.Kind, e.Spent)
	}
	text := fmt.Sprintf("%v: %s: the %s has used %s of %s", ErrStopped, e.Kind, e.Scope, e.Spent, e.Bound)
	if e.Landed {
		text += ", and another call might exceed that"
	}
	return text
}

// Unwrap returns ErrStopped.
func (e *StopError) Unwrap() error { return ErrStopped }

// UnpricedError is the error of a call of a model without prices under [UnpricedRefuse]. errors.Is finds
// [ErrStopped] in it.
type UnpricedError struct {
	// Model is the model's name.
	Model string
}

// Error names the model and the remedies.
func (e *UnpricedError) Error() string {
	return fmt.Sprintf("%v: the prices of the model %.80q are not known: add it to Config.Registry, or set Config.Unpriced to UnpricedAs or UnpricedWarn", ErrStopped, e.Model)
}

// Unwrap returns ErrStopped.
func (e *UnpricedError) Unwrap() error { return ErrStopped }
