package subtask

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// used is what a subtask had used when it asked for a confirmation.
type used struct {
	calls    int
	tokens   tokens.Usage
	usd      tokens.Nano
	unpriced bool
}

// usedIn adds up the model calls that are stored in a session, at the prices of one model. An answer without a report of
// its usage counts as estimated: what was said before it, and the answer.
func (r *Runner) usedIn(s session.Session, llm string) (u used) {
	m, known := r.cfg.Registry.Lookup(llm)
	u.unpriced = !known || !m.Priced()
	said := 0
	for ev := range s.Events().All() {
		before, size := said, tokens.OfContent(ev.Content)
		said += size
		if ev.Author == "user" || ev.UsageMetadata == nil && !isAnswer(ev) {
			continue
		}
		use := tokens.UsageOf(ev.UsageMetadata)
		if use == (tokens.Usage{}) {
			use = tokens.Usage{PromptTokens: before, OutputTokens: max(1, size)}
		} else {
			use.PromptTokens += max(0, int(ev.UsageMetadata.ToolUsePromptTokenCount)) // billed, though never sent again
		}
		u.calls, u.tokens, u.usd = u.calls+1, u.tokens.Add(use), u.usd+m.Nanos(use)
	}
	return u
}

// isAnswer reports whether a model has written an event without a report of its usage: neither a tool, nor ADK, which
// asks for confirmations and credentials in an event of its own.
func isAnswer(ev *session.Event) bool {
	if ev.Content == nil || ev.Partial || adk.Classify(ev).Is(adk.Responds) {
		return false
	}
	return !slices.ContainsFunc(adk.FunctionCalls(ev), func(call *genai.FunctionCall) bool { return !adk.Prompted(call.Name) })
}

// result is how a run has ended: with an error or without, and with the cause of its context, if that ended.
func (t *task) result(account *guard.Child, err, cause error) Result {
	usage := account.Usage()
	out := Result{
		Turns: t.before.calls + usage.ModelCalls,
		Usage: t.before.tokens.Add(usage.Tokens), USD: t.before.usd + usage.USD,
		Unpriced: len(usage.Unpriced) > 0 || t.before.calls > 0 && t.before.unpriced,
		Model:    t.spec.Model.Name(), ParentModel: !t.own,
		SessionID: t.child.SessionID,
	}
	text, why := t.reply.text()
	landed, stop := t.landing.seen.Load(), account.Stopped()
	switch {
	case err == nil && why == "" && !landed:
	case t.ctx.Err() != nil:
		why = "the parent was canceled"
	case errors.Is(cause, errWall) || err != nil && errors.Is(cause, guard.ErrStopped):
		out.Stopped = &guard.StopError{Kind: guard.WallTime, Scope: guard.ScopeSubtask, Spent: t.spec.Wall.String(), Bound: t.spec.Wall.String()}
		why = explain(out.Stopped)
	case errors.As(err, &out.Stopped):
		why = explain(out.Stopped)
	case err == nil && stop != nil && (landed || t.reply.failedWith(string(stop.Kind))): // an error code: guard.AsEvent
		out.Stopped, why = stop, explain(stop)
	case err == nil && landed:
		why = "the last call that fits under a limit had to be the answer"
	case err != nil:
		why = fmt.Sprintf("it failed: %s", shorten(err.Error(), maxShownArgs))
	}
	out.Truncated = why != ""
	out.Text, out.Reason = bounded(text, why, t.child.SessionID, t.spec.MaxReplyTokens)
	out.Truncated = out.Reason != ""
	return out
}

// explain says in words which limit was reached.
func explain(stop *guard.StopError) string {
	switch {
	case stop.Kind == guard.Watchdog:
		return "the watchdog has stopped it: " + stop.Spent
	case stop.Spent == stop.Bound:
		return fmt.Sprintf("the %s has reached its limit of %s", stop.Scope, stop.Bound)
	}
	return fmt.Sprintf("the %s has used %s of %s", stop.Scope, stop.Spent, stop.Bound)
}
