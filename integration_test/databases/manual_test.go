package databases_test

import (
	"context"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/record"
)

// onEachServer runs f over every engine.
func onEachServer(t *testing.T, f func(t *testing.T, s *store)) {
	t.Helper()
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) { f(t, newStore(t, e)) })
	}
}

// PostgreSQL rejects a NUL in JSON. A record that can never be stored must not block all later
// compactions, so a person's text is stored without NUL.
func TestControlCharactersDoNotEndCompaction(t *testing.T) {
	onEachServer(t, func(t *testing.T, s *store) {
		ctx := context.WithoutCancel(t.Context())
		a, err := newApp(s.sessions, false, func(cfg *compaction.Config) { cfg.InvocationThreshold = 5 })
		if err != nil {
			t.Fatal(err)
		}
		createSession(ctx, t, s.sessions, "controls")
		var acknowledged []int
		take := func(turns int) {
			t.Helper()
			for range turns {
				turn := len(acknowledged)
				if err := a.take(ctx, "controls", turn); err != nil {
					t.Fatalf("turn %d: %v", turn, err)
				}
				acknowledged = append(acknowledged, turn)
			}
		}
		take(4)
		result, err := a.compacting.Compact(ctx, refTo("controls"), compaction.CompactOptions{Focus: "prices\x00 and\x1b dates"})
		if err != nil || result.Skipped {
			t.Errorf("Compact: %+v, %v", result, err)
		}
		take(3)
		result, err = a.compacting.Checkpoint(ctx, refTo("controls"), compaction.CheckpointOptions{Note: "ordered\x00"})
		if err != nil || result.Skipped {
			t.Errorf("Checkpoint: %+v, %v", result, err)
		}
		take(26)
		finish(ctx, t, a, "controls")
		found := inspect(ctx, t, s.sessions, "controls", acknowledged)
		found.mustBeClean(t)
		if found.records < 3 { // how many depends on how fast the machine is
			t.Errorf("%d records are stored after 26 more turns, want more than the 2 by hand", found.records)
		}
		wantWords(ctx, t, s.sessions, "prices and dates", "ordered")
	})
}

// wantWords checks the focus and the note of the first two records.
func wantWords(ctx context.Context, t *testing.T, sessions session.Service, focus, note string) {
	t.Helper()
	resp, err := sessions.Get(ctx, &session.GetRequest{AppName: appName, UserID: userID, SessionID: "controls"})
	if err != nil {
		t.Fatal(err)
	}
	focuses, notes := map[string]bool{}, map[string]bool{}
	for ev := range resp.Session.Events().All() {
		if m, err := record.From(ev); err == nil && m != nil {
			focuses[m.Focus], notes[m.Note] = true, true
		}
	}
	if !focuses[focus] || !notes[note] {
		t.Errorf("no record has the focus %q, or none the note %q: %v, %v", focus, note, focuses, notes)
	}
}

// Compact and Flush store immediately. While the other process is between turns, this does not
// affect it, whichever process ran the latest turn.
func TestCompactionByHandNextToAnIdleProcess(t *testing.T) {
	onEachServer(t, func(t *testing.T, s *store) {
		ctx := context.WithoutCancel(t.Context())
		both := startProcesses(t, s, false)
		createSession(ctx, t, s.sessions, "by hand")
		var acknowledged []int
		for turn := range 40 {
			p, other := both[turn%2], both[1-turn%2]
			if r := p.do(order{Do: "turn", Session: "by hand", Turn: turn}); r.Err != "" {
				t.Errorf("turn %d: %s", turn, r.Err)
				continue
			}
			acknowledged = append(acknowledged, turn)
			by, do := other, "flush"
			if turn/2%2 == 1 {
				do = "compact"
			}
			if turn%8 >= 4 {
				by = p
			}
			if r := by.do(order{Do: do, Session: "by hand"}); r.Err != "" {
				t.Errorf("%s after turn %d: %s", do, turn, r.Err)
			}
		}
		found := inspect(ctx, t, s.sessions, "by hand", acknowledged)
		found.mustBeClean(t)
		if found.records < 10 {
			t.Errorf("%d records are stored for 40 turns", found.records)
		}
	})
}
