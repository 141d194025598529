package replay

import (
	"math"
	"slices"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// scale turns the estimate of a prompt into tokens as the recording's provider counts them: fixed +
// ratio x estimate. The fixed part is what the recording does not contain, such as tool
// declarations. For example, the recorded counts 5,150, 8,000 and 14,000 of prompts estimated at
// 100, 2,000 and 6,000 tokens give a ratio of 1.5 and a fixed part of 5,000.
type scale struct {
	ratio   float64
	fixed   float64
	leftOut bool // sizes do not include fixed
	// implausible is how many recorded counts cannot be right. The first of them is firstCount, of
	// a prompt estimated at firstEstimate.
	implausible, firstCount, firstEstimate int
	// estimates are those of the prompts with the whole history, and recorded is what the provider
	// counted for them, 0 if unknown.
	estimates, recorded []int
}

// recordedPrompts returns the provider's counts for the calls of c, 0 where there is none. After
// the first compaction of the recorded application they are all 0, because its prompts no longer
// had the whole history.
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

// newScale fits recorded counts to estimates of the same prompts. The line goes through the first
// recorded prompt, which holds next to no messages, so its count is the fixed part.
//
// newScale leaves out counts that cannot be right, and the report names them. window is the context
// window of the recorded model, 0 if it is unknown.
func newScale(estimates, recorded []int, window int) scale {
	s := scale{ratio: 1, estimates: estimates, recorded: recorded}
	s.dropImplausible(window)
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

// minSpread is how far apart estimates must be, in tokens, before counts that do not grow with them
// are implausible.
const minSpread = 2_000

// dropImplausible removes counts that no tokenizer gives. For prompts estimated at 100, 2,000 and
// 6,000 tokens:
//
//	5,150  8,000  120      the last is less than half of the messages: a cache served the rest
//	5,150  900,000  14,000 the second is more than the model's window of 200,000
//	5,150  5,150  5,150    all are the same while the messages grow: none of them counts
func (s *scale) dropImplausible(window int) {
	kept := slices.Clone(s.recorded)
	drop := func(i int) {
		if s.implausible == 0 {
			s.firstCount, s.firstEstimate = kept[i], s.estimates[i]
		}
		s.implausible++
		kept[i] = 0
	}
	least, most := -1, -1
	for i, count := range kept {
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
		grown, counted := s.estimates[most]-s.estimates[least], kept[most]-kept[least]
		if grown >= minSpread && 2*promptsize.MaxRatio*counted < grown {
			for i, count := range kept {
				if count > 0 && i < len(s.estimates) {
					drop(i)
				}
			}
		}
	}
	s.recorded = kept
}

// under returns the scale for a context window, with the fixed part that how selects.
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

// shift adds the difference between two fixed parts to every known count.
func shift(counts []int, by float64) []int {
	moved := make([]int, len(counts))
	for i, n := range counts {
		if n > 0 {
			moved[i] = max(1, n+int(math.Round(by)))
		}
	}
	return moved
}

// base is the fixed part, or 0 if it is left out.
func (s scale) base() int {
	if s.leftOut {
		return 0
	}
	return int(s.fixed)
}

// of is the size of a prompt with that estimate.
func (s scale) of(estimate int) int { return s.base() + s.scaled(estimate) }

// scaled is the size of a part of a prompt, without the fixed part.
func (s scale) scaled(estimate int) int { return int(math.Round(s.ratio * float64(estimate))) }

// at is the size of the prompt of a call with that estimate. It is the recorded count, if there is
// one and the estimate shows that the prompt has the whole history.
func (s scale) at(call, estimate int) int {
	if call < len(s.recorded) && s.recorded[call] > 0 && estimate == s.estimates[call] {
		return s.recorded[call]
	}
	return s.of(estimate)
}

// counted is how many calls have a recorded count.
func (s scale) counted() (n int) {
	for _, count := range s.recorded {
		if count > 0 {
			n++
		}
	}
	return n
}
