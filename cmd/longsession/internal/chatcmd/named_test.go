package chatcmd

import (
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
	"github.com/adk-go-ext/longsession/tokens"
)

// TestAModelIsOpenedByItsNameFromWhereAChatHasIt: by the flags, the environment and the file of settings. Ceilings are the
// caller's, and errors name its flag.
func TestAModelIsOpenedByItsNameFromWhereAChatHasIt(t *testing.T) {
	for _, name := range []string{"XDG_CONFIG_HOME", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "OPENAI_API_KEY", "LONGSESSION_API_KEY", "OPENAI_BASE_URL"} {
		t.Setenv(name, "")
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("LONGSESSION_UNATTENDED", "true")
	for _, c := range []struct {
		name, variable, value, baseURL string
		server                         string
		free                           bool
		refused                        string
	}{
		{name: "scripted:demo", free: true},
		{name: "gemini-3.1-flash-lite", refused: "--summary-model is gemini-3.1-flash-lite, and no key is set"},
		{name: "gemini-3.1-flash-lite", variable: "GEMINI_API_KEY", value: "x", server: "generativelanguage.googleapis.com"},
		{name: "gemini-3.1-flash-lite", variable: "GEMINI_API_KEY", value: "x", baseURL: "https://example.com/v1", server: "example.com"},
		{name: "gemini-1.5-pro", variable: "GEMINI_API_KEY", value: "x", refused: "--summary-model is gemini-1.5-pro, which is turned off: name gemini-3.1-pro-preview"},
		{name: "gpt-4o", variable: "OPENAI_API_KEY", value: "x", server: "api.openai.com"},
		{name: "gpt-4o", refused: "--summary-model is gpt-4o, and no key is set: set OPENAI_API_KEY"},
		{name: "mine", refused: "--summary-model is mine, and no server is known for it"},
		{name: "mine", variable: "LONGSESSION_BASE_URL", value: "http://localhost:7/v1", server: "localhost:7", free: true},
		{name: "mine", variable: "OPENAI_BASE_URL", value: "https://example.com/v1", server: "example.com"},
		{name: "gpt-4o", variable: "LONGSESSION_BASE_URL", value: "http://localhost:7/v1", server: "localhost:7"},
	} {
		t.Run(c.name+c.variable+c.baseURL, func(t *testing.T) {
			if c.variable != "" {
				t.Setenv(c.variable, c.value)
			}
			var flags config.Values
			if c.baseURL != "" {
				if err := flags.Set("agent.base_url", c.baseURL); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Named(t.Context(), "--summary-model", c.name, flags, tokens.Model{})
			switch {
			case c.refused != "":
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("error %v, want %q", err, c.refused)
				}
			case err != nil:
				t.Error(err)
			case got.Model.Name() != c.name || got.Server() != c.server || got.Free() != c.free:
				t.Errorf("%s at %q, free %v", got.Model.Name(), got.Server(), got.Free())
			}
		})
	}
}
