package gemini_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/prompt"
)

// inModes runs a test in a bubble, with streaming and without.
func inModes(t *testing.T, test func(t *testing.T, mode agent.StreamingMode)) {
	t.Helper()
	for _, mode := range bothModes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(t, mode) })
		})
	}
}

// The same script is played with caches and without. The bodies on the wire must be equal but for the fields
// that the cache replaces, and the cache must hold exactly those.
func TestWithACacheRequestsAreOtherwiseIdentical(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, mode agent.StreamingMode) {
		plain, cached := newCaching(t, prompt.CacheConfig{}), newCaching(t, cacheOn)
		plain.mode, cached.mode = mode, mode
		plain.play(6)
		cached.play(6)
		if !slices.Equal(plain.answers, cached.answers) || len(cached.answers) != 6 {
			t.Errorf("answers %q, want %q", cached.answers, plain.answers)
		}
		want, got := plain.received(false), cached.received(false)
		if len(got) != len(want) || len(got) != 9 || cached.withCache() != 7 {
			t.Fatalf("%d requests, %d with a cache; without caching %d", len(got), cached.withCache(), len(want))
		}
		for i, r := range got {
			without := []string{"cachedContent"}
			if r.CachedContent != "" {
				without = append(without, "systemInstruction", "tools", "toolConfig")
				if r.SystemInstruction != nil || r.Tools != nil || r.ToolConfig != nil {
					t.Errorf("request %d has more than the name of a cache", i)
				}
			}
			if a, b := canonical(t, want[i].body, without...), canonical(t, r.body, without...); a != b {
				t.Errorf("request %d differs:\n%s\n%s", i, a, b)
			}
		}
		var sent struct{ SystemInstruction, Tools, ToolConfig json.RawMessage }
		if err := json.Unmarshal(want[0].body, &sent); err != nil {
			t.Fatal(err)
		}
		made := cached.caches.made[0]
		if !sameJSON(t, made.SystemInstruction, sent.SystemInstruction) || !sameJSON(t, made.Tools, sent.Tools) || !sameJSON(t, made.ToolConfig, sent.ToolConfig) {
			t.Errorf("the cache holds\n%s\n%s\n%s\nand requests have\n%s\n%s\n%s", made.SystemInstruction, made.Tools, made.ToolConfig, sent.SystemInstruction, sent.Tools, sent.ToolConfig)
		}
		if made.Contents != nil || made.Model != "models/"+assistant || made.TTL != "600s" {
			t.Errorf("contents %s, model %s, TTL %s", made.Contents, made.Model, made.TTL)
		}
		if s := cached.cache.Stats(); s.Used != 7 || s.TokensRead != 7*cachedSize || s.Created != 1 || s.Banned != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestACacheOfGeminiIsProlongedAndDeleted(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, mode agent.StreamingMode) {
		a := newCaching(t, cacheOn)
		a.mode = mode
		for range 10 {
			a.play(1)
			time.Sleep(6 * time.Minute)
		}
		if n := a.caches.called(); n["create"] != 1 || n["patch"] != 9 || len(a.caches.left()) != 1 || a.withCache() != 13 {
			t.Errorf("%v, %q, %d with a cache", n, a.caches.left(), a.withCache())
		}
		if err := a.cache.Close(t.Context()); err != nil || len(a.caches.left()) != 0 {
			t.Errorf("%q are left, %v", a.caches.left(), err)
		}
		a.play(1)
		if n := a.caches.called(); n["create"] != 1 || n["delete"] != 1 {
			t.Errorf("%v", n)
		}
	})
}

