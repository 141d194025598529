package subtask_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/tokens"
)

// dying stores so many events, and then nothing more, as after the end of the process.
type dying struct {
	session.Service
	left atomic.Int32
}

var errDead = errors.New("the process has ended")

func (d *dying) AppendEvent(ctx context.Context, s session.Session, ev *session.Event) error {
	if d.left.Add(-1) < 0 {
		return errDead
	}
	return d.Service.AppendEvent(ctx, s, ev)
}

// The process ends after each of its writes. In the next one, the parent has paid for every call of the subtask
// that is stored, once, also if the bound is then reached.
func TestAfterAKillTheParentHasPaidForItsSubtask(t *testing.T) {
	t.Parallel()
	price := priceOf(t)
	for _, store := range storages.All(t) {
		for after := int32(2); ; after++ {
			finished := false
			ok := t.Run(fmt.Sprintf("%s, after %d writes", store.Name, after), func(t *testing.T) {
				svc := store.Anew(t).Open(t)
				first := &dying{Service: svc}
				first.left.Store(after)
				child := restless()
				g := newGuard(t, guard.Config{})
				p, _ := delegating(t, first, child, subtask.Spec{Message: "?", MaxTurns: 4, Tools: looks(t)}, func(cfg *subtask.Config) { cfg.Guard = g })
				p.llm, p.plugins = g.Model(p.llm), []*plugin.Plugin{g.Plugin()}
				_, err := p.send(t.Context(), genai.NewContentFromText("go", genai.RoleUser))
				finished = err == nil

				next := newGuard(t, guard.Config{})
				q, _ := delegating(t, svc, says(small, say("fine")), subtask.Spec{Message: "?"}, func(cfg *subtask.Config) { cfg.Guard = next })
				q.llm, q.plugins = next.Model(says(large, say("never mind"))), []*plugin.Plugin{next.Plugin()}
				q.say("what was that?")
				stored := 0 // calls of the subtask that were stored
				for _, id := range q.children() {
					for ev := range q.get(id).Events().All() {
						if ev.UsageMetadata != nil {
							stored++
						}
					}
				}
				u, ok := guard.Stored(q.get("main"))
				if !ok || u.Subtasks.ModelCalls < stored || u.Subtasks.ModelCalls > stored+1 || u.Subtasks.ModelCalls > len(child.seen()) {
					t.Errorf("the parent has paid for %d calls of the subtask; %d are stored, and %d were made", u.Subtasks.ModelCalls, stored, len(child.seen()))
				}
				if want := price * tokens.Nano(u.Subtasks.ModelCalls); u.Subtasks.USD != want {
					t.Errorf("the parent has paid %s for %d calls, want %s", u.Subtasks.USD, u.Subtasks.ModelCalls, want)
				}
				if finished && u.Subtasks.ModelCalls != len(child.seen()) {
					t.Errorf("the parent has paid for %d of %d calls", u.Subtasks.ModelCalls, len(child.seen()))
				}
			})
			if !ok || finished {
				if after < 8 {
					t.Errorf("%s: the whole run took only %d writes", store.Name, after)
				}
				break
			}
		}
	}
}
