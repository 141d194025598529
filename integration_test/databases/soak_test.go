package databases_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
	"github.com/adk-go-ext/longsession/record"
)

const (
	soakModelTakes      = 20 * time.Millisecond
	soakSummarizerTakes = 400 * time.Millisecond
	// soakTurns limits what one Get of ADK's service has to read.
	soakTurns = 150
	// soakOvertime is an emergency stop. It is how much longer than planned a soak may take.
	soakOvertime = 5 * time.Minute
)

// soakPlan says how long a soak is and what happens in it.
type soakPlan struct {
	sessions int
	// turns of each way, or the time that all of them run.
	turns int
	lasts time.Duration
	// In each way so many processes are killed and so many connections cut, and so many times the server
	// ends at once. They are spread over the soak evenly.
	kills, cuts, crashes int
}

func soakPlanOf(t *testing.T) soakPlan {
	if testkit.Whole() && !testkit.Race {
		lasts := time.Duration(testkit.Soak(t)) * time.Minute / 2
		every4s := int(lasts / (4 * time.Second))
		return soakPlan{sessions: 50, lasts: lasts, kills: every4s, cuts: every4s, crashes: 2}
	}
	turns := 240
	if testkit.Race {
		turns = 80
	}
	return soakPlan{sessions: 10, turns: turns, kills: 3, cuts: 3, crashes: 1}
}

// Four processes share 50 sessions. Each turn goes to any of them as soon as the one before it in its session
// was answered. Meanwhile processes are killed, connections are cut, and the server ends without an orderly
// shutdown. ADK alone runs beside it, on the same server at the same time.
//
// A turn may fail because its process was killed or because of the server, as with ADK alone. It must not fail
// for any other reason: not in a process that nothing was done to, on a server that nothing was done to. Nothing that was
// acknowledged may be lost.
func TestProcessesSharingSessionsLoseNothing(t *testing.T) {
	for _, e := range []*engine{&postgreSQL, &mariaDB} {
		t.Run(e.name, func(t *testing.T) {
			server := ownServer(t, e)
			plan := soakPlanOf(t)
			var soaks []*soak
			for _, way := range soakWays {
				if way.tables && e != &postgreSQL {
					continue
				}
				soaks = append(soaks, newSoak(t, server, way, plan))
			}
			runSoaks(t, server, soaks, plan)
			for _, s := range soaks {
				s.verify(t)
				if s.way.tables {
					mustVerify(t, s.store.pool(t))
				}
				t.Logf("%-14s %s", s.way.name, s.found)
				s.mustBeClean(t)
			}
		})
	}
}

// soak is one way under the load of a soak.
type soak struct {
	way   soakWay
	store *store
	plan  soakPlan
	began time.Time
	// processes are in the order of processUsers.
	processes []*soakProcess
	// over is closed when no session begins another turn.
	over chan struct{}
	// turns counts the turns that were acknowledged.
	turns atomic.Int64
	// creating lets sessions be created one at a time, because ADK's concurrent Create is not under test.
	creating sync.Mutex

	mu       sync.Mutex
	sessions map[string][]int // acknowledged turns
	found    soakTally
	errs     []error // what the test itself could not do; the first one ends the soak
}

// soakTally is the result of a soak.
type soakTally struct {
	tally
	// outages counts the turns that failed because of the server or a connection, stale those with a stale
	// session, and deadlocks those of a deadlock. tally.failed counts all other failures.
	outages, stale, deadlocks int
	// unharmed counts the turns of processes to which nothing was done, and failedUnharmed has the errors of those that failed.
	unharmed       int
	failedUnharmed []string
	outcomes       map[compaction.Outcome]int
	// abandoned counts the summaries that killed processes had begun and not stored.
	abandoned int
	// doubled counts the events and records that two records stand for.
	doubled int
	took    []time.Duration
	other   []string
}

func (n soakTally) String() string {
	slices.Sort(n.took)
	quantile := func(q float64) time.Duration {
		if len(n.took) == 0 {
			return 0
		}
		return n.took[int(q*float64(len(n.took)-1))].Round(time.Millisecond)
	}
	return fmt.Sprintf("%s; failed by outages %d, stale %d, deadlock %d; %d turns of unharmed processes, %d failed; covered twice %d; "+
		"summaries begun %d, discarded %d, of killed processes %d; p50 %s, p99 %s; outcomes %v",
		n.tally, n.outages, n.stale, n.deadlocks, n.unharmed, len(n.failedUnharmed), n.doubled,
		n.outcomes[compaction.Started], n.outcomes[compaction.Discarded], n.abandoned, quantile(.5), quantile(.99), n.outcomes)
}

