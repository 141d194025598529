package guard

import (
	"cmp"
	"sync/atomic"
	"time"

	"google.golang.org/adk/session"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/outbox"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
)

// Guard counts what sessions use, and stops them at their limits. It is safe for concurrent use. Create it
// with [New].
type Guard struct {
	cfg      Config
	outbox   outbox.Observations[Observation]
	service  atomic.Pointer[session.Service]
	sessions sessions
	// inner has the payers for sessions of agents that run as tools, from their first call on.
	inner *lru.Cache[compaction.SessionRef, ledger.Payer]
	// once has what was reported once per model and session.
	once *lru.Cache[reported, struct{}]
	// pending has the calls that the plugin has reserved and that are not answered yet.
	pending pending
	// delegates is true once there was a subtask.
	delegates atomic.Bool
	rounds    rounds
	watch     *watch // nil if it is off
	places    survive.Places
}

// How much a guard remembers.
const (
	maxSessions = 4_096
	maxInner    = 4_096
	maxReported = 4_096
)

// New returns a guard. The error joins a [*compaction.ConfigError] for each value that is refused.
func New(cfg Config) (*Guard, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.NoteAt = cmp.Or(cfg.NoteAt, defaultNoteAt)
	cfg.Landing = cmp.Or(cfg.Landing, LandingSoft)
	cfg.Unpriced = cmp.Or(cfg.Unpriced, UnpricedWarn)
	cfg.OnStop = cmp.Or(cfg.OnStop, AsError)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	watch, err := newWatch(cfg.Watchdog)
	if err != nil {
		return nil, err
	}
	inner, _ := lru.New[compaction.SessionRef, ledger.Payer](maxInner) // fails only for a size that is not positive
	once, _ := lru.New[reported, struct{}](maxReported)
	return &Guard{
		cfg: cfg, watch: watch, inner: inner, once: once, pending: pending{calls: map[caller]*call{}},
		rounds:   rounds{open: map[run]map[string]struct{}{}, changed: make(chan struct{})},
		sessions: newSessions(ledger.Limits(cfg.Session), ledger.Limits(cfg.Turn)),
	}, nil
}

// Limits returns the limits of the config: those of each turn, and those of each session, to which [Guard.Reset] may
// have added for one of them (Usage.Granted).
func (g *Guard) Limits() (turn, session Limits) { return g.cfg.Turn, g.cfg.Session }

// reported is something that is reported once.
type reported struct {
	kind  ObservationKind
	ref   compaction.SessionRef
	model string
}

// firstTime reports whether it is called for the first time with these values.
func firstTime(once *lru.Cache[reported, struct{}], kind ObservationKind, ref compaction.SessionRef, model string) bool {
	known, _ := once.ContainsOrAdd(reported{kind, ref, model}, struct{}{})
	return !known
}
