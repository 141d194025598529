package guard

import (
	"context"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
)

// subtaskMark is between a session's ID and the ID of a call in the ID of a subtask's session.
const subtaskMark = ":sub:"

// UseService names the service that has the sessions of subtasks. If the process ends while a subtask runs, what
// it has used is in its own session only; the next run of its caller's session looks it up there, for calls
// without a response: in the session "<caller's session>:sub:<call ID>". Without a service, such a subtask is not
// charged to its caller.
func (g *Guard) UseService(svc session.Service) {
	if !adk.IsNil(svc) {
		g.service.Store(&svc)
	}
}

// lookBack is how many events are searched for calls without a response.
const lookBack = 1_000

// recoverSubtasks charges a session for the subtasks that were running when an earlier process ended.
func (g *Guard) recoverSubtasks(ctx context.Context, a *ledger.Account, s session.Session) {
	svc := g.service.Load()
	if svc == nil {
		return
	}
	for _, id := range unanswered(s.Events()) {
		child := compaction.SessionRef{AppName: s.AppName(), UserID: s.UserID(), SessionID: s.ID() + subtaskMark + id}
		if running, _ := g.sessions.peek(child); running != nil {
			continue
		}
		resp, err := (*svc).Get(ctx, &session.GetRequest{AppName: child.AppName, UserID: child.UserID, SessionID: child.SessionID})
		if err != nil || resp == nil || adk.IsNil(resp.Session) {
			continue // most calls are no subtasks
		}
		text := storedText(resp.Session.State())
		o, stored, err := ledger.Decode(text)
		if err != nil || o != owner(child) {
			if _, stored, _ = newest(resp.Session, owner(child)); stored.Total == (ledger.Amount{}) {
				continue
			}
		}
		settled := a.Recover(child.SessionID, stored, g.cfg.Now())
		if settled.Charged != (ledger.Amount{}) {
			who := caller{ref: refOf(a.Owner())}
			g.charged(ctx, who, ledger.Payer{Account: a}, "", settled.Charged, settled)
		}
	}
}

// unanswered returns the IDs of the newest calls without a response.
func unanswered(events session.Events) (ids []string) {
	if adk.IsNil(events) {
		return nil
	}
	answered := map[string]bool{}
	for i := events.Len() - 1; i >= max(0, events.Len()-lookBack); i-- {
		ev := events.At(i)
		for _, id := range adk.ResponseIDs(ev) {
			answered[id] = true
		}
		for _, call := range adk.FunctionCalls(ev) {
			if call.ID != "" && !answered[call.ID] {
				ids = append(ids, call.ID)
			}
		}
	}
	return ids
}

// answered notes that the results of subtasks are about to be stored with an event.
func answered(a *ledger.Account, ev *session.Event) {
	ids := adk.ResponseIDs(ev)
	if len(ids) == 0 {
		return
	}
	a.Answered(func(session string) bool {
		for _, id := range ids {
			if strings.HasSuffix(session, subtaskMark+id) {
				return true
			}
		}
		return false
	})
}
