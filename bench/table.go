package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/adk-go-ext/longsession/bench/workload"
)

// row compares two measurements.
type row struct {
	what, against string
	ours, other   string    // formatted figures
	ratios        []float64 // one per round; above 1 is in our favor if least is set
	least, most   float64   // required bounds for the median, 0 for none
	limit         string    // required bound for our own figure, if it is not a ratio
	within        bool
}

func rows(m measured, events int) []row {
	rate := func(what, ours, other string, least float64) row {
		return compare(m, what, ours, other, least, workload.Result.PerSecond, perSecond)
	}
	faster := func(what, ours, other string, least float64) row {
		r := compare(m, what, ours, other, least, seconds, milliseconds)
		for i := range r.ratios {
			r.ratios[i] = 1 / r.ratios[i]
		}
		return r
	}
	// Our long session against our short one is the only ratio of times that should be small.
	long := compare(m, fmt.Sprintf("wrapped `Get` of %d events, compacted", 10*events), longGet, shortGet, 0, seconds, milliseconds)
	long.against, long.most = fmt.Sprintf("%d events, compacted", shorter(events)), 1.5
	get := fmt.Sprintf("`Get` of %d events", events)
	return []row{
		rate("append, one goroutine", oursOne, adkOne, 5),
		rate("append, one goroutine", oursOne, adkOneTuned, 0),
		rate("append, one goroutine", oursOne, handOne, 0.7),
		rate("append, one goroutine, FULL", oursOneFull, adkOne, 0),
		rate("append, one goroutine, FULL", oursOneFull, handOneFull, 0),
		rate("append, eight goroutines", oursEight, adkEight, 6),
		rate("append, eight goroutines", oursEight, adkEightTuned, 0),
		rate("append, eight goroutines, FULL", oursEightFull, adkEight, 0),
		rate("append, eight goroutines, FULL", oursEightFull, alone, 2),
		failures(m),
		slowest(m, "slowest of eight goroutines", oursEight),
		slowest(m, "slowest of eight goroutines, FULL", oursEightFull),
		faster(get, oursGet, adkGet, 1),
		faster(fmt.Sprintf("wrapped `Get` of %d events, compacted", events), wrappedGet, adkGet, 50),
		long,
		size(m),
	}
}

func compare(m measured, what, ours, other string, least float64, figure func(workload.Result) float64, unit func(float64) string) row {
	r := row{what: what, against: other, least: least}
	var a, b []float64
	for i := range m.rounds[ours] {
		x, y := figure(m.rounds[ours][i]), figure(m.rounds[other][i])
		a, b, r.ratios = append(a, x), append(b, y), append(r.ratios, x/y)
	}
	r.ours, r.other = unit(median(a)), unit(median(b))
	return r
}

func failures(m measured) row {
	share := func(name string) (failed, all int) {
		for _, one := range m.rounds[name] {
			failed, all = failed+one.Failed, all+one.Failed+one.Appended
		}
		return failed, all
	}
	ours, ourTries := share(oursEight)
	full, fullTries := share(oursEightFull)
	adk, adkTries := share(adkEight)
	return row{
		what: "appends of eight goroutines that failed", against: adkEight,
		ours: fmt.Sprintf("%d of %d", ours+full, ourTries+fullTries), other: fmt.Sprintf("%d of %d, %.0f %%", adk, adkTries, 100*float64(adk)/float64(adkTries)),
		limit: "none", within: ours+full == 0,
	}
}

func slowest(m measured, what, name string) row {
	worst := func(name string) float64 {
		var all []float64
		for _, one := range m.rounds[name] {
			all = append(all, one.Slowest.Seconds())
		}
		return slices.Max(all)
	}
	return row{
		what: what, against: adkEight, ours: milliseconds(worst(name)), other: milliseconds(worst(adkEight)),
		limit: "< 250 ms", within: worst(name) < 0.250,
	}
}

func size(m measured) row {
	sum := m.filled[oursFile].EventBytes
	return row{
		what: "size of the file", against: "the events as JSON", ours: megabytes(m.bytes[oursFile]), other: megabytes(sum),
		ratios: []float64{float64(m.bytes[oursFile]) / float64(sum)}, most: 1.3,
	}
}

func perSecond(v float64) string    { return fmt.Sprintf("%.0f/s", v) }
func milliseconds(v float64) string { return fmt.Sprintf("%.2f ms", v*1000) }
func megabytes(v int64) string      { return fmt.Sprintf("%.2f MB", float64(v)/1e6) }

func seconds(r workload.Result) float64 { return r.Get.Seconds() }

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func printTable(out io.Writer, table []row) {
	fmt.Fprintln(out, "| what | ours | against | theirs | ratio | asked for | |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|")
	for _, r := range table {
		asked, verdict := r.judge()
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s |\n", r.what, r.ours, r.against, r.other, r.ratio(), asked, verdict)
	}
}

func (r row) ratio() string {
	switch len(r.ratios) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%.2f", r.ratios[0])
	default:
		return fmt.Sprintf("%.2f (%.2f to %.2f)", median(r.ratios), slices.Min(r.ratios), slices.Max(r.ratios))
	}
}

// judge returns the requirement and the verdict.
func (r row) judge() (asked, verdict string) {
	ok := true
	switch {
	case r.limit != "":
		asked, ok = r.limit, r.within
	case r.least > 0:
		asked, ok = fmt.Sprintf(">= %g", r.least), median(r.ratios) >= r.least
	case r.most > 0:
		asked, ok = fmt.Sprintf("<= %g", r.most), median(r.ratios) <= r.most
	default:
		return "", ""
	}
	if !ok {
		return asked, "missed"
	}
	return asked, "ok"
}
