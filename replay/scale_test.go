package replay

import "testing"

func TestScaleIsReadFromRecordedCounts(t *testing.T) {
	t.Parallel()
	estimates := []int{100, 2_000, 6_000, 9_000}
	for _, r := range []struct {
		name     string
		recorded []int
		ratio    float64
		fixed    float64
	}{
		{name: "nothing recorded", recorded: []int{0, 0, 0, 0}, ratio: 1},
		{name: "one prompt", recorded: []int{5_100, 0, 0, 0}, ratio: 1, fixed: 5_000},
		{name: "a line", recorded: []int{5_150, 8_000, 14_000, 18_500}, ratio: 1.5, fixed: 5_000},
		{name: "gaps", recorded: []int{0, 8_000, 0, 18_500}, ratio: 1.5, fixed: 5_000},
		{name: "too steep to be a tokenizer", recorded: []int{1_000, 90_000, 300_000, 500_000}, ratio: 2, fixed: 800},
		{name: "less than the messages", recorded: []int{95, 1_900, 5_700, 8_550}, ratio: 0.95},
	} {
		s := newScale(estimates, r.recorded, 0)
		if diff := s.ratio - r.ratio; diff > 0.01 || diff < -0.01 || s.fixed != r.fixed {
			t.Errorf("%s: ratio %.3f and %v fixed tokens, want %.3f and %v", r.name, s.ratio, s.fixed, r.ratio, r.fixed)
		}
	}
}

func TestFixedPartIsLeftOutWhereItWouldFillTheWindow(t *testing.T) {
	t.Parallel()
	s := newScale([]int{100, 2_000, 6_000}, []int{5_150, 8_000, 14_000}, 0)
	for _, r := range []struct {
		name   string
		how    Fixed
		window int
		base   int
		counts [3]int // of the recorded prompts
		of     int    // 1,000 estimated tokens
		left   bool
	}{
		{name: "fits", how: FixedAuto, window: 10_000, base: 5_000, counts: [3]int{5_150, 8_000, 14_000}, of: 6_500},
		{name: "does not fit", how: FixedAuto, window: 9_999, counts: [3]int{150, 3_000, 9_000}, of: 1_500, left: true},
		{name: "asked for", how: FixedRecorded, window: 1_000, base: 5_000, counts: [3]int{5_150, 8_000, 14_000}, of: 6_500},
		{name: "given", how: 700, window: 1_000, base: 700, counts: [3]int{850, 3_700, 9_700}, of: 2_200},
		{name: "none", window: 1_000, counts: [3]int{150, 3_000, 9_000}, of: 1_500},
	} {
		got := s.under(r.how, r.window)
		counts := [3]int{got.at(0, 100), got.at(1, 2_000), got.at(2, 6_000)}
		if got.base() != r.base || counts != r.counts || got.of(1_000) != r.of || got.leftOut != r.left {
			t.Errorf("%s: base %d, counts %v, of(1000) %d, left out %v; want %d, %v, %d, %v", r.name, got.base(), counts, got.of(1_000), got.leftOut,
				r.base, r.counts, r.of, r.left)
		}
	}
	if got := s.at(1, 1_500); got != s.of(1_500) {
		t.Errorf("a shorter prompt counts %d, as if it had been recorded", got)
	}
}

func TestImplausibleCountsAreIgnored(t *testing.T) {
	t.Parallel()
	estimates := []int{100, 2_000, 6_000, 9_000}
	for _, r := range []struct {
		name        string
		recorded    []int
		window      int
		implausible int
		ratio       float64
		fixed       float64
	}{
		{name: "zero", recorded: []int{0, 0, 0, 0}, ratio: 1},
		{name: "one", recorded: []int{1, 1, 1, 1}, implausible: 4, ratio: 1},
		{name: "a million", recorded: []int{1_000_000, 1_000_000, 1_000_000, 1_000_000}, implausible: 4, ratio: 1},
		{name: "a million, now and then", recorded: []int{5_150, 1_000_000, 14_000, 18_500}, window: 200_000, implausible: 1, ratio: 1.5, fixed: 5_000},
		{name: "without the cached part", recorded: []int{5_150, 8_000, 120, 140}, implausible: 2, ratio: 1.5, fixed: 5_000},
		{name: "honest", recorded: []int{5_150, 8_000, 14_000, 18_500}, window: 200_000, ratio: 1.5, fixed: 5_000},
	} {
		s := newScale(estimates, r.recorded, r.window)
		if diff := s.ratio - r.ratio; s.implausible != r.implausible || diff > 0.01 || diff < -0.01 || s.fixed != r.fixed {
			t.Errorf("%s: %d implausible counts, ratio %.3f and %v fixed tokens, want %d, %.3f and %v", r.name, s.implausible, s.ratio, s.fixed, r.implausible, r.ratio, r.fixed)
		}
		for i, count := range r.recorded {
			if got := s.at(i, estimates[i]); s.recorded[i] == 0 && got == count && count > 0 {
				t.Errorf("%s: call %d counts %d, which is implausible", r.name, i, got)
			}
		}
	}
}
