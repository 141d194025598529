package chatcmd

import (
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
	"github.com/adk-go-ext/longsession/tokens"
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

// The chat takes the price of the model that it uses. A person may have chosen that model, or a task class, or the chat
// itself, because the one that was asked for is turned off.
func TestAPriceIsThatOfTheModelThatIsUsed(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("GEMINI_API_KEY", "not-a-real-key")
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "")
	day, err := time.Parse(time.DateOnly, "2026-12-02")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ key, value, used string }{
		{"agent.model", "gemini-3.5-pro", "gemini-3.5-pro"},
		{"agent.model", "gemini-2.5-pro", "gemini-3.1-pro-preview"},
		{"session.task_class", "debug", "gemini-3.5-pro"},
		{"session.task_class", "implement", "gemini-3.5-pro"},
		{"session.task_class", "review", "gemini-3.5-pro"},
		{"session.task_class", "chat", "gemini-3.1-pro-preview"},
		{"session.task_class", "research", "gemini-3.1-pro-preview"},
	} {
		for _, priced := range []bool{true, false} {
			var flags config.Values
			for _, set := range [][2]string{{c.key, c.value}, {"session.unattended", "true"}, {"agent.max_session_cost_usd", "1"}} {
				if err := flags.Set(set[0], set[1]); err != nil {
					t.Fatal(err)
				}
			}
			request := Request{Flags: flags, Today: day}
			if priced {
				if err := flags.Set("agent.unpriced", "refuse"); err != nil {
					t.Fatal(err)
				}
				request.Flags, request.Price = flags, tokens.Model{InputPrice: 7, OutputPrice: 9}
			}
			s, err := Resolve(t.Context(), request)
			if err != nil {
				t.Errorf("%s, priced %t: a ceiling is refused: %v", c.value, priced, err)
				continue
			}
			cfg, err := s.Settings.Config(s.Model)
			if err != nil {
				t.Fatal(err)
			}
			row, _ := cfg.Registry.Lookup(s.Model.Name())
			if s.Model.Name() != c.used || priced && row.InputPrice != 7 {
				t.Errorf("%s, priced %t: %s costs %v", c.value, priced, s.Model.Name(), row.InputPrice)
			}
		}
	}
}
