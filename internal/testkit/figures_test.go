package testkit

import (
	"strings"
	"testing"
)

const document = "Saves 12.5% of\n1,000 tokens. It costs $2.\n\n| a | 3 | 4 |\n| b (5) | -5 | 6 |\n"

// A figure that nobody measured again may not stay in a document unnoticed.
func TestAFigureThatIsNotTheMeasuredOneIsFound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		format   string
		measured []any
		was, is  string
	}{
		{"Saves %.1f%% of %d tokens.", []any{12.5, 1000}, "Saves 12.5% of\n1,000 tokens.", "Saves 12.5% of\n1,000 tokens."},
		{"Saves %.1f%% of %d tokens.", []any{12.54, 1234567}, "Saves 12.5% of\n1,000 tokens.", "Saves 12.5% of\n1,234,567 tokens."},
		{"It costs $%d.", []any{-300}, "It costs $2.", "It costs $-300."},
		{"| a | %d | %d |\n| b (5) | %+.0f | %d |", []any{3, 44, 5.0, 6}, "| a | 3 | 4 |\n| b (5) | -5 | 6 |", "| a | 3 | 44 |\n| b (5) | +5 | 6 |"},
	} {
		if was, is, err := figures(document, tt.format, tt.measured); err != nil || was != tt.was || is != tt.is {
			t.Errorf("%q: %q, %q, %v; want %q, %q", tt.format, was, is, err, tt.was, tt.is)
		}
	}
}

// A comparison that compares nothing would always pass.
func TestFiguresThatCannotBeComparedAreFound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		format   string
		measured []any
		says     string
	}{
		{"Saves %d%% of %d dollars", []any{1, 2}, "has 0 times"},
		{"| %d |", []any{1}, "has 2 times"},
		{"It costs $2.", nil, "shows 0"},
		{"It costs $%d.", []any{1, 2}, "shows 1"},
		{"It costs $%d.", nil, "only 0 figures"},
		{"It costs $%s.", []any{""}, `"" is no figure`},
	} {
		if _, _, err := figures(document, tt.format, tt.measured); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: %v, want %q", tt.format, err, tt.says)
		}
	}
}
