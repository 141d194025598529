package toolsearch

import (
	"context"
	"fmt"
	"hash/maphash"

	"google.golang.org/adk/agent"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// The most that a Deferral remembers. The least recently used entry goes first. Nothing that a model reads
// depends on it.
const (
	maxSearches = 256  // indexes of deferred tools
	maxCallers  = 2048 // agents in a branch of a session, whose set was reported
	maxAgents   = 1024
	maxRuns     = 4096 // that go on at the same time
)

// agentKey identifies an agent in all sessions of an app.
type agentKey struct{ app, agent string }

func (c caller) agentKey() agentKey { return agentKey{c.session.AppName, c.agent} }

// callerKey identifies the requests that should extend one another.
type callerKey struct {
	session       store.Owner
	agent, branch string
}

// searchKey identifies a set of deferred tools.
type searchKey struct {
	declarations, deferred uint64
	limit                  int
}

// seed is that of all hashes of this package. It differs from process to process.
var seed = maphash.MakeSeed()

// hashNames is a hash of the names of deferred tools.
func hashNames(deferred []entry) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, e := range deferred {
		h.WriteString(e.decl.Name)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// search returns tool_search for a set of deferred tools. Equal sets have the same one, so that its index is
// built once. The hash is that of all declarations.
func (d *Deferral) search(deferred []entry, hash uint64, limit int) *searchTool {
	key := searchKey{hash, hashNames(deferred), limit}
	if known, ok := d.searches.Get(key); ok {
		return known
	}
	made := newSearchTool(deferred, d.ours.describe(deferred, len(deferred), limit), d.cfg.MaxHits)
	made.observe = d.searched
	if known, ok, _ := d.searches.PeekOrAdd(key, made); ok {
		return known
	}
	return made
}

// searched reports a search.
func (d *Deferral) searched(ctx context.Context, query string, hits []string) {
	var who caller
	if c, ok := ctx.(agent.ReadonlyContext); ok {
		who = callerIn(c, "")
	}
	o := who.observation(Searched)
	o.Hits, o.QueryBytes = hits, len(query)
	d.observe(ctx, o)
}

// report reports a set of deferred tools that differs from the agent's last one. Size is that of the
// declarations before.
func (d *Deferral) report(c *outgoing, deferred []entry, declared, size int) {
	if d.cfg.Observer == nil || c.early && d.wrapped.Contains(c.who.agentKey()) {
		return
	}
	key := callerKey{c.who.session, c.who.agent, c.who.branch}
	now := hashNames(deferred)
	if before, known := d.reported.Get(key); before == now && known || !known && len(deferred) == 0 {
		return
	}
	d.reported.Add(key, now)
	o := c.who.observation(Deferred)
	o.Tools, o.Deferred, o.TokensBefore = declared, len(deferred), size
	o.TokensAfter, _ = promptsize.OfTools(c.req.Config.Tools)
	d.observe(c.ctx, o)
}

// taken reports whether the app has a tool of its own under one of our names, or declares one that is not
// ADK's to run. A provider refuses two declarations of one name.
func (d *Deferral) taken(c *outgoing) bool {
	declared := declaredIn(c.req)
	for _, name := range []string{SearchToolName, CallToolName} {
		if _, taken := c.req.Tools[name]; !taken && !declared[name] {
			continue
		}
		if known, _ := d.named.ContainsOrAdd(c.who.agentKey(), struct{}{}); !known {
			o := c.who.observation(NameTaken)
			o.Reason = fmt.Sprintf("the app has a tool named %s, so nothing is deferred", name)
			d.observe(c.ctx, o)
		}
		return true
	}
	return false
}
