package budget

import (
	"cmp"
	"context"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/hanging"
	"github.com/adk-go-ext/longsession/internal/outbox"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/internal/window"
)

// The most that a meter remembers. The least recently used entry goes first, which costs accuracy until the
// provider reports again, and one prefix break that is not noticed.
const (
	maxCallers  = 2048 // agents in a branch of a session
	maxSessions = 4096 // trackers
	maxAgents   = 1024 // of all sessions together
	maxModels   = 256

	maxInvocations = 4096 // that run at the same time
)

// Meter measures requests. It is safe for concurrent use, and holds no resources that must be closed.
type Meter struct {
	cfg      Config
	callers  *lru.Cache[callerKey, *state]
	trackers *lru.Cache[compaction.SessionRef, *Tracker]
	agents   *lru.Cache[agentKey, int] // fixed tokens of an agent's last request in any session
	windows  *window.Table
	warned   *lru.Cache[string, struct{}] // models whose window is assumed
	guarded  *lru.Cache[string, struct{}] // invocations that the meter's plugin sees
	foreign  foreign
	hanging  hanging.Steps[hangKey]
	outbox   outbox.Observations[Observation]
	places   survive.Places
	logger   survive.Places // where a panic of the logger itself ends; it is told to the default one
}

// New returns a Meter. The error joins a [*compaction.ConfigError] for every value that is refused.
func New(cfg Config) (*Meter, error) {
	cfg.Thresholds = cfg.Thresholds.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.Skills == nil {
		cfg.Skills = listedSkills
	}
	cfg.CompactTimeout = cmp.Or(cfg.CompactTimeout, defaultCompactTimeout)
	m := &Meter{
		cfg: cfg, callers: newCache[callerKey, *state](maxCallers), trackers: newCache[compaction.SessionRef, *Tracker](maxSessions),
		agents: newCache[agentKey, int](maxAgents), windows: window.New(window.Config{Registry: cfg.Registry, ContextWindow: cfg.ContextWindow, MaxOutputTokens: cfg.MaxOutputTokens}),
		warned: newCache[string, struct{}](maxModels), guarded: newCache[string, struct{}](maxInvocations), places: survive.Places{Logger: cfg.Logger},
	}
	m.foreign = newForeign(&m.cfg, &m.places)
	m.places.Tell = func(place string, err error) {
		m.observe(context.Background(), Observation{Kind: Failed, Reason: place, Err: err})
	}
	return m, nil
}

// newCache returns a cache. lru.New fails only for a size that is not positive.
func newCache[K comparable, V any](size int) *lru.Cache[K, V] {
	cache, _ := lru.New[K, V](size)
	return cache
}

// caller is who makes a model call.
type caller struct {
	ref                              compaction.SessionRef
	agent, branch, invocation, model string
	sections                         []string // of its instruction, see [Config.Sections]
}

// callerKey identifies the requests that should extend one another.
type callerKey struct {
	ref           compaction.SessionRef
	agent, branch string
}

// agentKey identifies an agent in all sessions of an app.
type agentKey struct{ app, agent string }

func (c caller) key() callerKey { return callerKey{c.ref, c.agent, c.branch} }

// known reports whether the call belongs to a session.
func (c caller) known() bool { return c.ref != compaction.SessionRef{} }

// callerOf finds out from the context of a model call who makes it. It returns false if the context is
// not that of an agent's run, as when an app calls a model by itself; then only the model is known.
func callerOf(ctx context.Context, name string) (c caller, ok bool) {
	c.model = name
	defer survive.Else("budget: who calls the model", func() { c, ok = caller{model: name}, false }) // a context of another make may panic where it has no session
	ic := adk.Invocation(ctx)
	if ic == nil || adk.IsNil(ic.Session()) || adk.IsNil(ic.Agent()) {
		return c, false
	}
	s := ic.Session()
	c.ref = adk.RefOf(s)
	c.agent, c.branch, c.invocation = ic.Agent().Name(), adk.LaneOf(ic), ic.InvocationID()
	return c, true
}

// stateOf returns what is known about a caller, which it creates.
func (m *Meter) stateOf(c caller) *state {
	if s, known := m.callers.Get(c.key()); known {
		return s
	}
	s := &state{}
	if !c.known() {
		return s
	}
	if other, known, _ := m.callers.PeekOrAdd(c.key(), s); known {
		return other
	}
	return s
}

// Fixed is the size of what an agent's requests hold besides their contents, in estimated tokens: the
// system instruction and the tool declarations of the last request of that agent in that session and
// branch or, if there was none, in any session of the app. It is 0 if the agent has sent no request.
// It has the form of compaction.Config.Fixed, so that the first compaction decision of a session
// already takes instructions and tools into account.
func (m *Meter) Fixed(ref compaction.SessionRef, agent, branch string) int {
	if s, known := m.callers.Peek(callerKey{ref, agent, branch}); known {
		if fixed := s.lastFixed(); fixed > 0 {
			return fixed
		}
	}
	fixed, _ := m.agents.Peek(agentKey{ref.AppName, agent})
	return fixed
}

// Tracker returns the token counts of a session. The tracker of a session that the meter has not seen is
// zero, and counts once the session's agents call their models. The meter remembers 4,096 sessions. The
// tracker of a session that it has forgotten keeps its numbers, but no longer counts.
func (m *Meter) Tracker(ref compaction.SessionRef) *Tracker {
	if t, known := m.trackers.Get(ref); known {
		return t
	}
	t := &Tracker{}
	if own, ok := m.cfg.Compactor.(triggered); ok {
		t.triggers = func() compaction.Triggers { return own.Triggers(ref) }
	}
	if other, known, _ := m.trackers.PeekOrAdd(ref, t); known {
		return other
	}
	return t
}
