package replaycmd

import (
	"context"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/tokens"
)

// plan is a run whose flags are checked.
type plan struct {
	*flags
	version  string
	policies []planned
	tried    []tried            // by --hindsight
	ways     []way              // for the recommendation, the default first
	says     string             // the policy of the flags, which a grid varies
	leftOut  []string           // contradictory combinations of a grid
	writers  map[string]*writer // by the names of their models
	spending *spending
	model    tokens.Model
	summary  tokens.Model // whose prices apply to summaries; zero for those of the agent's model
	window   int          // in tokens
}

// planned is a policy and its description.
type planned struct {
	replay.Policy
	says string
	// bare reports that the policy does not keep prompts under the limit.
	bare   bool
	window int // in tokens
}

// newPlan checks the flags together; given reports whether a flag was given. Unlike its default, a
// value that was given wins: the window is that of --model unless --context-window was given, and
// summaries have the prices of the agent's model unless --summary-model was given.
func newPlan(ctx context.Context, f *flags, version string, given func(flag string) bool) (*plan, error) {
	p := &plan{flags: f, version: version, spending: &spending{most: f.summaryCeiling}}
	err := f.check()
	if err == nil {
		err = f.checkWriters(given)
	}
	if err != nil {
		return nil, err
	}
	if p.model, err = agentModel(f.model, f.price, given("context-window")); err != nil {
		return nil, err
	}
	if f.ceiling > 0 && !p.model.Priced() {
		return nil, exit.Usage("--max-session-cost-usd is %v: %s has no known prices, so nothing could be counted; give --price, or name another --model", f.ceiling, f.model)
	}
	if !given("context-window") {
		f.policy.cfg.ContextWindow = p.model.ContextWindow
	}
	if err := p.setPrices(given); err != nil {
		return nil, err
	}
	f.policy.cfg.AgentModel = f.model
	combinations := []combination{{policy: f.policy, name: f.policy.name(given)}}
	if p.isGrid() {
		combinations = combine(f.policy, f.grid)
	}
	p.says = f.policy.describe(f.mirror)
	if err := p.addPolicies(ctx, combinations); err != nil {
		return nil, err
	}
	if f.hindsight {
		err = p.addTried()
	}
	p.addWays()
	return p, err
}

func (p *plan) isGrid() bool { return p.grid != nil }

// addPolicies builds the policies. A contradictory one is an error, or left out of a grid: of the four
// points of 'threshold=0,3 overlap=0,1', the one with threshold 3 and overlap 0 is left out and
// listed in the header. All points that need a model share one client.
func (p *plan) addPolicies(ctx context.Context, combinations []combination) error {
	for _, c := range combinations {
		err := p.checkPoint(c.policy)
		var built replay.Policy
		if err == nil {
			var llm model.LLM
			if c.policy.summarizer == byModel {
				w, err := p.open(ctx, c.policy.summaryModel)
				if err != nil {
					return err
				}
				llm, c.policy.cfg.Timeout = w.llm, w.timeout
			}
			built, err = c.policy.build(c.name, llm, p.mirror)
		}
		switch {
		case err != nil && p.isGrid():
			p.leftOut = append(p.leftOut, c.name+": "+err.Error())
		case err != nil:
			return err
		default:
			p.policies = append(p.policies, planned{
				Policy: built,
				says:   c.policy.describe(p.mirror),
				bare:   built.When == replay.Never || built.When == replay.AsRecorded || !c.policy.automatic(),
				window: c.policy.cfg.ContextWindow,
			})
		}
	}
	if len(p.policies) == 0 {
		return exit.Usage("--grid: every combination is contradictory; the first: %s", p.leftOut[0])
	}
	p.window = p.policies[0].window
	return nil
}

// checkPoint refuses a policy that contradicts itself, or that another point of the grid is the same as.
func (p *plan) checkPoint(c policy) error {
	if first := p.summaryModels()[0]; c.summarizer != byModel && c.summaryModel != first {
		return exit.Usage("no model writes its summaries, so it is the same as with %s", first)
	}
	return c.check()
}

// options returns the options of [replay.Compare].
func (p *plan) options(progress func(messages int)) replay.Options {
	return replay.Options{Model: p.model, SummaryModel: p.summary, Fixed: p.fixed, Progress: progress, Ceiling: p.ceiling,
		Watchdog: &watchdog.Config{Mode: watchdog.Mode(p.watchdog)}}
}
