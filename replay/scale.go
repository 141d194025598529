package replay

import (
	"math"
	"slices"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// scale turns estimates of what the recording holds into tokens of the whole prompt as its provider
// counted them: fixed + ratio x estimate.
type scale struct {
	ratio   float64
	fixed   float64
	leftOut bool // fixed is not counted
	// lies is how many recorded counts cannot be right, and lie one of them, at the estimate of lieAt.
	lies, lie, lieAt int
	// estimates of the prompts that held the whole history, and what their provider counted, 0 for unknown.
	estimates, recorded []int
}

// recordedPrompts are the provider's own counts for the calls of c, 0 where there are none. From the
// first compaction of the recorded application on there are none: its prompts were shorter than the
// whole history.
func recordedPrompts(c *conversation.Conversation) []int {
	var counts []int
	for i, turn := range c.Turns {
		for j, step := range turn.Steps {
			if len(c.Compactions) > 0 {
				if first := c.Compactions[0]; i > first.Turn || i == first.Turn && j >= first.Step {
					counts = append(counts, 0)
					continue
				}
			}
			counts = append(counts, step.PromptTokens)
		}
		if len(turn.Steps) == 0 {
			counts = append(counts, 0)
		}
	}
	return counts
}

// newScale fits recorded counts to estimates of the same prompts. The line goes through the first recorded
// prompt, which holds next to no messages, so its count is the fixed part.
//
// newScale leaves out counts that cannot be right, and the report names them. window is the context window
// of the recorded model, 0 if it is unknown.
func newScale(estimates, recorded []int, window int) scale {
	s := scale{ratio: 1, estimates: estimates, recorded: recorded}
	s.dropLies(window)
	var fit promptsize.Fit
	first := -1
	for i, count := range s.recorded {
		if count <= 0 || i >= len(estimates) {
			continue
		}
		if first < 0 {
			first = i
		}
		fit.Add(estimates[i], count)
	}
	if first < 0 {
		return s
	}
	line := fit.LineThrough(estimates[first], s.recorded[first])
	s.ratio, s.fixed = line.Ratio, math.Round(line.Overhead)
	return s
}

// lieSpread is how far estimates must be apart, in tokens, to tell from counts whether these grow with them.
const lieSpread = 2_000

// dropLies takes out counts that no tokenizer comes to: of less than half of what the messages take, of more than the
// model can read, and all of them if they hardly grow while the messages do.
func (s *scale) dropLies(window int) {
	honest := slices.Clone(s.recorded)
	drop := func(i int) {
		if s.lies == 0 {
			s.lie, s.lieAt = honest[i], s.estimates[i]
		}
		s.lies++
		honest[i] = 0
	}
	least, most := -1, -1
	for i, count := range honest {
		if count <= 0 || i >= len(s.estimates) {
			continue
		}
		if promptsize.MaxRatio*count < s.estimates[i] || window > 0 && count > window {
			drop(i)
			continue
		}
		if least < 0 || s.estimates[i] < s.estimates[least] {
			least = i
		}
		if most < 0 || s.estimates[i] > s.estimates[most] {
			most = i
		}
	}
	if least >= 0 {
		grown, counted := s.estimates[most]-s.estimates[least], honest[most]-honest[least]
		if grown >= lieSpread && 2*promptsize.MaxRatio*counted < grown {
			for i, count := range honest {
				if count > 0 && i < len(s.estimates) {
					drop(i)
				}
			}
		}
	}
	s.recorded = honest
}

// under is the scale for a context window, with the fixed part that how asks for.
func (s scale) under(how Fixed, window int) scale {
	switch {
	case how >= 0:
		s.recorded = shift(s.recorded, float64(how)-s.fixed)
		s.fixed = float64(how)
	case how == FixedAuto && s.fixed > float64(window)/2:
		s.recorded = shift(s.recorded, -s.fixed)
		s.leftOut = true
	}
	return s
}

// shift moves counts by what the fixed part is taken to be other than recorded.
func shift(counts []int, by float64) []int {
	moved := make([]int, len(counts))
	for i, n := range counts {
		if n > 0 {
			moved[i] = max(1, n+int(math.Round(by)))
		}
	}
	return moved
}

// base is what every prompt has beside the messages.
func (s scale) base() int {
	if s.leftOut {
		return 0
	}
	return int(s.fixed)
}

// of is the size of a prompt of that estimate, in general.
func (s scale) of(estimate int) int { return s.base() + s.scaled(estimate) }

// scaled is the size of a part of a prompt.
func (s scale) scaled(estimate int) int { return int(math.Round(s.ratio * float64(estimate))) }

// at is the size of the prompt of a call, of that estimate: as recorded, if it was and the prompt held the
// whole history.
func (s scale) at(call, estimate int) int {
	if call < len(s.recorded) && s.recorded[call] > 0 && estimate == s.estimates[call] {
		return s.recorded[call]
	}
	return s.of(estimate)
}

// counted is how many calls were counted by the recording's provider.
func (s scale) counted() (n int) {
	for _, count := range s.recorded {
		if count > 0 {
			n++
		}
	}
	return n
}
