package toolsearch

import "google.golang.org/adk/agent"

// WaitForList waits until no call for the list of the context's scope is under way.
func WaitForList(g *Grouped, ctx agent.ReadonlyContext) {
	l := g.list(ctx)
	l.mu.Lock()
	call := l.pending
	l.mu.Unlock()
	if call != nil {
		<-call.done
	}
}
