package preset

import (
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/tokens"
)

// Task is a task class: what the operator is going to do. It is declared, never guessed.
type Task string

// The task classes.
const (
	Debug     Task = "debug"
	Implement Task = "implement"
	Chat      Task = "chat"
	Research  Task = "research"
	Review    Task = "review"
)

// Ask is when an agent asks before it runs a tool.
type Ask string

// The ask modes. They concern tools only; a ceiling or the watchdog stops an agent in each of them.
const (
	// AskAlways asks before every tool.
	AskAlways Ask = "always"
	// AskAuto asks before tools that change something.
	AskAuto Ask = "auto"
	// AskAllow never asks.
	AskAllow Ask = "allow"
)

// Asks reports whether a tool needs a confirmation. changes is whether it changes anything.
func (a Ask) Asks(changes bool) bool { return a == AskAlways || a == AskAuto && changes }

// class is what a task class stands for.
type class struct {
	name      Task
	tier      tokens.Tier
	threshold float64
	ask       Ask
}

// classes are the task classes, in the order in which errors list them.
var classes = []class{
	{Debug, tokens.TierFrontier, 0.65, AskAuto}, // long logs: early, so that the newest is always read whole
	{Implement, tokens.TierFrontier, 0.70, AskAuto},
	{Chat, tokens.TierMid, 0.85, AskAuto},
	{Research, tokens.TierMid, 0.65, AskAllow}, // it only reads
	{Review, tokens.TierFrontier, 0.75, AskAuto},
}

func classOf(task Task) (class, bool) {
	for _, c := range classes {
		if c.name == task {
			return c, true
		}
	}
	return class{}, false
}

// values are what a task class sets besides its model, which depends on the provider.
func (c class) values() Values { return Values{Threshold: &c.threshold, Ask: &c.ask} }

// LongRun is the name of the set that is recommended for long runs.
const LongRun = "longrun"

// The ceilings of [LongRun].
const (
	attendedTurn      = 50 * tokens.Cent
	unattendedTurn    = 1 * tokens.Dollar
	unattendedSession = 20 * tokens.Dollar
	toolIterations    = 25
)

// longRun are the values of [LongRun].
func longRun(unattended bool) Values {
	yes, iterations, checkpoint := true, toolIterations, contexttool.ByModel
	turn, session, onLoop := attendedTurn, unattendedSession, watchdog.Warn
	v := Values{AgenticTools: &yes, CompactContext: &yes, MaxToolIterations: &iterations, Checkpoint: &checkpoint, MaxTurnCost: &turn, Watchdog: &onLoop}
	if unattended {
		turn, onLoop = unattendedTurn, watchdog.Stop
		v.MaxSessionCost = &session
	}
	return v
}
