package replaycmd

import "testing"

func TestDollarsTellSmallAmountsApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount float64
		priced bool
		want   string
	}{
		{0.05749798, true, "0.0575"},
		{2.6599, true, "2.66"},
		{1234.5, true, "1,234"},
		{0, true, "0.0000"},
		{3, false, "-"},
	} {
		if got := dollars(c.amount, c.priced); got != c.want {
			t.Errorf("dollars(%v, %v) = %q, want %q", c.amount, c.priced, got, c.want)
		}
	}
}

func TestLongNamesOfPoliciesStayApart(t *testing.T) {
	t.Parallel()
	short, long := "threshold=3 overlap=1", "summarizer=extractive max-summaries=1 max-summary-tokens=250"
	if point(short) != short || keysOf(short) != "policy" {
		t.Errorf("a short name is %q under %q", point(short), keysOf(short))
	}
	if got, keys := point(long), keysOf(long); got != "extractive / 1 / 250" || keys != "summarizer / max-summaries / max-summary-tokens" {
		t.Errorf("a long name is %q under %q", got, keys)
	}
}
