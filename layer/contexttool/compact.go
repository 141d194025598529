package contexttool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
)

const compactDescription = "Frees space in your context window: replaces older parts of this conversation by a summary, now. " +
	"Call it before a large operation when the context is nearly full. The newest messages stay as they are, and nothing is deleted. " +
	"With focus you say what the summary must keep in detail."

// focus is the input of compact_context.
type focus struct {
	Focus string `json:"focus,omitempty" jsonschema:"What the summary should keep in detail. Optional."`
}

// compacter is the tool compact_context.
type compacter struct {
	svc   *compaction.CompactionSessionService
	every int
	// running has the sessions with a call under way, by SessionRef.
	running sync.Map
}

// newCompactContext returns the tool compact_context. It runs [compaction.CompactionSessionService.Compact]
// in its own handler, within Config.Timeout, and leaves the newest Config.RetainEvents events raw, its
// own call among them. So the next request of the same turn is smaller already.
//
// It never fails the turn. Its answer is the sizes before and after, or why nothing was done: with
// no_op if there was nothing to do, or as an error if the summarizer failed. Between two compactions by
// it there must be Options.Every events. Of several calls in one round only the first does anything.
func newCompactContext(svc *compaction.CompactionSessionService, opts Options) (tool.Tool, error) {
	if err := check(svc, opts); err != nil {
		return nil, err
	}
	c := &compacter{svc: svc, every: max(0, cmp.Or(opts.Every, defaultEvery))}
	return functiontool.New(functiontool.Config{Name: CompactContextName, Description: compactDescription},
		func(ctx agent.ToolContext, in focus) (map[string]any, error) { return c.compact(ctx, in), nil })
}

func (c *compacter) compact(ctx agent.ToolContext, in focus) map[string]any {
	ref := refOf(ctx)
	settings := c.svc.Settings()
	bound, cancel := context.WithTimeout(ctx, settings.Timeout)
	defer cancel()
	resp, err := c.svc.Get(bound, &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err == nil && resp != nil && resp.Session != nil {
		if why := c.refuses(resp.Session.Events(), ctx.InvocationID(), ctx.FunctionCallID()); why != "" {
			return noOp(why)
		}
	}
	// Only a call that may compact is in the way of others: one that is refused must not cost its round the
	// compaction.
	if _, busy := c.running.LoadOrStore(ref, true); busy {
		return noOp("Nothing was done: another call of this tool is compacting this conversation right now.")
	}
	defer c.running.Delete(ref)
	result, err := c.svc.Compact(bound, ref, compaction.CompactOptions{Focus: in.Focus, KeepEvents: settings.RetainEvents})
	switch {
	case adk.IsNotFound(err):
		return noOp("Nothing was done: this conversation is not kept, so it cannot be compacted.")
	case err != nil:
		return map[string]any{"error": fmt.Sprintf("The context was not compacted: %v. Go on without it.", err)}
	case result.Skipped:
		return noOp(fmt.Sprintf("Nothing was done: %s.", cmp.Or(result.Reason, "there is nothing to summarize")))
	}
	return map[string]any{"result": fmt.Sprintf("Context compacted: %s -> %s tokens, %s events -> %s. Everything stays readable in the session.",
		grouped(result.BeforeTokens), grouped(result.AfterTokens), grouped(result.BeforeEvents), grouped(result.AfterEvents))}
}

// refuses returns why a call must not compact, "" if it may: it is not the first of its round, or the
// last compaction by this tool is too few events ago.
func (c *compacter) refuses(events session.Events, invocationID, callID string) string {
	since := 0 // events behind the last compaction by this tool
	compacted := false
	var own *session.Event
	for ev := range events.All() {
		if ev == nil {
			continue
		}
		since++
		for _, response := range adk.FunctionResponses(ev) {
			if response.Name == CompactContextName && response.Response["error"] == nil && response.Response["no_op"] == nil {
				since, compacted = 0, true
			}
		}
		if ev.InvocationID == invocationID && slices.Contains(callIDs(ev), callID) {
			own = ev // providers reuse IDs: the latest call counts
		}
	}
	if own != nil && callIDs(own)[0] != callID {
		return "Nothing was done: the first call of this tool in this round compacts the conversation."
	}
	if compacted && since < c.every {
		return fmt.Sprintf("Nothing was done: the context was compacted %d events ago, and this tool works once in %d events.", since, c.every)
	}
	return ""
}

// callIDs returns the IDs of the calls of compact_context in an event.
func callIDs(ev *session.Event) []string {
	var ids []string
	for _, call := range adk.FunctionCalls(ev) {
		if call.Name == CompactContextName {
			ids = append(ids, call.ID)
		}
	}
	return ids
}

// grouped writes a number with commas: 45,210.
func grouped(n int) string {
	digits := strconv.Itoa(max(0, n))
	out := ""
	for len(digits) > 3 {
		out = "," + digits[len(digits)-3:] + out
		digits = digits[:len(digits)-3]
	}
	return digits + out
}
