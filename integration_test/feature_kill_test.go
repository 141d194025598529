package integration_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/summarizer"
)

// errKilled is the result of every call in a killed process.
var errKilled = errors.New("killed")

// process is the lifetime of one process. Calls to its storage, models and summarizers count as
// steps, and have no effect after it is killed.
type process struct {
	*steps
	killed atomic.Bool
}

// mortal is a storage as used by one process.
type mortal struct {
	session.Service
	*process
}

// lives takes a step and reports whether the process is still alive.
func (p *process) lives(kind string) bool {
	if !p.killed.Load() {
		p.step(kind)
	}
	return !p.killed.Load()
}

func (s mortal) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if !s.lives("read") {
		return nil, errKilled
	}
	return s.Service.Get(ctx, req)
}

func (s mortal) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if !s.lives("before an append") {
		return errKilled
	}
	if err := s.Service.AppendEvent(ctx, sess, ev); err != nil {
		return err
	}
	if !s.lives("after an append") {
		return errKilled
	}
	return nil
}

// mortalModel is an agent's model in the current process.
type mortalModel struct {
	model.LLM
	now func() *process
}

func (m mortalModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if !m.now().lives("model") {
			yield(nil, errKilled)
			return
		}
		m.LLM.GenerateContent(ctx, req, stream)(yield)
	}
}

// The process dies at the first step of a turn, in the next turn at the second step, and so on, and
// another process continues the session. Alternatively, the context of the turn ends there, or the
// app stops reading its events. Whatever is then in storage, every provider accepts each request,
// both in a young session without compactions and in an old one.
func TestNoRequestIsRefusedAfterAKillOrACancellation(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "every turn is taken alone, with synchronous compactions")
	for i, played := range append(slices.Clone(improvisations), waiting) {
		for e, end := range []string{"kill", "cancel", "stop"} {
			for _, young := range []bool{true, false} {
				// To save time. Other tests cancel and stop turns over the databases.
				if young != ((i+e)%2 == 0) && !testkit.Whole() {
					continue
				}
				run := takingTurns
				if !young && (end != "kill" || played.unordered) || !testkit.Whole() && (end != "kill" || !young) {
					run = alwaysInMemory
				}
				t.Run(fmt.Sprintf("%s, %s, young %t", played.name, end, young), func(t *testing.T) {
					t.Parallel()
					run(t, i, []mode{synchronous}, func(t *testing.T, store storages.Storage, m mode) {
						spoilEveryStep(t, store, m, played, end, young)
					})
				})
			}
		}
	}
}

func spoilEveryStep(t *testing.T, store storages.Storage, m mode, played improvised, end string, young bool) {
	s := &steps{}
	var now *process
	store = store.Wrapped(func(inner session.Service) session.Service {
		now = &process{steps: s}
		return mortal{inner, now}
	})
	var a *app
	k, cut := 0, 0
	for reached := true; reached; {
		if k%sweep == 0 {
			a = newApp(t, store.Anew(t), m, withConfig(func(cfg *compaction.Config) {
				if young {
					cfg.InvocationThreshold = compaction.Off
					return
				}
				pressures[1].change(cfg)
				oracle := cfg.Summarizer
				cfg.Summarizer = summarizer.Func(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
					if !now.lives("summarizer") {
						return summarizer.Result{}, errKilled
					}
					return oracle.Summarize(ctx, req)
				})
			}), strict)
			a.inTool = func() { now.lives("tool") }
			a.decorate = func(llm model.LLM) model.LLM { return mortalModel{llm, func() *process { return now }} }
			played.start(a)
		}
		k++
		before := slices.Clone(a.history)
		ctx, cancel := context.WithCancel(t.Context())
		stopped := false
		switch end {
		case "kill":
			s.arm(k, func() { now.killed.Store(true) })
		case "cancel":
			s.arm(k, cancel)
		}
		a.interruptedIn(ctx, func(n int, _ *session.Event) bool {
			stopped = end == "stop" && n == k
			return !stopped
		}, func() {
			reached = s.disarm()
			if now.killed.Load() {
				a.inner = a.store.Open(t) // as after a kill, the service was not closed
				a.wrap()
			}
		})
		reached = reached && end != "stop" || stopped
		cancel()
		raw := withoutRecords(a.raw())
		if len(raw) > 0 && len(requests.Calls(raw[len(raw)-1].Content)) > 0 {
			cut++
		}
		a.checkKept(before)
	}
	if stored := len(a.log.of(compaction.Stored)); young && stored > 0 {
		t.Errorf("%d compactions in a young session", stored)
	}
	if cut == 0 && end != "cancel" || k < 5 { // a tool's result is stored even though its context ended
		t.Errorf("of %d turns %d ended after a call: the test proves nothing", k, cut)
	}
}
