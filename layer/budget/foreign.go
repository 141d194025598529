package budget

import (
	"context"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

const (
	// storeTimeout is how long a store may take to keep one result. After that the result is left in the
	// request as it is.
	storeTimeout = 5 * time.Second
	// maxForeign is how many sessions of agents that run as tools keep their results. Such a session is
	// never deleted, and is no longer used once its agent has answered.
	maxForeign = 64
)

// foreign are sessions that the compactor does not know, such as those of agents that run as tools: no view
// cuts their results, and no session service stores them. Results that are cut or masked there are put into
// Config.Store. So is a result in any session that a callback of the app has changed in the request, because
// no event has it.
type foreign struct {
	sessions *lru.Cache[store.Owner, struct{}]
	// stored holds, for results that were masked, whether an event of their session has them.
	stored *lru.Cache[resultKey, bool]
}

// resultKey names a result of a session.
type resultKey struct {
	owner store.Owner
	ref   string
}

// maxStored bounds how many results the meter remembers as stored in an event, or in none.
const maxStored = 16_384

// newForeign returns an empty foreign. If the store can forget sessions, it forgets the oldest.
func newForeign(cfg *Config, places *survive.Places) foreign {
	var forget func(store.Owner, struct{})
	// Without a compactor every session is foreign, and results must outlive this process.
	if memory, ok := cfg.Store.(interface{ Drop(store.Owner) }); ok && cfg.Compactor != nil {
		forget = func(owner store.Owner, _ struct{}) {
			defer places.Survive("budget: Config.Store drops a session")
			memory.Drop(owner)
		}
	}
	// These fail only for a size that is not positive.
	sessions, _ := lru.NewWithEvict(maxForeign, forget)
	stored, _ := lru.New[resultKey, bool](maxStored)
	return foreign{sessions, stored}
}

// changedPutter returns a function that stores those results of the session of a call that none of its
// events has.
func (f foreign) changedPutter(c *call) func(tool string, r store.Result) error {
	var refs map[string]bool // of the session's events
	return func(tool string, r store.Result) error {
		key := resultKey{c.who.ref, r.Ref}
		stored, known := f.stored.Get(key)
		if !known {
			if refs == nil {
				refs = refsIn(c.ic.Session())
			}
			stored = refs[r.Ref]
			f.stored.Add(key, stored)
		}
		if stored {
			return nil
		}
		return f.putter(c)(tool, r)
	}
}

// refsIn returns the references of all results in a session.
func refsIn(s session.Session) map[string]bool {
	refs := map[string]bool{}
	for ev := range s.Events().All() {
		for _, result := range store.ResultsOf(ev) {
			refs[result.Ref] = true
		}
	}
	return refs
}

// putter returns a function that stores results of the session of a call. It survives a store that hangs.
func (f foreign) putter(c *call) func(tool string, r store.Result) error {
	owner, into := c.who.ref, c.m.cfg.Store
	f.sessions.Add(owner, struct{}{})
	return func(tool string, r store.Result) error {
		return c.within(storeTimeout, "Store.Put", func(ctx context.Context) error {
			return into.Put(ctx, owner, tool, r)
		})
	}
}

// cut cuts the results in a request of a foreign session, as a view would. A result that cannot be stored
// stays whole.
func (c *call) cut() {
	if c.owned || c.put == nil || c.m.cfg.Cutter == nil {
		return
	}
	for i, content := range c.req.Contents {
		if content == nil {
			continue
		}
		c.guard("cutting", func() error {
			c.req.Contents[i] = c.cutContent(content)
			return nil
		})
	}
}

// cutContent returns a content with cut results: the content itself if nothing is cut.
func (c *call) cutContent(content *genai.Content) *genai.Content {
	out := content
	for i, part := range content.Parts {
		if part == nil || part.FunctionResponse == nil {
			continue
		}
		whole := part.FunctionResponse
		response, _, changed := c.m.cfg.Cutter.Response(whole.Name, whole.Response)
		if !changed || c.put(whole.Name, store.ResultOf(whole.Response)) != nil {
			continue
		}
		if out == content {
			clone := *content
			clone.Parts = slices.Clone(content.Parts)
			out = &clone
		}
		result, shown := *whole, *part
		result.Response = response
		shown.FunctionResponse = &result
		out.Parts[i] = &shown
	}
	return out
}
