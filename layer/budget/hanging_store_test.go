package budget

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"

	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// stuckStore never returns, and ignores its context.
type stuckStore struct {
	store.Source
	calls    atomic.Int64
	released chan struct{}
}

func (s *stuckStore) Put(context.Context, store.Owner, string, store.Result) error {
	s.calls.Add(1)
	<-s.released
	return nil
}

// The first result costs one timeout. The store is not called again for that session.
func TestAStoreThatHangsLeavesResultsOfAnAgentAsAToolWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the timeout of a store, 5 s")
	}
	t.Parallel()
	log, stuck := &journal{}, &stuckStore{released: make(chan struct{})}
	t.Cleanup(func() { close(stuck.released) })
	svc := newSessions(t)
	m := newMeter(t, Config{Compactor: svc, Observer: log.Observe, Store: stuck, Masker: newMasker(t),
		Cutter: must(toolresult.New(toolresult.Config{Limits: toolresult.Limits{MaxBytes: 1500, StubAbove: toolresult.Off}, Readable: true}))}, log)
	expertModel := &script{t: t, name: "expert-model", plan: plan(6), inspect: strict(t)}
	expert := newAgent(t, llmagent.Config{Name: "expert", Description: "Knows.", Model: m.Model(expertModel), Tools: []tool.Tool{lookup(t, 400, nil)}})
	inner := &script{t: t, name: "test-model", plan: answers{callsTool("expert", map[string]any{"request": "help"}), says("done")}, inspect: strict(t)}
	newChat(t, svc, newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner), Tools: []tool.Tool{agenttool.New(expert, nil)}}), m.Plugin()).mustAsk("ask the expert")
	if stuck.calls.Load() != 1 || expertModel.calls() != 7 || len(log.of(Failed)) == 0 {
		t.Errorf("the store was called %d times, the model %d\n%s", stuck.calls.Load(), expertModel.calls(), log)
	}
	if got := strings.Count(expertModel.request(6), strings.Repeat("word ", 400)); got != 6 {
		t.Errorf("%d results of 6 are whole", got)
	}
}