func newSoak(t *testing.T, server *server, way soakWay, plan soakPlan) *soak {
	t.Helper()
	s := &soak{
		way: way, plan: plan, store: newStoreOn(t, server), over: make(chan struct{}),
		sessions: map[string][]int{}, found: soakTally{outcomes: map[compaction.Outcome]int{}},
	}
	if way.tables {
		if err := adkdb.Install(t.Context(), s.store.pool(t)); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range processUsers {
		p := &soakProcess{soak: s, user: user}
		if err := p.start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = p.kill() })
		s.processes = append(s.processes, p)
	}
	return s
}

// runSoaks puts all soaks under load until each of them has had its turns or its time.
func runSoaks(t *testing.T, server *server, soaks []*soak, plan soakPlan) {
	t.Helper()
	var load, harm sync.WaitGroup
	began := time.Now()
	for _, s := range soaks {
		s.began = began
		for i := range plan.sessions {
			load.Go(func() { s.converse(i) })
		}
		harm.Go(func() {
			defer close(s.over)
			s.disturb()
		})
	}
	crashed := make(chan error, 1)
	go func() { crashed <- crashServer(server, soaks[0]) }()
	harm.Wait()
	load.Wait()
	if err := <-crashed; err != nil {
		t.Fatal(err)
	}
	for _, s := range soaks {
		for _, p := range s.processes {
			if err := s.flush(p); err != nil {
				t.Errorf("%s: %v", s.way.name, err)
			}
		}
		for _, p := range s.processes {
			if err := p.finish(); err != nil {
				t.Errorf("%s: a process ended with %v", s.way.name, err)
			}
		}
		for _, err := range s.errs {
			t.Errorf("%s: %v", s.way.name, err)
		}
	}
}

// progress returns how much of the soak is over, from 0 to 1. An error of the test itself ends it.
func (s *soak) progress() float64 {
	if time.Since(s.began) > s.plan.lasts+soakOvertime {
		s.note(fmt.Errorf("not over after %s", time.Since(s.began)))
	}
	s.mu.Lock()
	broken := len(s.errs) > 0
	s.mu.Unlock()
	if broken {
		return 1
	}
	if s.plan.lasts > 0 {
		return min(1, float64(time.Since(s.began))/float64(s.plan.lasts))
	}
	return min(1, float64(s.turns.Load())/float64(s.plan.turns))
}

// reach waits for a part of the soak to be over. It is looked at every few turns of the load.
func (s *soak) reach(part float64) {
	for poll := time.NewTicker(5 * time.Millisecond); ; <-poll.C {
		if s.progress() >= part {
			poll.Stop()
			return
		}
	}
}

// disturb kills processes and cuts connections until the soak is over.
func (s *soak) disturb() {
	random := rand.New(rand.NewPCG(1, uint64(len(s.way.name))))
	n := s.plan.kills + s.plan.cuts
	for i := range n {
		s.reach((float64(i) + 0.5) / float64(n))
		p := s.processes[random.IntN(len(s.processes))]
		if i%2 == 1 {
			if r := p.current(); r != nil {
				r.cut.Store(true)
			}
			s.note(s.store.cut(p.user))
			continue
		}
		r, err := p.kill()
		s.note(err)
		if r != nil {
			s.mu.Lock()
			s.found.abandoned += len(r.began)
			s.mu.Unlock()
		}
		s.note(p.start())
	}
	s.reach(1)
}

// crashServer ends the server at once and starts it again, as often as planned.
func crashServer(server *server, first *soak) error {
	for i := range first.plan.crashes {
		first.reach(float64(i+1) / float64(first.plan.crashes+1))
		if err := server.crash(); err != nil {
			return err
		}
	}
	return nil
}

func (s *soak) note(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}

func (s *soak) observe(r soakReply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found.outcomes[r.Outcome]++
}

// converse takes the turns of one session after another.
func (s *soak) converse(i int) {
	random := rand.New(rand.NewPCG(2, uint64(i)))
	for n := 0; ; n++ {
		id := s.create(fmt.Sprintf("%d-%d", i, n))
		if id == "" {
			return
		}
		for turn := range soakTurns {
			select {
			case <-s.over:
				return
			default:
			}
			s.turn(random, id, turn)
		}
	}
}

// create creates a session and returns its ID, or "" if the soak is over.
func (s *soak) create(id string) string {
	s.creating.Lock()
	defer s.creating.Unlock()
	for {
		select {
		case <-s.over:
			return ""
		default:
		}
		_, err := s.store.sessions.Create(context.Background(), &session.CreateRequest{AppName: appName, UserID: userID, SessionID: id})
		if err == nil {
			s.mu.Lock()
			s.sessions[id] = nil
			s.mu.Unlock()
			return id
		}
		s.store.settle()
		id += "'" // the first one may have been created
	}
}

