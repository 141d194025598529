package lives_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/compaction"
)

// oversized are turns with one text that is larger than a window of 4,000 tokens.
var oversized = map[string]turn{
	"a message":               {text: 6_000, steps: []step{{text: 20}}},
	"an answer":               {text: 10, steps: []step{{text: 6_000}}},
	"a result":                {text: 10, steps: []step{{result: 6_000}, {text: 20}}},
	"a thought":               {text: 10, steps: []step{{thought: 6_000, text: 20}}},
	"a thought behind a call": {text: 10, steps: []step{{thought: 6_000, result: 20}, {text: 20}}},
	"code":                    {text: 10, steps: []step{{code: 6_000, output: 20, text: 20}}},
	"the output of code":      {text: 10, steps: []step{{code: 20, output: 6_000, text: 20}}},
	"arguments of a call":     {text: 10, steps: []step{{arguments: 6_000, result: 20}, {text: 20}}},
	"an attachment":           {text: 10, attachment: 6_000, steps: []step{{text: 20}}},
}

func TestNoSessionDiesOfOneLargeText(t *testing.T) {
	t.Parallel()
	for name, large := range oversized {
		for _, k := range []kind{stack, wholeTools, alone, observed} {
			t.Run(string(k)+", "+name, func(t *testing.T) {
				t.Parallel()
				l := newLife(t, k, 4_000, false)
				defer l.close()
				if err := l.hello(); err != nil {
					t.Fatal(err)
				}
				err := l.say(large)
				alone := large.message() > 4_000
				if k == stack || k == wholeTools {
					if isOverflow(err) != alone || err != nil && !alone {
						t.Errorf("the turn with the large text: %v", err)
					}
				}
				for n := range 8 {
					if err := l.hello(); err != nil {
						t.Errorf("turn %d behind it: %v", n+1, err)
					}
				}
			})
		}
	}
}

// TestTwoLargeMessagesFollowEachOther: each is about half of the window, so two of them never fit. The newest is sent as
// it was said, and the request with it is within the hard limit.
func TestTwoLargeMessagesFollowEachOther(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{stack, wholeTools, fitting, alone} {
		for _, background := range []bool{false, true} {
			for _, size := range []int{9_500, 11_000} {
				l := newLife(t, k, 20_000, background)
				for n := range 3 {
					said := size + n // each of its own length
					if err := l.say(turn{text: said, steps: []step{{text: 50}}}); err != nil {
						t.Errorf("%s, in the background %v, message %d of %d tokens: %v", k, background, n+1, said, err)
						continue
					}
					last := l.model.last.Contents[len(l.model.last.Contents)-1]
					if len(last.Parts) == 0 || last.Parts[len(last.Parts)-1].Text != words(said) {
						t.Errorf("%s, in the background %v: message %d of %d tokens is not sent as it was said", k, background, n+1, said)
					}
					if hard := 17_640; l.model.largest > hard {
						t.Errorf("%s, in the background %v: the request with message %d of %d tokens has %d, over the hard limit of %d", k, background, n+1, said, l.model.largest, hard)
					}
				}
				if l.model.refused > 0 {
					t.Errorf("%s, in the background %v, messages of %d tokens: %d requests are over the window", k, background, size, l.model.refused)
				}
				l.close()
			}
		}
	}
}

// TestNothingIsShortenedForAProviderThatCountsLess: what it has counted says that the prompt fits.
func TestNothingIsShortenedForAProviderThatCountsLess(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{alone, observed} {
		l := newLife(t, k, 4_000, false, func(c *compaction.Config) { // the hard limit alone
			c.InvocationThreshold, c.TokenThreshold, c.SafetyRatio = compaction.Off, compaction.Off, compaction.Off
		})
		defer l.close()
		l.model.more = -0.15
		largest := 0
		for n := range 10 { // the eleventh message is over the hard limit for the provider, too
			if err := l.say(turn{text: 300, steps: []step{{text: 100}}}); err != nil {
				t.Fatalf("%s, turn %d: %v", k, n+1, err)
			}
			for _, content := range l.model.last.Contents {
				for _, part := range content.Parts {
					if strings.Contains(part.Text, "tokens (both)]") {
						t.Fatalf("%s, turn %d: shortened to %.200q", k, n+1, part.Text)
					}
				}
			}
			largest = max(largest, sizeOf(l.model.last))
		}
		if largest < 3_600 {
			t.Errorf("%s: the largest prompt has %d tokens by estimate: the test shows too little", k, largest)
		}
	}
}

// TestNoRequestIsRefusedByAProviderThatCountsMore: once it has counted some prompts, its own tokens are kept within the
// window, not those of the estimate.
func TestNoRequestIsRefusedByAProviderThatCountsMore(t *testing.T) {
	t.Parallel()
	for name, large := range oversized {
		if large.message() > 4_000 {
			continue // such a message is refused in any case
		}
		for _, k := range []kind{stack, wholeTools, alone, observed} {
			t.Run(string(k)+", "+name, func(t *testing.T) {
				t.Parallel()
				l := newLife(t, k, 4_000, false)
				defer l.close()
				l.model.more = 0.4
				large.text = 1_500 // what is left beside it fits by estimate only
				for _, u := range slices.Concat([]turn{{text: 200}, {text: 500}, {text: 100}, {text: 300}}, []turn{large, {text: 10}, {text: 100}}) {
					if err := l.say(u); err != nil {
						t.Errorf("a message of %d tokens: %v", u.message(), err)
					}
				}
				if l.model.refused > 0 {
					t.Errorf("%d of %d requests are over the window", l.model.refused, l.model.requests)
				}
			})
		}
	}
}
