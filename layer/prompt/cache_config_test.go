package prompt_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/layer/prompt"
)

func TestRefusedCacheSettingsAreAllNamed(t *testing.T) {
	t.Parallel()
	_, err := prompt.NewCache(prompt.CacheConfig{TTL: time.Second, MinTokens: -1, AfterSightings: -1, Client: (*genai.Caches)(nil), Observer: prompt.CacheObserverFunc(nil)})
	var one *prompt.ConfigError
	if !errors.As(err, &one) {
		t.Fatal(err)
	}
	for _, field := range []string{"TTL", "MinTokens", "AfterSightings", "Client", "Observer"} {
		if !strings.Contains(err.Error(), field+" is ") {
			t.Errorf("%s is missing in %v", field, err)
		}
	}
	for _, cfg := range []prompt.CacheConfig{{}, {Enabled: true}, {TTL: time.Minute}, {TTL: 24 * time.Hour}} {
		if _, err := prompt.NewCache(cfg); err != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	if _, err := prompt.NewCache(prompt.CacheConfig{TTL: 25 * time.Hour}); err == nil {
		t.Error("a TTL of 25 hours is accepted")
	}
}

func TestCachingThatIsOffIsTheModelItself(t *testing.T) {
	t.Parallel()
	off, err := prompt.NewCache(prompt.CacheConfig{Client: newCaches()})
	if err != nil {
		t.Fatal(err)
	}
	llm := &provider{}
	if off.Model(llm) != model.LLM(llm) || (*prompt.Cache)(nil).Model(llm) != model.LLM(llm) || off.Model(nil) != nil {
		t.Error("a wrapper is around the model")
	}
	var none *prompt.Cache
	if none.Stats() != (prompt.CacheStats{}) || none.Close(t.Context()) != nil || none.Flush(t.Context()) != nil || off.Close(t.Context()) != nil {
		t.Error("nothing is not nothing")
	}
}

// google has a client, as ADK's Gemini model has. It may be one without caches.
type google struct {
	provider
	client func() *genai.Client
}

func (g *google) Client() *genai.Client { return g.client() }

func TestAModelWithoutCachesIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, llm := range map[string]model.LLM{
		"no client":   &provider{},
		"nil client":  &google{client: func() *genai.Client { return nil }},
		"zero client": &google{client: func() *genai.Client { return &genai.Client{} }},
		"panics":      &google{client: func() *genai.Client { panic("client") }},
	} {
		var seen []prompt.CacheObservation
		c, err := prompt.NewCache(prompt.CacheConfig{Enabled: true, Observer: prompt.CacheObserverFunc(func(_ context.Context, o prompt.CacheObservation) { seen = append(seen, o) })})
		if err != nil {
			t.Fatal(err)
		}
		if c.Model(llm) != llm {
			t.Errorf("%s: a wrapper is around the model", name)
		}
		if err := c.Flush(t.Context()); err != nil || len(seen) != 1 || seen[0].Kind != prompt.CacheUnsupported || seen[0].Model != llm.Name() {
			t.Errorf("%s: %+v, %v", name, seen, err)
		}
	}
}

func TestAModelIsWrappedOnce(t *testing.T) {
	t.Parallel()
	c, err := prompt.NewCache(prompt.CacheConfig{Enabled: true, Client: newCaches()})
	if err != nil {
		t.Fatal(err)
	}
	once := c.Model(&provider{})
	if c.Model(once) != once {
		t.Error("a model is wrapped twice")
	}
	for _, err := range c.Model(nil).GenerateContent(t.Context(), asking("A"), false) {
		if err == nil || !strings.HasPrefix(err.Error(), "prompt: Model was given a nil model") {
			t.Error(err)
		}
	}
}

// ADK sends the instruction and the tools next to the app's own cache, which is refused each time.
func TestTheAppsOwnCacheIsSentAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.expires["cachedContents/mine"] = time.Now().Add(time.Hour)
		for range 3 {
			req := asking("A")
			req.Config.CachedContent = "cachedContents/mine"
			r.ask(req)
			if req.Config.SystemInstruction == nil {
				t.Error("the app's request was changed")
			}
		}
		bare := &model.LLMRequest{Config: &genai.GenerateContentConfig{CachedContent: "cachedContents/mine"}}
		r.ask(bare)
		if r.sent[3] != bare {
			t.Error("a request that may be sent was copied")
		}
		forced := &model.LLMRequest{Config: &genai.GenerateContentConfig{CachedContent: "cachedContents/mine", ToolConfig: &genai.ToolConfig{}}}
		r.ask(forced)
		if r.sent[4].Config.ToolConfig != nil {
			t.Error("a tool config is sent next to the cache")
		}
		if s := r.cache.Stats(); s.Stripped != 4 || s.Requests != 0 || s.Created != 0 {
			t.Errorf("%+v", s)
		}
		if kinds := r.kinds(); !slices.Equal(kinds, []prompt.CacheKind{prompt.CacheStripped}) {
			t.Errorf("reported %q", kinds)
		}
		// An error about the app's cache is the app's.
		r.revoke()
		req := asking("A")
		req.Config.CachedContent = "cachedContents/mine"
		if err := r.try(req); err == nil || len(r.sent) != 6 {
			t.Errorf("%v after %d requests", err, len(r.sent))
		}
	})
}
