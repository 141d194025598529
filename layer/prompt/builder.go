package prompt

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"weak"

	lru "github.com/hashicorp/golang-lru/v2"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/hanging"
	"github.com/adk-go-ext/longsession/internal/outbox"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// The most that a builder remembers. The least recently used entry goes first: then a source is asked once
// more in a run, a section has no last text to fall back on, or a change is not noticed.
const (
	maxRuns     = 4096 // that are going on at the same time
	maxSessions = 1024
	maxCallers  = 1024 // agents in a branch of a session
	maxRequests = 1024 // on their way from the plugin to the model
	maxApps     = 1024 // with a workflow
)

// maxHanging is how many calls of one source may hang. Each holds a goroutine for as long as the source likes,
// and there is one for each session.
const maxHanging = 256

// Builder fills the sections of prompts. It is safe for concurrent use, and one builder serves any number of
// agents, models and runners. It holds no resources that must be closed.
type Builder struct {
	cfg       Config
	sources   [numSources]Source
	latest    [numSources]shared
	runs      *lru.Cache[runKey, *run]
	sessions  *lru.Cache[store.Owner, *memory]
	callers   *lru.Cache[callerKey, *seen]
	requests  *lru.Cache[weak.Pointer[model.LLMRequest], struct{}] // that have their sections
	workflows *lru.Cache[string, struct{}]                         // names of apps in which there is one
	hanging   [numSources]hanging.Steps[store.Owner]
	outbox    outbox.Observations[Observation]
	places    survive.Places
}

// New returns a Builder. The error joins a [*ConfigError] for every value that is refused.
func New(cfg Config) (*Builder, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.SourceTimeout = cmp.Or(cfg.SourceTimeout, defaultSourceTimeout)
	b := &Builder{
		cfg: cfg, sources: cfg.sources(), runs: newCache[runKey, *run](maxRuns), sessions: newCache[store.Owner, *memory](maxSessions),
		callers: newCache[callerKey, *seen](maxCallers), requests: newCache[weak.Pointer[model.LLMRequest], struct{}](maxRequests),
		workflows: newCache[string, struct{}](maxApps),
	}
	b.places.Tell = func(place string, err error) {
		b.observe(context.Background(), Observation{Kind: Failed, Err: fmt.Errorf("%s: %w", place, err)})
	}
	for i := range b.hanging {
		b.hanging[i].Most = maxHanging
	}
	return b, nil
}

// newCache returns a cache. lru.New fails only for a size that is not positive.
func newCache[K comparable, V any](size int) *lru.Cache[K, V] {
	cache, _ := lru.New[K, V](size)
	return cache
}

// has reports whether any of the sections from one place to another has a source.
func (b *Builder) has(from, to int) bool {
	for _, source := range b.sources[from:to] {
		if source != nil {
			return true
		}
	}
	return false
}

// runKey identifies a run of a runner. The ID alone would do, unless an app makes IDs of its own.
type runKey struct {
	owner      store.Owner
	invocation string
}

// texts are the texts of the sections in the system instruction, "" for one that is left out.
type texts [stable]string

// run is what the sources have said for one run. All its agents are told the same.
type run struct {
	once  sync.Once
	texts texts
}

// caller is who makes a model call.
type caller struct {
	owner                     store.Owner
	agent, branch, invocation string
}

// callerKey identifies the requests whose instructions should be equal.
type callerKey struct {
	owner         store.Owner
	agent, branch string
}

func (c caller) key() callerKey { return callerKey{c.owner, c.agent, c.branch} }

func (c caller) observation(kind Kind) Observation {
	return Observation{Kind: kind, Session: c.owner, Agent: c.agent, Branch: c.branch, InvocationID: c.invocation}
}

// callerIn finds out who is behind a context. It returns false for one that belongs to no agent's run.
func callerIn(ctx agent.ReadonlyContext) (c caller, ok bool) {
	defer survive.Else("prompt: who asks for the texts", func() { c, ok = caller{}, false }) // a context of another make may panic where it has no session
	if adk.IsNil(ctx) {
		return caller{}, false
	}
	owner := store.Owner{AppName: ctx.AppName(), UserID: ctx.UserID(), SessionID: ctx.SessionID()}
	return caller{owner, ctx.AgentName(), ctx.Branch(), ctx.InvocationID()}, true
}

// textsFor returns the texts for a run. The sources are asked when it is called for the first time in the
// run.
func (b *Builder) textsFor(ctx agent.ReadonlyContext, who caller) *texts {
	key := runKey{who.owner, who.invocation}
	r, known := b.runs.Get(key)
	if !known {
		r = &run{}
		if other, known, _ := b.runs.PeekOrAdd(key, r); known {
			r = other
		}
	}
	r.once.Do(func() { b.fill(ctx, who, r.texts[:], ofProject) })
	return &r.texts
}

// Sections returns all sections as they are now, for an app that calls a provider by itself: a base text, then
// those of the sources. The sources are asked in each call. The context may be any; if it is that of an agent's
// run, the sources see it.
func (b *Builder) Sections(ctx context.Context, base string) Sections {
	var texts [numSources]string
	read, _ := ctx.(agent.ReadonlyContext)
	if ic := adk.Invocation(ctx); ic != nil {
		read = runContext{ic}
	}
	who, known := callerIn(read)
	if !known {
		read = nil
	}
	b.fillIn(ctx, read, who, texts[:], ofProject)
	return b.sections(base, texts[:])
}

// sections puts texts behind a base.
func (b *Builder) sections(base string, texts []string) Sections {
	out := Sections{{sectionBase, base, true}}
	for i, text := range texts {
		out = append(out, PromptSection{sectionNames[i], text, b.cacheable(i)})
	}
	return out
}

// cacheable reports whether there is a break point behind the section of a source.
func (b *Builder) cacheable(i int) bool {
	return i < ofSkills || i == ofSkills && b.cfg.CacheableSkills
}
