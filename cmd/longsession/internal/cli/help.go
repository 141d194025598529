package cli

import (
	"io"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// helpWidth bounds the width of a help text: longer lines are hard to read.
const helpWidth = 110

// showHelp writes the help of a command to fit the screen.
func showHelp(c *cobra.Command) error {
	if _, err := io.WriteString(c.OutOrStdout(), helpText(c, terminal.Of(c.OutOrStdout()))); err != nil {
		return exit.Failed("the help could not be written: %w", err)
	}
	return nil
}

func helpText(c *cobra.Command, s terminal.Screen) string {
	about := c.Long
	if about == "" {
		about = c.Short
	}
	width := min(s.Width(), helpWidth)
	mark := `\`
	if c.Name() == "powershell" {
		mark = "`"
	}
	return reflow(strings.TrimSpace(about), width, mark) + "\n\n" + usageText(c, s, width)
}

// usageText lists the forms of a command, its examples, subcommands and flags.
func usageText(c *cobra.Command, s terminal.Screen, width int) string {
	var b strings.Builder
	section := func(title, text string) {
		if text = strings.Trim(text, "\n"); text != "" {
			b.WriteString(s.Strong(title) + "\n" + text + "\n\n")
		}
	}
	var forms []string
	if c.Runnable() {
		forms = append(forms, "  "+c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		forms = append(forms, "  "+c.CommandPath()+" [command]")
	}
	section("Usage:", eachLine(strings.Join(forms, "\n"), func(line string) string { return terminal.Hang(line, width) }))
	section("Examples:", eachLine(c.Example, func(line string) string { return shellLine(line, width, `\`) }))
	var commands strings.Builder
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			commands.WriteString(definition("  "+terminal.Pad(sub.Name(), sub.NamePadding())+" ", sub.Short, width, 6))
		}
	}
	section("Available Commands:", commands.String())
	section("Flags:", flagLines(c.LocalFlags(), width))
	section("Global Flags:", flagLines(c.InheritedFlags(), width))
	if c.HasAvailableSubCommands() {
		b.WriteString(strings.Join(terminal.Wrap(`Use "`+c.CommandPath()+` [command] --help" for more information about a command.`, width), "\n"))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// flagLines lists flags and their meanings.
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

// reflow wraps a help text. Lines without an indent form paragraphs. An indented line is a term
// and, after two blanks or more, its meaning, which continues in lines that are indented further. A
// line that begins with a tab is a command for a shell, which continues after mark.
func reflow(text string, width int, mark string) string {
	var b strings.Builder
	var paragraph, term, meaning string
	flush := func() {
		if paragraph != "" {
			b.WriteString(strings.Join(terminal.Wrap(paragraph, width), "\n") + "\n")
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

// definition writes a term and its meaning. If there is little room next to the term, the meaning
// begins on the next line, indented by below. The term includes its own indent and the gap behind
// it.
func definition(term, meaning string, width, below int) string {
	const leastMeaning = 34
	if meaning == "" {
		return terminal.Hang(strings.TrimRight(term, " "), width) + "\n"
	}
	column := uniseg.StringWidth(term)
	if column+uniseg.StringWidth(meaning) > width && width-column < leastMeaning {
		return terminal.Hang(strings.TrimRight(term, " "), width) + "\n" + strings.Repeat(" ", below) +
			strings.Join(terminal.Wrap(meaning, width-below), "\n"+strings.Repeat(" ", below)) + "\n"
	}
	return term + strings.Join(terminal.Wrap(meaning, width-column), "\n"+strings.Repeat(" ", column)) + "\n"
}

// shellLine wraps a command between its words, with the mark that continues a command at the end of
// each line. It does not break quoted text.
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

// shellWords splits a command at its blanks, except in quotes and brackets.
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
