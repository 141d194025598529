package preset

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/tokens"
)

// Settings are resolved values, each with its origin. [Resolve] makes them; the zero value is of no use.
type Settings struct {
	Preset     Value[string] // LongRun, or ""
	Task       Value[Task]   // "" for none
	Unattended Value[bool]

	Provider   Value[Provider]
	Model      Value[string] // the agent's
	Tier       tokens.Tier   // of Model; "" is unclassified
	SmallModel Value[string] // of agentic tools
	Ask        Value[Ask]

	// Threshold is a share of the effective window. It is 0 if compaction by size is off.
	Threshold Value[float64]
	// BlockThreshold is the share over which no request is sent. It is never 0.
	BlockThreshold Value[float64]
	// InvocationThreshold is the number of turns after which compaction begins. It is 0 if prices decide when, and
	// [compaction.Off] if only Threshold does.
	InvocationThreshold Value[int]
	Checkpoint          Value[contexttool.Mode]
	CompactContext      Value[bool] // the model may compact the session by a tool
	AgenticTools        Value[bool]

	MaxTurnCost       Value[tokens.Nano] // 0 is off
	MaxSessionCost    Value[tokens.Nano] // 0 is off
	MaxToolIterations Value[int]         // 0 is off
	Landing           Value[guard.LandingMode]
	Unpriced          Value[string] // "warn", "refuse", or the name of a model
	Watchdog          Value[watchdog.Mode]
	SmallTierParent   Value[SmallTier]

	// Notes are what an operator should know before the first turn, each a sentence or more: a model that is unknown,
	// without a price or to be retired, a value without effect. That of the small-tier guard is wrapped at 78 columns.
	Notes []string
}

// Line is one resolved value as text.
type Line struct{ Key, Value, Origin string }

// String returns "key = value (origin)", with the origin on a line of its own if it would be wider than 60
// columns.
func (l Line) String() string {
	first := l.Key + " = " + l.Value
	if one := first + " (" + l.Origin + ")"; utf8.RuneCountInString(one) <= explainColumns {
		return one
	}
	return first + "\n  (" + l.Origin + ")"
}

const explainColumns = 60

// Lines returns every resolved value, in the order of [Keys]. A ceiling, a trigger or a limit of 0 is "off".
func (s *Settings) Lines() []Line {
	lines := []Line{
		line("session.preset", s.Preset, orNone[string]),
		line("session.task_class", s.Task, orNone[Task]),
		line("session.unattended", s.Unattended, strconv.FormatBool),
		line("agent.provider", s.Provider, orNone[Provider]),
		line("agent.model", s.Model, s.modelText),
		line("agent.agentic_small_model", s.SmallModel, orNone[string]),
		line("agent.agentic_tools", s.AgenticTools, strconv.FormatBool),
		line("session.ask", s.Ask, orNone[Ask]),
		line("compaction.threshold", s.Threshold, shareText),
		line("compaction.block_threshold", s.BlockThreshold, shareText),
		line("compaction.invocation_threshold", s.InvocationThreshold, turnsText),
		line("session.checkpoint", s.Checkpoint, orNone[contexttool.Mode]),
		line("session.compact_context", s.CompactContext, strconv.FormatBool),
		line("agent.max_turn_cost_usd", s.MaxTurnCost, moneyText),
		line("agent.max_session_cost_usd", s.MaxSessionCost, moneyText),
		line("agent.max_tool_iterations", s.MaxToolIterations, countText),
		line("agent.landing", s.Landing, orNone[guard.LandingMode]),
		line("agent.unpriced", s.Unpriced, orNone[string]),
		line("safety.watchdog", s.Watchdog, orNone[watchdog.Mode]),
		line("safety.small_tier_parent", s.SmallTierParent, orNone[SmallTier]),
	}
	return lines
}

// Explain returns the text of [Settings.Lines] and of the notes, for --explain.
func (s *Settings) Explain() string {
	var out strings.Builder
	for _, l := range s.Lines() {
		fmt.Fprintln(&out, l)
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&out, "\n%s\n", wrap(n, explainColumns))
	}
	return out.String()
}

func line[T any](key string, v Value[T], text func(T) string) Line {
	return Line{key, text(v.Value), v.Origin()}
}

func orNone[T ~string](v T) string {
	if v == "" {
		return "none"
	}
	return string(v)
}

func (s *Settings) modelText(model string) string {
	if s.Tier == "" {
		return model + ", no tier"
	}
	return model + ", " + string(s.Tier)
}

func shareText(f float64) string {
	if f == 0 {
		return "off"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// turnsText is the text that [Values.Set] reads.
func turnsText(n int) string {
	switch n {
	case 0:
		return byPrice
	case compaction.Off:
		return "off"
	}
	return strconv.Itoa(n)
}

func countText(n int) string {
	if n == 0 {
		return "off"
	}
	return strconv.Itoa(n)
}

func moneyText(n tokens.Nano) string {
	if n == 0 {
		return "off"
	}
	return n.String()
}

// wrap breaks a text at blanks into lines of at most so many columns. Lines after the first begin with two
// blanks. Line breaks of the text itself become blanks.
func wrap(text string, columns int) string {
	var out strings.Builder
	width := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width+1+n > columns:
			out.WriteString("\n  ")
			width = 2
		default:
			out.WriteByte(' ')
			width++
		}
		out.WriteString(word)
		width += n
	}
	return out.String()
}
