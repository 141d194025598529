package integration_test

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
)

// remembering keeps the last error of the service below it.
type remembering struct {
	session.Service
	last error
}

func (r *remembering) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	r.last = r.Service.AppendEvent(ctx, sess, ev)
	return r.last
}

// The backend does not know such a decorator's sessions and rejects them, with our layer and
// without. Both times the error is the backend's own, and no event is stored or lost.
func TestMatrixADecoratorThatDoesNotPeelCannotStandBelow(t *testing.T) {
	t.Parallel()
	for _, store := range backends(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			a, x := matrixApp(t, store, synchronous, arrangement{})
			a.chat(x, 6)
			before := canonical(a.raw())
			var said []string
			for _, wrapped := range []bool{false, true} {
				backend := &remembering{Service: a.inner}
				var service session.Service = foreign{backend, false}
				if wrapped {
					svc, err := compaction.NewCompactionService(service, a.cfg)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = svc.Close(context.Background()) })
					service = svc
				}
				a.useRunner(service)
				events, err := runTurn(t, a.runner, "Is anybody there?")
				if backend.last == nil || !errors.Is(err, backend.last) || len(events) > 0 {
					t.Fatalf("wrapped %t: %d events and error %v, want none and the backend's own error %v", wrapped, len(events), err, backend.last)
				}
				said = append(said, err.Error())
			}
			if said[0] != said[1] {
				t.Errorf("with our layer the error is %q, without it %q", said[1], said[0])
			}
			if after := canonical(a.raw()); after != before {
				t.Errorf("storage was\n%s\nand is\n%s", before, after)
			}
			a.wrap()
			a.chat(x, 12)
			if renames(store) {
				a.adoptStoredIDs()
			}
			a.verify(3)
		})
	}
}
