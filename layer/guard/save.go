package guard

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
)

// Save stores what was charged after the last events of sessions: usually the summary of a compaction that has
// ended after its turn. Otherwise it is stored with the session's next event. Call Save before the process ends,
// when no run is in progress and compactions have ended; svc must be the service that the runner uses. It
// appends an event without content to each such session, and leaves out those that were deleted. The error joins
// those of the sessions that could not be stored.
func (g *Guard) Save(ctx context.Context, svc session.Service) error {
	if adk.IsNil(svc) {
		return errors.New("guard: the session service is nil: pass the one that the runner uses")
	}
	var problems []error
	for ref, account := range g.sessions.unsaved() {
		if err := save(ctx, svc, ref, account, g); err != nil && !adk.IsNotFound(err) {
			problems = append(problems, fmt.Errorf("guard: storing the totals of session %q: %w", ref.SessionID, err))
		}
	}
	return errors.Join(problems...)
}

func save(ctx context.Context, svc session.Service, ref compaction.SessionRef, account *ledger.Account, g *Guard) error {
	_, s, err := g.open(ctx, svc, ref)
	if err != nil {
		return err
	}
	return store(ctx, svc, s, account, g.cfg.Now())
}

// unsaved returns the accounts of sessions of which something is not stored. Those of subtasks and of sessions
// that the plugin has never seen are left out.
func (s *sessions) unsaved() map[compaction.SessionRef]*ledger.Account {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[compaction.SessionRef]*ledger.Account{}
	for _, e := range s.accounts.Values() {
		if e.hooked && e.Unsaved() {
			out[e.ref] = e.Account
		}
	}
	return out
}
