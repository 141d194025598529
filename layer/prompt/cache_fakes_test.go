package prompt_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/layer/prompt"
)

// caches is a provider's caches. Times are those of the bubble that the test runs in.
type caches struct {
	mu      sync.Mutex
	expires map[string]time.Time
	holds   map[string]*genai.CreateCachedContentConfig
	calls   []string // such as "create gemini-2.5-pro", "update cachedContents/1"
	// fail is asked before each call, if not nil. It may return an error, panic or hang.
	fail func(ctx context.Context, call string) error
}

func newCaches() *caches {
	return &caches{expires: map[string]time.Time{}, holds: map[string]*genai.CreateCachedContentConfig{}}
}

func (c *caches) begin(ctx context.Context, call string) error {
	c.mu.Lock()
	c.calls = append(c.calls, call)
	fail := c.fail
	c.mu.Unlock()
	if fail != nil {
		return fail(ctx, call)
	}
	return nil
}

func (c *caches) Create(ctx context.Context, model string, config *genai.CreateCachedContentConfig) (*genai.CachedContent, error) {
	if err := c.begin(ctx, "create "+model); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	name := fmt.Sprintf("cachedContents/%d", len(c.holds)+1)
	c.holds[name] = config
	c.expires[name] = time.Now().Add(config.TTL)
	return &genai.CachedContent{
		Name: name, Model: model, CreateTime: time.Now(), ExpireTime: time.Now().Add(config.TTL), UsageMetadata: &genai.CachedContentUsageMetadata{TotalTokenCount: cachedTokens},
	}, nil
}

// cachedTokens is what the provider counts for each cache.
const cachedTokens = 10_000

func (c *caches) Update(ctx context.Context, name string, config *genai.UpdateCachedContentConfig) (*genai.CachedContent, error) {
	if err := c.begin(ctx, "update "+name); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.exists(name) {
		return nil, notFound
	}
	c.expires[name] = time.Now().Add(config.TTL)
	return &genai.CachedContent{Name: name}, nil
}

func (c *caches) Delete(ctx context.Context, name string, _ *genai.DeleteCachedContentConfig) (*genai.DeleteCachedContentResponse, error) {
	if err := c.begin(ctx, "delete "+name); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.exists(name) {
		return nil, notFound
	}
	delete(c.expires, name)
	return &genai.DeleteCachedContentResponse{}, nil
}

// exists reports whether a cache is there. The caller holds c.mu.
func (c *caches) exists(name string) bool {
	until, found := c.expires[name]
	return found && time.Now().Before(until)
}

// revoke deletes all caches.
func (c *caches) revoke() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.expires)
}

// names returns the caches that exist.
func (c *caches) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.expires)), func(name string) bool { return !c.exists(name) })
}

// count returns how many calls begin with a word.
func (c *caches) count(prefix string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, call := range c.calls {
		if strings.HasPrefix(call, prefix) {
			n++
		}
	}
	return n
}

func (c *caches) failing(fail func(ctx context.Context, call string) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail = fail
}

var (
	notFound = genai.APIError{Code: 403, Status: "PERMISSION_DENIED", Message: "CachedContent not found (or permission denied)"}
	denied   = genai.APIError{Code: 403, Status: "PERMISSION_DENIED", Message: "Permission 'aiplatform.cachedContents.delete' denied on resource '//aiplatform.googleapis.com/projects/p'"}
	tooSmall = genai.APIError{Code: 400, Status: "INVALID_ARGUMENT", Message: "Cached content is too small. total_token_count=896, min_total_token_count=4096"}
	both     = genai.APIError{Code: 400, Status: "INVALID_ARGUMENT", Message: "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config."}
)

// provider is a model that knows its caches, and refuses what Gemini refuses.
type provider struct {
	*caches
	sent []*model.LLMRequest
	// answer, if not nil, yields in place of the provider. It gets the number of the request, from 0.
	answer func(n int, req *model.LLMRequest, yield func(*model.LLMResponse, error) bool)
}

