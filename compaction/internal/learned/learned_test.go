package learned

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/adk/session"
)

func TestBackOffGrowsAfterThreeFailures(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var f Facts
	for i := 1; i <= 20; i++ {
		f.Attempts.Failed(now)
		if i < freeTries && f.Attempts.BacksOff(now) {
			t.Errorf("failure %d is backed off from", i)
		}
	}
	if last := f.Attempts.Status().RetryAt.Sub(now); last < time.Minute || last > 10*time.Minute {
		t.Errorf("after twenty failures the next try is in %v", last)
	}
	f.Succeeded()
	if f.Attempts.BacksOff(now) || f.WorthKeeping() {
		t.Error("failures are remembered after a success")
	}
}

func TestAStateChangeIsNewsOnce(t *testing.T) {
	t.Parallel()
	var a Attempts
	for i, got := range []bool{!a.IsNews(false), a.IsNews(true), !a.IsNews(true), a.IsNews(false), !a.IsNews(false)} {
		if !got {
			t.Errorf("change %d is reported wrongly", i)
		}
	}
}

func TestAHangingCallIsForgottenWhenItReturns(t *testing.T) {
	t.Parallel()
	var f Facts
	returned := make(chan struct{})
	f.Attempts.GaveUp(returned)
	if !f.Attempts.Hanging() || !f.WorthKeeping() {
		t.Error("the call hangs, and that is not known")
	}
	close(returned)
	if f.Attempts.Hanging() || f.WorthKeeping() {
		t.Error("the call has returned, and that is not known")
	}
}

// Each row is one fact, whether it is kept for a session without handles, and what undoes it.
func TestFactsAreKeptAndForgotten(t *testing.T) {
	t.Parallel()
	ev := &session.Event{InvocationID: "inv", Author: "agent", Timestamp: time.Unix(1, 0)}
	for name, row := range map[string]struct {
		learn, undo func(*Facts)
		holds       func(*Facts) bool
		kept        bool
	}{
		"not shorter": {
			func(f *Facts) { f.Windows.NotShorter("w", 100) }, func(f *Facts) { f.Windows.WorthTrying("w") },
			func(f *Facts) bool { return f.Windows.Least("w") == 150 }, true,
		},
		"floor": {
			func(f *Facts) { f.Windows.RaiseFloor("b", 88) }, func(f *Facts) { f.Windows.Relieved("b") },
			func(f *Facts) bool { return f.Windows.Floor("b") == 88 }, true,
		},
		"quiet": {
			func(f *Facts) { f.Windows.DeferUntil("b", 101) }, (*Facts).Succeeded,
			func(f *Facts) bool { return f.Windows.QuietUntil("b") == 101 }, false,
		},
		"failure": {
			func(f *Facts) { f.Attempts.Failed(time.Now()) }, (*Facts).Succeeded,
			func(f *Facts) bool { return f.Attempts.Status().Failures == 1 }, true,
		},
		"tried inline": {
			func(f *Facts) { f.Attempts.NoteInline("inv") }, func(f *Facts) { f.Attempts.NoteInline("other") },
			func(f *Facts) bool { return f.Attempts.TriedInline("inv") && !f.Attempts.TriedInline("") }, false,
		},
		"concluded": {
			func(f *Facts) { f.Attempts.Concluded("", errors.New("quota")) }, func(f *Facts) { f.Attempts.Concluded("", nil) },
			func(f *Facts) bool { return f.Attempts.Status().Err != nil }, false,
		},
		"unreferencable": {
			func(f *Facts) { f.Events.MarkUnreferencable(ev) }, nil,
			func(f *Facts) bool { return f.Events.Unreferencable(ev) }, true,
		},
		"stale": {
			func(f *Facts) { f.Events.MarkStale(ev) },
			func(f *Facts) {
				for i := range maxStale {
					f.Events.MarkStale(&session.Event{Timestamp: time.Unix(int64(i), 0)})
				}
			},
			func(f *Facts) bool { return f.Events.Stale(ev) }, true,
		},
	} {
		var f Facts
		if row.holds(&f) || f.WorthKeeping() {
			t.Errorf("%s: known before it is learned", name)
		}
		row.learn(&f)
		if !row.holds(&f) || f.WorthKeeping() != row.kept {
			t.Errorf("%s: known %t, kept %t", name, row.holds(&f), f.WorthKeeping())
		}
		if row.undo == nil {
			continue
		}
		if row.undo(&f); row.holds(&f) {
			t.Errorf("%s: still known", name)
		}
	}
	var e Events
	if !e.FirstReport(ev) || e.FirstReport(ev) {
		t.Error("an unreadable record must be news once")
	}
}
