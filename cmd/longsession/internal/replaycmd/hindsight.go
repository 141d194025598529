package replaycmd

import (
	"fmt"
	"math"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chart"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay"
)

// smallestTried is the first size that --hindsight tries, in tokens. Each is by half an octave larger than the one
// before, as long as it is below the window.
const smallestTried = 4_000

// tried is a policy that --hindsight tries.
type tried struct {
	replay.Policy
	threshold int // in tokens of the prompt
}

// addTried adds the policies of --hindsight: those of the flags, at fixed sizes instead.
func (p *plan) addTried() error {
	if !p.model.Priced() {
		return exit.Usage("--hindsight: %s has no known prices, so nothing is cheapest; give --price, or name another --model", p.flags.model)
	}
	base := p.flags.policy
	base.summarizer = extractive
	base.cfg.InvocationThreshold, base.cfg.SafetyRatio = compaction.Off, compaction.Off
	for size := float64(smallestTried); ; size *= math.Sqrt2 {
		at := base
		at.cfg.TokenThreshold = int(math.Round(size/1000)) * 1000
		if at.cfg.TokenThreshold >= p.window/2+p.window/4 {
			break
		}
		built, err := at.build(fmt.Sprintf("token-threshold=%d", at.cfg.TokenThreshold), nil, p.mirror)
		if err != nil {
			return err
		}
		p.tried = append(p.tried, tried{built, at.cfg.TokenThreshold})
	}
	if len(p.tried) == 0 {
		return exit.Usage("--hindsight: a window of %s tokens has no room for the smallest size that is tried, %s; leave it out, or raise --context-window", terminal.Commas(p.window), terminal.Commas(smallestTried))
	}
	return nil
}

// addTried adds the reports of the policies of --hindsight.
func (s *summary) addTried(reports []*replay.Report) {
	for i, r := range reports {
		s.tried[i].Add(r)
	}
}

// bestTried returns the cheapest of the sizes that were tried, and its cost in USD. No compaction at all has the size 0.
func bestTried(p *plan, sum *summary) (threshold int, dollars float64) {
	dollars = chart.Cost(sum.totals[0].Without, replay.Summaries{}, true)
	for i, t := range sum.tried {
		if cost := chart.Cost(t.With, t.Summarizer, true); cost < dollars {
			threshold, dollars = p.tried[i].threshold, cost
		}
	}
	return threshold, dollars
}

// inHindsight compares the policy with the cheapest fixed size, "" without --hindsight.
func inHindsight(p *plan, sum *summary) string {
	if len(p.tried) == 0 {
		return ""
	}
	threshold, best := bestTried(p, sum)
	at := "no compaction"
	if threshold > 0 {
		at = "compaction at " + terminal.Commas(threshold) + " tokens"
	}
	cost := chart.Cost(sum.totals[0].With, sum.totals[0].Summarizer, true)
	var b strings.Builder
	fmt.Fprintf(&b, "; in hindsight, the cheapest of %s was %s at %s", terminal.Plural(len(p.tried)+1, "way"), at, usd(best))
	if best > 0 {
		fmt.Fprintf(&b, ", and this policy cost %.2f times as much", cost/best)
	}
	return b.String()
}
