package prompt_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/layer/prompt"
)

func TestACacheIsCreatedAfterTwoSightingsAndUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		for range 4 {
			r.ask(asking("A"))
		}
		if want := []string{"", "", "cachedContents/1", "cachedContents/1"}; !slices.Equal(r.with(), want) {
			t.Errorf("caches of the requests: %q, want %q", r.with(), want)
		}
		made, want := r.holds["cachedContents/1"], asking("A").Config
		if diff := cmp.Diff(want.SystemInstruction, made.SystemInstruction); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want.Tools, made.Tools); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want.ToolConfig, made.ToolConfig); diff != "" {
			t.Error(diff)
		}
		if made.TTL != 10*time.Minute || made.Contents != nil {
			t.Errorf("created with %v, %v", made.TTL, made.Contents)
		}
		if s := r.cache.Stats(); s.Requests != 4 || s.Created != 1 || s.Used != 2 || s.Live != 1 || s.TokensRead != 2*cachedTokens {
			t.Errorf("%+v", s)
		}
	})
}

// Only the four fields differ, the request of the agent is not changed, and its tools are those that run.
func TestARequestWithACacheIsOtherwiseIdentical(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.warm("A")
		req, before := asking("A"), asking("A")
		req.Config.Temperature, before.Config.Temperature = genai.Ptr[float32](0.5), genai.Ptr[float32](0.5)
		req.Tools, before.Tools = map[string]any{"find": 1}, map[string]any{"find": 1}
		r.ask(req)
		if diff := cmp.Diff(before, req); diff != "" {
			t.Errorf("the agent's request has changed:\n%s", diff)
		}
		sent := r.sent[len(r.sent)-1]
		if sent == req || sent.Config.CachedContent == "" {
			t.Fatal("no cache was used")
		}
		same := *sent
		cfg := *sent.Config
		same.Config = &cfg
		cfg.CachedContent, cfg.SystemInstruction, cfg.Tools, cfg.ToolConfig = "", req.Config.SystemInstruction, req.Config.Tools, req.Config.ToolConfig
		if !reflect.DeepEqual(&same, req) {
			t.Errorf("more than the four fields differ:\n%s", cmp.Diff(req, &same))
		}
	})
}

func TestEachDifferenceInWhatIsCachedHasItsOwnCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(cfg *prompt.CacheConfig) { cfg.AfterSightings = 1 })
		for range 2 {
			for _, change := range []func(*model.LLMRequest){
				func(*model.LLMRequest) {},
				func(req *model.LLMRequest) { req.Model = "gemini-2.5-flash" },
				func(req *model.LLMRequest) { req.Config.SystemInstruction.Parts[0].Text += "." },
				func(req *model.LLMRequest) { req.Config.Tools[0].FunctionDeclarations[0].Description = "Looks up." },
				func(req *model.LLMRequest) {
					req.Config.ToolConfig.FunctionCallingConfig.Mode = genai.FunctionCallingConfigModeAny
				},
			} {
				req := asking("A")
				change(req)
				r.ask(req)
			}
			// What is not cached does not matter.
			other := asking("A")
			other.Config.Temperature = genai.Ptr[float32](1)
			other.Contents[0].Parts[0].Text = "Bye"
			r.ask(other)
		}
		if s := r.cache.Stats(); s.Created != 5 || s.Used != 7 {
			t.Errorf("%+v, want 5 caches, used 7 times", s)
		}
	})
}

// Sightings that are further apart than a TTL would create caches that expire unused.
func TestRareRequestsHaveNoCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		for range 20 {
			r.ask(asking("A"))
			time.Sleep(11 * time.Minute)
		}
		if r.count("create") != 0 {
			t.Errorf("%d caches for requests that repeat every 11 minutes", r.count("create"))
		}
	})
}

func TestACacheInUseIsProlongedAtHalfLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.warm("A")
		for range 20 {
			time.Sleep(3 * time.Minute)
			r.ask(asking("A"))
		}
		// Uses after 3 and 6 minutes: the second prolongs, and so on.
		if s := r.cache.Stats(); s.Created != 1 || s.Used != 20 || s.Prolonged != 10 || s.Expired != 0 || s.Banned != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestACacheThatNobodyUsesExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.warm("A")
		time.Sleep(time.Hour)
		if s := r.cache.Stats(); s.Live != 0 || s.Expired != 1 || s.Prolonged != 0 {
			t.Errorf("%+v", s)
		}
		for range 5 { // counts from the beginning, and twice as far, because the first cache did not pay
			r.ask(asking("A"))
		}
		if want := []string{"", "", "", "", "", "", "cachedContents/2"}; !slices.Equal(r.with(), want) {
			t.Errorf("%q, want %q", r.with(), want)
		}
		if s := r.cache.Stats(); s.Banned != 0 {
			t.Errorf("a cache was used after its end: %+v", s)
		}
	})
}

