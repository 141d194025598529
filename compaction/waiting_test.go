package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

// plain is an inner service that compaction knows nothing about. It notes its calls. If onRecord is not
// nil, it is called before a record is stored.
type plain struct {
	session.Service
	onRecord func(ctx context.Context) error

	mu    sync.Mutex
	calls []string
}

func newPlain() *plain { return &plain{Service: session.InMemoryService()} }

func (p *plain) note(call string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, call)
}

// take returns the calls since it was last called.
func (p *plain) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := strings.Join(p.calls, " ")
	p.calls = nil
	return calls
}

func (p *plain) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	p.note("get")
	return p.Service.Get(ctx, req)
}

func (p *plain) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if !compaction.IsCompactionEvent(ev) {
		p.note("append")
		return p.Service.AppendEvent(ctx, sess, ev)
	}
	p.note("record")
	if p.onRecord != nil {
		if err := p.onRecord(ctx); err != nil {
			return err
		}
	}
	return p.Service.AppendEvent(ctx, sess, ev)
}

// inBackground is a config whose compactions run in the background, and what it tells.
func inBackground(change func(*compaction.Config)) (compaction.Config, *notes) {
	cfg, _ := oracleConfig()
	seen := &notes{}
	cfg.Synchronous, cfg.Observer = false, seen.Observe
	if change != nil {
		change(&cfg)
	}
	return cfg, seen
}

// await waits until the observer has been told of an outcome so many times.
func await(t *testing.T, seen *notes, outcome compaction.Outcome, n int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); len(seen.of(outcome)) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d times %s, want %d; all: %v", len(seen.of(outcome)), outcome, n, seen.all())
		}
	}
}

// TestBackgroundJobTouchesNoStorageOfAPlainService: between turns another process may be in one, and
// ADK's database service writes the whole session row with every append.
func TestBackgroundJobTouchesNoStorageOfAPlainService(t *testing.T) {
	t.Parallel()
	inner := newPlain()
	cfg, seen := inBackground(nil)
	svc := newService(t, inner, cfg)
	create(t, svc)
	events := turns(8)
	turn := get(t, svc)
	appendAll(t, svc, turn, events[:10]...)
	inner.take()
	await(t, seen, compaction.Waiting, 1)
	if calls := inner.take(); calls != "" {
		t.Errorf("the job called the inner service: %s", calls)
	}
	if n := status(t, svc).WaitingSummaries; n != 1 {
		t.Errorf("Status says that %d summaries wait, want 1", n)
	}
	if len(eventsOf(turn)) != 10 {
		t.Errorf("the view shows %d events before the record is stored, want all 10", len(eventsOf(turn)))
	}
	turn = get(t, svc)
	inner.take()
	appendAll(t, svc, turn, events[10]) // the user's message
	if calls := inner.take(); calls != "append record" {
		t.Errorf("the append of the user's message called %q, want the record directly behind it", calls)
	}
	if view := eventsOf(turn); view[0].ID == "e1" {
		t.Error("the view shows no summary when the model is asked")
	}
	if n := len(seen.of(compaction.Stored)); n != 1 {
		t.Errorf("told of %d stored records, want 1", n)
	}
	if n := status(t, svc).WaitingSummaries; n != 0 {
		t.Errorf("Status says that %d summaries wait, want none", n)
	}
	inner.take()
	appendAll(t, svc, turn, events[11:]...)
	if calls := inner.take(); strings.Contains(calls, "get") {
		t.Errorf("appends read the history again: %s", calls)
	}
	flush(t, svc)
	wantOnce(t, svc, events)
	wantCoveredOnce(t, svc)
	wantFacts(t, eventsOf(get(t, svc)), 8)
	checkView(t, svc)
}

