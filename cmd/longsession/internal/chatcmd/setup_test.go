package chatcmd

import (
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/config"
)

// TestARetiredModelIsReplacedFromItsDayOn, and not at Vertex AI, which has days of its own.
func TestARetiredModelIsReplacedFromItsDayOn(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("GEMINI_API_KEY", "not-a-real-key")
	t.Setenv("GOOGLE_VERTEX_BASE_URL", "http://127.0.0.1:1")
	for _, c := range []struct{ day, vertex, want string }{
		{"2026-11-30", "", "gemini-2.5-pro"},
		{"2026-12-01", "", "gemini-3.1-pro-preview"},
		{"2026-12-01", "true", "gemini-2.5-pro"},
	} {
		t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", c.vertex)
		today, err := time.Parse(time.DateOnly, c.day)
		if err != nil {
			t.Fatal(err)
		}
		var flags config.Values
		if err := flags.Set("agent.model", "gemini-2.5-pro"); err != nil {
			t.Fatal(err)
		}
		s, err := Resolve(t.Context(), Request{Flags: flags, Today: today})
		if err != nil {
			t.Fatalf("%s, Vertex AI %q: %v", c.day, c.vertex, err)
		}
		if s.Settings.Model.Value != c.want || s.Model.Name() != c.want {
			t.Errorf("%s, Vertex AI %q: %s, and %s is called, want %s", c.day, c.vertex, s.Settings.Model.Value, s.Model.Name(), c.want)
		}
	}
}
