package replaycmd

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/pricing"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/summarizer"
)

// Values of --summarizer.
const (
	extractive = "extractive"
	recorded   = "recorded"
	byModel    = "model"
	off        = "off"
)

var summarizers = []string{extractive + "\tno model", recorded + "\twhere and how the recording was compacted", byModel + "\ta model, which may cost money", off + "\tno compaction"}

var packs = []string{string(summarizer.PackDefault), string(summarizer.PackHandover), string(summarizer.PackIntent), string(summarizer.PackCheckpoint)}

// policy holds the flags that a grid can vary.
type policy struct {
	summarizer string
	// summaryModel writes the summaries of byModel. The prices of other summaries may be its, too.
	summaryModel string
	// cfg has the values of the flags.
	cfg      compaction.Config
	noLedger bool
	layers   layers
}

// settings describes the flags of the policy. They are also the keys of a grid.
func (p *policy) settings() []setting.Setting {
	c := &p.cfg
	return append([]setting.Setting{
		{Name: "summarizer", Value: setting.Choice(&p.summarizer, summarizers...),
			Help: "the author of the summaries: extractive (no model), recorded (where and how the recording was compacted), model (--summary-model, with the keys of a chat), off (no compaction)"},
		{Name: "summary-model", Value: setting.Text(&p.summaryModel), Complete: setting.OneOf(pricing.Models...),
			Help: "the model that writes the summaries of --summarizer model: any that a chat takes; for other summarizers, the model whose prices apply to summaries, instead of --model"},
		{Name: "prompt-pack", Field: "Pack", Value: setting.Choice((*string)(&c.Pack), packs...),
			Help: "what the prompt of --summarizer model asks for: default, handover, intent, checkpoint"},
		{Name: "threshold", Field: "InvocationThreshold", Value: numberOr(&c.InvocationThreshold, "price", "turns it off"),
			Help: "when to compact below a size: price (when it pays at the prices of --model), or after this many turns; 0: only at a size"},
		{Name: "overlap", Field: "OverlapSize", Value: setting.Int(&c.OverlapSize, 0, setting.NoLimit, ""), Help: "newest turns that stay raw"},
		{Name: "context-window", Field: "ContextWindow", Value: setting.Int(&c.ContextWindow, 1, setting.NoLimit, ""),
			Help: "context window of the agent's model in tokens (default: that of --model)"},
		{Name: "token-threshold", Field: "TokenThreshold", Value: setting.Int(&c.TokenThreshold, 0, setting.NoLimit, "turns it off"),
			Help: "compact at this many prompt tokens; 0: --safety-ratio decides"},
		{Name: "safety-ratio", Field: "SafetyRatio", Value: autoShare(&c.SafetyRatio),
			Help: "compact at this share of the effective window (context window less the reserve for the reply); auto: 0.95 with --threshold price, else 0.7; 0: never"},
		{Name: "block-ratio", Field: "BlockRatio", Value: setting.Share(&c.BlockRatio, "the effective window", "is the default"),
			Help: "no prompt over this share of the effective window without a compaction first"},
		{Name: "retain", Field: "RetainEvents", Value: setting.Int(&c.RetainEvents, 1, setting.NoLimit, ""), Help: "newest events that stay raw when compacting by tokens"},
		{Name: "retain-tokens", Field: "RetainTokens", Value: number(&c.RetainTokens, "is no limit"),
			Help: "most tokens that these events may take up; auto: half of the size at which to compact, or of what --threshold price finds raw; 0: no limit"},
		{Name: "max-summaries", Field: "MaxSummaries", Value: setting.Int(&c.MaxSummaries, 1, setting.NoLimit, ""),
			Help: "summaries that may be shown; with one more, two are merged"},
		{Name: "max-summary-tokens", Field: "MaxSummaryTokens", Value: setting.Int(&c.MaxSummaryTokens, 1, setting.NoLimit, ""),
			Help: "requested length of a summary in tokens; less in a small window"},
		{Name: "no-ledger", Value: setting.Switch(&p.noLedger), Help: "no exact values behind the summaries"},
	}, p.layers.settings()...)
}

// byPrice reports whether prices decide.
func (p *policy) byPrice() bool {
	return p.cfg.InvocationThreshold == 0 && p.summarizer != off && p.summarizer != recorded
}

// safetyRatio is the share of the effective window at which a policy compacts, 0 for never.
func (p *policy) safetyRatio() float64 {
	switch ratio := p.cfg.SafetyRatio; {
	case ratio != 0:
		return max(0, ratio)
	case p.byPrice():
		return min(0.95, 0.97*cmp.Or(p.cfg.BlockRatio, compaction.DefaultConfig().BlockRatio))
	}
	return compaction.DefaultConfig().SafetyRatio
}

