package summarizer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

// BenchmarkCheck judges texts against a window of about 100,000 tokens.
func BenchmarkCheck(b *testing.B) {
	h := &compactiontest.History{}
	for i := range 250 {
		h.Turn(fmt.Sprint("inv", i), "agent", fmt.Sprintf("Question %d about order A-%d and what it costs today. ", i, i)+strings.Repeat("Some more of it, please. ", 30), strings.Repeat("It is on its way to Lisbon. ", 30))
	}
	req := summarizer.Request{Events: h.Events}
	for name, text := range map[string]string{
		"summary":       strings.Repeat("The user asked about order A-7, and was told that it costs 12 EUR and arrives in Lisbon on Friday. ", 20),
		"with headings": "# Orders\nA-7 arrives in Lisbon.\n# Prices\nThe user asked for prices and was told some of them.\n# Next\nNothing is open.",
		"refusal":       "I'm sorry, I can't help with that.",
		"short":         "A-7.",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_ = summarizer.Check(req, text)
			}
		})
	}
}

// A text that begins as a good summary and then repeats itself is worthless.
func TestATextThatBeginsWellAndThenLoopsIsWorthless(t *testing.T) {
	t.Parallel()
	h := &compactiontest.History{}
	h.Turn("inv", "agent", "Where is my parcel?", "It is on its way, and should be with you soon.")
	req := summarizer.Request{Events: h.Events}
	begin := "The user asked where the parcel is, and was told that it comes soon. "
	if err := summarizer.Check(req, begin+"And on it went. "); err != nil {
		t.Errorf("a text with a good beginning and a short end is refused: %v", err)
	}
	if summarizer.Check(req, begin+strings.Repeat("And on it went. ", 200)) == nil {
		t.Error("a text that begins well and then loops is accepted")
	}
}
