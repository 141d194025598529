package guard

import (
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/tokens"
)

// maxUSD is the highest limit in money. A higher one is a mistake in the unit.
const maxUSD = 1_000_000 * tokens.Dollar

// minUSD is the lowest limit in money, and the lowest sum that a reset adds. A bare number such as 1 is below it: it
// was meant as dollars or cents.
const minUSD = tokens.Dollar / 10_000

// tooSmall says what to do with an amount below minUSD.
const tooSmall = "it is less than a hundredth of a cent: a bare number is one of nano-dollars; write guard.Dollars(0.10) for ten cents"

// check returns the joined problems of a config.
func (c *Config) check() error {
	var p configerr.Problems
	checkLimits(&p, "Turn", c.Turn)
	checkLimits(&p, "Session", c.Session)
	if !(c.NoteAt == compaction.Off || c.NoteAt >= 0 && c.NoteAt <= 1) {
		p.Refuse("NoteAt", c.NoteAt, "use a share of a limit from 0 to 1, 0 for %v, or Off (%d)", defaultNoteAt, compaction.Off)
	}
	if c.Landing != "" && c.Landing != LandingSoft && c.Landing != LandingHard {
		p.Refuse("Landing", c.Landing, "there are %q and %q", LandingSoft, LandingHard)
	}
	if c.OnStop != "" && c.OnStop != AsError && c.OnStop != AsEvent {
		p.Refuse("OnStop", c.OnStop, "there are %q and %q", AsError, AsEvent)
	}
	switch c.Unpriced {
	case "", UnpricedWarn, UnpricedRefuse:
		if c.PriceAs != "" {
			p.Refuse("PriceAs", c.PriceAs, "it has no effect unless Unpriced is UnpricedAs")
		}
	case UnpricedAs:
		if m, known := c.Registry.Lookup(c.PriceAs); !known || !m.Priced() {
			p.Refuse("PriceAs", c.PriceAs, "its prices are not known: name a model of the registry that has prices")
		}
	default:
		p.Refuse("Unpriced", c.Unpriced, "there are %q, %q and %q", UnpricedWarn, UnpricedRefuse, UnpricedAs)
	}
	p.Within("Watchdog", c.Watchdog.Check())
	return p.Join("guard config")
}

// checkLimits refuses limits that are negative, or in the wrong unit.
func checkLimits(p *configerr.Problems, field string, l Limits) {
	refuse := func(name string, bad bool, value any, reason string) {
		if bad {
			p.Refuse(field+"."+name, value, "%s", reason)
		}
	}
	const negative = "it must not be negative; 0 is no limit"
	refuse("USD", l.USD < 0, l.USD, negative)
	refuse("USD", l.USD > 0 && l.USD < minUSD, int64(l.USD), tooSmall)
	refuse("USD", l.USD > maxUSD, l.USD, "it is above a million dollars: write guard.Dollars(0.10) for ten cents")
	refuse("ModelCalls", l.ModelCalls < 0, l.ModelCalls, negative)
	refuse("Tokens", l.Tokens < 0, l.Tokens, negative)
	refuse("Wall", l.Wall < 0, l.Wall, negative)
}
