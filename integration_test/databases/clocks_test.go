package databases_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/adk/platform"
	"google.golang.org/adk/session"
)

// ahead is a context in which ADK's clock, and ours, is ahead of the true time.
func ahead(ctx context.Context, by time.Duration) context.Context {
	return platform.WithTimeProvider(ctx, func() time.Time { return time.Now().Add(by) })
}

// Two processes whose clocks are ten minutes apart share a session. ADK's service orders events by time, so those of the
// slow clock come before all that the other one has said within ten minutes. That holds for ADK alone as well; summaries
// lose nothing by it, and no turn fails.
func TestProcessesWhoseClocksAreTenMinutesApart(t *testing.T) {
	onServers(t, func(t *testing.T, s *store, bare bool) {
		takeTurnsOnTwoClocks(t, s, s.sessions, bare)
	})
	t.Run("PostgreSQL/with tables", func(t *testing.T) {
		s, db, service := installed(t)
		takeTurnsOnTwoClocks(t, s, service, false)
		mustVerify(t, db)
	})
	t.Run("MariaDB/with leases", func(t *testing.T) {
		s := newStore(t, &mariaDB)
		takeTurnsOnTwoClocks(t, s, s.shared(t), false)
	})
}

func takeTurnsOnTwoClocks(t *testing.T, s *store, inner session.Service, bare bool) {
	t.Helper()
	ctx := t.Context()
	clocks := []context.Context{ctx, ahead(ctx, -10*time.Minute)}
	apps := make([]*app, len(clocks))
	for i := range apps {
		a, err := newApp(inner, bare, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.compacting != nil {
			t.Cleanup(func() { _ = a.compacting.Close(context.WithoutCancel(ctx)) })
		}
		apps[i] = a
	}
	const id = "clocks"
	createSession(ctx, t, inner, id)
	found := tally{turns: 40}
	var acknowledged []int
	for turn := range found.turns {
		of := turn / 3 % 2 // a few turns in a row: the process that summarizes is not always the next one
		if err := apps[of].take(clocks[of], id, turn); err != nil {
			t.Errorf("turn %d failed: %v", turn, err)
			continue
		}
		found.lostFacts += missing(apps[of].facts, acknowledged)
		acknowledged = append(acknowledged, turn)
	}
	for i, a := range apps {
		if a.compacting == nil {
			continue
		}
		if err := a.compacting.Flush(clocks[i], refTo(id)); err != nil {
			t.Error(err)
		}
		found.calls += int(a.writer.calls.Load())
	}
	found.add(inspect(ctx, t, s.sessions, id, acknowledged))
	t.Log(found)
	found.mustBeClean(t)
	if !bare && found.records == 0 { // how many depends on how fast the machine is
		t.Errorf("no summary is stored of %d turns", found.turns)
	}
}

// A lease lasts by the server's clock: one that a process with a fast clock takes is not over for the others.
func TestALeaseLastsByTheServersClock(t *testing.T) {
	onEachServer(t, func(t *testing.T, s *store) {
		b := newBeside(t, s.sessions)
		for _, by := range []time.Duration{-time.Hour, time.Hour} {
			first, second := s.shared(t), s.shared(t)
			release, ok, err := first.Lease(ahead(t.Context(), by), b.live, 10*time.Minute)
			if err != nil || !ok {
				t.Fatalf("no lease: %t, %v", ok, err)
			}
			if _, ok, err := second.Lease(t.Context(), b.live, 10*time.Minute); err != nil || ok {
				t.Errorf("a process %v ahead has the lease, and another one took it: %t, %v", by, ok, err)
			}
			release()
			release, ok, err = second.Lease(t.Context(), b.live, 10*time.Minute)
			if err != nil || !ok {
				t.Fatalf("no lease after it was given back: %t, %v", ok, err)
			}
			release()
		}
	})
}
