package watchdog

import (
	"fmt"
	"time"

	"github.com/adk-go-ext/longsession/tokens"
)

// growth finds prompts that grow too fast.
type growth struct {
	perStep, steps int
	sizes          []int // of the last steps, as a ring
	count          int
}

// ContextGrowth returns a signal for prompts that have grown by more than perStep tokens a step on
// average, over this many steps. It is a warning. Steps of unknown size do not count, and a prompt that shrinks, as
// after a compaction, begins anew. Fewer than 2 steps count as 2, more than 1,024 as 1,024.
func ContextGrowth(perStep, steps int) Signal {
	steps = min(max(steps, 2), 1_024)
	return &growth{perStep: max(perStep, 1), steps: steps, sizes: make([]int, steps+1)}
}

// Name returns "context-growth".
func (*growth) Name() string { return "context-growth" }

// Reset forgets all sizes.
func (g *growth) Reset() { g.count = 0 }

// Observe compares the size of a prompt with the one some steps before.
func (g *growth) Observe(s Step) *Alert {
	if s.PromptTokens <= 0 {
		return nil
	}
	if g.count > 0 && s.PromptTokens < g.sizes[(g.count-1)%len(g.sizes)] {
		g.Reset()
	}
	g.sizes[g.count%len(g.sizes)] = s.PromptTokens
	g.count++
	if g.count <= g.steps {
		return nil
	}
	grown := s.PromptTokens - g.sizes[(g.count-1-g.steps)%len(g.sizes)]
	if grown <= g.perStep*g.steps {
		return nil
	}
	return &Alert{Count: grown, Text: fmt.Sprintf("the prompt has grown by %d tokens in %d steps, to %d.", grown, g.steps, s.PromptTokens)}
}

// slices of time in which costRate adds up.
const buckets = 16

// costRate finds steps that cost too much in too short a time.
type costRate struct {
	most   tokens.Nano
	within time.Duration
	sums   [buckets]tokens.Nano
	at     [buckets]int64 // the slice of time of each sum
}

// CostRate returns a signal for steps that together cost more than most within a period. It is a
// warning. Steps without a time do not count. The period is measured in sixteenths, and is at least a
// second.
func CostRate(most tokens.Nano, within time.Duration) Signal {
	return &costRate{most: most, within: max(within, time.Second)}
}

// Name returns "cost-rate".
func (*costRate) Name() string { return "cost-rate" }

// Reset forgets all costs.
func (r *costRate) Reset() { r.sums, r.at = [buckets]tokens.Nano{}, [buckets]int64{} }

// Observe adds up what was spent within the period.
func (r *costRate) Observe(s Step) *Alert {
	if s.Time.IsZero() || s.Cost <= 0 {
		return nil
	}
	now := s.Time.UnixNano() / int64(r.within/buckets)
	if i := int(uint64(now) % buckets); r.at[i] != now {
		r.at[i], r.sums[i] = now, s.Cost
	} else {
		r.sums[i] += s.Cost
	}
	var sum tokens.Nano
	for i, at := range r.at {
		if at > now-buckets && at <= now {
			sum += r.sums[i]
		}
	}
	if sum <= r.most {
		return nil
	}
	return &Alert{Count: 1, Text: fmt.Sprintf("spent %s within %s.", sum, r.within)}
}
