package main

import (
	"fmt"
	"io"

	"github.com/dustin/go-humanize"

	"github.com/adk-go-ext/longsession/tokens"
)

// row is a set at the prices of one model. Amounts are in USD.
type row struct {
	set
	model           string
	without, priced float64
	best            float64
	threshold       int // of best; 0 is none
	compactions     int
	compacted       int // conversations with a compaction
	worst           float64
	worstID         string // of the conversation with the highest share of its cost without compaction
}

// compare adds up the bills of a set at the prices of one of the models.
func compare(s set, all []bills, index int, m tokens.Model) row {
	r := row{set: s, model: m.Name}
	fixed := make([]float64, len(thresholds))
	for _, b := range all {
		without, priced := b.without.dollars(m), b.byPrices[index].dollars(m)
		r.without += without
		r.priced += priced
		for i, f := range b.fixed {
			fixed[i] += f.dollars(m)
		}
		if n := b.byPrices[index].compactions; n > 0 {
			r.compactions += n
			r.compacted++
		}
		if share := priced / without; share > r.worst {
			r.worst, r.worstID = share, b.id
		}
	}
	r.best = r.without
	for i, dollars := range fixed {
		if dollars < r.best {
			r.best, r.threshold = dollars, thresholds[i]
		}
	}
	return r
}

func printRecorded(out io.Writer, rows []row) {
	fmt.Fprintln(out, "| conversations | model | without | best threshold | by price | of the best | of none | worst of none | compactions, in so many conversations |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		best := "none"
		if r.threshold > 0 {
			best = count(r.threshold)
		}
		fmt.Fprintf(out, "| %s | %s | $%.4f | $%.4f (%s) | $%.4f | %.3f | %.3f | %.3f | %d in %d |\n",
			r.name, r.model, r.without, r.best, best, r.priced, r.priced/r.best, r.priced/r.without, r.worst, r.compactions, r.compacted)
	}
	fmt.Fprintln(out)
}

// missedGoals compares each row with the goals of its set.
func missedGoals(rows []row) []string {
	var missed []string
	miss := func(r row, got, want float64, of string) {
		if want > 0 && got > want+1e-9 {
			missed = append(missed, fmt.Sprintf("%s at the prices of %s: %.3f of %s, want at most %.2f", r.name, r.model, got, of, want))
		}
	}
	for _, r := range rows {
		miss(r, r.priced/r.best, r.ofBest, "the best threshold")
		miss(r, r.priced/r.without, r.ofNone, "no compaction")
		miss(r, r.worst, r.ofNoneEach, "no compaction in conversation "+r.worstID)
	}
	return missed
}

func count(n int) string { return humanize.Comma(int64(n)) }