// turn takes one turn in any process.
func (s *soak) turn(random *rand.Rand, id string, turn int) {
	var r *soakRun
	for r == nil { // another process takes its place soon
		select {
		case <-s.over:
			return
		default:
			r = s.processes[random.IntN(len(s.processes))].current()
		}
	}
	began := time.Now()
	reply, err := r.do(soakOrder{Do: "turn", Session: id, Turn: turn})
	took, harmed := time.Since(began), r.harmed(s.store.server)
	if err != nil {
		// The server may still commit what the dead process sent.
		<-r.gone
	}
	if reply.Err != "" {
		// The same may be so for a connection that is being cut, and for a server that is about to end.
		s.store.settle()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found.turns++
	if !harmed {
		s.found.unharmed++
		if reply.Err != "" {
			s.found.failedUnharmed = append(s.found.failedUnharmed, reply.Err)
		}
	}
	switch {
	case err == errProcessEnded:
		s.found.killed++
	case err != nil:
		s.errs = append(s.errs, err)
	case reply.Err == "":
		for _, n := range s.sessions[id] {
			if !slices.Contains(reply.Facts, n) {
				s.found.lostFacts++
			}
		}
		s.sessions[id] = append(s.sessions[id], turn)
		s.found.took = append(s.found.took, took)
		s.turns.Add(1)
	case isOutage(reply.Err):
		s.found.outages++
	case strings.Contains(reply.Err, "stale session"):
		s.found.stale++
	case strings.Contains(strings.ToLower(reply.Err), "deadlock"):
		s.found.deadlocks++
	default:
		s.found.failed++
		s.found.other = append(s.found.other, reply.Err)
	}
}

// outageErrors are what drivers say when the server or a connection is gone.
var outageErrors = []string{
	"57P01", "57P02", "57P03", // shut down by an administrator, by a crash; starting
	"connection refused", "connection reset", "broken pipe", "no such file or directory", "failed to connect", "closed the connection",
	"unexpected EOF", ": EOF", "conn closed", "bad connection", "invalid connection", "Connection was killed", "Server shutdown",
}

func isOutage(text string) bool {
	return slices.ContainsFunc(outageErrors, func(part string) bool { return strings.Contains(text, part) })
}

// flush has a process do all that it still wants to do in any session.
func (s *soak) flush(p *soakProcess) error {
	r := p.current()
	if r == nil {
		return fmt.Errorf("%s has no process", p.user)
	}
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		// A connection that was cut last may still be in use.
		for deadline := time.Now().Add(childTimeout); ; {
			reply, err := r.do(soakOrder{Do: "flush", Session: id})
			if err != nil {
				return err
			}
			if reply.Err == "" {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("flush %s: %s", id, reply.Err)
			}
		}
	}
	return nil
}

// verify compares storage with what was acknowledged.
func (s *soak) verify(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		s.found.add(inspect(ctx, t, s.store.sessions, id, s.sessions[id]))
		s.found.doubled += coveredTwice(ctx, t, s.store.sessions, id)
	}
}

// coveredTwice counts the events and records of a session that more than one record stands for directly.
func coveredTwice(ctx context.Context, t *testing.T, sessions session.Service, id string) int {
	t.Helper()
	resp, err := sessions.Get(ctx, &session.GetRequest{AppName: appName, UserID: userID, SessionID: id})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for ev := range resp.Session.Events().All() {
		m, err := record.From(ev)
		if err != nil {
			t.Errorf("session %s: %v", id, err)
		}
		if m == nil {
			continue
		}
		for _, ref := range m.Covered {
			count["event "+ref.ID]++
		}
		for _, absorbed := range m.Absorbed {
			count["record "+absorbed]++
		}
	}
	twice := 0
	for _, n := range count {
		if n > 1 {
			twice++
		}
	}
	return twice
}

// mustBeClean fails the test if something was lost, or if a turn failed in a process that nothing was done to, unless ADK
// alone is under test. Other turns that failed are in the report only.
func (s *soak) mustBeClean(t *testing.T) {
	t.Helper()
	found, name := s.found, s.way.name
	if len(found.other) > 0 {
		t.Logf("%s: other failures: %q", name, found.other)
	}
	if len(found.failedUnharmed) > 0 {
		t.Logf("%s: failed in unharmed processes: %q", name, found.failedUnharmed)
	}
	if s.way.over != nil && len(found.failedUnharmed) > 0 {
		t.Errorf("%s: %d turns failed in processes that nothing was done to", name, len(found.failedUnharmed))
	}
	found.failed = 0
	found.tally.mustBeClean(t)
	long := 0 // sessions in which a summary was due several times
	for _, turns := range s.sessions {
		if len(turns) >= 20 {
			long++
		}
	}
	if found.acknowledged() == 0 || s.way.over != nil && long >= 5 && found.records == 0 {
		t.Errorf("%s: nothing happened: %s", name, found)
	}
	if s.way.alone && found.doubled > 0 {
		t.Errorf("%s: two records stand for the same %d times", name, found.doubled)
	}
}

func (n soakTally) acknowledged() int { return len(n.took) }
