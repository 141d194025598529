package guard

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
)

// sessions are the accounts of sessions and subtasks. It is safe for concurrent use.
type sessions struct {
	session, turn ledger.Limits

	mu       *sync.Mutex
	accounts *simplelru.LRU[compaction.SessionRef, *entry]
}

// entry is the account of a session.
type entry struct {
	*ledger.Account
	ref compaction.SessionRef
	// hooked: the plugin has seen a run of the session, so its totals are stored.
	hooked bool
}

func newSessions(session, turn ledger.Limits) sessions {
	accounts, _ := simplelru.NewLRU[compaction.SessionRef, *entry](2*maxSessions, nil) // fails only for a size that is not positive
	return sessions{session: session, turn: turn, mu: &sync.Mutex{}, accounts: accounts}
}

// of returns the account of a session, and opens it if there is none. It reports whether the plugin has seen
// a run of the session.
func (s *sessions) of(ref compaction.SessionRef, hook bool) (account *ledger.Account, hooked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, known := s.accounts.Get(ref)
	if !known {
		e = &entry{ledger.Open(owner(ref), s.session, s.turn), ref, false}
		s.add(e)
	}
	e.hooked = e.hooked || hook
	return e.Account, e.hooked
}

// renew returns the account of a session in which nothing has happened yet. One with charges is that of a session
// that was deleted, and is replaced, unless a turn is still running: it may be the first of this session.
func (s *sessions) renew(ref compaction.SessionRef) *ledger.Account {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, known := s.accounts.Peek(ref)
	if known && !e.Ended() {
		return e.Account
	}
	e = &entry{ledger.Open(owner(ref), s.session, s.turn), ref, true}
	s.add(e)
	return e.Account
}

// peek returns the account of a session if there is one.
func (s *sessions) peek(ref compaction.SessionRef) (account *ledger.Account, hooked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, known := s.accounts.Get(ref); known {
		return e.Account, e.hooked
	}
	return nil, false
}

// put makes an account that of a session.
func (s *sessions) put(ref compaction.SessionRef, a *ledger.Account) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(&entry{a, ref, false})
}

// add adds an account, and forgets old ones that have nothing to store. The caller holds s.mu.
func (s *sessions) add(e *entry) {
	s.accounts.Add(e.ref, e)
	for range 8 {
		if s.accounts.Len() <= maxSessions {
			return
		}
		ref, oldest, _ := s.accounts.GetOldest()
		if oldest.Busy() {
			s.accounts.Get(ref) // the newest now
			continue
		}
		s.accounts.Remove(ref)
	}
}

func owner(ref compaction.SessionRef) ledger.Owner {
	return ledger.Owner{App: ref.AppName, User: ref.UserID, Session: ref.SessionID}
}

func refOf(o ledger.Owner) compaction.SessionRef {
	return compaction.SessionRef{AppName: o.App, UserID: o.User, SessionID: o.Session}
}