func (p *provider) Name() string { return "gemini-2.5-pro" }

func (p *provider) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		p.mu.Lock()
		n := len(p.sent)
		p.sent = append(p.sent, req)
		p.mu.Unlock()
		if p.answer != nil {
			p.answer(n, req, yield)
			return
		}
		p.reply(req, yield)
	}
}

func (p *provider) reply(req *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
	p.mu.Lock()
	var err error
	var cached int32
	if name := req.Config.CachedContent; name != "" {
		cached = cachedTokens
		switch {
		case req.Config.SystemInstruction != nil || req.Config.Tools != nil || req.Config.ToolConfig != nil:
			err = both
		case !p.exists(name):
			err = fmt.Errorf("failed to call model: %w", notFound)
		}
	}
	p.mu.Unlock()
	if err != nil {
		yield(nil, err)
		return
	}
	yield(&model.LLMResponse{
		Content:       genai.NewContentFromText("Yes.", genai.RoleModel),
		UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 12_000, CachedContentTokenCount: cached},
	}, nil)
}

// with returns the caches that the requests so far have named, "" for a request without.
func (p *provider) with() (names []string) {
	for _, req := range p.sent {
		names = append(names, req.Config.CachedContent)
	}
	return names
}

// words is a text of about that many tokens.
func words(n int) string { return strings.Repeat("word ", n) }

// asking is a request with an instruction that is large enough.
func asking(instruction string) *model.LLMRequest {
	return &model.LLMRequest{
		Contents: []*genai.Content{genai.NewContentFromText("Hello", genai.RoleUser)},
		Config: &genai.GenerateContentConfig{
			SystemInstruction: genai.NewContentFromText(instruction+words(6_000), genai.RoleUser),
			Tools:             []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "find", Description: "Finds."}}}},
			ToolConfig:        &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAuto}},
		},
	}
}

// bench is a cache with a provider.
type rig struct {
	t *testing.T
	*provider
	cache *prompt.Cache
	llm   model.LLM
	mu    sync.Mutex
	seen  []prompt.CacheObservation
}

func (r *rig) Observe(_ context.Context, o prompt.CacheObservation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, o)
}

// kinds returns what was reported, without the details.
func (r *rig) kinds() (kinds []prompt.CacheKind) {
	if err := r.cache.Flush(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.seen {
		kinds = append(kinds, o.Kind)
	}
	return kinds
}

// newRig must be called in a bubble.
func newRig(t *testing.T, change func(*prompt.CacheConfig)) *rig {
	t.Helper()
	r := &rig{t: t, provider: &provider{caches: newCaches()}}
	cfg := prompt.CacheConfig{Enabled: true, Client: r.caches, Observer: r}
	if change != nil {
		change(&cfg)
	}
	var err error
	if r.cache, err = prompt.NewCache(cfg); err != nil {
		t.Fatal(err)
	}
	r.llm = r.cache.Model(r.provider)
	t.Cleanup(func() {
		r.failing(nil)
		if err := r.cache.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// ask sends a request, waits for all that it has begun in the background, and checks the answer.
func (r *rig) ask(req *model.LLMRequest) {
	r.t.Helper()
	if err := r.try(req); err != nil {
		r.t.Error(err)
	}
	synctest.Wait()
}

// try sends a request and returns its error.
func (r *rig) try(req *model.LLMRequest) error {
	answers := 0
	for resp, err := range r.llm.GenerateContent(r.t.Context(), req, false) {
		if err != nil {
			return err
		}
		if resp != nil {
			answers++
		}
	}
	if answers != 1 {
		return fmt.Errorf("%d answers", answers)
	}
	return nil
}

// warm sends requests until they have a cache.
func (r *rig) warm(instruction string) {
	r.t.Helper()
	r.ask(asking(instruction))
	r.ask(asking(instruction))
	if len(r.names()) == 0 {
		r.t.Fatal("no cache was created")
	}
}

var errBroken = errors.New("broken")

func failsAlways(context.Context, string) error { return errBroken }
