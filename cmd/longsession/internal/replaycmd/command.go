package replaycmd

import (
	_ "embed" // of the help
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chatcmd"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/pricing"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

//go:embed help/replay.txt
var help string

//go:embed help/examples.txt
var examples string

// flags are the flags of the command.
type flags struct {
	policy policy
	grid   []axis
	mirror bool
	// hindsight looks for the best fixed threshold.
	hindsight bool

	model    string
	price    tokens.Model // prices only
	fixed    replay.Fixed
	watchdog string
	ceiling  tokens.Nano

	// What follows is about the models that write summaries.
	summaryPrice   tokens.Model  // prices only
	summaryCeiling tokens.Nano   // 0 is none
	server         config.Values // where they are

	// perMonth is how many such conversations there are in a month, 0 if unknown.
	perMonth         int
	noRecommendation bool

	db, html    string
	force, json bool

	only             []string
	limit, jobs      int
	keepGoing, quiet bool
}

// maxJobs bounds the number of conversations in memory at once.
const maxJobs = 256

// settings describes the flags, in the order of the help.
func (f *flags) settings() []setting.Setting {
	return slices.Concat(f.policy.settings(), f.runSettings(), f.writerSettings(), f.outputSettings())
}

// runSettings describes the flags that say what is played, and how it is counted.
func (f *flags) runSettings() []setting.Setting {
	return []setting.Setting{
		{Name: "mcp-tools", Value: setting.Texts(&f.policy.layers.mcp, checkPattern),
			Help: "recorded tools that may be deferred, by name; * and ? match anything (may be repeated; default: those that begin with mcp__)"},
		{Name: "mirror", Value: setting.Switch(&f.mirror), Help: "also compact where the recorded application did"},
		{Name: "hindsight", Value: setting.Switch(&f.hindsight),
			Help: "also look for the fixed size at which compaction would have been cheapest, which nobody knows in advance"},
		{Name: "grid", Value: gridValue(&f.grid), Complete: completeGrid, Help: "compare policies: 'key=value,value key=value,...'"},

		{Name: "model", Value: setting.Text(&f.model), Complete: setting.OneOf(pricing.Models...),
			Help: "the agent's model, for its prices and context window"},
		{Name: "price", Value: pricing.Value(&f.price), Help: "prices of the agent's model in USD per million tokens: 'input=3,cached=0.3,output=15'"},
		{Name: "fixed", Value: fixedValue(&f.fixed), Complete: setting.OneOf("auto\tas recorded, unless over half of the window", "recorded\tas recorded"),
			Help: "tokens that every prompt has in addition to the messages (instructions, tools): a number, recorded (as the recorded counts imply), or auto (the same, unless that is over half of the window)"},

		{Name: "per-month", Value: setting.Int(&f.perMonth, 0, setting.NoLimit, "says the saving per 1,000"),
			Help: "such conversations in a month: the recommendation says what they would save; 0: per 1,000 conversations"},
		{Name: "no-recommendation", Value: setting.Switch(&f.noRecommendation),
			Help: "play no other policies to recommend one; a run then takes a third to a half of the time"},

		{Name: "watchdog", Value: setting.Choice(&f.watchdog, string(watchdog.Warn), string(watchdog.Off)),
			Help: "report where the recorded agent went in circles, and where a watchdog would have stopped it: warn, off"},
		{Name: "max-session-cost-usd", Value: pricing.Ceiling(&f.ceiling),
			Help: "report at which call this ceiling would have stopped a conversation, which is played to its end; 0: none"},
	}
}

// writerSettings describes the flags about the models that write summaries.
func (f *flags) writerSettings() []setting.Setting {
	return slices.Concat([]setting.Setting{
		{Name: "summary-price", Value: pricing.Value(&f.summaryPrice), Help: "prices of the model that writes the summaries, in the form of --price"},
		{Name: "max-summary-cost-usd", Value: pricing.Ceiling(&f.summaryCeiling),
			Help: "the run ends when the summaries of --summarizer model have cost this; 0: no limit"},
	}, chatcmd.ServerSettings(&f.server))
}

// outputSettings describes the flags of the report and of the input.
func (f *flags) outputSettings() []setting.Setting {
	return []setting.Setting{
		{Name: "db", Value: setting.File(&f.db, suggest.SessionFiles...), Help: "keep the sessions in this session file (package persistence)"},
		{Name: "force", Value: setting.Switch(&f.force), Help: "let --db add sessions to a file that holds sessions of another app; they stay as they are"},
		{Name: "html", Value: setting.File(&f.html, "html", "htm"), Help: "write a report with charts to this file"},
		{Name: "json", Value: setting.Switch(&f.json), Help: "write JSON Lines instead of tables"},

		{Name: "only", Value: setting.Texts(&f.only, checkPattern), Complete: completeConversations,
			Help: "replay only the conversation with this ID; * and ? match anything (may be repeated)"},
		{Name: "limit", Value: setting.Int(&f.limit, 0, setting.NoLimit, "is no limit"), Help: "stop after this many conversations; 0: no limit"},
		{Name: "jobs", Value: setting.Int(&f.jobs, 1, maxJobs, ""), Help: "conversations to play at once"},
		{Name: "keep-going", Value: setting.Switch(&f.keepGoing), Help: "leave out conversations that cannot be read or played; the exit code is then 3"},
		{Name: "quiet", Value: setting.Switch(&f.quiet), Help: "write only the total, and show no progress"},
	}
}

// Command returns the command. Reports name the version; compare is [replay.Compare], or a stand-in
// for a test.
func Command(version string, compare Compare) *cobra.Command {
	f := &flags{policy: defaultPolicy(), model: "gemini-2.5-flash", summaryCeiling: tokens.Dollar, fixed: replay.FixedAuto, watchdog: string(watchdog.Warn), jobs: min(runtime.GOMAXPROCS(0), maxJobs)}
	cmd := &cobra.Command{
		Use:     "replay FILE...",
		Short:   "Play recorded conversations with and without compaction, and compare",
		Long:    help,
		Example: examples,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usage("no FILE given: name one or more files of recorded conversations, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd, f, args, version, compare)
		},
		ValidArgsFunction: setting.Files(append([]string{"jsonl", "json", "gz"}, suggest.SessionFiles...)...),
	}
	setting.Add(cmd, f.settings()...)
	return cmd
}

// check refuses flags that contradict each other.
func (f *flags) check() error {
	switch {
	case f.mirror && f.policy.summarizer == off:
		return exit.Usage("--mirror with --summarizer off: no summaries would be written; use --summarizer recorded or extractive")
	case f.grid != nil && f.db != "":
		return exit.Usage("--db with --grid: a session can be stored under one policy only; leave one of the two out")
	case f.grid != nil && f.hindsight:
		return exit.Usage("--hindsight with --grid: it has a grid of its own; leave one of the two out")
	case f.hindsight && (f.policy.summarizer == byModel || f.policy.summarizer == recorded):
		return exit.Usage("--hindsight with --summarizer %s: it plays each conversation a dozen times, with summaries of its own; leave one of the two out", f.policy.summarizer)
	case f.perMonth > 0 && (f.noRecommendation || f.grid != nil || f.asksModel()):
		other := "--no-recommendation"
		if f.grid != nil {
			other = "--grid"
		} else if f.asksModel() {
			other = "--summarizer model"
		}
		return exit.Usage("--per-month with %s: only a recommendation has a saving per month; leave one of the two out", other)
	case f.force && f.db == "":
		return exit.Usage("--force without --db: it lets --db add sessions to a file of another app; name the file, or leave --force out")
	}
	return nil
}

// checkPattern refuses an ID whose [ is not closed. In a pattern, * and ? match anything.
func checkPattern(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return &setting.Refused{Value: fmt.Sprintf("%q", pattern), Reason: `a [ must be closed by a ]; write \[ for the character itself`}
	}
	return nil
}

// selected reports whether --only asks for a conversation.
func (f *flags) selected(id string) bool {
	if len(f.only) == 0 {
		return true
	}
	return slices.ContainsFunc(f.only, func(pattern string) bool { return matches(pattern, id) })
}

// matches reports whether a pattern of --only or --mcp-tools has a name. Unlike in a path, * matches a slash.
func matches(pattern, name string) bool {
	flat := strings.NewReplacer("/", "\x1f")
	ok, _ := path.Match(flat.Replace(pattern), flat.Replace(name))
	return ok || pattern == name
}

// defaultPolicy is the library's default for compaction, with the extractive summarizer.
func defaultPolicy() policy {
	cfg := compaction.DefaultConfig()
	cfg.InvocationThreshold, cfg.SafetyRatio = 0, 0 // when it pays
	cfg.Pack = summarizer.PackDefault
	return policy{summarizer: extractive, cfg: cfg, layers: layers{which: noLayers, masking: toolresult.Masking{From: 0.25}, search: deferring{Threshold: 0.10, Mode: string(toolsearch.Bridge)}}}
}
