package toolsearch_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

func TestNewReportsEveryValueThatItRefuses(t *testing.T) {
	t.Parallel()
	_, err := toolsearch.New(toolsearch.Config{
		Threshold: 1.5, Mode: "both", Keep: []string{"a", ""}, MaxHits: -1, MaxNamesTokens: -2, ContextWindow: -1, MaxOutputTokens: -3,
	})
	for _, field := range []string{"Threshold is 1.5", `Mode is "both"`, `Keep is ""`, "MaxHits is -1", "MaxNamesTokens is -2", "ContextWindow is -1", "MaxOutputTokens is -3"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%q is not in: %v", field, err)
		}
	}
	var one *toolsearch.ConfigError
	if !errors.As(err, &one) || one.Field != "Threshold" {
		t.Errorf("the first problem is %v", one)
	}
	for _, refused := range []toolsearch.Config{
		{Threshold: math.NaN()}, {Threshold: -0.5}, {ContextWindow: 10_000, MaxOutputTokens: 6_000},
	} {
		if _, err := toolsearch.New(refused); err == nil {
			t.Errorf("%+v is not refused", refused)
		}
	}
}

func TestNewAcceptsTheZeroConfigAndEveryOff(t *testing.T) {
	t.Parallel()
	for _, cfg := range []toolsearch.Config{
		{},
		{Threshold: toolsearch.Off, MaxNamesTokens: toolsearch.Off, MaxOutputTokens: toolsearch.Off},
		{Threshold: 1, Mode: toolsearch.Promote, Keep: []string{"a"}},
	} {
		d, err := toolsearch.New(cfg)
		if err != nil || d.Flush(t.Context()) != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}
