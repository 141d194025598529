package chart_test

import (
	"slices"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chart"
	"github.com/adk-go-ext/longsession/replay"
)

func TestTheCheapestPolicyPaysForItsSummaries(t *testing.T) {
	t.Parallel()
	total := func(prompt, output int, dollars, summaries float64) replay.Total {
		return replay.Total{Without: replay.Sent{Dollars: 2 * dollars}, With: replay.Sent{PromptTokens: prompt, Dollars: dollars},
			Summarizer: replay.Summaries{OutputTokens: output, Dollars: summaries}}
	}
	for name, c := range map[string]struct {
		totals []replay.Total
		want   []int
	}{
		"none":                     {nil, nil},
		"what a summary writes":    {[]replay.Total{total(100, 50, 0, 0), total(120, 10, 0, 0)}, []int{1}},
		"its price":                {[]replay.Total{total(100, 0, 1, .5), total(200, 0, 1.2, .1)}, []int{1}},
		"a tie by rounding":        {[]replay.Total{total(1, 0, .1, .2), total(2, 0, .3, 0), total(3, 0, .4, 0)}, []int{0, 1}},
		"no dollars for the agent": {[]replay.Total{total(100, 0, 0, .5), total(200, 0, 0, .1)}, []int{0}},
	} {
		if got := chart.Cheapest(c.totals); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
