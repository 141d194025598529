package cli

import (
	"context"
	"path"
	"strings"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/tokens"
)

// plan is what a replay is going to do: every flag read and checked.
type plan struct {
	policies []planned
	says     string   // the policy of the flags, which a grid varies
	leftOut  []string // combinations of a grid that contradict themselves
	grid     bool
	model    tokens.Model
	summary  tokens.Model // whose prices summaries are charged at; zero for the agent's
	fixed    replay.Fixed
	window   int // in tokens
	settings *settings
}

// planned is a policy and what it does in words.
type planned struct {
	replay.Policy
	says string
	// bare reports that nothing keeps the prompts of this policy under the limit.
	bare   bool
	window int // in tokens
}

// maxJobs bounds the conversations that are in memory at once.
const maxJobs = 256

// newPlan checks all flags; changed reports whether one was given.
func newPlan(ctx context.Context, s *settings, changed func(flag string) bool) (*plan, error) {
	p := &plan{settings: s, grid: s.grid != ""}
	if err := checkSettings(s, changed); err != nil {
		return nil, err
	}
	var err error
	if p.model, err = agentModel(s.model, s.price, changed("context-window")); err != nil {
		return nil, err
	}
	if p.fixed, err = parseFixed(s.fixed); err != nil {
		return nil, err
	}
	if changed("summary-model") {
		if p.summary, err = summaryModel(s); err != nil {
			return nil, err
		}
	}
	if !changed("context-window") {
		s.policy.window = p.model.ContextWindow
	}
	combinations := []combination{{flags: s.policy, name: s.policy.name(changed)}}
	if p.grid {
		axes, err := parseGrid(s.grid)
		if err != nil {
			return nil, err
		}
		combinations = combine(s.policy, axes)
	}
	p.says = s.policy.describe(s.mirror)
	return p, p.addPolicies(ctx, combinations)
}

// checkSettings refuses flags that make no sense by themselves or together.
func checkSettings(s *settings, changed func(flag string) bool) error {
	switch {
	case s.limit < 0:
		return badInput("--limit is %d: it must not be negative; 0 is no limit", s.limit)
	case s.jobs < 1:
		return badInput("--jobs is %d: it must be at least 1", s.jobs)
	case s.jobs > maxJobs:
		return badInput("--jobs is %d: it must be at most %d", s.jobs, maxJobs)
	case changed("grid") && strings.TrimSpace(s.grid) == "":
		return badInput("--grid is empty: write for example --grid 'threshold=3,5,10 overlap=1,2'")
	case s.mirror && s.policy.summarizer == off:
		return badInput("--mirror with --summarizer off: nobody would write the summaries; use --summarizer recorded or extractive")
	case s.grid != "" && s.db != "":
		return badInput("--db with --grid: a session can be stored under one policy only; leave one of the two out")
	case changed("db") && s.db == "":
		return badInput("--db is empty: name a file")
	case s.force && s.db == "":
		return badInput("--force without --db: it lets --db add sessions to a file of another app; name the file, or leave it out")
	case changed("html") && s.html == "":
		return badInput("--html is empty: name a file")
	}
	for _, pattern := range s.only {
		if _, err := path.Match(pattern, ""); err != nil {
			return badInput("--only %q is no pattern: a [ must be closed by a ]; write \\[ for the character itself", pattern)
		}
	}
	return nil
}

// addPolicies makes the policies. A single one that cannot be made is refused, one of a grid left out.
func (p *plan) addPolicies(ctx context.Context, combinations []combination) error {
	var llm model.LLM
	for _, c := range combinations {
		if err := c.flags.check(); err != nil {
			if p.grid {
				p.leftOut = append(p.leftOut, c.name+": "+err.Error())
				continue
			}
			return err
		}
		if c.flags.summarizer == geminis && llm == nil {
			var err error
			if llm, err = geminiModel(ctx, p.settings.summaryModel); err != nil {
				return err
			}
			p.summary, _ = tokens.Lookup(p.settings.summaryModel)
		}
		policy, err := c.flags.build(c.name, llm, p.settings.mirror)
		switch {
		case err != nil && p.grid:
			p.leftOut = append(p.leftOut, c.name+": "+err.Error())
			continue
		case err != nil:
			return err
		}
		p.policies = append(p.policies, planned{
			Policy: policy,
			says:   c.flags.describe(p.settings.mirror),
			bare:   policy.When == replay.Never || policy.When == replay.AsRecorded || !c.flags.automatic(),
			window: c.flags.window,
		})
	}
	if len(p.policies) == 0 {
		return badInput("--grid: every combination contradicts itself; the first: %s", p.leftOut[0])
	}
	p.window = p.policies[0].window
	return nil
}

// selected reports whether --only asks for a conversation. A pattern's * matches a slash too: an ID is
// not a path.
func (s *settings) selected(id string) bool {
	if len(s.only) == 0 {
		return true
	}
	flat := strings.NewReplacer("/", "\x1f")
	for _, pattern := range s.only {
		if ok, _ := path.Match(flat.Replace(pattern), flat.Replace(id)); ok || pattern == id {
			return true
		}
	}
	return false
}

// options are those of [replay.Compare].
func (p *plan) options(progress func(messages int)) replay.Options {
	return replay.Options{Model: p.model, SummaryModel: p.summary, Fixed: p.fixed, Progress: progress}
}
