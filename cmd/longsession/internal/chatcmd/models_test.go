package chatcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/tokens"
)

func from(baseURL string, env map[string]string) source {
	return source{baseURL: baseURL, env: func(name string) string { return env[name] }}
}

func TestAModelIsOpenedOrTheRemedyIsNamed(t *testing.T) {
	t.Parallel()
	gemini := map[string]string{"GOOGLE_API_KEY": "not-a-real-key"}
	openAI := map[string]string{"OPENAI_API_KEY": "not-a-real-key"}
	for _, c := range []struct {
		name   string
		from   source
		remedy string // "" opens
	}{
		{"scripted:demo", from("", nil), ""},
		{"scripted:demo", from("http://localhost:11434/v1", nil), ""},
		{"gemini-2.5-flash", from("", gemini), ""},
		{"gemini-99-of-the-future", from("", gemini), ""},
		{"gemini-2.5-flash", from("", nil), "set GEMINI_API_KEY"},
		{"gemini-2.5-flash", from("https://example.com/v1", nil), ""},
		{"gpt-5", from("", openAI), ""},
		{"gpt-5", from("", gemini), "set OPENAI_API_KEY"},
		{"o3-mini", from("", nil), "set OPENAI_API_KEY"},
		{"claude-sonnet-4-5", from("", openAI), "name the server with --base-url"},
		{"qwen3:8b", from("", gemini), "name the server with --base-url"},
		{"qwen3:8b", from("http://localhost:11434/v1", nil), ""},
		{"qwen3:8b", from("ftp://localhost", nil), "must begin with http://"},
		{"qwen3:8b", from("https://ada:secret@example.com/v1", nil), "set the key in the environment"},
	} {
		m, err := c.from.open(t.Context(), c.name)
		switch {
		case c.remedy == "" && (err != nil || m.Name() != c.name):
			t.Errorf("%s at %q: %v", c.name, c.from.baseURL, err)
		case c.remedy != "" && (err == nil || !strings.Contains(err.Error(), c.remedy) || strings.Contains(err.Error(), "secret")):
			t.Errorf("%s at %q: error %v, want %q", c.name, c.from.baseURL, err, c.remedy)
		}
	}
}

func TestAScriptThatIsTooLargeIsNotRead(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "large.jsonl")
	if err := os.WriteFile(name, []byte(`{"text": "Hello!"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openScript(scriptedPrefix+name, name); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, maxScript+1); err != nil {
		t.Fatal(err)
	}
	if _, err := openScript(scriptedPrefix+name, name); err == nil || !strings.Contains(err.Error(), "has 67,108,865 bytes, and a script has at most 67,108,864: name a script") {
		t.Errorf("error %v", err)
	}
}

func TestAModelOnThisMachineNeedsNoCeiling(t *testing.T) {
	t.Parallel()
	for baseURL, want := range map[string]bool{
		"http://localhost:11434/v1": true, "http://127.0.0.1:8080/v1": true, "http://[::1]:8080/v1": true, "http://LOCALHOST/v1": true,
		"": false, "https://api.openai.com/v1": false, "http://192.168.1.5/v1": false, "https://localhost.example.com/v1": false,
	} {
		if got := from(baseURL, nil).free("some-model", nil); got != want {
			t.Errorf("%q: %v, want %v", baseURL, got, want)
		}
	}
	if !from("", nil).free("scripted:x", nil) {
		t.Error("a script needs a ceiling")
	}
	priced, err := registry("some-model", "", 0, tokens.Model{InputPrice: 3, OutputPrice: 15})
	if err != nil {
		t.Fatal(err)
	}
	local := from("http://localhost:4000/v1", nil)
	if local.free("some-model", priced) || local.free("gemini-2.5-flash", nil) {
		t.Error("a model with a price, behind a proxy, needs no ceiling")
	}
}

func TestWithoutAKeyTheDemoAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from source
		want string
	}{
		{from("", nil), demoModel}, {from("", map[string]string{"GEMINI_API_KEY": "x"}), ""},
		{from("", map[string]string{"GOOGLE_GENAI_USE_VERTEXAI": "true"}), ""}, {from("http://localhost/v1", nil), ""},
	} {
		if got := c.from.fallback(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.from.baseURL, got, c.want)
		}
	}
}

func TestTheRegistryKnowsWhatThePersonSays(t *testing.T) {
	t.Parallel()
	if r, err := registry("gemini-2.5-flash", "", 0, tokens.Model{}); r != nil || err != nil {
		t.Errorf("nothing was said, and there is a registry: %v, %v", r, err)
	}
	r, err := registry("Qwen3:8b", "", 32_768, tokens.Model{InputPrice: 1, OutputPrice: 2})
	if err != nil {
		t.Fatal(err)
	}
	got, known := r.Lookup("Qwen3:8b")
	if !known || got.ContextWindow != 32_768 || got.InputPrice != 1 || got.OutputPrice != 2 {
		t.Errorf("%+v, %v", got, known)
	}
	if r, err = registry("gemini-2.5-pro", "", 16_000, tokens.Model{}); err != nil {
		t.Fatal(err)
	}
	built, _ := tokens.Lookup("gemini-2.5-pro")
	if got, _ := r.Lookup("gemini-2.5-pro"); got.ContextWindow != 16_000 || got.MaxOutputTokens > 4_000 || got.InputPrice != built.InputPrice || got.Tier != built.Tier {
		t.Errorf("%+v of %+v", got, built)
	}
	for _, name := range []string{demoModel, "scripted:/some/where/a.jsonl", `scripted:..\here.jsonl`} {
		if r, err = registry(name, "", 0, tokens.Model{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, known := r.Lookup(name); !known || got.ContextWindow != 32_000 || !got.Priced() || got.Tier != tokens.TierMid {
			t.Errorf("%s: %+v, %v", name, got, known)
		}
	}
}

// The price and the window are the agent's. Those of a small model stay, also where its name begins with the other.
func TestASmallModelKeepsItsPrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, small string }{{"gpt-4o", "gpt-4o-mini"}, {"House", "house-mini"}, {"gpt-4o-mini", "gpt-4o"}, {"gpt-4o", "GPT-4o"}} {
		r, err := registry(c.name, c.small, 16_000, tokens.Model{InputPrice: 70, OutputPrice: 90})
		if err != nil {
			t.Fatal(err)
		}
		own, _ := r.Lookup(c.name)
		got, _ := r.Lookup(c.small)
		want, _ := tokens.Lookup(c.small)
		if strings.EqualFold(c.name, c.small) {
			want = own
		}
		if own.InputPrice != 70 || own.ContextWindow != 16_000 || got.InputPrice != want.InputPrice || got.OutputPrice != want.OutputPrice {
			t.Errorf("%s costs %v, and %s %v instead of %v", c.name, own.InputPrice, c.small, got.InputPrice, want.InputPrice)
		}
		if _, known := tokens.Lookup(c.small); known && got.ContextWindow != want.ContextWindow {
			t.Errorf("%s has a window of %d instead of %d", c.small, got.ContextWindow, want.ContextWindow)
		}
	}
}
