package tokens

import (
	"math"
	"strings"
	"sync"
	"testing"
)

func TestBuiltInWindows(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"gemini-2.5-flash":                                1_048_576,
		"models/gemini-2.5-flash-001":                     1_048_576,
		"gemini-3.1-pro-preview":                          1_048_576,
		"gemini-9-ultra":                                  1_000_000,
		"gemini-2.5-flash-image":                          32_768,
		"claude-opus-4-7":                                 1_000_000,
		"publishers/anthropic/models/claude-opus-4-7@001": 1_000_000,
		"anthropic/claude-opus-4.6":                       1_000_000,
		"claude-sonnet-4-6":                               1_000_000,
		"claude-sonnet-5":                                 1_000_000,
		"claude-opus-5-20270101":                          1_000_000,
		"claude-opus-4-5":                                 200_000,
		"claude-sonnet-4@20250514":                        200_000,
		"claude-haiku-4-5-20251001":                       200_000,
		"claude-3-opus-20240229":                          200_000,
		"CLAUDE-OPUS-4-1":                                 200_000,
		"gpt-5":                                           400_000,
		"gpt-5.6-sol":                                     400_000,
		"gpt-4.1-mini":                                    1_000_000,
		"gpt-4o-2024-08-06":                               128_000,
		"gpt-4-turbo":                                     128_000,
		"gpt-4":                                           128_000,
		"grok-4-fast":                                     2_000_000,
		"grok-3":                                          131_072,
		"deepseek-v3.2":                                   163_840,
		"deepseek/deepseek-chat-v3":                       163_840,
		"deepseek-r1-distill-llama-70b":                   128_000,
		"qwen3-coder":                                     131_072,
		"ollama/qwen3:8b":                                 131_072,
		"qwen2.5-72b":                                     128_000,
		"meta-llama/llama-4-maverick":                     327_680,
		"llama-3.3-70b":                                   128_000,
		"mistral-large-2512":                              262_144,
		"open-mixtral-8x22b":                              128_000,
		"nobody-knows-this":                               DefaultContextWindow,
		"":                                                DefaultContextWindow,
	} {
		if got := ContextWindow(name); got != want {
			t.Errorf("ContextWindow(%q) = %d, want %d", name, got, want)
		}
	}
}

func TestBuiltInTiers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Tier{
		"claude-opus-4-7":   TierFrontier,
		"claude-opus-4-1":   TierFrontier,
		"gemini-3-pro":      TierFrontier,
		"gemini-3.5-pro":    TierFrontier,
		"claude-sonnet-4-6": TierMid,
		"gemini-2.5-pro":    TierMid,
		"claude-haiku-4-5":  TierSmall,
		"gemini-3-flash":    TierSmall,
		"gemini-3.5-flash":  TierSmall,
		"gemini-2.5-flash":  TierSmall,
		"llama-3.3-70b":     "",
		"unknown":           "",
	} {
		if m, _ := Lookup(name); m.Tier != want {
			t.Errorf("Lookup(%q).Tier = %q, want %q", name, m.Tier, want)
		}
	}
}

// A version newer than the table must not get another version's price.
func TestUnknownVersionHasNoPrice(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gpt-5.9", "claude-opus-4-9", "claude-sonnet-6", "gemini-4-pro", "grok-5"} {
		m, ok := Lookup(name)
		if !ok || m.Priced() {
			t.Errorf("Lookup(%q) = %+v, %v; want a row without prices", name, m, ok)
		}
	}
	if m, _ := Lookup("gpt-5-2025-08-07"); !m.Priced() {
		t.Errorf("dated gpt-5 has no price: %+v", m)
	}
}

func TestBuiltInRowsAreValidAndReachable(t *testing.T) {
	t.Parallel()
	if _, err := NewRegistry(builtInModels...); err != nil {
		t.Errorf("built-in table: %v", err)
	}
	if len(builtInModels) < 50 {
		t.Fatalf("built-in table has %d rows, too few to mean anything", len(builtInModels))
	}
	for _, m := range builtInModels {
		if m.Name != strings.ToLower(m.Name) || m.ContextWindow == 0 {
			t.Errorf("%q: want a lower-case name and a window", m.Name)
		}
		if got, ok := Lookup("models/" + m.Name + "@001"); !ok || got != m {
			t.Errorf("Lookup of row %q finds %q", m.Name, got.Name)
		}
		if m.Priced() && (m.OutputPrice < m.InputPrice || m.CachedInputPrice > m.InputPrice) {
			t.Errorf("%q: prices %v/%v/%v are out of order", m.Name, m.InputPrice, m.CachedInputPrice, m.OutputPrice)
		}
	}
}

func TestOwnEntriesWinOverBuiltIn(t *testing.T) {
	t.Parallel()
	r := registry(t,
		Model{Name: "Gemini", ContextWindow: 50_000},
		Model{Name: "gemini-2.5", ContextWindow: 60_000, Tier: TierFrontier},
		Model{Name: "house-model", ContextWindow: 8_000},
	)
	for name, want := range map[string]int{
		"gemini-2.5-flash": 60_000, // a shorter own name wins over the longer built-in one
		"gemini-3-pro":     50_000,
		"My-House-Model-7": 8_000,
		"gpt-4o":           128_000,
	} {
		if m, ok := r.Lookup(name); !ok || m.ContextWindow != want {
			t.Errorf("Lookup(%q) = %+v, %v; want window %d", name, m, ok, want)
		}
	}
	if m, _ := r.Lookup("gemini-2.5-flash"); m.Tier != TierFrontier {
		t.Errorf("tier = %q, want the entry's", m.Tier)
	}
}

func TestOwnEntryNeedsOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	r := registry(t,
		Model{Name: "gemini-2.5-pro", InputPrice: 1, OutputPrice: 4},
		Model{Name: "claude-haiku-4-5", ContextWindow: 10_000},
		Model{Name: "local", InputPrice: 1},
		Model{Name: "writer", MaxOutputTokens: 500_000},
	)
	pro, _ := r.Lookup("gemini-2.5-pro")
	if want := (Model{Name: "gemini-2.5-pro", ContextWindow: 1_048_576, MaxOutputTokens: 65_536, InputPrice: 1, OutputPrice: 4, Tier: TierMid}); pro != want {
		t.Errorf("own prices = %+v, want %+v", pro, want)
	}
	haiku, _ := r.Lookup("claude-haiku-4-5")
	if want := (Model{Name: "claude-haiku-4-5", ContextWindow: 10_000, MaxOutputTokens: 10_000, InputPrice: 1, CachedInputPrice: 0.10, OutputPrice: 5, Tier: TierSmall}); haiku != want {
		t.Errorf("own window = %+v, want %+v", haiku, want)
	}
	if m, _ := r.Lookup("local"); m.ContextWindow != DefaultContextWindow {
		t.Errorf("window of an entry without one = %d, want %d", m.ContextWindow, DefaultContextWindow)
	}
	if m, _ := r.Lookup("writer"); m.ContextWindow != 500_000 {
		t.Errorf("window = %d, want it to hold the 500,000-token reply", m.ContextWindow)
	}
}

func TestNilAndEmptyRegistryAreTheBuiltInTable(t *testing.T) {
	t.Parallel()
	want, _ := Lookup("gemini-2.5-flash")
	for name, r := range map[string]*Registry{"nil": nil, "zero": {}, "empty": registry(t)} {
		if got, ok := r.Lookup("gemini-2.5-flash"); !ok || got != want {
			t.Errorf("%s: Lookup = %+v, %v; want %+v", name, got, ok, want)
		}
		if got, ok := r.Lookup("unheard-of"); ok || got != (Model{}) {
			t.Errorf("%s: Lookup of an unknown name = %+v, %v; want zero, false", name, got, ok)
		}
	}
}

func TestRegistryKeepsNothingOfTheCallersSlice(t *testing.T) {
	t.Parallel()
	entries := []Model{{Name: "A-Model", ContextWindow: 1000}, {Name: "a-model-large", ContextWindow: 2000}}
	r := registry(t, entries...)
	if entries[0].Name != "A-Model" || entries[1].Name != "a-model-large" {
		t.Errorf("NewRegistry changed its arguments: %+v", entries)
	}
	entries[0].ContextWindow = 1
	if m, _ := r.Lookup("a-model"); m.ContextWindow != 1000 {
		t.Errorf("window = %d after the caller changed its slice, want 1000", m.ContextWindow)
	}
}

func TestBadEntryIsNamedWithFieldAndValue(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		entry Model
		want  []string
	}{
		{Model{}, []string{"entry 1", "Name"}},
		{Model{Name: "  "}, []string{"Name"}},
		{Model{Name: "GOOD"}, []string{"Name", `"good"`, "entry 0"}},
		{Model{Name: "m", ContextWindow: -5}, []string{`"m"`, "ContextWindow", "-5"}},
		{Model{Name: "m", MaxOutputTokens: -6}, []string{"MaxOutputTokens", "-6"}},
		{Model{Name: "m", ContextWindow: 100, MaxOutputTokens: 200}, []string{"MaxOutputTokens", "200", "100"}},
		{Model{Name: "m", InputPrice: -1.5}, []string{"InputPrice", "-1.5"}},
		{Model{Name: "m", CachedInputPrice: math.NaN()}, []string{"CachedInputPrice", "NaN"}},
		{Model{Name: "m", OutputPrice: math.Inf(1)}, []string{"OutputPrice", "+Inf"}},
		{Model{Name: "m", Tier: "huge"}, []string{"Tier", `"huge"`, "frontier"}},
	} {
		r, err := NewRegistry(Model{Name: "good"}, tt.entry)
		if err == nil || r != nil {
			t.Errorf("NewRegistry(%+v) = %v, %v; want nil and an error", tt.entry, r, err)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("error %q does not contain %s", err, part)
			}
		}
	}
	if _, err := NewRegistry(Model{Name: "a", Tier: "x"}, Model{Name: "b", InputPrice: -1}); err == nil ||
		!strings.Contains(err.Error(), `"a"`) || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("error %v does not name both bad entries", err)
	}
}

func TestLookupIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	r := registry(t, Model{Name: "house", ContextWindow: 9_000})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if m, ok := r.Lookup("house-1"); !ok || m.ContextWindow != 9_000 {
					t.Errorf("Lookup = %+v, %v", m, ok)
				}
				ContextWindow("gemini-3-pro")
			}
		})
	}
	wg.Wait()
}

func registry(t *testing.T, entries ...Model) *Registry {
	t.Helper()
	r, err := NewRegistry(entries...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
