package watchdog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/adk-go-ext/longsession/internal/configerr"
)

// Never turns a threshold of [Config] off.
const Never = -1

// Mode is what happens when a pattern is found.
type Mode string

// The modes. The zero value means Warn.
const (
	// Warn reports patterns, and does no more.
	Warn Mode = "warn"
	// Note tells the model about a critical pattern, too, in the newest tool result.
	Note Mode = "note"
	// Stop tells the model as Note does, and ends the run when a critical pattern goes on after that for
	// [Config].StopAfter more steps.
	Stop Mode = "stop"
	// Off observes nothing.
	Off Mode = "off"
)

// Config says what a [Watchdog] looks for. The zero value warns, with the defaults.
//
// A threshold of 0 is the default, and [Never] turns its signal off. A threshold of 1 is refused: it would take
// every first call for a loop.
type Config struct {
	// Mode is what happens when a pattern is found. "" means Warn.
	Mode Mode

	// Repeats is how many calls in a row, of one tool with the same arguments and like results, are a
	// loop. 0 means 5.
	Repeats int
	// CallsAlone has Repeats count in mode Warn also calls whose results differ. It is for those who want to hear
	// about polling, and is refused in other modes.
	CallsAlone bool
	// Laps is how many times the same calls with the same results, in whatever order, make a cycle. 0 means 3. One lap
	// before it is a warning.
	Laps int
	// Unchanging is how many of the last 12 calls must be one call with one result, and half of how many answers in a
	// row must say nothing new. 0 means 8. The same signal warns about weaker patterns.
	Unchanging int
	// NoOps is how many results in a row must say that nothing was done. 0 means 3.
	NoOps int
	// Failures is how many answers in a row whose calls all failed are worth a warning. 0 means 3. In 125
	// recorded sessions, no two answers in a row failed.
	Failures int
	// SameName is how many answers in a row that call one tool are worth a warning, whatever the arguments and
	// results. 0 means Never: agents that read 15 files in a row are at work, as one of 10 recorded coding
	// sessions shows, and some agents have one tool only.
	SameName int
	// ToolsWithoutText is how many answers in a row with calls and no text are worth a warning. 0 means
	// Never: many models call tools for hours without a word. The longest such row in a recorded session has 21.
	ToolsWithoutText int

	// Polling names tools that wait for something. Their calls count only from 20 like results in a row.
	Polling []string
	// StopAfter is how many more steps a critical pattern may go on in mode Stop. 0 means 3.
	StopAfter int
	// Signals are observed in addition to those above. Each function makes the signal of one lane, and must be safe
	// for concurrent use.
	Signals []func() Signal
	// Volatile returns a response without what else changes each time; times and durations are known. It must not
	// change the response, and must be safe for concurrent use. If it panics, the response is used as it is. If nil,
	// nothing else is taken out.
	Volatile func(tool string, response map[string]any) map[string]any
	// Files names the files that a call changes, for [FilesNotTouched]. It must be safe for concurrent
	// use. If nil, no files are known.
	Files func(tool string, args map[string]any) []string
}

// lookBack is how many calls the windowed signals look at.
const lookBack = 12

// Check returns the joined problems of a config, nil if [New] would accept it.
func (c *Config) Check() error {
	var p configerr.Problems
	if c.Mode != "" && !slices.Contains([]Mode{Warn, Note, Stop, Off}, c.Mode) {
		p.Refuse("Mode", c.Mode, "there are %s, %s, %s and %s", Warn, Note, Stop, Off)
	}
	for _, n := range c.thresholds() {
		switch {
		case n.value == 1:
			p.Refuse(n.field, n.value, "every first call would be a loop; use 2 or more, or 0 for %s", n.standard())
		case n.value < Never:
			p.Refuse(n.field, n.value, "it must not be negative; 0 is %s, and Never (%d) turns it off", n.standard(), Never)
		case n.value > n.most:
			p.Refuse(n.field, n.value, "it can be %d at most; 0 is %s", n.most, n.standard())
		}
	}
	if c.CallsAlone && c.Mode != "" && c.Mode != Warn {
		p.Refuse("CallsAlone", c.CallsAlone, "in mode %s calls count only if their results are alike; leave it out, or use mode %s", c.Mode, Warn)
	}
	if c.StopAfter < 0 {
		p.Refuse("StopAfter", c.StopAfter, "it must not be negative; 0 is %d, and mode %s never stops", defaultStopAfter, Note)
	}
	if slices.Contains(c.Polling, "") {
		p.Refuse("Polling", "", "name a tool, as the model calls it")
	}
	for _, create := range c.Signals {
		if problem := try(create); problem != "" {
			p.Refuse("Signals", nil, "%s; give functions that make a signal with a name", problem)
		}
	}
	return p.Join("watchdog config")
}

// try makes a signal, and returns what is wrong with it.
func try(create func() Signal) (problem string) {
	if create == nil {
		return "a function is nil"
	}
	defer func() {
		if reason := recover(); reason != nil {
			problem = fmt.Sprintf("a function, or the Name of its signal, panics with %.100q", fmt.Sprint(reason))
		}
	}()
	if signal := create(); signal == nil || signal.Name() == "" {
		return "a function returns nil, or a signal without a name"
	}
	return ""
}

const (
	defaultStopAfter = 3
	maxThreshold     = 1_000_000
)

// threshold is a number of a config.
type threshold struct {
	field string
	value int
	// initial is what 0 means, and most the largest value.
	initial, most int
}

func (t threshold) standard() string {
	if t.initial == Never {
		return "never"
	}
	return strconv.Itoa(t.initial)
}

func (c *Config) thresholds() []threshold {
	return []threshold{
		{"Repeats", c.Repeats, 5, maxThreshold},
		{"Laps", c.Laps, 3, maxThreshold},
		{"Unchanging", c.Unchanging, 8, lookBack},
		{"NoOps", c.NoOps, 3, maxThreshold},
		{"Failures", c.Failures, 3, maxThreshold},
		{"SameName", c.SameName, Never, maxThreshold},
		{"ToolsWithoutText", c.ToolsWithoutText, Never, maxThreshold},
	}
}

// withDefaults returns a copy whose numbers are all set.
func (c Config) withDefaults() Config {
	c.Mode = cmp.Or(c.Mode, Warn)
	c.StopAfter = cmp.Or(c.StopAfter, defaultStopAfter)
	set := c.thresholds()
	for i, n := range []*int{&c.Repeats, &c.Laps, &c.Unchanging, &c.NoOps, &c.Failures, &c.SameName, &c.ToolsWithoutText} {
		*n = cmp.Or(set[i].value, set[i].initial)
	}
	c.Polling = slices.Clone(c.Polling)
	c.Signals = slices.Clone(c.Signals)
	return c
}