// check refuses an overlap of 0, which the library would take for the default, and a wording that nobody reads.
func (p *policy) check() error {
	if p.cfg.Pack != summarizer.PackDefault && p.summarizer != byModel {
		return exit.Usage("--prompt-pack is %s with --summarizer %s: no model reads the prompt; use --summarizer model, or leave it out", p.cfg.Pack, p.summarizer)
	}
	if p.cfg.OverlapSize == 0 && p.cfg.InvocationThreshold > 0 {
		return exit.Usage("--overlap is 0 with --threshold %d: the turn just answered would be summarized; use at least 1", p.cfg.InvocationThreshold)
	}
	return nil
}

// build returns the policy under a name. llm writes the summaries of --summarizer model. It starts a service with the
// config and closes it again, because the library's own checks then find every contradiction before the replay begins.
func (p policy) build(name string, llm model.LLM, mirror bool) (replay.Policy, error) {
	cfg := p.cfg
	if p.noLedger {
		cfg.MaxLedgerTokens = compaction.Off
	}
	if !p.byPrice() && p.summarizer != byModel {
		cfg.Registry, cfg.AgentModel = nil, "" // only prices need them
	}
	cfg.Synchronous = true // a report must not depend on when a background job runs
	if p.summarizer == byModel {
		cfg.Model = llm
		cfg.Logger = slog.New(slog.DiscardHandler) // the report says what failed
	} else {
		cfg.Summarizer, cfg.Pack = summarizer.Extractive{}, ""
	}
	built := replay.Policy{Name: name, Config: cfg}
	switch {
	case p.summarizer == off:
		built.When = replay.Never
	case p.summarizer == recorded:
		built.When = replay.AsRecorded
	case mirror:
		built.When = replay.AlsoWhereRecorded
	}
	built.Layers = p.layers.build(cfg.ContextWindow)
	return built, p.inFlags(tryOut(built))
}

// tryOut starts and closes a service with the settings of a policy.
func tryOut(p replay.Policy) error {
	if p.Layers == nil {
		service, err := compaction.NewCompactionService(session.InMemoryService(), p.Config)
		if err != nil {
			return err
		}
		return service.Close(context.Background())
	}
	cfg := *p.Layers
	cfg.Compaction = p.Config
	stack, err := longsession.New(session.InMemoryService(), cfg)
	if err != nil {
		return err
	}
	return stack.Close(context.Background())
}

// describe returns a line about what the policy does.
func (p *policy) describe(mirror bool) string {
	text := p.describeCompaction(mirror)
	if layers := p.layers.describe(); layers != "" {
		text += "; " + layers
	}
	return text
}

func (p *policy) describeCompaction(mirror bool) string {
	switch p.summarizer {
	case off:
		return "no compaction"
	case recorded:
		return "compacts where the recording was compacted, with the recorded summary"
	}
	c := &p.cfg
	var when []string
	if p.byPrice() {
		when = append(when, "when it pays")
	} else if c.InvocationThreshold > 0 {
		when = append(when, fmt.Sprintf("every %d turns (%d stay raw)", c.InvocationThreshold, c.OverlapSize))
	}
	switch {
	case c.TokenThreshold > 0:
		when = append(when, fmt.Sprintf("at %s prompt tokens (%s)", terminal.Commas(c.TokenThreshold), describeRetained(c)))
	case p.safetyRatio() > 0:
		when = append(when, fmt.Sprintf("at %.4g%% of the effective window (%s)", 100*p.safetyRatio(), describeRetained(c)))
	}
	if mirror {
		when = append(when, "where the recording was compacted")
	}
	if len(when) == 0 {
		return "no compaction: --threshold and --safety-ratio are 0"
	}
	summaries := "one summary"
	if c.MaxSummaries > 1 {
		summaries = fmt.Sprintf("up to %s summaries", terminal.Commas(c.MaxSummaries))
	}
	who := p.summarizer
	if who == byModel {
		who = "by " + cmp.Or(p.summaryModel, "a model")
	}
	return fmt.Sprintf("%s; %s of up to %s tokens, %s", strings.Join(when, ", "), summaries, terminal.Commas(c.MaxSummaryTokens), who)
}

// describeRetained says what stays raw when compacting by tokens.
func describeRetained(c *compaction.Config) string {
	if c.RetainTokens > 0 {
		return fmt.Sprintf("%d events of up to %s tokens stay raw", c.RetainEvents, terminal.Commas(c.RetainTokens))
	}
	return fmt.Sprintf("%d events stay raw", c.RetainEvents)
}

// automatic reports whether the policy compacts by itself. If not, it leaves prompts alone even at
// the end of the window.
func (p *policy) automatic() bool {
	return p.byPrice() || p.layers.blocks() || p.cfg.InvocationThreshold > 0 || p.cfg.TokenThreshold > 0 || p.safetyRatio() > 0
}

// name tells a policy from others by the flags that were given: "extractive threshold=3".
func (p *policy) name(given func(flag string) bool) string {
	words := []string{p.summarizer}
	for _, s := range p.settings() {
		if s.Name != "summarizer" && given(s.Name) {
			words = append(words, s.Name+"="+s.Value.String())
		}
	}
	return strings.Join(words, " ")
}