// TestSeveralDraftsWaitTogether: a backlog with merges is summarized in the background at once, each
// window chosen as if the drafts before it were stored, and stored in order by one append.
func TestSeveralDraftsWaitTogether(t *testing.T) {
	t.Parallel()
	inner := newPlain()
	events := turns(60)
	appendAll(t, inner.Service, create(t, inner.Service), events[:119]...)
	cfg, seen := inBackground(func(cfg *compaction.Config) {
		cfg.InvocationThreshold, cfg.OverlapSize, cfg.MaxSummaries = 2, 1, 2
	})
	cfg.Summarizer = &limited{max: 300}
	svc := newService(t, inner, cfg)
	turn := get(t, svc)
	appendAll(t, svc, turn, events[119])
	await(t, seen, compaction.Waiting, 5)
	if n := len(records(t, rawEvents(t, svc))); n != 0 {
		t.Fatalf("%d records stored before the next append", n)
	}
	for len(seen.of(compaction.Started)) != len(seen.of(compaction.Waiting)) || status(t, svc).Running {
		time.Sleep(time.Millisecond)
	}
	more := (&compactiontest.History{}).Turns(61, "agent").Events[120:]
	appendAll(t, svc, get(t, svc), more[0])
	want := len(seen.of(compaction.Waiting))
	if got := len(records(t, rawEvents(t, svc))); got != want {
		t.Errorf("%d records stored by one append, want all %d that waited", got, want)
	}
	if n := len(seen.of(compaction.Discarded)) + len(seen.of(compaction.Failed)); n > 0 {
		t.Errorf("%d drafts were not stored: %v", n, seen.all())
	}
	appendAll(t, svc, get(t, svc), more[1])
	flush(t, svc)
	wantOnce(t, svc, append(events, more...))
	wantCoveredOnce(t, svc)
	wantFacts(t, eventsOf(get(t, svc)), 61)
	checkView(t, svc)
}

// limited is an oracle that reads little at a time.
type limited struct {
	compactiontest.Oracle
	max int
}

func (l *limited) MaxInputTokens() int { return l.max }

