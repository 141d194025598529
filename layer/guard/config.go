package guard

import (
	"context"
	"time"

	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/tokens"
)

// defaultNoteAt is [Config.NoteAt] if it is 0.
const defaultNoteAt = 0.8

// LandingMode says what happens before a bound is reached.
type LandingMode string

const (
	// LandingSoft: the last call that fits under a bound goes without tools, so that the turn ends with an
	// answer. This is the default.
	LandingSoft LandingMode = "soft"
	// LandingHard: calls go with tools until a bound is reached.
	LandingHard LandingMode = "hard"
)

// UnpricedPolicy says what happens with calls of a model whose prices are not known.
type UnpricedPolicy string

const (
	// UnpricedWarn: the calls are counted without their cost, each total names the model, and the observer
	// is told once per model and session. This is the default.
	UnpricedWarn UnpricedPolicy = "warn"
	// UnpricedRefuse: such a call ends with an [*UnpricedError] before it is sent.
	UnpricedRefuse UnpricedPolicy = "refuse"
	// UnpricedAs: the calls cost what they would cost on the model [Config.PriceAs].
	UnpricedAs UnpricedPolicy = "as"
)

// StopStyle says how a turn that is stopped ends.
type StopStyle string

const (
	// AsError: the iterator of the run yields a [*StopError]. This is the default.
	AsError StopStyle = "error"
	// AsEvent: the agent yields an event whose ErrorCode is the kind of the stop, such as "cost_ceiling". It
	// is for servers that drop all events of a turn that ends with an error, as ADK's REST server does.
	AsEvent StopStyle = "event"
)

// Config is the configuration of a [Guard]. The zero value has no limits: what is used is counted and
// stored.
type Config struct {
	// Turn limits each turn: everything from a user's message to the end of the run, with the subtasks and
	// the summaries in between.
	Turn Limits
	// Session limits all turns of a session together, also across restarts.
	Session Limits
	// NoteAt is the share of a limit from which the model is told how much of it is left, once per turn, in the
	// newest tool result. 0 means 0.8, [compaction.Off] no note.
	NoteAt float64
	// Landing says what happens before a bound is reached. "" means LandingSoft.
	Landing LandingMode
	// Unpriced says what happens with a model without prices. "" means UnpricedWarn.
	Unpriced UnpricedPolicy
	// PriceAs is the model whose prices UnpricedAs uses.
	PriceAs string
	// Registry has the prices. nil means the built-in table.
	Registry *tokens.Registry
	// Watchdog looks for agents that repeat themselves. The zero value reports them to the observer.
	Watchdog watchdog.Config
	// OnStop says how a stopped turn ends. "" means AsError.
	OnStop StopStyle
	// Observer receives observations. If nil, there are none.
	Observer func(ctx context.Context, o Observation)
	// Now is the clock. nil means time.Now.
	Now func() time.Time
}
