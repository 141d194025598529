package prompt_test

import (
	"context"
	"errors"
	"testing"

	"github.com/adk-go-ext/longsession/layer/prompt"
)

func TestSources(t *testing.T) {
	t.Parallel()
	failed := errors.New("no file")
	for _, c := range []struct {
		name string
		src  prompt.Source
		text string
		err  error
	}{
		{"fixed", prompt.Text("Use {braces} freely."), "Use {braces} freely.", nil},
		{"function", prompt.SourceFunc(func(context.Context) (string, error) { return "notes", nil }), "notes", nil},
		{"error", prompt.SourceFunc(func(context.Context) (string, error) { return "", failed }), "", failed},
	} {
		if text, err := c.src.Text(t.Context()); text != c.text || !errors.Is(err, c.err) {
			t.Errorf("%s: Text = %q, %v; want %q, %v", c.name, text, err, c.text, c.err)
		}
	}
}
