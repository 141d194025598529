package tokens

import (
	"strings"
	"testing"
)

// Lookup understands paths, regions, versions, dates and fine-tuned models.
func TestLookupReadsTheNamesThatProvidersUse(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"models/gemini-2.5-pro-preview-05-06":                                         "gemini-2.5-pro",
		"publishers/google/models/gemini-2.5-flash-lite-preview-09-2025":              "gemini-2.5-flash-lite",
		"projects/p/locations/us-central1/publishers/google/models/gemini-2.5-pro":    "gemini-2.5-pro",
		"projects/gpt-4o-team/locations/eu/publishers/google/models/gemini-2.5-flash": "gemini-2.5-flash",
		"publishers/anthropic/models/claude-opus-4-7@001":                             "claude-opus-4-7",
		"openai/gpt-4o":                              "gpt-4o",
		"openrouter/openai/gpt-4o-mini":              "gpt-4o-mini",
		"gpt-4o-2024-08-06":                          "gpt-4o",
		"anthropic.claude-3-5-sonnet-20240620-v1:0":  "claude-3-5-sonnet",
		"us.anthropic.claude-sonnet-4-20250514-v1:0": "claude-sonnet-4-2025",
		"arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0": "claude-sonnet-4-5",
		"vertex_ai/claude-3-5-haiku@20241022":                                "claude-3-5-haiku",
		"google/gemini-2.5-flash:free":                                       "gemini-2.5-flash",
		"  GEMINI-2.5-Flash\n":                                               "gemini-2.5-flash",
		"ft:gpt-4o:acme::Ab12":                                               "gpt-4o",
		"ft:gpt-4o-mini-2024-07-18:acme:claude-tone:Ab12":                    "gpt-4o-mini",
		"ft:gpt-3.5-turbo-0125:acme:like-gpt-4o:Ab12":                        "gpt-3.5",
		"openai/ft:gpt-4.1-nano:acme::Ab12":                                  "gpt-4.1-nano",
		"ft:house-model:acme:like-gpt-4o:Ab12":                               "",
		"projects/gpt-4o-team/locations/eu/endpoints/456":                    "",
		"projects/gemini-2.5-pro/locations/claude/publishers/x/models/novel": "",
		"nobody-knows-this":                                                  "",
		"":                                                                   "",
	} {
		if m, ok := Lookup(name); m.Name != want || ok != (want != "") {
			t.Errorf("Lookup(%q) = %q, %v; want %q", name, m.Name, ok, want)
		}
	}
}

// Callers use the second result to warn about an assumed window.
func TestWindowSaysWhetherItIsKnown(t *testing.T) {
	t.Parallel()
	r := registry(t, Model{Name: "house", InputPrice: 1, OutputPrice: 2}, Model{Name: "gemini-2.5-pro", InputPrice: 1, OutputPrice: 2}, Model{Name: "mine", ContextWindow: 32_000})
	for name, want := range map[string]struct {
		window int
		known  bool
	}{
		"house-7":        {DefaultContextWindow, false}, // priced, but without a window
		"unheard-of":     {DefaultContextWindow, false},
		"":               {DefaultContextWindow, false},
		"mine":           {32_000, true},
		"gemini-2.5-pro": {1_048_576, true},
		"gpt-4o":         {128_000, true}, // known, though it equals the assumption
	} {
		if window, known := r.Window(name); window != want.window || known != want.known {
			t.Errorf("Window(%q) = %d, %v; want %d, %v", name, window, known, want.window, want.known)
		}
	}
	if window, known := (*Registry)(nil).Window("gemini-2.5-pro"); window != 1_048_576 || !known {
		t.Errorf("nil registry: %d, %v", window, known)
	}
}

// A name with a path or a fine-tuned model's ID is matched as a whole.
func TestOwnEntryMayNameOneDeployment(t *testing.T) {
	t.Parallel()
	r := registry(t,
		Model{Name: "ft:gpt-4o:acme:invoices", InputPrice: 3.75, CachedInputPrice: 1.875, OutputPrice: 15},
		Model{Name: "endpoints/456", ContextWindow: 9_000, MaxOutputTokens: 1_000},
		Model{Name: "acme", ContextWindow: 5_000},
	)
	tuned, ok := r.Lookup("ft:gpt-4o:acme:invoices:Ab12")
	if !ok || tuned.InputPrice != 3.75 || tuned.OutputPrice != 15 || tuned.ContextWindow != 128_000 || tuned.MaxOutputTokens != 16_384 {
		t.Errorf("fine-tuned: %+v, %v", tuned, ok)
	}
	if m, ok := r.Lookup("projects/p/locations/us/endpoints/456"); !ok || m.ContextWindow != 9_000 || m.MaxOutputTokens != 1_000 {
		t.Errorf("endpoint: %+v, %v", m, ok)
	}
	if m, _ := r.Lookup("ft:gpt-4o:acme::Ab12"); m.ContextWindow != 128_000 {
		t.Errorf("the owner of a fine-tuned model counts as the model: %+v", m)
	}
}

// Absurd values are mostly values in the wrong unit.
func TestAbsurdEntriesAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		entry Model
		want  []string
	}{
		{Model{Name: "m", InputPrice: 0.0000025, OutputPrice: 0.00001}, []string{`"m"`, "InputPrice", "2.5e-06", "per million"}},
		{Model{Name: "m", OutputPrice: 2e6}, []string{"OutputPrice", "2e+06", "1e+06"}},
		{Model{Name: "m", InputPrice: 1, CachedInputPrice: 2, OutputPrice: 3}, []string{"CachedInputPrice", "2", "InputPrice", "1"}},
		{Model{Name: "m", ContextWindow: 2_000_000_000}, []string{"ContextWindow", "2000000000", "1000000000"}},
		{Model{Name: "m", MaxOutputTokens: 2_000_000_000}, []string{"MaxOutputTokens", "2000000000"}},
	} {
		_, err := NewRegistry(tt.entry)
		if err == nil {
			t.Errorf("NewRegistry(%+v) is accepted", tt.entry)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("error %q does not contain %s", err, part)
			}
		}
	}
	if _, err := NewRegistry(Model{Name: "free"}, Model{Name: "cheap", InputPrice: 0.005, CachedInputPrice: 0.0005, OutputPrice: 0.01}); err != nil {
		t.Error(err)
	}
}