// Two requests in quick succession, and an hour of silence: each cache would expire unused.
func TestCachesThatDoNotPayBecomeRare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		for range 50 {
			r.ask(asking("A"))
			r.ask(asking("A"))
			time.Sleep(time.Hour)
		}
		if r.count("create") != 1 {
			t.Errorf("%d caches for 50 pairs of requests", r.count("create"))
		}
		for range 10 { // now it pays
			r.ask(asking("A"))
		}
		time.Sleep(time.Hour)
		if s := r.cache.Stats(); s.Created != 2 || s.Used != 6 || s.Net() <= 0 {
			t.Errorf("%+v", s)
		}
		r.warm("A") // and so two sightings are enough again
		if s := r.cache.Stats(); s.Created != 3 {
			t.Errorf("%+v", s)
		}
	})
}

func TestACacheIsNotUsedShortlyBeforeItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.warm("A")
		time.Sleep(10*time.Minute - 29*time.Second)
		r.ask(asking("A"))
		if last := r.with()[2]; last != "" {
			t.Errorf("29 s before its end, %s was used", last)
		}
	})
}

// A provider may grant less than was asked for, and its clock may differ.
func TestTheLifeThatIsGrantedCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		short := &shortLived{newCaches()}
		r := newRig(t, func(cfg *prompt.CacheConfig) { cfg.Client = short })
		r.provider.caches = short.caches
		r.warm("A")
		time.Sleep(100 * time.Second)
		r.ask(asking("A"))
		if last := r.with()[2]; last != "" {
			t.Errorf("%s was used after its end", last)
		}
	})
}

// shortLived grants 2 minutes, by a clock that is an hour fast.
type shortLived struct{ *caches }

func (c *shortLived) Create(ctx context.Context, model string, config *genai.CreateCachedContentConfig) (*genai.CachedContent, error) {
	made, err := c.caches.Create(ctx, model, config)
	if err == nil {
		made.CreateTime = made.CreateTime.Add(time.Hour)
		made.ExpireTime = made.CreateTime.Add(2 * time.Minute)
	}
	return made, err
}

func TestCloseDeletesAllCachesAndEndsCaching(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.warm("A")
		r.warm("B")
		if err := r.cache.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if left := r.names(); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
		r.ask(asking("A"))
		if err := r.cache.Close(t.Context()); err != nil || r.with()[4] != "" || r.count("delete") != 2 {
			t.Errorf("after Close: %q, %v", r.with(), err)
		}
		if s := r.cache.Stats(); s.Deleted != 2 || s.Live != 0 || s.Requests != 4 {
			t.Errorf("%+v", s)
		}
	})
}

// Nothing is created by turns, at a price each, when more instructions are in use than there may be caches.
func TestTheNumberOfCachesIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		name := func(i int) string { return string(rune('A' + i)) }
		for range 3 {
			for i := range 40 {
				r.ask(asking(name(i)))
			}
		}
		if s := r.cache.Stats(); s.Created != 32 || s.Live != 32 || s.Deleted != 0 || s.Full != 16 {
			t.Errorf("%+v", s)
		}
		time.Sleep(6 * time.Minute) // the first 32 were not used within half a TTL
		r.warm(name(39))
		if s := r.cache.Stats(); s.Created != 33 || s.Live != 32 || s.Deleted != 1 {
			t.Errorf("the cache that was not used for longest is not replaced: %+v", s)
		}
	})
}

// Caches that are being created count, however many turns begin at the same time.
func TestCachesInCreationCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		name := func(i int) string { return string(rune('A' + i)) }
		for i := range 30 {
			r.warm(name(i))
		}
		r.failing(func(context.Context, string) error { time.Sleep(time.Second); return nil })
		for i := range 6 {
			r.warm(name(30 + i))
		}
		time.Sleep(2 * time.Second)
		if s := r.cache.Stats(); s.Created != 32 || s.Live != 32 || s.Full != 4 {
			t.Errorf("%+v", s)
		}
	})
}

// A key that changes with every request must not grow the memory, or push the others out.
func TestChangingInstructionsHarmNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.warm("A")
		for i := range 600 {
			r.ask(asking(time.Duration(i).String()))
			if i%50 == 0 {
				r.ask(asking("A"))
			}
		}
		if s := r.cache.Stats(); s.Created != 1 || s.Used != 12 || s.Live != 1 || s.Keys != 601 {
			t.Errorf("%+v", s)
		}
		for i := range 300 {
			r.ask(asking(time.Duration(-i).String()))
		}
		if s := r.cache.Stats(); s.Live != 0 || s.Deleted != 1 {
			t.Errorf("the cache of a forgotten key is left: %+v", s)
		}
	})
}
