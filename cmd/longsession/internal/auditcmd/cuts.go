package auditcmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// cutsCommand shows which results the given limits shorten. The file does not have the limits of the
// app, which are its configuration.
func (a *command) cutsCommand() *cobra.Command {
	l := newLimits()
	cmd := newCommand("cuts FILE.db [SESSION]", "Show which tool results are shortened for the model", func(cmd *cobra.Command, args []string) error {
		cutter, err := l.cutter(cmd)
		if err != nil {
			return err
		}
		return a.onSession(func(ctx context.Context, f *audit.File, s *audit.Session, out *output) error {
			return showCuts(ctx, f, s, cutter, out)
		})(cmd, args)
	})
	setting.Add(cmd, l.settings()...)
	return cmd
}

// showCuts writes a line for each cut and, for people, the sums.
func showCuts(ctx context.Context, f *audit.File, s *audit.Session, cutter *toolresult.Cutter, out *output) error {
	var looked audit.Looked
	shown, before, after := 0, 0, 0
	out.done = func() string { return terminal.Plural(shown, "cut") + " shown" }
	for c, err := range f.Cuts(ctx, s, cutter, &looked) {
		if err != nil {
			return err
		}
		if err := writeAll(out, []*audit.Cut{c}, func(c *audit.Cut) {
			out.title(cutTitle(c))
			out.printf("    %s\n", cutNumbers(c))
		}); err != nil {
			return err
		}
		shown, before, after = shown+1, before+c.TokensBefore, after+c.TokensAfter
	}
	if out.json == nil {
		out.printf("%s of %s shortened: ~%s tokens become ~%s\n", terminal.Commas(shown), terminal.Plural(looked.Results, "tool result"), terminal.Commas(before), terminal.Commas(after))
	}
	if looked.Unreadable > 0 {
		return exit.Failed("%s cannot be read: see 'longsession audit verify'", terminal.Plural(looked.Unreadable, "event"))
	}
	return nil
}

// cutTitle is the first line of a cut, such as
//
//	#14  read_file  stub  r-3f9a0c11d2e47b58
func cutTitle(c *audit.Cut) string {
	title := fmt.Sprintf("#%d  %s  %s", c.Seq, terminal.Printable(c.Tool), terminal.Printable(c.Kind))
	if c.Ref != "" {
		title += "  " + terminal.Printable(c.Ref)
	}
	return title
}

// cutNumbers is its second line.
func cutNumbers(c *audit.Cut) string {
	return fmt.Sprintf("%s become %s, %s become %s, ~%s tokens become ~%s", terminal.Plural(c.BytesBefore, "byte"), terminal.Commas(c.BytesAfter),
		terminal.Plural(c.LinesBefore, "line"), terminal.Commas(c.LinesAfter), terminal.Commas(c.TokensBefore), terminal.Commas(c.TokensAfter))
}

// limits are the flags of a [toolresult.Config]. A flag that is not given leaves its field at zero: then
// a limit on lines gives way to another one that is given.
type limits struct {
	of       toolresult.Limits
	strategy string
	exempt   []string
	readable bool
}

func newLimits() *limits {
	of := toolresult.DefaultLimits()
	return &limits{of: of, strategy: string(of.Strategy), readable: true}
}

func (l *limits) settings() []setting.Setting {
	number := func(name, field string, to *int, help string) setting.Setting {
		return setting.Setting{Name: name, Field: field, Value: setting.Int(to, 0, setting.NoLimit, "turns it off"), Help: help + "; 0: off"}
	}
	return []setting.Setting{
		number("max-bytes", "MaxBytes", &l.of.MaxBytes, "most bytes of a result"),
		number("max-lines", "MaxLines", &l.of.MaxLines, "most lines of a result that is left whole"),
		number("head-lines", "HeadLines", &l.of.HeadLines, "lines that survive at the beginning"),
		number("tail-lines", "TailLines", &l.of.TailLines, "lines that survive at the end"),
		number("max-tokens", "MaxTokens", &l.of.MaxTokens, "most tokens of a result"),
		number("stub-above", "StubAbove", &l.of.StubAbove, "bytes over which a result becomes a stub"),
		{Name: "strategy", Field: "Strategy", Value: setting.Choice(&l.strategy, string(toolresult.Lines), string(toolresult.Head), string(toolresult.Tail), string(toolresult.Both)), Help: "which part of a text survives"},
		{Name: "exempt", Field: "Exempt", Value: setting.Texts(&l.exempt, func(string) error { return nil }), Help: "never cut the results of this tool (may be repeated)"},
		{Name: "readable", Field: "Readable", Value: setting.Switch(&l.readable), Help: "the model can read whole results with read_result"},
	}
}

// cutter returns the cutter that the flags describe.
func (l *limits) cutter(cmd *cobra.Command) (*toolresult.Cutter, error) {
	given := func(name string, value int) int {
		if !cmd.Flags().Changed(name) {
			return 0
		}
		return cmp.Or(value, toolresult.Off)
	}
	cutter, err := toolresult.New(toolresult.Config{
		Limits: toolresult.Limits{
			MaxBytes: given("max-bytes", l.of.MaxBytes), MaxLines: given("max-lines", l.of.MaxLines), HeadLines: given("head-lines", l.of.HeadLines),
			TailLines: given("tail-lines", l.of.TailLines), MaxTokens: given("max-tokens", l.of.MaxTokens), StubAbove: given("stub-above", l.of.StubAbove),
			Strategy: toolresult.Strategy(l.strategy),
		},
		Exempt: l.exempt, Readable: l.readable,
	})
	if err != nil {
		return nil, l.inFlags(err)
	}
	return cutter, nil
}

// inFlags reports the fields that the library refuses under the names of their flags.
func (l *limits) inFlags(err error) error {
	settings := l.settings()
	names := make([]string, 0, 2*len(settings))
	for _, s := range settings {
		names = append(names, s.Field, "--"+s.Name)
	}
	flags := strings.NewReplacer(append(names, "Off", "0")...)
	var problems []string
	for _, refused := range configerr.All(err) {
		shown := *refused
		if shown.Value == toolresult.Off {
			shown.Value = 0
		}
		problems = append(problems, flags.Replace(shown.Error()))
	}
	return exit.Usage("%s", strings.Join(problems, "; "))
}
