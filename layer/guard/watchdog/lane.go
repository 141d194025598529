package watchdog

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/adk-go-ext/longsession/internal/notes"
)

// lane is what is known of one branch of one invocation.
type lane struct {
	signals  []Signal // nil where one has panicked
	patterns []pattern
	steps    int    // seen so far, those with calls only
	scratch  []Call // of the step in hand
	counters counters
}

// pattern is one that was seen.
type pattern struct {
	signal          int // its place in the lane: two may have one name
	id, tool        string
	severity        Severity
	last            int // the step at which it was seen last
	more            int // steps that it went on for
	reported, calls bool
}

// A pattern is over when it was not seen for as many steps, and is then reported anew.
const over = lookBack

// maxPatterns bounds what is kept of a lane.
const maxPatterns = 32

// maxLanes bounds what is kept of lanes for which Forget is never called.
const maxLanes = 1_024

func newLane(cfg *Config) *lane {
	l := &lane{signals: cfg.builtIn()}
	for _, create := range cfg.Signals {
		l.signals = append(l.signals, create())
	}
	return l
}

// builtIn returns the signals of the thresholds, the surest first.
func (c *Config) builtIn() []Signal {
	var out []Signal
	add := func(n int, create func(n int) Signal) {
		if n != Never {
			out = append(out, create(n))
		}
	}
	add(c.Repeats, func(n int) Signal { return &repeated{least: n, callsAlone: c.CallsAlone} })
	add(c.Laps, newCycle)
	add(c.NoOps, newNoOp)
	add(c.Failures, newFailures)
	add(c.Unchanging, newUnchanging)
	add(c.SameName, newSameName)
	add(c.ToolsWithoutText, newToolsWithoutText)
	return out
}

func (l *lane) observe(cfg *Config, s Step) (v Verdict) {
	l.scratch = s.prepare(l.scratch[:0])
	for i := range l.scratch {
		l.scratch[i].Polling = l.scratch[i].Polling || slices.Contains(cfg.Polling, l.scratch[i].Tool)
	}
	l.counters.equate(l.scratch)
	s.Calls, s.prepared = l.scratch, true
	if len(s.Calls) > 0 {
		l.steps++
	}
	for i, signal := range l.signals {
		if signal == nil {
			continue
		}
		found, panicked := observe(signal, s)
		if panicked != nil {
			l.signals[i] = nil
			found = panicked
		}
		if found == nil {
			continue
		}
		found.Invocation, found.Branch, found.Agent = s.Invocation, s.Branch, s.Agent
		l.judge(cfg, i, found, &v)
	}
	clear(l.scratch) // arguments can be large, so the buffer must not keep them alive
	return v
}

// observe asks a signal, which may be the app's and panic.
func observe(signal Signal, s Step) (found, panicked *Alert) {
	name := "signal"
	defer func() {
		if reason := recover(); reason != nil {
			// A pattern of its own: another signal that panics must not absorb it.
			panicked = &Alert{Signal: name, Pattern: "panic of " + name, Text: fmt.Sprintf("the signal %s panicked, and is left out: %v", name, reason)}
		}
	}()
	name = signal.Name()
	if found = signal.Observe(s); found != nil {
		own := *found
		found = &own
		found.Signal = name
	}
	return found, nil
}

// judge adds to a verdict what follows from an alert.
func (l *lane) judge(cfg *Config, signal int, found *Alert, v *Verdict) {
	p := l.known(signal, found)
	if p == nil {
		p = l.add(pattern{signal: signal, id: found.Pattern, tool: found.Tool, last: l.steps, calls: found.aboutCalls()})
	} else if p.last < l.steps {
		p.more++
	}
	p.last, p.severity = l.steps, found.Severity
	if !p.reported && !l.absorbs(signal, found) {
		p.reported = true
		v.Alerts = append(v.Alerts, *found)
		if cfg.Mode != Warn && found.Note != "" && (v.Note == "" || found.Severity > v.noted) {
			v.Note, v.noted = wellFormed(found.Note), found.Severity
		}
	}
	if cfg.Mode == Stop && found.Severity == Critical && p.more >= cfg.StopAfter && v.Stop == nil {
		v.Stop = found
	}
}

// known returns the pattern of an alert if it goes on.
func (l *lane) known(signal int, a *Alert) *pattern {
	for i := range l.patterns {
		p := &l.patterns[i]
		if p.signal == signal && p.id == a.Pattern && l.steps-p.last <= over {
			return p
		}
	}
	return nil
}

// aboutCalls reports whether an alert is about tool calls. Those about sizes or money are not.
func (a *Alert) aboutCalls() bool { return a.calls || a.Tool != "" }

// absorbs reports whether another signal has reported, at least as severely, what is behind an alert, too:
// nine equal calls are repeated, unchanging, and perhaps failures. It must have seen calls of the same tool in this very
// step, or the pattern lately under the same name. A step without calls has none to see, and what is not about calls has
// nothing else behind it.
func (l *lane) absorbs(signal int, a *Alert) bool {
	return a.aboutCalls() && slices.ContainsFunc(l.patterns, func(p pattern) bool {
		if p.signal == signal || !p.reported || !p.calls || p.severity < a.Severity || p.tool != a.Tool && p.tool != "" && a.Tool != "" {
			return false
		}
		return len(l.scratch) > 0 && p.last == l.steps || p.id == a.Pattern && p.id != "" && l.steps-p.last <= over
	})
}

// add keeps a pattern, in place of an earlier one of that name or of the one that was not seen for the longest time.
func (l *lane) add(p pattern) *pattern {
	at := slices.IndexFunc(l.patterns, func(q pattern) bool { return q.signal == p.signal && q.id == p.id })
	if at < 0 && len(l.patterns) < maxPatterns {
		l.patterns = append(l.patterns, p)
		return &l.patterns[len(l.patterns)-1]
	}
	if at < 0 {
		at = 0
		for i := range l.patterns {
			if l.patterns[i].last < l.patterns[at].last {
				at = i
			}
		}
	}
	l.patterns[at] = p
	return &l.patterns[at]
}

// advice ends the notes about loops.
const advice = " Use what you have, try something else, or say what you cannot do and end your answer.]"

// maxNote is the length from which a note is cut, in bytes. A longer one would not be recognized as a note.
const maxNote = 1_000

// wellFormed returns a note of a signal as readers of conversations recognize it.
func wellFormed(note string) string {
	if len(note) > maxNote {
		note = canonicalText(note[:maxNote-10]) + "…]"
	}
	if !notes.Watchdog.Is(notes.WatchdogKey, note) {
		note = "[You should know: " + note + "]"
	}
	return note
}

func id(hash uint64) string { return strconv.FormatUint(hash, 36) }