// TestWaitingDraftsAreStoredAtOnceByHand: Flush, Close, Compact and Checkpoint do not wait for a turn.
func TestWaitingDraftsAreStoredAtOnceByHand(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(t *testing.T, svc *compaction.CompactionSessionService){
		"Flush": func(t *testing.T, svc *compaction.CompactionSessionService) { flush(t, svc) },
		"Close": func(t *testing.T, svc *compaction.CompactionSessionService) {
			if err := svc.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"Compact": func(t *testing.T, svc *compaction.CompactionSessionService) {
			compact(t, svc, compaction.CompactOptions{KeepRecent: 50})
		},
		"Checkpoint": func(t *testing.T, svc *compaction.CompactionSessionService) {
			if _, err := svc.Checkpoint(t.Context(), ref, compaction.CheckpointOptions{KeepRecent: 50}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, seen := inBackground(nil)
			svc := newService(t, newPlain(), cfg)
			events := turns(5)
			appendAll(t, svc, create(t, svc), events...)
			await(t, seen, compaction.Waiting, 1)
			store(t, svc)
			if n := len(records(t, rawEvents(t, svc))); n != 1 {
				t.Errorf("%d records stored, want 1", n)
			}
			if n := len(seen.of(compaction.Stored)); n != 1 {
				t.Errorf("told of %d stored records, want 1", n)
			}
			wantOnce(t, svc, events)
			checkView(t, svc)
		})
	}
}

// TestDraftThatAnotherProcessMadePointlessIsDiscarded: the turn's handle, loaded a moment ago, shows
// what another process stored meanwhile.
func TestDraftThatAnotherProcessMadePointlessIsDiscarded(t *testing.T) {
	t.Parallel()
	inner := newPlain()
	cfg, seen := inBackground(nil)
	svc := newService(t, inner, cfg)
	events := turns(7)
	appendAll(t, svc, create(t, svc), events[:10]...)
	await(t, seen, compaction.Waiting, 1)
	otherCfg, _ := manualOnly()
	other := newService(t, &plain{Service: inner.Service}, otherCfg)
	compact(t, other, compaction.CompactOptions{})
	turn := get(t, svc)
	appendAll(t, svc, turn, events[10:]...)
	if n := len(seen.of(compaction.Discarded)); n != 1 {
		t.Errorf("told of %d discarded drafts, want 1: %v", n, seen.all())
	}
	flush(t, svc)
	wantOnce(t, svc, events)
	wantCoveredOnce(t, svc)
	wantFacts(t, eventsOf(get(t, svc)), 7)
	checkView(t, svc)
}

// TestRecordThatStorageRefusesIsDropped: a service that refuses one record for good must not end
// compaction for its session.
func TestRecordThatStorageRefusesIsDropped(t *testing.T) {
	t.Parallel()
	inner := newPlain()
	refused := errors.New("unsupported Unicode escape sequence")
	var offered atomic.Int32
	inner.onRecord = func(context.Context) error {
		offered.Add(1)
		return refused
	}
	var log journal
	cfg, seen := inBackground(func(cfg *compaction.Config) { cfg.Logger = log.logger() })
	svc := newService(t, inner, cfg)
	create(t, svc)
	all := turns(14)
	appendAll(t, svc, get(t, svc), all[:10]...)
	await(t, seen, compaction.Waiting, 1)
	// Each of two turns offers the record twice. After the second message the record is dropped, and a job
	// may write another one, which the next append would offer.
	appendAll(t, svc, get(t, svc), all[10:12]...)
	appendAll(t, svc, get(t, svc), all[12])
	if n := offered.Load(); n != 4 {
		t.Errorf("the record was offered %d times, want 4: two tries in each of two turns", n)
	}
	await(t, seen, compaction.Failed, 2)
	failed := seen.of(compaction.Failed)
	if len(failed) != 2 || !errors.Is(failed[1].Err, refused) || !strings.Contains(failed[1].Err.Error(), "dropped") {
		t.Errorf("told of failures %v, want two, the second saying that the draft is dropped", failed)
	}
	if lines := log.lines("WARN", "a summary is dropped"); len(lines) != 1 || len(log.lines(refused.Error())) > 0 {
		t.Errorf("logged %q, want one line about the dropped summary without the error's text", lines)
	}
	inner.onRecord = nil
	appendAll(t, svc, get(t, svc), all[13])
	for i := 14; i < 28; i += 2 {
		appendAll(t, svc, get(t, svc), all[i:i+2]...)
		flush(t, svc)
	}
	if n := len(records(t, rawEvents(t, svc))); n == 0 {
		t.Error("no record was stored after the refusals: compaction has ended for the session")
	}
	wantOnce(t, svc, all)
	checkView(t, svc)
}

// TestDraftIsOfferedAgainWhereEventsNameNoInvocation: what failed once is not held back for ever.
func TestDraftIsOfferedAgainWhereEventsNameNoInvocation(t *testing.T) {
	t.Parallel()
	inner := newPlain()
	failures := 3
	inner.onRecord = func(context.Context) error {
		if failures--; failures >= 0 {
			return errBoom
		}
		return nil
	}
	cfg, seen := inBackground(nil)
	svc := newService(t, inner, cfg)
	sess := create(t, svc)
	appendAll(t, svc, sess, turns(5)...)
	await(t, seen, compaction.Waiting, 1)
	more := (&compactiontest.History{}).Turns(8, "agent").Events[10:]
	for _, ev := range more {
		ev.InvocationID = ""
	}
	appendAll(t, svc, sess, more...)
	if n := len(seen.of(compaction.Stored)); n != 1 {
		t.Errorf("told of %d stored records, want 1: %v", n, seen.all())
	}
}

// TestHangingStoreDelaysNoTurnForLong: a store of a record that never returns costs a turn no more than
// its own context allows, and its events are stored when the store lets go.
func TestHangingStoreDelaysNoTurnForLong(t *testing.T) {
	t.Parallel()
	for _, heeds := range []bool{true, false} {
		t.Run(fmt.Sprintf("heeds its context %t", heeds), func(t *testing.T) {
			t.Parallel()
			inner := newPlain()
			release := make(chan struct{})
			tried := make(chan struct{}, 10)
			inner.onRecord = func(ctx context.Context) error {
				tried <- struct{}{}
				if !heeds {
					<-release
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			}
			cfg, seen := inBackground(nil)
			svc := newService(t, inner, cfg)
			events := turns(7)
			rest := events[11:]
			appendAll(t, svc, create(t, svc), events[:10]...)
			await(t, seen, compaction.Waiting, 1)
			turn := get(t, svc)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			if err := svc.AppendEvent(ctx, turn, events[10]); err != nil {
				t.Fatalf("the turn failed because of a record: %v", err)
			}
			select {
			case <-tried:
			default:
				t.Fatal("the record was not under way: the test shows nothing")
			}
			if ctx.Err() != nil {
				t.Fatal("the record used all the time that the turn had left")
			}
			if heeds {
				if err := svc.AppendEvent(ctx, turn, events[11]); err != nil {
					t.Fatalf("the turn cannot go on: %v", err)
				}
				rest = rest[1:]
			}
			close(release)
			appendAll(t, svc, get(t, svc), rest...)
			wantOnce(t, svc, events)
			checkView(t, svc)
		})
	}
}

// TestARecordGetsASmallShareOfWhatItsTurnHasLeft: all tries of a turn end at one moment, an eighth of the turn's time
// away at most. A turn without an end waits for seconds.
func TestARecordGetsASmallShareOfWhatItsTurnHasLeft(t *testing.T) {
	t.Parallel()
	type try struct{ at, end time.Time }
	for name, row := range map[string]struct {
		left        time.Duration // of the turn, 0 for no end
		synchronous bool
		most        time.Duration
	}{
		"behind the turn":              {32 * time.Second, false, 4 * time.Second},
		"within the turn":              {32 * time.Second, true, 4 * time.Second},
		"behind a turn without an end": {0, false, 5 * time.Second},
		"within a turn without an end": {0, true, 5 * time.Second},
		"behind an hour":               {time.Hour, false, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := newPlain()
			var mu sync.Mutex
			var tries []try
			inner.onRecord = func(ctx context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				end, _ := ctx.Deadline()
				tries = append(tries, try{time.Now(), end})
				return errBoom
			}
			cfg, seen := inBackground(nil)
			cfg.Synchronous = row.synchronous
			svc := newService(t, inner, cfg)
			ctx := t.Context()
			if row.left > 0 {
				limited, cancel := context.WithTimeout(ctx, row.left)
				defer cancel()
				ctx = limited
			}
			sess := create(t, svc)
			events := turns(6)
			for _, ev := range events[:10] {
				if err := svc.AppendEvent(ctx, sess, ev); err != nil {
					t.Fatal(err)
				}
			}
			if !row.synchronous {
				await(t, seen, compaction.Waiting, 1)
				for _, ev := range events[10:] { // one turn: the second event of it tries nothing
					if err := svc.AppendEvent(ctx, sess, ev); err != nil {
						t.Fatal(err)
					}
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if len(tries) != 2 || !tries[0].end.Equal(tries[1].end) {
				t.Fatalf("tries %+v, want two that end at one moment", tries)
			}
			if tries[0].end.IsZero() || tries[0].end.Sub(tries[0].at) > row.most {
				t.Errorf("a try may take %v, want at most %v", tries[0].end.Sub(tries[0].at), row.most)
			}
		})
	}
}

// TestLockIsWaitedForNoLongerThanTheContext: a turn that another append holds up ends with its context.
func TestLockIsWaitedForNoLongerThanTheContext(t *testing.T) {
	t.Parallel()
	held, release := make(chan struct{}), make(chan struct{})
	inner := &tampered{session.InMemoryService(), func(ev *session.Event, store func() error) error {
		if ev.ID == "e1" {
			close(held)
			<-release
		}
		return store()
	}}
	cfg, _ := inBackground(nil)
	svc := newService(t, inner, cfg)
	sess := create(t, svc)
	events := turns(1)
	done := make(chan error)
	go func() { done <- svc.AppendEvent(t.Context(), sess, events[0]) }()
	<-held
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := svc.AppendEvent(ctx, sess, events[1]); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("AppendEvent returned %v, want the context's error", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestHangingSummarizerDelaysNoAppend: a background call that ignores its context holds no lock.
func TestHangingSummarizerDelaysNoAppend(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		asked, release := make(chan struct{}, 100), make(chan struct{})
		cfg, _ := inBackground(func(cfg *compaction.Config) {
			cfg.Summarizer = summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) {
				asked <- struct{}{}
				<-release
				return summarizer.Result{}, errBoom
			})
		})
		svc := newService(t, inner, cfg)
		defer close(release)
		sess := create(t, svc)
		events := turns(20)
		appendAll(t, svc, sess, events[:10]...)
		<-asked
		appendAll(t, svc, sess, events[10:]...) // would hang
		wantOnce(t, svc, events)
	})
}

// TestDraftOfADeletedSessionIsReported: a summary that was paid for is not given up silently, and it
// does not end up in a session created anew under the same ID.
func TestDraftOfADeletedSessionIsReported(t *testing.T) {
	t.Parallel()
	cfg, seen := inBackground(nil)
	svc := newService(t, newPlain(), cfg)
	appendAll(t, svc, create(t, svc), turns(5)...)
	await(t, seen, compaction.Waiting, 1)
	if err := svc.Delete(t.Context(), &session.DeleteRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	discarded := seen.of(compaction.Discarded)
	if len(discarded) != 1 || !strings.Contains(discarded[0].Reason, "deleted") {
		t.Errorf("told of %v, want one discarded draft whose reason is the deletion", discarded)
	}
	create(t, svc)
	flush(t, svc)
	if n := len(rawEvents(t, svc)); n != 0 {
		t.Errorf("the session created anew holds %d events", n)
	}
}

// heldAppend is a plain service that counts its Gets, and whose append of one event waits.
type heldAppend struct {
	*plain
	id          string
	began, goOn chan struct{}
	gets        atomic.Int32
}

func (s *heldAppend) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	resp, err := s.plain.Get(ctx, req)
	s.gets.Add(1)
	return resp, err
}

func (s *heldAppend) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if ev.ID == s.id {
		close(s.began)
		<-s.goOn
	}
	return s.plain.AppendEvent(ctx, sess, ev)
}

