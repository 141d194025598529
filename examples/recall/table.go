package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
)

// table compares the plays, one column each.
func table(out io.Writer, plays []*play) {
	row := func(name string, cell func(p *play) string) {
		fmt.Fprintf(out, " %-56s", name)
		for _, p := range plays {
			fmt.Fprintf(out, " | %10s", cell(p))
		}
		fmt.Fprintln(out)
	}
	number := func(n func(p *play) int) func(*play) string {
		return func(p *play) string { return humanize.Comma(int64(n(p))) }
	}
	line := func() { fmt.Fprintln(out, strings.Repeat("-", 57)+strings.Repeat("+------------", len(plays))) }

	row("", func(p *play) string { return p.name })
	line()
	for i, f := range facts {
		row(f.asked, func(p *play) string { return string(p.answers[i]) })
	}
	line()
	row("answered", func(p *play) string { return fmt.Sprintf("%d of %d", p.answered(), len(facts)) })
	row("tokens of the last prompt", number(func(p *play) int { return p.last }))
	row("tokens of the largest prompt", number(func(p *play) int { return p.largest }))
	row("tokens that recall returned", number(func(p *play) int { return p.recalled }))
	row("tokens of all prompts", number(func(p *play) int { return p.sent }))
}
