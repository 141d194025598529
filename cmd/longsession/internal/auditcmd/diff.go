package auditcmd

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

const (
	// twoColumns is the least width of a terminal on which two columns of text read well.
	twoColumns = 100
	// widest is the greatest width: lines are filled up to it.
	widest = 1000
	gutter = " | "
)

// diffCommand lets --width be 0 or at least as wide as the narrowest terminal. A range of a setting
// cannot express that, so the command checks it before it opens the file.
func (a *command) diffCommand() *cobra.Command {
	var id string
	var all bool
	var width int
	var from, to place
	run := atPlaces(a, func(ctx context.Context, f *audit.File, s *audit.Session, out *output) error {
		if from.text != "" {
			return change(ctx, f, s, from.At, to.At, out)
		}
		found, err := f.Replacements(ctx, s, id, all)
		if err != nil {
			return err
		}
		if len(found) == 0 && !a.json {
			out.printf("no summaries\n")
		}
		named, err := names(ctx, f, s, out)
		if err != nil {
			return err
		}
		columns := cmp.Or(width, min(out.screen.Columns, widest), terminal.DefaultColumns)
		return writeAll(out, found, func(r audit.Replacement) { named.Compaction(&r.Compaction); out.replacement(&r, columns) })
	}, &from, &to)
	cmd := newCommand("diff FILE.db [SESSION]", "Show each summary next to the events that it replaced, or how two prompts differ", func(cmd *cobra.Command, args []string) error {
		switch {
		case to.text != "" && from.text == "":
			return exit.Usage("--to without --from: name the prompt to compare with")
		case from.text != "" && (id != "" || all || width > 0):
			return exit.Usage("--from compares two prompts: leave out --record, --all and --width, which are for summaries")
		}
		if width > 0 && width < terminal.Narrowest {
			return exit.Usage("--width is %d: it must be at least %d, or 0 for that of the terminal", width, terminal.Narrowest)
		}
		return run(cmd, args)
	})
	setting.Add(cmd,
		setting.Setting{Name: "record", Value: setting.Text(&id), Complete: a.completeRecords, Help: "only the record of this ID, or the one whose ID begins or ends with this text"},
		from.setting("from", "compare two prompts: what the model saw at this event or turn, as --at of context takes it, and at --to"),
		to.setting("to", "the later of two prompts; without it the next prompt"),
		setting.Setting{Name: "all", Value: setting.Switch(&all), Help: "include records whose summaries are no longer shown"},
		setting.Setting{Name: "width", Value: setting.Int(&width, 0, widest, "is that of the terminal"), Help: "columns to use, from 20 to 1,000; 0: those of the terminal, or 80"})
	return cmd
}

// replacement writes a summary and the events that it replaced: below each other on a narrow
// terminal, else in two columns, as in
//
//	#8  r1        2026-01-01 00:00:09  current  summary, trigger manual, level 0
//	covers 2 events: 40 tokens became 12
//	replaced                          | by
//	#1  2026-01-01 00:00:01  user     | Mara Quist, customer 20417,
//	  Good morning! I am Mara Quist.  | said good morning.
func (o *output) replacement(r *audit.Replacement, width int) {
	write := func(indent string, lines []string) {
		for _, line := range lines {
			o.raw(indent + line + "\n")
		}
	}
	for _, line := range terminal.WrapText(compactionTitle(&r.Compaction), width) {
		o.raw(o.screen.Strong(line) + "\n")
	}
	write("", terminal.WrapText(compactionNumbers(&r.Compaction), width))
	for _, said := range []struct{ label, text string }{{"focus: ", r.Focus}, {"note: ", r.Note}, {"values: ", r.ValueTexts()}} {
		if said.text != "" {
			write("", terminal.WrapText(said.label+said.text, width))
		}
	}
	if width < twoColumns {
		o.printf("replaced:\n")
		write("    ", replacedLines(r, width-4))
		o.printf("by:\n")
		write("    ", terminal.WrapText(r.Summary, width-4))
		o.printf("\n")
		return
	}
	column := (width - len(gutter)) / 2
	left := append([]string{"replaced"}, replacedLines(r, column)...)
	right := append([]string{"by"}, terminal.WrapText(r.Summary, column)...)
	left = append(left, make([]string, max(0, len(right)-len(left)))...)
	right = append(right, make([]string, len(left)-len(right))...)
	for i := range left {
		line := strings.TrimRight(terminal.Pad(left[i], column)+gutter+right[i], " ")
		if i == 0 {
			line = o.screen.Strong(line)
		}
		o.raw(line + "\n")
	}
	o.printf("\n")
}

// replacedLines returns the events that a summary replaced, in lines of at most width columns.
func replacedLines(r *audit.Replacement, width int) []string {
	var lines []string
	for i := range r.Replaced {
		e := &r.Replaced[i]
		lines = append(lines, terminal.WrapText(entryTitle(e), width)...)
		for _, b := range audit.Blocks(e) {
			text := b.Text
			if b.Title != "" {
				text = b.Title + ": " + text
			}
			for _, line := range terminal.WrapText(text, width-2) {
				lines = append(lines, "  "+line)
			}
		}
	}
	return lines
}