// TestATurnAndAFlushStoreADraftOnce: Flush has read the session, and waits for a turn that stores the
// draft itself.
func TestATurnAndAFlushStoreADraftOnce(t *testing.T) {
	t.Parallel()
	inner := &heldAppend{plain: newPlain(), id: "e11", began: make(chan struct{}), goOn: make(chan struct{})}
	cfg, seen := inBackground(nil)
	svc := newService(t, inner, cfg)
	create(t, svc)
	events := turns(6)
	appendAll(t, svc, get(t, svc), events[:10]...)
	await(t, seen, compaction.Waiting, 1)
	turn := get(t, svc)
	read := inner.gets.Load() + 2 // once for a handle, once to look whether the draft is still needed
	var wait sync.WaitGroup
	wait.Go(func() { appendAll(t, svc, turn, events[10]) })
	<-inner.began
	wait.Go(func() { flush(t, svc) })
	for inner.gets.Load() < read {
		time.Sleep(time.Millisecond)
	}
	close(inner.goOn)
	wait.Wait()
	if n := len(records(t, rawEvents(t, svc))); n != 1 {
		t.Errorf("%d records stored, want 1", n)
	}
	if n := len(seen.of(compaction.Stored)); n != 1 {
		t.Errorf("told of %d stored records, want 1", n)
	}
	checkView(t, svc)
}
