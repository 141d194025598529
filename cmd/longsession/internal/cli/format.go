package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"
)

// commas writes a number with thousands separators.
func commas(n int) string { return humanize.Comma(int64(n)) }

// percent writes a share from 0 to 1.
func percent(share float64) string { return fmt.Sprintf("%.4g%%", 100*share) }

// dollars writes USD with as many decimals as tell small amounts apart; "-" where no prices are known.
func dollars(amount float64, priced bool) string {
	switch {
	case !priced:
		return "-"
	case amount >= 100:
		return humanize.CommafWithDigits(amount, 0)
	case amount >= 1:
		return fmt.Sprintf("%.2f", amount)
	default:
		return fmt.Sprintf("%.4f", amount)
	}
}

// plural writes a number and what it counts, whose plural ends in s.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return commas(n) + " " + what + "s"
}

// shorten cuts the middle out of a text of more than width columns: names that are alike often differ at
// the end.
func shorten(s string, width int) string {
	if uniseg.StringWidth(s) <= width {
		return s
	}
	var clusters []string
	for g := uniseg.NewGraphemes(s); g.Next(); {
		clusters = append(clusters, g.Str())
	}
	tail := (width - 1) / 2
	head := strings.Join(upTo(clusters, width-1-tail), "")
	slices.Reverse(clusters)
	end := upTo(clusters, tail)
	slices.Reverse(end)
	return head + "…" + strings.Join(end, "")
}

// upTo returns the first characters that fit into width columns.
func upTo(clusters []string, width int) []string {
	for i, c := range clusters {
		if width -= uniseg.StringWidth(c); width < 0 {
			return clusters[:i]
		}
	}
	return clusters
}

// printable escapes what a terminal would act on or not show. Recordings hold what strangers wrote.
func printable(s string) string {
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
