package integration_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/summarizer"
)

// fault is one way in which a part that a layer calls misbehaves.
type fault func(ctx context.Context) error

var errFault = errors.New("the part fails")

var faults = map[string]fault{
	"fails":  func(context.Context) error { return errFault },
	"panics": func(context.Context) error { panic("the part panics") },
	"hangs": func(ctx context.Context) error {
		over, _ := ctx.Value(endOfTest{}).(chan struct{})
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over: // it was given a context without an end
			return errFault
		}
	},
	"hangs for ever": func(ctx context.Context) error {
		over, _ := ctx.Value(endOfTest{}).(chan struct{})
		<-over
		return errFault
	},
}

// endOfTest is the key of a channel that is closed when a test is over, see withFault. Without it, a part hangs as long as the process.
type endOfTest struct{}

// withFault runs a test in which a part misbehaves. The clock is that of package synctest, so that the timeouts of a part that
// hangs take no time. What hangs for ever ends with the test.
func withFault(t *testing.T, f fault, test func(t *testing.T, f fault)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		t.Cleanup(func() { close(over) })
		test(t, func(ctx context.Context) error { return f(context.WithValue(ctx, endOfTest{}, over)) })
	})
}

// faultyStorage misbehaves when a session is read while a turn runs, as layers do. The runner's own reading,
// before a turn, works.
type faultyStorage struct {
	session.Service
	fault   fault
	running *atomic.Bool
	n       *atomic.Int32
}

func (s faultyStorage) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if s.running.Load() {
		s.n.Add(1)
		if err := s.fault(ctx); err != nil {
			return nil, err
		}
	}
	return s.Service.Get(ctx, req)
}

// faultyResults is a store for whole results that misbehaves.
type faultyResults struct {
	fault fault
	n     *atomic.Int32
}

func (s faultyResults) Put(ctx context.Context, _ store.Owner, _ string, _ store.Result) error {
	s.n.Add(1)
	return s.fault(ctx)
}

func (s faultyResults) Open(ctx context.Context, _ store.Owner, _ string) (io.ReaderAt, int64, error) {
	s.n.Add(1)
	return nil, 0, cmpErr(s.fault(ctx))
}

func cmpErr(err error) error {
	if err == nil {
		return store.ErrUnknownRef
	}
	return err
}

// faultySummarizer misbehaves whenever a session is compacted.
type faultySummarizer struct {
	fault fault
	n     *atomic.Int32
}

func (s faultySummarizer) Summarize(ctx context.Context, _ summarizer.Request) (summarizer.Result, error) {
	s.n.Add(1)
	return summarizer.Result{}, s.fault(ctx)
}

// Whatever a part that the layers call does, at every one of its calls: no turn fails, each request is one
// that a provider accepts, and it fits into the window.
func TestNoTurnFailsWhateverAPartDoes(t *testing.T) {
	t.Parallel()
	played := []string{"parallel tools", "an agent as a tool"}
	for part, inject := range map[string]func(a *toolApp, f fault, n *atomic.Int32){
		"the summarizer": func(a *toolApp, f fault, n *atomic.Int32) {
			a.cfg.Compaction.Summarizer = faultySummarizer{f, n}
			a.cfg.Compaction.Timeout = 300 * time.Millisecond
			a.cfg.Budget.CompactTimeout = 300 * time.Millisecond
		},
		"the storage": func(a *toolApp, f fault, n *atomic.Int32) {
			var running atomic.Bool
			a.plugins = []*plugin.Plugin{during(a.t, &running)}
			a.decorate = func(inner session.Service) session.Service { return faultyStorage{inner, f, &running, n} }
		},
		"the store of results": func(a *toolApp, f fault, n *atomic.Int32) { a.cfg.Results = faultyResults{f, n} },
		"the budget's observer": func(a *toolApp, f fault, n *atomic.Int32) {
			a.cfg.Budget.Observer = func(ctx context.Context, _ budget.Observation) {
				n.Add(1)
				_ = f(ctx)
			}
		},
		"the observer of cuts": func(a *toolApp, f fault, n *atomic.Int32) {
			a.cfg.ToolResults.Observer = func(toolresult.Cut) {
				n.Add(1)
				_ = f(context.Background())
			}
		},
		"the observer of compactions": func(a *toolApp, f fault, n *atomic.Int32) {
			a.cfg.Compaction.Observer = func(ctx context.Context, _ compaction.Observation) {
				n.Add(1)
				_ = f(ctx)
			}
		},
	} {
		for kind, f := range faults {
			for _, s := range shapes {
				if !slices.Contains(played, s.name) || part == "the observer of compactions" && kind != "panics" && kind != "fails" {
					continue // an observer of compactions must not block, as its documentation says
				}
				if part == "the store of results" && s.name != "an agent as a tool" {
					continue // nothing is stored there
				}
				if part != "the store of results" && s.name != played[numberOf(part+kind)%2] && !testkit.Whole() {
					continue // the other shape is played
				}
				t.Run(part+" "+kind+", "+s.name, func(t *testing.T) {
					t.Parallel()
					withFault(t, f, func(t *testing.T, f fault) {
						var n atomic.Int32
						a := newToolApp(t, inMemory(t), s.build, func(a *toolApp) {
							a.leaky = strings.HasPrefix(kind, "hangs")
							inject(a, f, &n)
						})
						for _, w := range a.workers {
							w.forgiving = true
						}
						a.play(6)
						if n.Load() == 0 {
							t.Error("the part was never called")
						}
					})
				})
			}
		}
	}
}

// during is a plugin that notes whether a run is under way.
func during(t *testing.T, running *atomic.Bool) *plugin.Plugin {
	t.Helper()
	made, err := plugin.New(plugin.Config{
		Name: "during",
		BeforeRunCallback: func(agent.InvocationContext) (*genai.Content, error) {
			running.Store(true)
			return nil, nil
		},
		AfterRunCallback: func(agent.InvocationContext) { running.Store(false) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}
