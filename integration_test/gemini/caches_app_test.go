package gemini_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/layer/prompt"
)

// cachingApp is an application whose model uses explicit caches. It must be made and used in a bubble.
type cachingApp struct {
	*app
	cache   *prompt.Cache
	answers []string // the texts of all turns
	turns   int
}

// cachedSize is what the server counts for instruction and tools.
const cachedSize = 10_000

// caching returns an app with an instruction of about 6,000 tokens and two tools. around may be nil; else it
// wraps the model.
func caching(t *testing.T, s *server, cfg prompt.CacheConfig, around func(model.LLM) model.LLM) *cachingApp {
	t.Helper()
	a := &cachingApp{app: &app{server: s, log: &journal{}}}
	var err error
	if a.cache, err = prompt.NewCache(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.caches.refuseWith(nil)
		if err := a.cache.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	llm := a.cache.Model(s.client(assistant))
	if around != nil {
		llm = around(llm)
	}
	root, err := llmagent.New(llmagent.Config{
		Name: "assistant", Instruction: "Answer in one sentence. " + strings.Repeat("Be kind to everybody who asks. ", 800),
		Model: llm, Tools: []tool.Tool{a.lookup(), a.order()},
	})
	if err != nil {
		t.Fatal(err)
	}
	a.runner, err = runner.New(runner.Config{AppName: ref.AppName, Agent: root, SessionService: session.InMemoryService(), AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// newCaching is caching with a server of its own.
func newCaching(t *testing.T, cfg prompt.CacheConfig) *cachingApp {
	t.Helper()
	s := newServerInProcess(t)
	s.overhead, s.caches.tokens, s.caches.minimum = cachedSize, cachedSize, 4_096
	return caching(t, s, cfg, nil)
}

var cacheOn = prompt.CacheConfig{Enabled: true}

// turn runs one turn, and waits for all that it has begun in the background.
func (a *cachingApp) turn(message string) error {
	a.t.Helper()
	var failed error
	for ev, err := range a.runner.Run(a.t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText(message, genai.RoleUser), agent.RunConfig{StreamingMode: a.mode}) {
		failed = errors.Join(failed, err)
		if err == nil && ev.IsFinalResponse() && ev.Content != nil && !ev.Partial {
			a.answers = append(a.answers, ev.Content.Parts[0].Text)
		}
	}
	synctest.Wait()
	return failed
}

// play runs n turns and expects each to succeed. Turns 1, 3, 5 and so on have a tool round, so the cache is
// created after the first turn.
func (a *cachingApp) play(n int) {
	a.t.Helper()
	for range n {
		if a.turns++; a.turns%2 == 1 {
			a.will(assistant, a.lookups(false, 2))
		}
		a.will(assistant, answer())
		if err := a.turn("Tell me more."); err != nil {
			a.t.Fatal(err)
		}
	}
	if left := a.unplayed(); left > 0 {
		a.t.Errorf("the model was asked %d times less than the script expects", left)
	}
}

// withCache returns how many of the requests name a cache.
func (s *server) withCache() int {
	n := 0
	for _, r := range s.received(false) {
		if r.CachedContent != "" {
			n++
		}
	}
	return n
}

// refuseWith sets how calls for caches are answered from now on.
func (s *cachedContents) refuseWith(refuse func(method string) reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = refuse
}

// canonical returns the JSON of a body without some of its fields, with sorted keys.
func canonical(t *testing.T, body []byte, without ...string) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range without {
		delete(fields, name)
	}
	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func sameJSON(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return bytes.Equal(a, b)
	}
	left, _ := json.Marshal(x)
	right, _ := json.Marshal(y)
	return bytes.Equal(left, right)
}
