package budget

import (
	"context"
	"errors"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/promptsize"
)

// Compactor summarizes a session: normally a [compaction.CompactionSessionService]. It may fail, panic or
// hang; the meter gives a call up after [Config.CompactTimeout].
type Compactor interface {
	Compact(ctx context.Context, ref compaction.SessionRef, opts compaction.CompactOptions) (compaction.CompactResult, error)
	// Owns reports whether the session of a running agent is one that Compact can compact, so that
	// the agent's next request shows the summary.
	Owns(sess session.Session) bool
}

// sentObserver is a Compactor that wants to know what was really sent.
type sentObserver interface {
	ObserveSent(ctx agent.InvocationContext, req *model.LLMRequest, masked int)
}

// triggered is a Compactor that also compacts sessions by itself.
type triggered interface {
	Triggers(ref compaction.SessionRef) compaction.Triggers
}

// rebuild compacts the session and builds the request again. It does so at most once per request, and
// takes the new request only if it is smaller. It reports whether it has.
func (c *call) rebuild() bool {
	if !c.owned || c.compacted || c.m.cfg.DisableRebuild {
		return false
	}
	c.compacted = true
	if reason := c.m.cannotRebuild(c.ic); reason != "" {
		c.failed("the request was not built again", errors.New(reason))
		return false
	}
	if !c.compact() {
		return false
	}
	var fresh *model.LLMRequest
	c.guard("building the request again", func() error {
		fresh = c.w.rebuild(c.ic)
		return nil
	})
	if fresh == nil {
		c.failed("the request was not built again", errors.New("the agent did not call its model a second time"))
		return false
	}
	before, old, masked := c.size, *c.req, c.masked
	*c.req = *fresh
	c.shape()
	if c.size.UsedTokens() >= before.UsedTokens() {
		*c.req, c.size, c.masked = old, before, masked
		return false
	}
	c.did |= didRebuild
	c.note(Rebuilt, "rebuilt", before)
	c.report()
	return true
}

// compact compacts the session, and reports whether that has changed it.
func (c *call) compact() bool {
	var result compaction.CompactResult
	// A compaction that is given up goes on, so it must not look at the call.
	compactor, ref, opts := c.m.cfg.Compactor, c.who.ref, compaction.CompactOptions{KeepEvents: c.keepEvents()}
	err := c.within(c.m.cfg.CompactTimeout, "Compactor.Compact", func(ctx context.Context) (err error) {
		result, err = compactor.Compact(ctx, ref, opts)
		return err
	})
	return err == nil && !result.Skipped
}

// How many of the newest events a compaction for one request keeps raw: the newest round and at most twenty
// events, as long as they take up no more than half of the contents, and half of what the instruction and
// the tools leave free.
const (
	minKeepEvents = 2
	maxKeepEvents = 20
)

func (c *call) keepEvents() int {
	free := min(c.size.EffectiveWindow()-c.size.fixed, c.size.contents) / 2
	kept := 0
	for i := len(c.req.Contents) - 1; i >= 0 && kept < maxKeepEvents; i-- {
		free -= promptsize.OfContent(c.req.Contents[i])
		if free < 0 && kept >= minKeepEvents {
			break
		}
		kept++
	}
	return max(minKeepEvents, kept)
}
