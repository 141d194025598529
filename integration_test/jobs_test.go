package integration_test

import (
	"context"
	"sync"
	"testing"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// gated returns a summarizer whose first call is announced and then waits to be released.
func gated(inner compaction.Summarizer) (s compaction.Summarizer, asked <-chan struct{}, release func()) {
	entered, open := make(chan struct{}), make(chan struct{})
	var first, once sync.Once
	return summarizer.Func(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		first.Do(func() {
			close(entered)
			<-open
		})
		return inner.Summarize(ctx, req)
	}), entered, func() { once.Do(func() { close(open) }) }
}

// While a manual compaction is running, one background job waits in the queue and further jobs are
// dropped, because the waiting job will read the latest state of the session. So it must do the
// work that the later turns made due.
func TestAJobInLineSeesTheTurnsThatCameAfterIt(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{background}, func(t *testing.T, store storages.Storage, m mode) {
		var asked <-chan struct{}
		var release func()
		a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) {
			cfg.Summarizer, asked, release = gated(cfg.Summarizer)
		}))
		defer release()
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, nil))
		a.chat(x, 3)
		a.flush()
		byHand := make(chan error)
		go func() {
			_, err := a.svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepRecent: 1})
			byHand <- err
		}()
		<-asked
		a.chat(x, 9) // the first turn queues a job
		release()
		if err := <-byHand; err != nil {
			t.Fatal(err)
		}
		if err := a.svc.Close(t.Context()); err != nil { // waits for the queued job, starts no new one
			t.Fatal(err)
		}
		automatic := 0
		for _, o := range a.log.of(compaction.Stored) {
			if o.Trigger == record.TriggerInvocations {
				automatic++
			}
		}
		if automatic == 0 {
			t.Errorf("nine turns made a compaction due, but the queued job did not see it:\n%s", a.log)
		}
	})
}

// A compaction is written during a turn and stored between two of its events. The database service
// would reject the turn's next event if the record had moved the session's update time.
func TestRecordsStoredInTheMidstOfATurnMakeNobodyStale(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{background}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) { cfg.InvocationThreshold = compaction.Off }))
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, nil))
		for i := range 12 {
			x.willDo(func(*model.LLMRequest) *model.LLMResponse {
				if i > 3 {
					a.compactAll()
				}
				return answer()
			})
			a.ask()
		}
		a.verify(6)
	})
}
