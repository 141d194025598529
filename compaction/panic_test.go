package compaction_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

// panicking is an inner service that panics once, in one of its methods.
type panicking struct {
	session.Service
	in   string
	once atomic.Bool
}

func (p *panicking) enter(method string) {
	if method == p.in && !p.once.Swap(true) {
		panic("the inner service is broken")
	}
}

func (p *panicking) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	p.enter("AppendEvent")
	return p.Service.AppendEvent(ctx, sess, ev)
}

func (p *panicking) Delete(ctx context.Context, req *session.DeleteRequest) error {
	p.enter("Delete")
	return p.Service.Delete(ctx, req)
}

// TestPanicOfTheInnerServiceLeavesTheSessionUsable: a server recovers from the panic of one request,
// and the next one on the session must not wait for a lock that nobody holds.
func TestPanicOfTheInnerServiceLeavesTheSessionUsable(t *testing.T) {
	t.Parallel()
	for method, use := range map[string]func(t *testing.T, svc session.Service, sess session.Session){
		"AppendEvent": func(t *testing.T, svc session.Service, sess session.Session) {
			_ = svc.AppendEvent(t.Context(), sess, turns(1)[0])
		},
		"Delete": func(t *testing.T, svc session.Service, _ session.Session) {
			_ = svc.Delete(t.Context(), &session.DeleteRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
		},
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			cfg, _ := oracleConfig()
			svc := newService(t, &panicking{Service: session.InMemoryService(), in: method}, cfg)
			sess := create(t, svc)
			func() {
				defer func() {
					if recover() == nil {
						t.Error("the panic of the inner service is swallowed")
					}
				}()
				use(t, svc, sess)
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := svc.AppendEvent(ctx, sess, turns(1)[0]); err != nil {
				t.Errorf("the next append: %v", err)
			}
		})
	}
}

// TestPanicOnARecordIsAFailureToStoreIt: it counts as a try, so the draft is dropped in the end, and it is
// told.
func TestPanicOnARecordIsAFailureToStoreIt(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	inner := newPlain()
	inner.onRecord = func(context.Context) error {
		tries.Add(1)
		panic("no records here")
	}
	cfg, seen := inBackground(nil)
	svc := newService(t, inner, cfg)
	sess := create(t, svc)
	events := turns(9)
	appendAll(t, svc, sess, events[:10]...)
	await(t, seen, compaction.Waiting, 1)
	// Two turns offer the record twice each. After the last of these events the record is dropped, and a
	// job may write another one, which only a further append would offer.
	appendAll(t, svc, sess, events[10:13]...)
	if n := tries.Load(); n != 4 {
		t.Errorf("the record was offered %d times, want 4", n)
	}
	failures := seen.of(compaction.Failed)
	if len(failures) != 2 {
		t.Fatalf("failures told: %v, want 2", failures)
	}
	if err := failures[1].Err; !errors.Is(err, compaction.ErrCompaction) {
		t.Errorf("the failure is %v", err)
	}
	wantOnce(t, svc, events[:13])
}

// TestDraftOfASessionThatIsDeletedMeanwhileIsDiscarded: nobody would come to store it.
func TestDraftOfASessionThatIsDeletedMeanwhileIsDiscarded(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}), make(chan struct{})
	oracle := &compactiontest.Oracle{}
	cfg, seen := inBackground(func(cfg *compaction.Config) {
		cfg.Summarizer = summarizerFunc(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
			close(asked)
			<-answer
			return oracle.Summarize(ctx, req)
		})
	})
	svc := newService(t, newPlain(), cfg)
	appendAll(t, svc, create(t, svc), turns(5)...)
	<-asked
	if err := svc.Delete(t.Context(), &session.DeleteRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	close(answer)
	await(t, seen, compaction.Discarded, 1)
	if waiting := seen.of(compaction.Waiting); len(waiting) > 0 {
		t.Errorf("the draft waits for an append that never comes: %v", waiting)
	}
}
