package toolsearch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// toolList is the list of a toolset in one scope.
type toolList struct {
	mu      sync.Mutex
	good    bool        // the last call succeeded, or there was none yet
	last    []tool.Tool // the last good list, grouped
	pending *listing    // the call that is under way, if any
}

// listing is one call for the list of a toolset. Runs that begin meanwhile share it.
type listing struct {
	done   chan struct{} // closed when the call has ended and its list is stored
	late   chan struct{} // closed when a run has waited for Timeout
	isLate bool          // late is closed
}

var (
	errSlow  = errors.New("no answer in time")
	errEnded = errors.New("it ended its goroutine")
	errTwice = errors.New("the toolset lists it twice, and the first one is used")
)

// tools asks the toolset, waits for at most Timeout, and returns the newest good list.
func (l *toolList) tools(ctx agent.ReadonlyContext, g *Grouped) []tool.Tool {
	call := l.ask(ctx, g)
	timer := time.NewTimer(g.cfg.Timeout)
	defer timer.Stop()
	select {
	case <-call.done:
	case <-call.late: // another run has waited already
	case <-ctx.Done(): // the turn ends in any case
	case <-timer.C:
		if l.overdue(call) {
			l.reportFailure(ctx, g, fmt.Errorf("%w: waited for %v", errSlow, g.cfg.Timeout))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.last) // ADK appends to it
}

// ask returns the call that is under way, or begins one.
func (l *toolList) ask(ctx agent.ReadonlyContext, g *Grouped) *listing {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending != nil {
		return l.pending
	}
	call := &listing{done: make(chan struct{}), late: make(chan struct{})}
	l.pending = call
	go l.run(ctx, g, call)
	return call
}

// run calls the toolset. The call outlives the run that began it.
func (l *toolList) run(ctx agent.ReadonlyContext, g *Grouped, call *listing) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), listPatience*min(g.cfg.Timeout, math.MaxInt64/listPatience))
	defer cancel()
	var tools []tool.Tool
	err := errEnded
	defer func() {
		switch changed := l.end(tools, err); {
		case !changed:
		case err != nil:
			l.reportFailure(ctx, g, err)
		default:
			g.observe(ctx, Observation{Kind: ToolsetRestored, Tools: len(tools)})
		}
		close(call.done)
	}()
	err = caught(func() (err error) {
		tools, err = g.cfg.Toolset.Tools(detached{ctx, limited})
		if err == nil {
			tools = g.group(ctx, tools)
		}
		return err
	})
}

// end stores what the call has returned, and reports whether the toolset has changed from good to bad or back.
func (l *toolList) end(tools []tool.Tool, err error) (changed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = nil
	changed = l.good != (err == nil)
	l.good = err == nil
	if l.good {
		l.last = tools
	}
	return changed
}

// overdue notes that a call has not ended in time, and reports whether the toolset was good until then.
func (l *toolList) overdue(call *listing) (changed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending != call || call.isLate {
		return false // it has ended just now, or another run has noted it
	}
	call.isLate = true
	close(call.late)
	changed, l.good = l.good, false
	return changed
}

func (l *toolList) reportFailure(ctx context.Context, g *Grouped, err error) {
	l.mu.Lock()
	kept := len(l.last)
	l.mu.Unlock()
	g.observe(ctx, Observation{Kind: ToolsetFailed, Tools: kept, Reason: "its last list is used", Err: err})
}

// group returns the tools in the order of their names, each with the group's category. Of two tools of one
// name the first is kept: ADK ends a turn in which a name occurs twice.
func (g *Grouped) group(ctx context.Context, tools []tool.Tool) []tool.Tool {
	grouped := make([]tool.Tool, 0, len(tools))
	for _, t := range tools {
		if !adk.IsNil(t) && t.Name() != "" {
			grouped = append(grouped, g.wrap(t))
		}
	}
	slices.SortStableFunc(grouped, func(a, b tool.Tool) int { return strings.Compare(a.Name(), b.Name()) })
	return slices.CompactFunc(grouped, func(kept, t tool.Tool) bool {
		twice := kept.Name() == t.Name()
		if twice {
			g.leaveOut(ctx, t.Name(), errTwice)
		}
		return twice
	})
}

// detached is the context of a run with the end of another context.
type detached struct {
	agent.ReadonlyContext
	ctx context.Context
}

// Deadline is that of the call.
func (d detached) Deadline() (time.Time, bool) { return d.ctx.Deadline() }

// Done is closed when the call has taken too long.
func (d detached) Done() <-chan struct{} { return d.ctx.Done() }

// Err is not nil once Done is closed.
func (d detached) Err() error { return d.ctx.Err() }

// Value is the run's.
func (d detached) Value(key any) any { return d.ctx.Value(key) }
