package promptsize_test

import (
	"testing"

	"github.com/adk-go-ext/longsession/internal/promptsize"
)

// fitTo counts prompts of the estimates as overhead + ratio × estimate.
func fitTo(overhead int, ratio float64, estimates ...int) promptsize.Fit {
	var f promptsize.Fit
	for _, n := range estimates {
		f.Add(n, overhead+int(ratio*float64(n)))
	}
	return f
}

func TestPromptsAreReadAsTheProviderCountsThem(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name string
		fit  promptsize.Fit
		want int // of 10,000
	}{
		{"no counts", promptsize.Fit{}, 10_000},
		{"overhead alone", fitTo(3_000, 1, 50, 80, 120), 13_000},
		{"a tokenizer that counts half as much again", fitTo(3_000, 1.5, 1_000, 4_000, 9_000), 18_000},
		{"the same prompt again and again", fitTo(3_000, 1.5, 1_000, 1_000, 1_000), 13_500},
		{"two counts are no line", fitTo(3_000, 1.5, 1_000, 9_000), 15_500},
		{"an agent that is shown little", fitTo(500, 0, 1_000, 4_000, 9_000), 10_000},
		{"images are no ratio", fitTo(0, 9, 1_000, 4_000, 9_000), 52_667},
	} {
		if got := r.fit.Line().Of(10_000); got != r.want {
			t.Errorf("%s: a prompt of 10000 is taken for %d, want %d", r.name, got, r.want)
		}
	}
}

func TestFadedCountsWeighLess(t *testing.T) {
	t.Parallel()
	var f promptsize.Fit
	prompts := func(overhead int) {
		for range 60 {
			for _, n := range []int{1_000, 4_000, 9_000} {
				f.Fade(29)
				f.Add(n, n+overhead)
			}
		}
	}
	prompts(8_000) // many tools
	prompts(1_000) // hardly any
	if got := f.Line().Of(0); got < 1_000 || got > 1_200 {
		t.Errorf("overhead is taken for %d, want little more than 1000", got)
	}
	if f.Weight() > 30.001 {
		t.Errorf("%v counts weigh, want 30", f.Weight())
	}
}

func TestNoisyCountsMakeNoRatio(t *testing.T) {
	t.Parallel()
	var f promptsize.Fit
	for i, n := range []int{4_000, 4_100, 4_050, 4_020, 4_080, 4_010} {
		f.Add(n, n+1_000+[]int{0, 400}[i%2])
	}
	if ratio := f.Line().Ratio; ratio != 1 {
		t.Errorf("a ratio of %v was read from prompts of like size that scatter by hundreds", ratio)
	}
}

// At the hard limit all prompts have about the same size.
func TestTheRatioIsRememberedWherePromptsBecomeAlike(t *testing.T) {
	t.Parallel()
	f := fitTo(3_000, 1.5, 1_000, 4_000, 9_000)
	for range 30 {
		f.Fade(29)
		f.Add(8_000, 15_000)
	}
	if got := f.Line().More(1_000); got < 1_500 || got > 1_501 {
		t.Errorf("1000 more are taken for %d, want 1500", got)
	}
}

func TestCountsOfAnAgentThatIsShownLittleAreRecognized(t *testing.T) {
	t.Parallel()
	if formatter := fitTo(400, 0, 1_000, 4_000, 9_000); !formatter.Undercounts() {
		t.Error("counts of 400 are taken for whole prompts")
	}
	if root := fitTo(0, 0.8, 1_000, 4_000, 9_000); root.Undercounts() {
		t.Error("a tokenizer that counts a fifth less is taken for an agent that is shown little")
	}
}

// A recording is read as it is: its ratio may be below 1, and no count of it is doubted.
func TestALineThroughTheFirstCount(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name            string
		fit             promptsize.Fit
		estimate, first int
		want            promptsize.Line
	}{
		{"one count", fitTo(5_000, 1, 100), 100, 5_100, promptsize.Line{Ratio: 1, Overhead: 5_000}},
		{"two counts are a line", fitTo(5_000, 1.5, 100, 2_000), 100, 5_150, promptsize.Line{Ratio: 1.5, Overhead: 5_000}},
		{"fewer than estimated", fitTo(0, 0.75, 400, 4_000, 8_000), 400, 300, promptsize.Line{Ratio: 0.75}},
		{"far fewer", fitTo(0, 0.25, 400, 4_000), 400, 100, promptsize.Line{Ratio: 0.5}},
		{"images", fitTo(0, 9, 100, 4_000), 100, 900, promptsize.Line{Ratio: 2, Overhead: 700}},
	} {
		if got := r.fit.LineThrough(r.estimate, r.first); got != r.want {
			t.Errorf("%s: %+v, want %+v", r.name, got, r.want)
		}
	}
}

func TestTheLineNearTheLatestCountFollowsCountsThatLieOnALine(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name              string
		fit               promptsize.Fit
		estimate, counted int
		next, want, close int
	}{
		{"no overhead is assumed of one count", fitTo(0, 1.4, 2_000), 2_000, 2_800, 3_000, 4_200, 0},
		{"no tokenizer counts twice the estimate", fitTo(2_000, 1, 2_000), 2_000, 4_000, 3_000, 5_250, 0},
		{"counts that lie on a line", fitTo(2_000, 1, 1_000, 2_000, 3_000), 3_000, 5_000, 10_000, 12_000, 100},
		{"a ratio below 1", fitTo(1_000, 0.7, 2_000, 4_000, 6_000), 6_000, 5_200, 12_000, 9_400, 50},
		{"hardly any spread", fitTo(1_000, 0.9, 2_000, 2_000, 2_000), 2_000, 2_800, 1_000, 1_400, 0},
		{"images are no ratio", fitTo(0, 9, 1_000, 4_000, 9_000), 9_000, 81_000, 10_000, 83_000, 0},
		{"nothing is estimated", promptsize.Fit{}, 0, 300, 100, 400, 0},
	} {
		line := r.fit.LineNear(r.estimate, r.counted)
		if got := line.Of(r.estimate); got != r.counted {
			t.Errorf("%s: the line misses the latest count: %d", r.name, got)
		}
		if got := line.Of(r.next); got < r.want-r.close || got > r.want+r.close {
			t.Errorf("%s: %d is expected for %d, want %d", r.name, got, r.next, r.want)
		}
	}
}

func TestTheMarginIsOfWhatIsNotCountedAndOfTheCount(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ counted, change, want int }{
		{0, 0, 64}, {8_000, 0, 164}, {8_000, 4_000, 1_164}, {8_000, -4_000, 1_164},
	} {
		if got := promptsize.Margin(r.counted, r.change); got != r.want {
			t.Errorf("counted %d, changed by %d: %d, want %d", r.counted, r.change, got, r.want)
		}
	}
}
