package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
)

const (
	// twoColumns is how wide a terminal must be for two columns of text that read well.
	twoColumns = 100
	// widest is the greatest width: lines are filled up to it.
	widest = 1000
	gutter = " | "
)

func (a *auditing) diffCommand() *cobra.Command {
	var id string
	var all bool
	var width int
	cmd := &cobra.Command{
		Use:   "diff FILE.db [SESSION]",
		Short: "Show what each summary replaced",
		Long:  auditDiffHelp,
		Args:  auditArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if width != 0 && (width < narrowest || width > widest) {
				return badInput("--width is %d: give at least %d and at most %s, or 0 for that of the terminal", width, narrowest, commas(widest))
			}
			return a.session(cmd, args, func(ctx context.Context, f *audit.File, s *audit.Session, out *auditOutput) error {
				found, err := f.Replacements(ctx, s, id, all)
				if err != nil {
					return err
				}
				if a.json {
					for i := range found {
						if err := out.line(&found[i]); err != nil {
							return err
						}
					}
					return nil
				}
				for i := range found {
					out.replacement(&found[i], out.diffWidth(width))
				}
				if len(found) == 0 {
					out.printf("no summaries\n")
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&id, "record", "", "only the record whose ID begins so")
	cmd.Flags().BoolVar(&all, "all", false, "also records whose summaries are not shown any more")
	cmd.Flags().IntVar(&width, "width", 0, "columns to use, from 20 to 1,000; 0: those of the terminal, or 80")
	return cmd
}

// diffWidth is how many columns to use if so many are wanted; 0: as many as the screen has.
func (o *auditOutput) diffWidth(wanted int) int {
	switch {
	case wanted > 0:
		return wanted
	case o.screen.columns > 0:
		return min(o.screen.columns, widest)
	}
	return noTerminal
}

// replacement writes what a summary replaced and the summary.
func (o *auditOutput) replacement(r *audit.Replacement, width int) {
	for _, line := range auditWrap(compactionTitle(&r.Compaction), width) {
		o.raw(o.screen.strong(line) + "\n")
	}
	for _, line := range auditWrap(compactionNumbers(&r.Compaction), width) {
		o.raw(line + "\n")
	}
	if width < twoColumns {
		o.printf("replaced:\n")
		for _, line := range replacedLines(r, width-4) {
			o.raw("    " + line + "\n")
		}
		o.printf("by:\n")
		for _, line := range auditWrap(r.Summary, width-4) {
			o.raw("    " + line + "\n")
		}
		o.printf("\n")
		return
	}
	column := (width - len(gutter)) / 2
	left := append([]string{"replaced"}, replacedLines(r, column)...)
	right := append([]string{"by"}, auditWrap(r.Summary, column)...)
	for i := range max(len(left), len(right)) {
		line := strings.TrimRight(pad(lineAt(left, i), column)+gutter+lineAt(right, i), " ")
		if i == 0 {
			line = o.screen.strong(line)
		}
		o.raw(line + "\n")
	}
	o.printf("\n")
}

func lineAt(lines []string, i int) string {
	if i >= len(lines) {
		return ""
	}
	return lines[i]
}

// replacedLines are the events that a summary stands for, in lines of at most width columns.
func replacedLines(r *audit.Replacement, width int) []string {
	var lines []string
	for i := range r.Replaced {
		e := &r.Replaced[i]
		lines = append(lines, auditWrap(entryTitle(e), width)...)
		for _, b := range audit.Blocks(e) {
			text := b.Text
			if b.Title != "" {
				text = b.Title + ": " + text
			}
			for _, line := range auditWrap(text, width-2) {
				lines = append(lines, "  "+line)
			}
		}
	}
	return lines
}
