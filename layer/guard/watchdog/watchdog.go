package watchdog

import (
	"fmt"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Watchdog follows the lanes of agents. It is safe for concurrent use, starts no goroutines, and holds no
// resources that must be closed.
type Watchdog struct {
	cfg Config

	mu    sync.Mutex
	lanes *lru.Cache[laneKey, *lane]
}

// laneKey names a lane.
type laneKey struct{ invocation, branch string }

// Verdict is what follows from a step.
type Verdict struct {
	// Alerts are the patterns that the step has completed, each reported once.
	Alerts []Alert
	// Note is for the model, to be written into the newest tool result: about the surest pattern of the step. It is "" in
	// mode Warn, and if there is nothing to say.
	Note string
	// Stop is the pattern for which the run has to end, nil if it goes on. It is set in mode Stop only, with
	// every step in which the pattern goes on.
	Stop *Alert

	noted Severity // of the pattern that Note is about
}

// New returns a Watchdog. It copies the config. The error joins a *compaction.ConfigError for every value that is
// refused.
func New(cfg Config) (*Watchdog, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	lanes, err := lru.New[laneKey, *lane](maxLanes)
	if err != nil {
		return nil, fmt.Errorf("watchdog: %w", err) // not for a size above 0
	}
	return &Watchdog{cfg: cfg.withDefaults(), lanes: lanes}, nil
}

// Mode returns the mode, which is never "".
func (w *Watchdog) Mode() Mode { return w.cfg.Mode }

// Observe takes the next step of a lane, and returns what follows from it. In mode Off it does nothing. It
// keeps nothing of the step's slices.
func (w *Watchdog) Observe(s Step) Verdict {
	if w.cfg.Mode == Off {
		return Verdict{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := laneKey{s.Invocation, s.Branch}
	l, found := w.lanes.Get(key)
	if !found {
		l = newLane(&w.cfg)
		w.lanes.Add(key, l)
	}
	return l.observe(&w.cfg, s)
}

// Forget drops what is known of an invocation: when it ends, and when the user says something in it.
func (w *Watchdog) Forget(invocation string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range w.lanes.Keys() {
		if key.invocation == invocation {
			w.lanes.Remove(key)
		}
	}
}

// Lanes returns how many branches are followed. At most 1,024 are; of more, those without steps for the
// longest time are forgotten.
func (w *Watchdog) Lanes() int { return w.lanes.Len() }
