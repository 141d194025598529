package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
)

// table compares the games, one column each. It is at most 60 columns wide.
func table(out io.Writer, games []*game, name string, p price) {
	row := func(label string, cell func(g *game) string) {
		fmt.Fprintf(out, "%-20s", label)
		for _, g := range games {
			fmt.Fprintf(out, " %9s", cell(g))
		}
		fmt.Fprintln(out)
	}
	number := func(label string, n func(g *game) int) {
		row(label, func(g *game) string { return humanize.Comma(int64(n(g))) })
	}
	line := func() { fmt.Fprintln(out, strings.Repeat("-", 20+10*len(games))) }

	fmt.Fprintf(out, "An agent with 200 tools of an MCP server, %d turns,\nat the prices of %s, for a million\ntokens: $%.2f input, $%.3f cached input, $%.2f output.\n\n",
		games[0].turns, name, p.input, p.cached, p.output)
	row("", func(g *game) string { return g.name })
	line()
	number("model calls", func(g *game) int { return g.requests })
	number("tool calls", func(g *game) int { return g.calls })
	number("searches", func(g *game) int { return g.searches })
	line()
	number("tokens declared", func(g *game) int { return g.declared })
	row("  for each call", func(g *game) string { return humanize.Comma(int64(g.each())) })
	number("tokens sent", func(g *game) int { return g.sent })
	number("  cached", func(g *game) int { return g.cached })
	number("  not cached", func(g *game) int { return g.sent - g.cached })
	row("prefix kept", func(g *game) string { return percent(g.cached, g.sent) })
	number("prefix breaks", func(g *game) int { return g.breaks })
	line()
	for _, cost := range []struct {
		label string
		of    func(g *game) float64
	}{{"cache kept", p.warm}, {"cache lost", p.cold}, {"no cache", func(g *game) float64 { return p.of(g, 0) }}} {
		row("$ "+cost.label, func(g *game) string { return fmt.Sprintf("%.4f", cost.of(g)) })
		row("", func(g *game) string { return share(cost.of(g), cost.of(games[0])) })
	}
}

func share(part, whole float64) string { return fmt.Sprintf("%.1f%%", 100*part/whole) }

func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}
