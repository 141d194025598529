package integration_test

import (
	"context"
	"testing"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// foreign is a decorator with its own session type.
type foreign struct {
	session.Service
	// peels is true if it unwraps its own sessions in AppendEvent. Otherwise it passes them on.
	peels bool
}

// foreignSession can be unwrapped; ownSession cannot.
type (
	foreignSession struct{ session.Session }
	ownSession     struct{ session.Session }
)

func (s foreignSession) Unwrap() session.Session { return s.Session }

func (f foreign) Unwrap() session.Service { return f.Service }

func (f foreign) wrap(sess session.Session) session.Session {
	if f.peels {
		return ownSession{sess}
	}
	return foreignSession{sess}
}

func (f foreign) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	resp, err := f.Service.Create(ctx, req)
	if err != nil {
		return nil, err
	}
	return &session.CreateResponse{Session: f.wrap(resp.Session)}, nil
}

func (f foreign) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	resp, err := f.Service.Get(ctx, req)
	if err != nil {
		return nil, err
	}
	return &session.GetResponse{Session: f.wrap(resp.Session)}, nil
}

func (f foreign) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if own, ok := sess.(ownSession); ok {
		sess = own.Session
	}
	return f.Service.AppendEvent(ctx, sess, ev)
}

// Decorators below the service unwrap their own sessions, because the service below them accepts
// only its own. Those above may or may not. The matrix tests one decorator at a time.
func TestSeveralForeignDecoratorsDoNotMatter(t *testing.T) {
	t.Parallel()
	peeling := func(s session.Service) session.Service { return foreign{s, true} }
	passing := func(s session.Service) session.Service { return foreign{s, false} }
	for _, variant := range []struct {
		name         string
		above, below func(session.Service) session.Service
	}{
		{"two above", func(s session.Service) session.Service { return passing(passing(s)) }, nil},
		{"two above, two below", func(s session.Service) session.Service { return peeling(passing(s)) }, func(s session.Service) session.Service { return peeling(peeling(s)) }},
	} {
		t.Run(variant.name, func(t *testing.T) {
			t.Parallel()
			run := inMemoryIn
			if variant.above != nil && variant.below != nil {
				run = overStorages
			}
			run(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
				a := newApp(t, store, m)
				a.above = variant.above
				if variant.below != nil {
					a.inner = variant.below(a.inner)
				}
				x := newActor(a, "assistant", "")
				a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
				for range 16 {
					x.will(a.lookups(2))
					a.chat(x, 1)
				}
				a.verify(3)
			})
		})
	}
}
