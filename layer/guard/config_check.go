package guard

import (
	"errors"
	"fmt"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/tokens"
)

// ConfigError is one value that is refused. [New] reports all of them at once, joined: errors.As finds the
// first.
type ConfigError struct {
	Field  string // such as "Turn.USD"
	Value  any    // as it was given
	Reason string // what is wrong with it, and what to do
}

// Error names the field, its value and what is wrong.
func (e *ConfigError) Error() string {
	value := fmt.Sprintf("%.60s", fmt.Sprint(e.Value))
	if text, ok := e.Value.(string); ok {
		value = fmt.Sprintf("%.40q", text)
	}
	return fmt.Sprintf("guard: %s is %s: %s", e.Field, value, e.Reason)
}

// maxUSD is the highest limit in money. A higher one is a mistake in the unit.
const maxUSD = 1_000_000 * tokens.Dollar

// minUSD is the lowest limit in money, and the lowest sum that a reset adds. A bare number such as 1 is below it: it
// was meant as dollars or cents.
const minUSD = tokens.Dollar / 10_000

// tooSmall says what to do with an amount below minUSD.
const tooSmall = "it is less than a hundredth of a cent: a bare number is one of nano-dollars; write guard.Dollars(0.10) for ten cents"

// check returns the joined problems of a config.
func (c *Config) check() error {
	problems := []error{checkLimits("Turn", c.Turn), checkLimits("Session", c.Session)}
	refuse := func(field string, value any, format string, args ...any) {
		problems = append(problems, &ConfigError{field, value, fmt.Sprintf(format, args...)})
	}
	if !(c.NoteAt == Off || c.NoteAt >= 0 && c.NoteAt <= 1) {
		refuse("NoteAt", c.NoteAt, "use a share of a limit from 0 to 1, 0 for %v, or Off (%d)", DefaultNoteAt, Off)
	}
	if c.Landing != "" && c.Landing != LandingSoft && c.Landing != LandingHard {
		refuse("Landing", string(c.Landing), "there are %q and %q", LandingSoft, LandingHard)
	}
	if c.OnStop != "" && c.OnStop != AsError && c.OnStop != AsEvent {
		refuse("OnStop", string(c.OnStop), "there are %q and %q", AsError, AsEvent)
	}
	switch c.Unpriced {
	case "", UnpricedWarn, UnpricedRefuse:
		if c.PriceAs != "" {
			refuse("PriceAs", c.PriceAs, "it has no effect unless Unpriced is UnpricedAs")
		}
	case UnpricedAs:
		if m, known := c.Registry.Lookup(c.PriceAs); !known || !m.Priced() {
			refuse("PriceAs", c.PriceAs, "its prices are not known: name a model of the registry that has prices")
		}
	default:
		refuse("Unpriced", string(c.Unpriced), "there are %q, %q and %q", UnpricedWarn, UnpricedRefuse, UnpricedAs)
	}
	if c.Observer != nil && adk.IsNil(c.Observer) {
		refuse("Observer", "a nil pointer", "leave the field out, or make the observer first")
	}
	if err := c.Watchdog.Check(); err != nil {
		problems = append(problems, fmt.Errorf("guard: Watchdog: %w", err))
	}
	return errors.Join(problems...)
}

// checkLimits returns the joined problems of limits.
func checkLimits(field string, l Limits) error {
	var problems []error
	refuse := func(name string, bad bool, value any, reason string) {
		if bad {
			problems = append(problems, &ConfigError{field + "." + name, value, reason})
		}
	}
	const negative = "it must not be negative; 0 is no limit"
	refuse("USD", l.USD < 0, l.USD, negative)
	refuse("USD", l.USD > 0 && l.USD < minUSD, int64(l.USD), tooSmall)
	refuse("USD", l.USD > maxUSD, l.USD, "it is above a million dollars: write guard.Dollars(0.10) for ten cents")
	refuse("ModelCalls", l.ModelCalls < 0, l.ModelCalls, negative)
	refuse("Tokens", l.Tokens < 0, l.Tokens, negative)
	refuse("Wall", l.Wall < 0, l.Wall, negative)
	return errors.Join(problems...)
}
