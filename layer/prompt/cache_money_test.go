package prompt_test

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/tokens"
)

func near(got, want float64) bool { return math.Abs(got-want) < 1e-9 }

// A cache of 10,000 tokens for Gemini 2.5 Pro: writing costs 0.0125 USD, an hour of storage 0.045, and each
// use saves 0.01125.
func TestDollarsOfACache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.warm("A")
		for range 20 {
			time.Sleep(3 * time.Minute)
			r.ask(asking("A"))
		}
		s := r.cache.Stats()
		if !near(s.WriteCost, 0.0125) || !near(s.StorageCost, 0.045) || !near(s.TokenHours, 10_000) || !near(s.Saved, 20*0.01125) || !near(s.Net(), 0.225-0.0575) {
			t.Errorf("%+v, net %v", s, s.Net())
		}
		time.Sleep(24 * time.Hour) // the last use, after 60 minutes, prolonged it by 10
		if s := r.cache.Stats(); !near(s.TokenHours, 10_000*70.0/60) {
			t.Errorf("after a day: %+v", s)
		}
	})
}

// With what the provider caches by itself behind our cache, it reads more than that holds.
func TestOnlyOurOwnTokensAreCountedAsSaved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.warm("A")
		r.answer = func(_ int, req *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
			r.reply(req, func(resp *model.LLMResponse, err error) bool {
				resp.UsageMetadata.CachedContentTokenCount = 50_000
				return yield(resp, err)
			})
		}
		r.ask(asking("A"))
		if s := r.cache.Stats(); s.TokensRead != 50_000 || !near(s.Saved, 0.01125) {
			t.Errorf("%+v", s)
		}
	})
}

func TestAModelWithoutPricesIsCountedAsSuch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		registry, err := tokens.NewRegistry(tokens.Model{Name: "gemini-2.5-pro", InputPrice: 2, OutputPrice: 8})
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, func(cfg *prompt.CacheConfig) { cfg.Registry = registry })
		r.warm("A")
		r.ask(asking("A"))
		if s := r.cache.Stats(); s.Unpriced != 1 || s.Saved != 0 || !near(s.WriteCost, 0.02) {
			t.Errorf("%+v", s)
		}
	})
}

// A cache that cannot be deleted is billed until it expires.
func TestStorageOfACacheThatIsLeftIsCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.warm("A")
		r.failing(failsAlways)
		if err := r.cache.Close(t.Context()); err == nil {
			t.Error("no error")
		}
		if s := r.cache.Stats(); !near(s.TokenHours, 10_000.0/6) || s.Failed != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// The table in the documentation.
func TestBreakEven(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		model                  string
		none, half, nineTenths float64
	}{
		{"gemini-3.5-flash", 0.7, 1.5, 7.4},
		{"gemini-3-flash", 2.2, 4.4, 22.2},
		{"gemini-3.1-pro", 2.5, 5, 25},
		{"gemini-2.5-flash", 3.7, 7.4, 37},
		{"gemini-2.5-pro", 4, 8, 40},
		{"gemini-3.1-flash-lite", 4.4, 8.9, 44.4},
		{"gemini-2.5-flash-lite", 11.1, 22.2, 111.1},
	} {
		m, _ := tokens.Lookup(r.model)
		var got []float64
		for _, implicit := range []float64{0, 0.5, 0.9} {
			perHour, known := prompt.CacheBreakEven(m, implicit)
			if !known {
				t.Errorf("%s: unknown", r.model)
			}
			got = append(got, math.Round(perHour*10)/10)
		}
		if want := []float64{r.none, r.half, r.nineTenths}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", r.model, got, want)
		}
	}
	for _, m := range []tokens.Model{{}, {InputPrice: 1, CachedInputPrice: 0.1}, {InputPrice: 1, CacheStoragePrice: 1}, {InputPrice: 1, CachedInputPrice: 1, CacheStoragePrice: 1}} {
		if perHour, known := prompt.CacheBreakEven(m, 0); known || perHour != 0 {
			t.Errorf("%+v: %v, %v", m, perHour, known)
		}
	}
	if _, known := prompt.CacheBreakEven(tokens.Model{InputPrice: 1, CachedInputPrice: 0.1, CacheStoragePrice: 1}, 1); known {
		t.Error("there is something to save where all is cached implicitly")
	}
}
