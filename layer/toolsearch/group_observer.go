package toolsearch

import (
	"context"
	"fmt"
	"log/slog"

	"google.golang.org/adk/agent"
)

// Kinds of observations of a [Grouped] toolset. Toolset is its name.
const (
	// ToolsetFailed: the toolset has failed, panicked or not answered in time. Err has the cause. Reported
	// once, until it works again. Tools is how many tools of the last good list are used.
	ToolsetFailed Kind = "toolset failed"
	// ToolsetRestored: the toolset works again. Tools is how many it has.
	ToolsetRestored Kind = "toolset restored"
	// ToolLeftOut: a tool is not offered, because its name is taken or because it has failed. Reason has
	// its name, and Err the cause. Reported once for each name.
	ToolLeftOut Kind = "tool left out"
)

// observe logs an observation and passes it on to the observer. It never waits.
func (g *Grouped) observe(ctx context.Context, o Observation) {
	o.Toolset = g.Name()
	if run, ok := ctx.(agent.ReadonlyContext); ok {
		who := callerIn(run, "")
		o.Session, o.Agent, o.Branch, o.InvocationID = who.session, who.agent, who.branch, who.invocation
	}
	g.log(ctx, o)
	if g.cfg.Observer != nil {
		g.outbox.Send(ctx, o, g.deliver)
	}
}

func (g *Grouped) deliver(ctx context.Context, o Observation, missed int) {
	o.Missed = missed
	g.cfg.Observer(ctx, o)
}

// log writes a line. A handler that panics does not harm our caller.
func (g *Grouped) log(ctx context.Context, o Observation) {
	logger, level := g.cfg.Logger, slog.LevelWarn
	if logger == nil {
		logger = slog.Default()
	}
	if o.Kind == ToolsetRestored {
		level = slog.LevelInfo
	}
	attrs := []slog.Attr{slog.String("toolset", o.Toolset), slog.String("agent", o.Agent), slog.Int("tools", o.Tools)}
	if o.Reason != "" {
		attrs = append(attrs, slog.String("reason", o.Reason))
	}
	if o.Err != nil {
		attrs = append(attrs, slog.String("error", o.Err.Error()))
	}
	defer g.logger.Survive("toolsearch: GroupConfig.Logger")
	logger.LogAttrs(ctx, level, "longsession: "+string(o.Kind), attrs...)
}

// maxLeftOut bounds the names that are remembered as reported. Beyond it none is reported: a server that makes
// up new names all the time must not fill the log.
const maxLeftOut = 1_024

// leaveOut reports a tool that is not offered, once.
func (g *Grouped) leaveOut(ctx context.Context, name string, err error) {
	g.mu.Lock()
	isNew := !g.leftOut[name] && len(g.leftOut) < maxLeftOut
	if isNew {
		g.leftOut[name] = true
	}
	g.mu.Unlock()
	if isNew {
		g.observe(ctx, Observation{Kind: ToolLeftOut, Reason: fmt.Sprintf("tool %.64q", name), Err: err})
	}
}