func TestAnExpiredOrRevokedCacheCostsOneMoreRequest(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, mode agent.StreamingMode) {
		a := newCaching(t, cacheOn)
		a.mode = mode
		a.play(3)
		before := len(a.received(false))
		a.caches.revoke()
		a.will(assistant, answer(), answer()) // the server takes one for the request that it refuses
		if err := a.turn("Still there?"); err != nil {
			t.Fatal(err)
		}
		requests := a.received(false)[before:]
		if len(requests) != 2 || requests[0].CachedContent == "" || requests[1].CachedContent != "" || requests[1].SystemInstruction == nil {
			t.Errorf("%d requests", len(requests))
		}
		a.play(2)
		if s := a.cache.Stats(); s.Banned != 1 || s.Live != 0 || s.Failed != 0 || a.caches.called()["create"] != 1 {
			t.Errorf("%+v", s)
		}
		time.Sleep(11 * time.Minute)
		a.play(3)
		if s := a.cache.Stats(); s.Created != 2 || s.Live != 1 {
			t.Errorf("after the ban: %+v", s)
		}
	})
}

func TestRefusalsOfACacheByGemini(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]reply{
		"400, expired":         refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "Cache content 1234567 is expired."),
		"400, with tools":      refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config."),
		"400, another model":   refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "Model used by GenerateContent request (models/a) and CachedContent (models/b) has to be the same."),
		"403":                  *noSuchCache(),
		"404":                  refuse(http.StatusNotFound, "NOT_FOUND", "Not found: cached content metadata for 1234567."),
		"404, naming the name": refuse(http.StatusNotFound, "NOT_FOUND", "cachedContents/1 is not there."),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inModes(t, func(t *testing.T, mode agent.StreamingMode) {
				a := newCaching(t, cacheOn)
				a.mode = mode
				a.play(2)
				a.will(assistant, r, answer())
				if err := a.turn("Still there?"); err != nil {
					t.Fatal(err)
				}
				a.play(1)
				if s := a.cache.Stats(); s.Banned != 1 || s.Deleted != 1 || len(a.caches.left()) != 0 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// No turn fails, and none takes any time: the clock of the bubble does not move while the model answers.
func TestACreationThatGeminiRefusesCostsNoTurn(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		reply           reply
		refused, failed int
	}{
		"too small": {refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "Cached content is too small. total_token_count=2000, min_total_token_count=4096"), 1, 0},
		"400":       {refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "Request contains an invalid argument."), 0, 1},
		"403":       {refuse(http.StatusForbidden, "PERMISSION_DENIED", "The caller does not have permission"), 0, 1},
		"404":       {refuse(http.StatusNotFound, "NOT_FOUND", "Model gemini-2.5-flash is not found, or not supported for createCachedContent."), 0, 1},
		"429":       {refuse(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "TotalCachedContentStorageTokensPerModelFreeTier limit exceeded for model gemini-2.5-flash: limit=0"), 0, 1},
		"500":       {refuse(http.StatusInternalServerError, "INTERNAL", "An internal error has occurred."), 0, 1},
		"503":       {refuse(http.StatusServiceUnavailable, "UNAVAILABLE", "The service is currently unavailable."), 0, 1},
		"never":     {reply{hang: true}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inModes(t, func(t *testing.T, mode agent.StreamingMode) {
				a := newCaching(t, cacheOn)
				a.mode = mode
				a.caches.refuseWith(func(string) reply { return r.reply })
				before := time.Now()
				a.play(6)
				if took := time.Since(before); took > 0 {
					t.Errorf("the turns have waited for %v", took)
				}
				time.Sleep(time.Minute)
				a.play(1)
				if s := a.cache.Stats(); s.Refused != r.refused || s.Failed != r.failed || s.Created != 0 || a.caches.called()["create"] != 1 || a.withCache() != 0 {
					t.Errorf("%+v after %v", s, a.caches.called())
				}
			})
		})
	}
}

func TestTwoProcessesHaveACacheEach(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, mode agent.StreamingMode) {
		one := newCaching(t, cacheOn)
		two := caching(t, one.server, cacheOn, nil)
		one.mode, two.mode = mode, mode
		for range 3 {
			one.play(1)
			two.play(1)
		}
		if len(one.caches.left()) != 2 || one.caches.made[0].DisplayName != one.caches.made[1].DisplayName {
			t.Errorf("%q", one.caches.left())
		}
		if err := one.cache.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		two.play(2)
		if s := two.cache.Stats(); s.Used != 6 || s.Banned != 0 || len(two.caches.left()) != 1 {
			t.Errorf("the end of one process harms the other: %+v, %q", s, two.caches.left())
		}
	})
}

