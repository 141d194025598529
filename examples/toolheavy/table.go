package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/adk-go-ext/longsession/layer/budget"
)

// table compares the plays, one column each.
func table(out io.Writer, games []*game) {
	row := func(name string, cell func(g *game) string) {
		fmt.Fprintf(out, " %-34s", name)
		for _, g := range games {
			fmt.Fprintf(out, " | %11s", cell(g))
		}
		fmt.Fprintln(out)
	}
	number := func(n func(g *game) int) func(*game) string {
		return func(g *game) string { return humanize.Comma(int64(n(g))) }
	}
	ifCut := func(cell func(g *game) string) func(*game) string {
		return measured((*game).cutsResults, cell)
	}
	line := func() { fmt.Fprintln(out, strings.Repeat("-", 35)+strings.Repeat("+-------------", len(games))) }

	row("", func(g *game) string { return g.name })
	line()
	row("model calls", number(func(g *game) int { return g.requests }))
	row("tasks answered right", number(func(g *game) int { return g.tasks - g.wrong }))
	row("tokens sent", number(func(g *game) int { return g.sent }))
	row("saved, against ADK alone", func(g *game) string {
		if !g.use {
			return "-"
		}
		return percent(games[0].sent-g.sent, games[0].sent)
	})
	row("largest prompt", number(func(g *game) int { return g.largest }))
	row("prompts over the window", number(func(g *game) int { return g.over }))
	line()
	row("bytes that tools returned", number(func(g *game) int { return g.toolSum }))
	row("results cut", ifCut(number(func(g *game) int { return len(g.cuts) })))
	row("bytes that the cuts took out", ifCut(number((*game).cutBytes)))
	row("reads with read_result", ifCut(number(func(g *game) int { return g.reads })))
	row("bytes read back by the model", ifCut(number(func(g *game) int { return g.readBytes })))
	row("cut results readable whole", func(g *game) string {
		if len(g.cuts) == 0 {
			return "-"
		}
		return fmt.Sprintf("%d of %d", len(g.cuts)-len(g.unread), len(g.cuts))
	})
	line()
	row("prompts that break the prefix", number(func(g *game) int { return g.breaks }))
	for _, cause := range causes(games) {
		row("  "+string(cause), measured((*game).seesBreaks, number(func(g *game) int { return g.causes[cause] })))
	}
	row("tokens a prefix cache could serve", func(g *game) string { return percent(g.cached, g.sent) })
}

// measured shows a cell only for plays in which something measures it: without that, 0 would be no measurement.
func measured(by func(g *game) bool, cell func(g *game) string) func(*game) string {
	return func(g *game) string {
		if !by(g) {
			return "-"
		}
		return cell(g)
	}
}

func causes(games []*game) []budget.Cause {
	seen := map[budget.Cause]bool{}
	for _, g := range games {
		for cause := range g.causes {
			seen[cause] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// cutBytes is by how many bytes the cuts made results smaller in the view.
func (g *game) cutBytes() int {
	n := 0
	for _, c := range g.cuts {
		n += c.BytesBefore - c.BytesAfter
	}
	return n
}

func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}
