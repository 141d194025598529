package terminal

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"
)

// Commas writes a number with thousands separators.
func Commas[N int | int64](n N) string { return humanize.Comma(int64(n)) }

// Plural writes a number and the thing it counts, whose plural must end in s.
func Plural[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Commas(n) + " " + thing + "s"
}

// List joins names for a sentence: "a", "a or b", "a, b or c". There must be at least one.
func List(names []string, conjunction string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " " + conjunction + " " + names[last]
}

// Shorten cuts the middle out of a text that is wider than width columns: similar names often
// differ at their ends.
func Shorten(s string, width int) string {
	if uniseg.StringWidth(s) <= width {
		return s
	}
	var clusters []string
	for g := uniseg.NewGraphemes(s); g.Next(); {
		clusters = append(clusters, g.Str())
	}
	tail := (width - 1) / 2
	head := strings.Join(fitting(clusters, width-1-tail), "")
	slices.Reverse(clusters)
	end := fitting(clusters, tail)
	slices.Reverse(end)
	return head + "…" + strings.Join(end, "")
}

// fitting returns the first characters that fit into width columns.
func fitting(clusters []string, width int) []string {
	for i, c := range clusters {
		if width -= uniseg.StringWidth(c); width < 0 {
			return clusters[:i]
		}
	}
	return clusters
}

// Printable escapes the characters that a terminal would obey or not show. Recordings contain text
// of unknown origin. For example, the sequence that clears the screen becomes \x1b[2J.
func Printable(s string) string {
	plain := func(r rune) bool { return r != utf8.RuneError && strconv.IsPrint(r) }
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if plain(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
