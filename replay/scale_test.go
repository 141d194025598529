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
		{"nothing recorded", []int{0, 0, 0, 0}, 1, 0},
		{"one prompt", []int{5_100, 0, 0, 0}, 1, 5_000},
		{"a line", []int{5_150, 8_000, 14_000, 18_500}, 1.5, 5_000},
		{"gaps", []int{0, 8_000, 0, 18_500}, 1.5, 5_000},
		{"too steep to be a tokenizer", []int{1_000, 90_000, 300_000, 500_000}, 2, 800},
		{"less than the messages", []int{95, 1_900, 5_700, 8_550}, 0.95, 0},
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
		{"fits", FixedAuto, 10_000, 5_000, [3]int{5_150, 8_000, 14_000}, 6_500, false},
		{"does not fit", FixedAuto, 9_999, 0, [3]int{150, 3_000, 9_000}, 1_500, true},
		{"asked for", FixedRecorded, 1_000, 5_000, [3]int{5_150, 8_000, 14_000}, 6_500, false},
		{"given", 700, 1_000, 700, [3]int{850, 3_700, 9_700}, 2_200, false},
		{"none", 0, 1_000, 0, [3]int{150, 3_000, 9_000}, 1_500, false},
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
		{"zero", []int{0, 0, 0, 0}, 0, 0, 1, 0},
		{"one", []int{1, 1, 1, 1}, 0, 4, 1, 0},
		{"a million", []int{1_000_000, 1_000_000, 1_000_000, 1_000_000}, 0, 4, 1, 0},
		{"a million, now and then", []int{5_150, 1_000_000, 14_000, 18_500}, 200_000, 1, 1.5, 5_000},
		{"without the cached part", []int{5_150, 8_000, 120, 140}, 0, 2, 1.5, 5_000},
		{"honest", []int{5_150, 8_000, 14_000, 18_500}, 200_000, 0, 1.5, 5_000},
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
