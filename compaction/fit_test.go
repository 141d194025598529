package compaction

import "testing"

func TestPromptsAreReadAsTheProviderCountsThem(t *testing.T) {
	t.Parallel()
	counted := func(overhead int, ratio float64, estimates ...int) fit {
		var f fit
		for _, n := range estimates {
			f.add(n, overhead+int(ratio*float64(n)))
		}
		return f
	}
	for _, r := range []struct {
		name string
		fit  fit
		want int // of 10,000
	}{
		{"nothing reported", fit{}, 10_000},
		{"overhead alone", counted(3_000, 1, 50, 80, 120), 13_000},
		{"a tokenizer that counts half as much again", counted(3_000, 1.5, 1_000, 4_000, 9_000), 18_000},
		{"the same prompt again and again", counted(3_000, 1.5, 1_000, 1_000, 1_000), 13_500},
		{"two reports are no line", counted(3_000, 1.5, 1_000, 9_000), 15_500},
		{"another agent is shown little", counted(500, 0, 1_000, 4_000, 9_000), 10_000},
		{"images are no ratio", counted(0, 9, 1_000, 4_000, 9_000), 52_667},
	} {
		if got := r.fit.of(10_000); got != r.want {
			t.Errorf("%s: a prompt of 10000 is taken for %d, want %d", r.name, got, r.want)
		}
	}
}

func TestNewReportsCountMoreThanOldOnes(t *testing.T) {
	t.Parallel()
	var f fit
	prompts := func(overhead int) {
		for range 2 * recentReports {
			for _, n := range []int{1_000, 4_000, 9_000} {
				f.add(n, n+overhead)
			}
		}
	}
	prompts(8_000) // many tools
	prompts(1_000) // hardly any
	if got := f.of(0); got < 1_000 || got > 1_200 {
		t.Errorf("overhead is taken for %d, want little more than 1000", got)
	}
}

func TestNoisyReportsMakeNoRatio(t *testing.T) {
	t.Parallel()
	var f fit
	for i, n := range []int{4_000, 4_100, 4_050, 4_020, 4_080, 4_010} {
		f.add(n, n+1_000+[]int{0, 400}[i%2])
	}
	if ratio, _ := f.line(); ratio != 1 {
		t.Errorf("a ratio of %v was read from prompts of like size that scatter by hundreds", ratio)
	}
}

// At the hard limit all prompts are of like size.
func TestTheRatioIsRememberedWherePromptsBecomeAlike(t *testing.T) {
	t.Parallel()
	var f fit
	for _, n := range []int{1_000, 4_000, 9_000} {
		f.add(n, 3_000+n*3/2)
	}
	for range recentReports {
		f.add(8_000, 15_000)
	}
	if got := f.more(1_000); got < 1_500 || got > 1_501 {
		t.Errorf("1000 more are taken for %d, want 1500", got)
	}
}

func TestAnAgentThatIsShownLittleTellsNothingOfOthers(t *testing.T) {
	t.Parallel()
	var formatter, root fit
	for _, n := range []int{1_000, 4_000, 9_000} {
		formatter.add(n, 400)
		root.add(n, n*4/5) // a tokenizer that counts less
	}
	if !formatter.little() || root.little() {
		t.Errorf("shown little: %t and %t, want true and false", formatter.little(), root.little())
	}
}
