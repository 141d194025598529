package cli

import (
	"context"
	"io"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is how wide a help text is at most: longer lines are hard to read.
const helpWidth = 110

// helpFailed is the context's key of a *error: why a help text could not be written.
type helpFailed struct{}

// showHelp writes a command's help to fit the screen.
func showHelp(c *cobra.Command, _ []string) {
	s := screenOf(c.OutOrStdout())
	_, err := io.WriteString(c.OutOrStdout(), helpText(c, s))
	if ctx := c.Context(); ctx != nil && err != nil {
		if failure, ok := ctx.Value(helpFailed{}).(*error); ok {
			*failure = failed("the help could not be written: %w", err)
		}
	}
}

// withHelpFailure returns a context in which a failure to write help is noted.
func withHelpFailure(ctx context.Context) (context.Context, *error) {
	failure := new(error)
	return context.WithValue(ctx, helpFailed{}, failure), failure
}

func helpText(c *cobra.Command, s screen) string {
	about := c.Long
	if about == "" {
		about = c.Short
	}
	width := min(s.width(), helpWidth)
	mark := `\`
	if c.Name() == "powershell" {
		mark = "`"
	}
	return reflow(strings.TrimSpace(about), width, mark) + "\n\n" + usageText(c, s, width)
}

// usageText is how a command is called: its forms, examples, commands and flags.
func usageText(c *cobra.Command, s screen, width int) string {
	var b strings.Builder
	section := func(title, text string) {
		if text = strings.Trim(text, "\n"); text != "" {
			b.WriteString(s.strong(title) + "\n" + text + "\n\n")
		}
	}
	var forms []string
	if c.Runnable() {
		forms = append(forms, "  "+c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		forms = append(forms, "  "+c.CommandPath()+" [command]")
	}
	section("Usage:", eachLine(strings.Join(forms, "\n"), func(line string) string { return hanging(line, width) }))
	section("Examples:", eachLine(c.Example, func(line string) string { return shellLine(line, width, `\`) }))
	var commands strings.Builder
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			commands.WriteString(definition("  "+pad(sub.Name(), sub.NamePadding())+" ", sub.Short, width, 6))
		}
	}
	section("Available Commands:", commands.String())
	section("Flags:", flagLines(c.LocalFlags(), width))
	section("Global Flags:", flagLines(c.InheritedFlags(), width))
	if c.HasAvailableSubCommands() {
		b.WriteString(strings.Join(wrapped(`Use "`+c.CommandPath()+` [command] --help" for more information about a command.`, width), "\n"))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// flagLines writes flags and what they do.
func flagLines(flags *pflag.FlagSet, width int) string {
	return eachLine(flags.FlagUsages(), func(line string) string {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		name, meaning, _ := strings.Cut(line[indent:], "  ")
		meaning = strings.TrimLeft(meaning, " ")
		term := line[:indent] + name + strings.Repeat(" ", len(line)-indent-len(name)-len(meaning))
		return strings.TrimRight(definition(term, meaning, width, 10), "\n")
	})
}

func eachLine(text string, f func(string) string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(f(strings.TrimRight(line, "\n")) + "\n")
	}
	return b.String()
}

// reflow breaks a help text anew. Lines that begin at the left make paragraphs. Lines that are indented by
// blanks are a term and, behind two blanks or more, what it means; it goes on in lines that are indented
// further. Lines that begin with a tab are commands for a shell, which goes on behind mark.
func reflow(text string, width int, mark string) string {
	var b strings.Builder
	var paragraph, term, meaning string
	flush := func() {
		if paragraph != "" {
			b.WriteString(strings.Join(wrapped(paragraph, width), "\n") + "\n")
		}
		if term != "" {
			b.WriteString(definition(term, meaning, width, 6))
		}
		paragraph, term, meaning = "", "", ""
	}
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.TrimSpace(line)
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case words == "":
			flush()
			b.WriteByte('\n')
		case strings.HasPrefix(line, "\t"):
			flush()
			b.WriteString(shellLine("    "+words, width, mark) + "\n")
		case strings.HasPrefix(line, "#"):
			flush()
			b.WriteString(words + "\n")
		case indent == 0:
			if term != "" {
				flush()
			}
			paragraph = strings.TrimSpace(paragraph + " " + words)
		case term != "" && indent > len(term)-len(strings.TrimLeft(term, " ")):
			meaning += " " + words
		default:
			flush()
			term = line
			if left, right, found := strings.Cut(words, "  "); found {
				meaning = strings.TrimLeft(right, " ")
				term = line[:indent+len(left)] + strings.Repeat(" ", len(words)-len(left)-len(meaning))
			}
		}
	}
	flush()
	return strings.TrimRight(b.String(), "\n")
}

// definition writes a term and what it means. Where little room is left beside the term, the meaning begins
// in the next line, indented by below. The term begins with its indentation and ends with the gap.
func definition(term, meaning string, width, below int) string {
	const leastMeaning = 34
	if meaning == "" {
		return hanging(strings.TrimRight(term, " "), width) + "\n"
	}
	column := uniseg.StringWidth(term)
	if column+uniseg.StringWidth(meaning) > width && width-column < leastMeaning {
		return hanging(strings.TrimRight(term, " "), width) + "\n" + strings.Repeat(" ", below) +
			strings.Join(wrapped(meaning, width-below), "\n"+strings.Repeat(" ", below)) + "\n"
	}
	return term + strings.Join(wrapped(meaning, width-column), "\n"+strings.Repeat(" ", column)) + "\n"
}

// shellLine breaks a command between its words, behind the mark by which a shell goes on in the next line.
// It does not break what stands in quotes.
func shellLine(line string, width int, mark string) string {
	const deeper = 2
	if uniseg.StringWidth(line) <= width {
		return line
	}
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	var b strings.Builder
	b.WriteString(line[:indent])
	used := indent
	for i, word := range shellWords(text) {
		size := uniseg.StringWidth(word)
		switch {
		case i == 0:
		case used+1+size+1+len(mark) > width:
			b.WriteString(" " + mark + "\n" + strings.Repeat(" ", indent+deeper))
			used = indent + deeper
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += size
	}
	return b.String()
}

// shellWords parts a command at its blanks; what stands in quotes or brackets stays together.
func shellWords(text string) []string {
	var words []string
	var word strings.Builder
	depth, quote := 0, rune(0)
	for _, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ' ' && depth == 0:
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
			continue
		}
		word.WriteRune(r)
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}
