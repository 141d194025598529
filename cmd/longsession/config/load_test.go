package config_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// warnings has slog.Default() write into a text.
func warnings(t *testing.T) *bytes.Buffer {
	t.Helper()
	var said bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn})))
	t.Cleanup(func() { slog.SetDefault(before) })
	return &said
}

// TestAnAppWithARetiredModelStarts: the table says what a provider does on its own platform. An app may know better, and
// one that does not is told.
func TestAnAppWithARetiredModelStarts(t *testing.T) {
	for name, row := range map[string]struct{ file, model string }{
		"without a file":    {"", "claude-sonnet-4-20250514"},
		"named in the file": {"[agent]\nmodel = \"claude-sonnet-4-20250514\"\n", "claude-sonnet-4-20250514"},
		"as an address":     {"", "publishers/google/models/gemini-2.0-flash"},
		"another one":       {"[session]\npreset = \"longrun\"\n", "gemini-1.5-pro-002"},
	} {
		t.Run(name, func(t *testing.T) {
			said := warnings(t)
			path := ""
			if row.file != "" {
				path = filepath.Join(t.TempDir(), "s.toml")
				if err := os.WriteFile(path, []byte(row.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			llm := compactiontest.NewModel(row.model, nil)
			c, err := config.Load(path, llm)
			if err != nil {
				t.Fatal(err)
			}
			if c.Model != llm {
				t.Errorf("the model is %s", c.Model.Name())
			}
			accepted(t, c)
			if text := said.String(); !strings.Contains(text, "turned off on") || !strings.Contains(text, row.model) {
				t.Errorf("the operator is not told: %s", text)
			}
		})
	}
}

// onVertex is a model of Gemini at Vertex AI, where models live longer.
type onVertex struct{ *compactiontest.Model }

func (onVertex) GetGoogleLLMVariant() genai.Backend { return genai.BackendVertexAI }

func TestLoadWarnsOfNoRetirementThatIsNotTrue(t *testing.T) {
	said := warnings(t)
	if _, err := config.Load("", onVertex{compactiontest.NewModel("gemini-2.0-flash", nil)}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(said.String(), "turned off") {
		t.Errorf("at Vertex AI: %s", said)
	}
}

// TestLoadTellsWhatAnOperatorShouldKnow, in one line each and by the app's logger.
func TestLoadTellsWhatAnOperatorShouldKnow(t *testing.T) {
	said := warnings(t)
	if _, err := config.Load("", compactiontest.NewModel("gemini-3.1-flash-lite", nil)); err != nil {
		t.Fatal(err)
	}
	if text := said.String(); !strings.Contains(text, "small-tier parent") || strings.Count(text, "\n") != 1 {
		t.Errorf("a small model: %s", text)
	}
}
