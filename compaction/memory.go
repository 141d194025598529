package compaction

import (
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
)

// memory is what a session's earlier attempts have taught. It is lost with the process, which costs
// an attempt and nothing else. Guarded by sessionState.mu.
type memory struct {
	// failures counts failed attempts in a row; no automatic one is made before retryAt.
	failures int
	// doubted is what was told of the provider's counts, by agent.
	doubted map[string]*doubts
	// measured are the estimates of the view by branch, and requests what agents were last sent, by branch
	// and name.
	measured map[string]int
	requests map[string]map[string]sent
	// failing says that it was logged that attempts fail.
	failing bool
	retryAt time.Time
	backoff *backoff.ExponentialBackOff
	// minTokens is what a window must reach to be tried again after its summary was not shorter, by
	// selection key.
	minTokens map[string]int
	// gates hold back the token trigger of a branch after a compaction that did not bring its prompt
	// under the threshold: until the prompt has been under it, or has this many tokens.
	gates map[string]int
	// rests say how large a branch's prompt must be to be looked at again, where the token trigger was due
	// and nothing could be summarized.
	rests map[string]int
	// fits say how an agent's prompts compare with the estimate of its view, by branch and author. Learned
	// from what the provider reports.
	fits map[string]map[string]fit
	// void are events whose report is of a prompt from before the view last changed, the newest last.
	void []eventKey
	// parked are events that a record could not refer to, so that summarizing them was of no use.
	parked map[eventKey]bool
	// waiting are drafts that are not stored yet, oldest first: those of background jobs that wait for
	// the next append, and those that could not be stored.
	waiting []*draft
	// triedInline is the last invocation that an inline attempt failed in.
	triedInline string
	// hanging is open while a summarizer call that was given up has not returned.
	hanging <-chan struct{}
	// last is what became of the latest attempt, for Status.
	last telemetry.Observation
}

// freeTries is how many failures in a row are retried at the next trigger; after that the back-off
// decides.
const freeTries = 3

// failed notes a failed attempt.
func (m *memory) failed(now time.Time) {
	m.failures++
	if m.failures < freeTries {
		return
	}
	if m.backoff == nil {
		m.backoff = backoff.NewExponentialBackOff()
		m.backoff.InitialInterval = 5 * time.Second
		m.backoff.MaxInterval = 5 * time.Minute
		m.backoff.Multiplier = 2
		m.backoff.Reset()
	}
	m.retryAt = now.Add(m.backoff.NextBackOff())
}

// succeeded forgets earlier failures, and that there was nothing to summarize: prompts are smaller now, so
// what they must grow to before the next look is another size.
func (m *memory) succeeded() {
	m.failures, m.retryAt, m.backoff = 0, time.Time{}, nil
	m.rests = nil
}

// notShorter notes that the summary of a window was not shorter, so that the window is not tried
// again until it has grown by half.
func (st *sessionState) notShorter(sel *selector.Selection) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.memory.minTokens == nil {
		st.memory.minTokens = map[string]int{}
	}
	st.memory.minTokens[sel.Key()] = sel.Tokens + max(1, sel.Tokens/2)
}

// worthTrying forgets that the summary of a window was not shorter.
func (st *sessionState) worthTrying(key string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.memory.minTokens, key)
}

// worthKeeping reports whether there is anything to remember of a session nobody holds a handle to.
func (m *memory) worthKeeping() bool {
	return m.failures > 0 || len(m.minTokens) > 0 || len(m.gates) > 0 || len(m.fits) > 0 || len(m.requests) > 0 ||
		len(m.parked) > 0 || len(m.void) > 0 || len(m.waiting) > 0 || m.hanging != nil
}

// raiseFloor holds the token trigger of a branch back until its prompt has a size.
func (st *sessionState) raiseFloor(branch string, size int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.memory.gates == nil {
		st.memory.gates = map[string]int{}
	}
	st.memory.gates[branch] = size
}

// deferUntil keeps a branch from being looked at before its prompt has a size.
func (st *sessionState) deferUntil(branch string, size int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.memory.rests == nil {
		st.memory.rests = map[string]int{}
	}
	st.memory.rests[branch] = size
}