// The meter measures what would be sent without a cache, which is what the provider counts and what has to fit in the
// window.
func TestTheBudgetMeasuresWhatIsInTheCache(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, mode agent.StreamingMode) {
		s := newServerInProcess(t)
		s.overhead, s.caches.tokens = cachedSize, cachedSize
		var sent []budget.Observation
		meter, err := budget.New(budget.Config{Observer: budget.ObserverFunc(func(_ context.Context, o budget.Observation) {
			if o.Kind == budget.Sent || o.Kind == budget.PrefixBroken || o.Kind == budget.CutByServer {
				sent = append(sent, o)
			}
		})})
		if err != nil {
			t.Fatal(err)
		}
		a := caching(t, s, cacheOn, func(llm model.LLM) model.LLM { return meter.Model(llm) })
		a.mode = mode
		a.play(8)
		if err := meter.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		requests := s.received(false)
		if len(sent) != len(requests) || s.withCache() != len(requests)-2 {
			t.Fatalf("%d observations of %d requests: %+v", len(sent), len(requests), sent)
		}
		for i, o := range sent {
			if o.Kind != budget.Sent || o.Budget.SystemPrompt < 4_000 || o.Budget.ToolDescriptions == 0 {
				t.Errorf("request %d: %s %+v", i, o.Kind, o.Budget)
			}
			if off := o.Budget.UsedTokens() - requests[i].tokens; i >= 4 && (off > requests[i].tokens/10 || -off > requests[i].tokens/10) {
				t.Errorf("request %d: %d tokens expected, %d counted", i, o.Budget.UsedTokens(), requests[i].tokens)
			}
		}
		a.will(assistant, refusal, refusal)
		if err := a.turn("Too long?"); !errors.Is(err, budget.ErrContextOverflow) {
			t.Errorf("%v", err)
		}
		a.unplayed()
		if st := a.cache.Stats(); st.Banned != 0 || st.Live != 1 {
			t.Errorf("an overflow is taken for a refusal of the cache: %+v", st)
		}
	})
}

// On Vertex AI, caches have full names, and belong to a project and a location.
func TestCachesOfVertexAI(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &vertex{t: t}
		llm := v.client()
		cache, err := prompt.NewCache(cacheOn)
		if err != nil {
			t.Fatal(err)
		}
		wrapped := cache.Model(llm)
		for range 3 {
			for _, err := range wrapped.GenerateContent(t.Context(), &model.LLMRequest{
				Contents: []*genai.Content{genai.NewContentFromText("Hello", genai.RoleUser)},
				Config:   &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText(fmt.Sprint(make([]int, 5_000)), genai.RoleUser)},
			}, false) {
				if err != nil {
					t.Error(err)
				}
			}
			synctest.Wait()
		}
		if err := cache.Close(t.Context()); err != nil {
			t.Error(err)
		}
		const at = "/v1beta1/projects/p/locations/europe-west1/"
		want := []string{
			"POST " + at + "publishers/google/models/" + assistant + ":generateContent ",
			"POST " + at + "publishers/google/models/" + assistant + ":generateContent ",
			"POST " + at + "cachedContents projects/p/locations/europe-west1/publishers/google/models/" + assistant,
			"POST " + at + "publishers/google/models/" + assistant + ":generateContent projects/123/locations/europe-west1/cachedContents/9",
			"DELETE /v1beta1/projects/123/locations/europe-west1/cachedContents/9 ",
		}
		slices.Sort(want) // the second request does not wait for the cache
		slices.Sort(v.calls)
		if !slices.Equal(v.calls, want) {
			t.Errorf("calls\n%q\nwant\n%q", v.calls, want)
		}
	})
}
