package guard

import (
	"context"
	"sync"

	"github.com/adk-go-ext/longsession/compaction"
)

// pending are calls that are reserved and not answered yet.
type pending struct {
	mu    sync.Mutex
	calls map[caller]*call
}

// peek returns the call that is reserved for a caller, nil if there is none.
func (p *pending) peek(who caller) *call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[who]
}

// hold keeps a reserved call until it is answered.
func (p *pending) hold(who caller, c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[who] = c
}

// adopt returns the call that is reserved for a caller, and forgets it.
func (p *pending) adopt(who caller) *call {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.calls[who]
	delete(p.calls, who)
	return c
}

// unanswered gives back the call that was reserved for a caller if no response of it has come: a callback of
// the app has answered in the model's place.
func (p *pending) unanswered(who caller) {
	if c := p.peek(who); c != nil && !c.answered {
		p.adopt(who)
		c.end(context.Background(), c.req, true)
	}
}

// release ends all calls that are reserved for an invocation.
func (p *pending) release(ref compaction.SessionRef, invocation string) {
	p.mu.Lock()
	var calls []*call
	for who, c := range p.calls {
		if who.ref == ref && who.invocation == invocation {
			calls = append(calls, c)
			delete(p.calls, who)
		}
	}
	p.mu.Unlock()
	for _, c := range calls {
		c.end(context.Background(), c.req, false)
	}
}
