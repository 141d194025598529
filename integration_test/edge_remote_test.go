package integration_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// The application is a single remote agent. Every turn reaches it in the same context with only the
// new message, however much either side has summarized, and it sees every fact in every request.
func TestAPeersContextOutlivesCompactions(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed, reopened}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		p := newPeer(t, "far")
		asked := 0
		p.reply = func(req *model.LLMRequest) *model.LLMResponse {
			asked++
			seen := histories.FactsInContents(req.Contents)
			for _, fact := range a.facts() {
				if !slices.Contains(seen, fact) {
					t.Errorf("request %d: %s is gone", asked, fact)
				}
			}
			return answer()
		}
		a.start(p.agent)
		for range m.turns(store, 30) {
			a.ask()
		}
		if asked != a.turns {
			t.Errorf("the peer was asked %d times in %d turns", asked, a.turns)
		}
		p.checkTold(a.facts())
		for i, n := range p.parts {
			if n != 1 {
				t.Errorf("message %d has %d parts, want the question only", i, n)
			}
		}
		if n := len(p.log.of(compaction.Stored)); n < a.turns/8 {
			t.Errorf("only %d compactions at the peer", n)
		}
		a.verify(a.turns / 8)
	})
}

func (a *app) facts() []string {
	return a.ledger.where(func(told, int) bool { return true })
}

// Every answer of the remote agent carries a readable record over all stored events in its
// metadata. The record is stripped. The other metadata stays, and so does the context.
func TestAPeerCannotForgeARecord(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		p := newPeer(t, "far")
		forged := 0
		p.forge = func() any {
			forged++
			return forgedRecord(t, a.raw(), "forged")
		}
		a.start(p.agent)
		arrived := 0
		for range 20 {
			for _, ev := range a.ask() {
				if _, there := ev.CustomMetadata[compactionKey]; there {
					arrived++
				}
			}
		}
		if forged != 20 || arrived < 20 {
			t.Errorf("%d records were forged, %d arrived: nothing was tried", forged, arrived)
		}
		kept := 0
		for _, ev := range a.raw() {
			if ev.CustomMetadata["harmless"] == "stays" {
				kept++
			}
		}
		if kept < 20 {
			t.Errorf("%d events kept the rest of their metadata", kept)
		}
		a.checkStripped(kept)
		p.checkTold(a.facts())
		a.verify(3)
	})
}

// Our root model answers some turns and transfers others. ADK does not stay with a remote agent, so
// the root is called first each time. The peer receives everything since its last turn, even if it
// was summarized meanwhile. Only a summary that covers one of the peer's own turns repeats some of
// it, once. What each summary repeats on purpose, the user's words, is off here.
func TestARootThatHandsOverToAPeerKeepsItsContext(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed, reopened}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		a.cfg.MaxUserTokens = compaction.Off
		p := newPeer(t, "far")
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, func(cfg *llmagent.Config) {
			cfg.SubAgents, cfg.Tools = []agent.Agent{p.agent}, []tool.Tool{a.lookup()}
		}))
		handed, first := 0, 0
		for i := range 31 {
			if i%10 != 0 {
				x.will(a.lookups(1))
				a.chat(x, 1)
				if a.view()[0].Author == "far" {
					first++
				}
				continue
			}
			x.will(a.lookups(1), transfer("far"))
			a.ask()
			handed++
		}
		if n := len(p.contexts); n != handed {
			t.Errorf("the peer was asked %d times, want %d", n, handed)
		}
		if first == 0 {
			t.Error("no view began with the peer's words, so no prompt was seen to begin with the user all the same")
		}
		told := p.told()
		for _, fact := range a.facts() {
			if n := told[fact]; n < 1 || n > 2 {
				t.Errorf("the peer was told %s %d times", fact, n)
			}
		}
		if n := p.summariesTold(); n == 0 {
			t.Error("the peer was told no summary, so nothing was summarized while it was silent")
		}
		a.verify(3)
	})
}

// summariesTold counts the client's summaries that the peer received.
func (p *peer) summariesTold() (n int) {
	p.t.Helper()
	for _, ev := range withoutRecords(p.stored()) {
		for _, part := range ev.Content.Parts {
			if ev.Author == "user" && strings.HasPrefix(part.Text, "[Summary of an earlier part") {
				n++
			}
		}
	}
	return n
}

// A long-running tool of the remote agent waits for the user. The answer arrives many turns and
// compactions later, and must reach the waiting task. ADK finds the task by the metadata of the
// call's event.
func TestAPeersTaskIsResumedAfterCompactions(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed, reopened}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		p := newPeer(t, "far", a.order())
		p.reply = func(req *model.LLMRequest) *model.LLMResponse {
			if last := req.Contents[len(req.Contents)-1]; len(requests.Responses(last)) > 0 {
				return answer()
			}
			return compactiontest.CallTool("order", map[string]any{"n": a.ledger.number()})
		}
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, func(cfg *llmagent.Config) {
			cfg.SubAgents, cfg.Tools = []agent.Agent{p.agent}, []tool.Tool{a.lookup()}
		}))
		a.chat(x, 4)
		x.will(transfer("far"))
		call := a.callNamed(a.ask(), "order")
		for range m.turns(store, 20) {
			x.will(a.lookups(1))
			a.chat(x, 1)
		}
		a.compactAll()
		a.question = ""
		fact := a.tell("user")
		a.ledger.nextTurn()
		a.send(answerTo(call, map[string]any{"status": "done", "fact": fact}))
		if len(p.tasks) != 2 || p.tasks[0] != p.tasks[1] || p.contexts[0] != p.contexts[1] {
			t.Errorf("the peer was asked for tasks %q in contexts %q, want the same twice", p.tasks, p.contexts)
		}
		requests := p.model.Requests()
		if !slices.Contains(histories.FactsInContents(requests[len(requests)-1]), fact) {
			t.Errorf("%s, the answer, did not reach the peer", fact)
		}
		a.ledger.forget(fact) // ADK tells the root of the call in words, and then drops the answer to it
		a.chat(x, 8)
		a.verify(4)
	})
}
