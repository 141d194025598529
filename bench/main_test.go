package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/bench/workload"
)

// The test runs the whole comparison at a small size, and does not check speed. It builds the
// programs itself, which the cache of test results does not notice: use -count=1.
func TestEveryMeasurementIsMade(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	args := []string{"-rounds", "1", "-for", "20ms", "-events", "200", "-dir", t.TempDir()}
	if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	table := lines[4:] // below the settings, an empty line and the head
	if len(table) != 16 {
		t.Errorf("%d rows, want 16:\n%s", len(table), stdout.String())
	}
	digit := regexp.MustCompile(`\d`)
	for _, line := range table {
		cells := strings.Split(line, "|")
		if len(cells) != 9 || !digit.MatchString(cells[2]) || !digit.MatchString(cells[4]) || strings.Contains(line, "NaN") || strings.Contains(line, "Inf") {
			t.Errorf("row without figures: %s", line)
		}
	}
	if !strings.Contains(stdout.String(), "| 0 of ") {
		t.Errorf("appends of ours failed:\n%s", stdout.String())
	}
}

func TestADemandIsJudgedByTheMedianRound(t *testing.T) {
	t.Parallel()
	rounds := func(rates ...int) (all []workload.Result) {
		for _, rate := range rates {
			all = append(all, workload.Result{Appended: rate, Seconds: 1})
		}
		return all
	}
	m := measured{rounds: map[string][]workload.Result{"ours": rounds(90, 10, 50), "theirs": rounds(10, 10, 10)}}
	for least, want := range map[float64]string{5: "ok", 5.1: "missed", 0: ""} {
		r := compare(m, "append", "ours", "theirs", least, workload.Result.PerSecond, perSecond)
		if _, got := r.judge(); got != want || r.ratio() != "5.00 (1.00 to 9.00)" {
			t.Errorf("at least %v: %q with ratio %s, want %q with the median of three rounds", least, got, r.ratio(), want)
		}
	}
	most := row{ratios: []float64{1.6}, most: 1.5}
	if _, got := most.judge(); got != "missed" {
		t.Errorf("1.6 where at most 1.5 is required: %q", got)
	}
}

// A read that returns everything must not count as a read of a view.
func TestAReadOfSomethingElseIsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		variant string
		shown   int
		good    bool
	}{{"wrapped", 25, true}, {"wrapped", 10_000, false}, {"", 10_000, true}, {"", 25, false}} {
		one := measurement{job: workload.Job{Task: workload.Get, Variant: tt.variant, For: time.Second}}
		if err := plausible(one, workload.Result{Shown: tt.shown}, 10_000); (err == nil) != tt.good {
			t.Errorf("variant %q showing %d events: %v", tt.variant, tt.shown, err)
		}
	}
}

func TestCallsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-rounds", "0"}, {"-events", "10"}, {"-for", "0s"}, {"extra"}, {"-nonsense"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("%v: exit code %d, stderr %q", args, code, stderr.String())
		}
	}
}