// doubt returns what was told of an agent's counts, to be added to.
func (m *memory) doubt(author string) *doubts {
	if m.doubted == nil {
		m.doubted = map[string]*doubts{}
	}
	d := m.doubted[author]
	if d == nil {
		d = &doubts{}
		m.doubted[author] = d
	}
	return d
}

func (m *memory) learn(branch string, agents map[string]*agentPrompt) {
	if len(agents) == 0 {
		return
	}
	if m.fits == nil {
		m.fits = map[string]map[string]fit{}
	}
	m.fits[branch] = map[string]fit{}
	for author, agent := range agents {
		m.fits[branch][author] = agent.fit
	}
}

// backsOff reports whether automatic attempts wait until a later time.
func (st *sessionState) backsOff(now time.Time) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return now.Before(st.memory.retryAt)
}

// failuresInARow counts the failed attempts since the last one that succeeded.
func (st *sessionState) failuresInARow() int {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.memory.failures
}

// triedInline reports whether an inline attempt failed in the invocation.
func (st *sessionState) triedInline(invocationID string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return invocationID != "" && st.memory.triedInline == invocationID
}

func (st *sessionState) noteInline(invocationID string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.memory.triedInline = invocationID
}

// park notes an event that no record can refer to.
func (st *sessionState) park(ev *session.Event) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.memory.parked == nil {
		st.memory.parked = map[eventKey]bool{}
	}
	st.memory.parked[keyOf(ev)] = true
}

func (st *sessionState) minTokens(key string) int {
	st.mu.Lock()
	defer st.mu.Unlock()
	return max(st.memory.minTokens[key], leastWindow(key))
}

// leastWindow is what a window must reach for a summary of it to be any shorter: its frame alone takes
// up as much as a few short messages.
func leastWindow(string) int { return promptsize.Frame(record.KindSummary, false) + minSummary }

func (st *sessionState) isParked(ev *session.Event) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.memory.parked[keyOf(ev)]
}

// maxVoid bounds how many void reports are remembered: a few agents may answer at once.
const maxVoid = 32

// annul notes that an event reports a prompt that was built before the view last changed.
func (st *sessionState) annul(ev *session.Event) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.memory.void = append(st.memory.void, keyOf(ev)); len(st.memory.void) > maxVoid {
		st.memory.void = slices.Delete(st.memory.void, 0, 1)
	}
}

func (st *sessionState) isVoid(ev *session.Event) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return len(st.memory.void) > 0 && slices.Contains(st.memory.void, keyOf(ev))
}

// fits returns what was learned of the prompts of a branch, by agent, to be added to.
func (st *sessionState) fits(branch string) map[string]*agentPrompt {
	st.mu.Lock()
	defer st.mu.Unlock()
	agents := map[string]*agentPrompt{}
	for author, f := range st.memory.fits[branch] {
		agents[author] = &agentPrompt{fit: f}
	}
	return agents
}

// eventKey tells events of one session apart across handles.
type eventKey struct {
	id    string
	place record.AltKey
}

func keyOf(ev *session.Event) eventKey { return keyOfRef(record.RefTo(ev)) }

func keyOfRef(ref record.Ref) eventKey {
	if ref.ID != "" {
		return eventKey{id: ref.ID}
	}
	return eventKey{place: ref.AltKey()}
}

// maxMemories bounds how many sessions without a handle are remembered; the longest unused is
// forgotten first.
const maxMemories = 1024

// memories keeps the states of sessions alive that have something to remember.
type memories struct {
	mu    sync.Mutex
	byRef *simplelru.LRU[SessionRef, *sessionState]
}

func newMemories() *memories {
	// NewLRU fails for a size that is not positive only.
	byRef, _ := simplelru.NewLRU[SessionRef, *sessionState](maxMemories, nil)
	return &memories{byRef: byRef}
}

// keep keeps a state alive and returns the one that is given up for it, nil for none.
func (m *memories) keep(st *sessionState) (givenUp *sessionState) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.byRef.Contains(st.ref) && m.byRef.Len() == maxMemories {
		_, givenUp, _ = m.byRef.RemoveOldest()
	}
	m.byRef.Add(st.ref, st)
	return givenUp
}

// forget lets go of a state. Another one of the same session, which was created anew, stays.
func (m *memories) forget(st *sessionState) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kept, ok := m.byRef.Peek(st.ref); ok && kept == st {
		m.byRef.Remove(st.ref)
	}
}
