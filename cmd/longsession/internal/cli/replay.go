package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/compaction"
)

const replayHelp = `Replay plays recorded conversations through the real ADK runner, once with the whole history in every
prompt and once under a policy of compaction, and compares what the model was sent. No model is called
(but see --summarizer gemini): a scripted one gives the recorded answers, and function tools the
recorded results.

A FILE holds one conversation a line, as JSON: OpenAI-style {"messages": [...]}, Gemini-style
{"contents": [...]}, or ADK events; or it is a session file of package persistence, of which every
session is replayed. "-" reads lines from standard input. The package comment of
internal/conversation describes the formats in full.

The policy starts from the library's defaults, except that it compacts before an answer returns and not in
the background: what a run reports must not depend on how fast the machine is.

Grid: --grid 'threshold=3,5,10 overlap=1,2,4' plays every combination and says which is cheapest.
Keys: threshold, overlap, context-window, token-threshold, safety-ratio, retain, max-summaries,
max-summary-tokens, summarizer. Combinations that contradict themselves are named and left out.

JSON: --json writes one object a line, told apart by "type":
  run           first, but not with --quiet: the policies, the model and its prices
  conversation  one for each conversation and policy, in the order of the input
  error         a conversation that was left out (--keep-going)
  total         last, one for each policy; "complete" is false if the run was interrupted or failed
docs/command.md lists their fields.

Exit codes:
  0    fine
  1    findings: orphaned calls or responses, hidden events, model calls beyond those without compaction,
       or prompts over the context window although what must stay raw is under it
  2    bad usage or bad input
  3    something failed midway, or conversations were left out (--keep-going)
  130  interrupted; the total so far is written`

const replayExample = `  longsession replay sessions.jsonl
  longsession replay sessions.jsonl --context-window 32000 --html report.html
  longsession replay sessions.jsonl --grid 'threshold=3,5,10 overlap=1,2,4'
  zcat *.jsonl.gz | longsession replay - --only 'support-*' --json`

// settings are the flags of replay as they were given.
type settings struct {
	policy policyFlags
	grid   string
	mirror bool

	model, summaryModel, price, fixed string

	db, html    string
	force, json bool

	only      []string
	limit     int
	jobs      int
	keepGoing bool
	quiet     bool
}

func replayCommand(compare compareFunc) *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:     "replay FILE...",
		Short:   "Play recorded conversations with and without compaction, and compare",
		Long:    replayHelp,
		Example: replayExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return badInput("no FILE given: name one or more files of recorded conversations, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return replayFiles(cmd, &s, args, compare)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false

	defaults := compaction.DefaultConfig()
	p := &s.policy
	flags.StringVar(&p.summarizer, "summarizer", extractive, "who writes summaries: extractive (no model), recorded (where and what the recording has), gemini (needs GEMINI_API_KEY or GOOGLE_API_KEY), off (nobody)")
	flags.IntVar(&p.threshold, "threshold", defaults.InvocationThreshold, "compact after so many turns; 0: never by turns")
	flags.IntVar(&p.overlap, "overlap", defaults.OverlapSize, "turns that always stay raw")
	flags.IntVar(&p.window, "context-window", 0, "context window of the agent's model in tokens (default: that of --model)")
	flags.IntVar(&p.tokens, "token-threshold", 0, "compact at so many prompt tokens; 0: --safety-ratio decides")
	flags.Float64Var(&p.ratio, "safety-ratio", defaults.SafetyRatio, "compact at this share of the context window; 0: never")
	flags.IntVar(&p.retain, "retain", defaults.RetainEvents, "newest events that stay raw when compacting by tokens")
	flags.IntVar(&p.summaries, "max-summaries", defaults.MaxSummaries, "summaries that may be shown; one more, and two are merged")
	flags.IntVar(&p.summaryTokens, "max-summary-tokens", defaults.MaxSummaryTokens, "length that a summary is asked to have, in tokens; less in a small window")
	flags.BoolVar(&s.mirror, "mirror", false, "also compact where the recorded application did")
	flags.StringVar(&s.grid, "grid", "", "compare policies: 'key=value,value key=value,...'")

	flags.StringVar(&s.model, "model", "gemini-2.5-flash", "the agent's model, for its prices and context window")
	flags.StringVar(&s.summaryModel, "summary-model", "gemini-2.5-flash", "the model of --summarizer gemini; with another summarizer, the one whose prices its summaries are charged at, instead of --model's")
	flags.StringVar(&s.price, "price", "", "USD per million tokens of the agent's model: 'input=3,cached=0.3,output=15'")
	flags.StringVar(&s.fixed, "fixed", "auto", "tokens in every prompt beside the messages (instructions, tools): a number, recorded (what the recording's counts tell), or auto (the same, unless over half of the window)")

	flags.StringVar(&s.db, "db", "", "keep the sessions in this session file (package persistence)")
	flags.BoolVar(&s.force, "force", false, "let --db add sessions to a file that keeps those of another app; changes and removes none of them")
	flags.StringVar(&s.html, "html", "", "write a report with charts to this file")
	flags.BoolVar(&s.json, "json", false, "write JSON Lines instead of tables")

	flags.StringArrayVar(&s.only, "only", nil, "only conversations of this ID; * and ? match anything (may be repeated)")
	flags.IntVar(&s.limit, "limit", 0, "stop after so many conversations; 0: never")
	flags.IntVar(&s.jobs, "jobs", min(runtime.GOMAXPROCS(0), maxJobs), "conversations played at once")
	flags.BoolVar(&s.keepGoing, "keep-going", false, "leave out conversations that cannot be read or played; the exit code is then 3")
	flags.BoolVar(&s.quiet, "quiet", false, "write the total only, and no progress")
	cmd.ValidArgsFunction = files(conversationEndings...)
	addCompletions(cmd, (&auditing{}).flagCompletions())
	return cmd
}
