package summarizer

import (
	"context"
	"fmt"
)

// Check returns nil if text is usable as a summary of req. If text is worthless, it returns an
// error that wraps [ErrUnusable] and names the reason. It never quotes the text. ([Prose] finds out
// Check returns nil if text is usable as a summary of req. Otherwise it returns an error that wraps
// [ErrUnusable] and gives the reason without quoting the text. ([Prose] finds out whether an answer
// has any text at all. Check judges that text.)
//
// A text is worthless if, without its markup, headings and introductions, it is
//
//   - empty: punctuation, "null", "N/A", a JSON object or a code fence with no sentence in it, a
//     placeholder, headings alone, or the prompt given back;
//   - an error that a gateway passed on as an answer: a web page, a JSON object with an "error";
//   - one word or phrase, repeated over and over;
//   - about the task instead of the conversation: a refusal (in some thirty languages), a request for
//     the text to summarize, an offer to help;
//   - too short for its window. A window of a few words needs one word, a window of 180 different
//     words needs six, and up to four more where the window is rich in concrete values and the text
//     keeps none of them. Each value that the text keeps counts as four words.
//
// A text refuses if it begins with a refusal in the first person. A sentence that keeps a concrete
// value of the window never counts as a refusal:
//
//	"I can't help with that."                    refused
//	"The assistant said it could not help."      a report
//	"I cannot refund order A-17 before Monday."  a report, if the window has A-17
//
// The digest that [Extractive] writes for req always passes, because it is the last fallback.
//
// Check calls no model and does not modify req. Its running time is linear in the size of text, and
// also in the size of the window if text is short.
func Check(req Request, text string) error {
	reason := judge(req, text)
	if reason == "" || isDigest(req, text) {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrUnusable, reason)
}

// judge returns the reason why text is worthless, or "" if it is usable. It first looks at the
// whole text (the prompt returned, an error page), then at the sentences that are left after markup
// and sentences about the task are removed:
//
//	"Sure! Here is the summary:\nOrder A-17 was refunded."
//
// leaves "Order A-17 was refunded.", which must be long enough for the window.
func judge(req Request, text string) string {
	if echoes(text) {
		return "the text repeats the prompt"
	}
	w := &window{req: req}
	if isErrorReport(text) && w.keeps(text) == 0 {
		return "the text is an error of the service, not an answer"
	}
	said := substanceOf(text, w)
	if len(said) == 0 {
		return "the text holds no prose"
	}
	kept, d, evades := answering(said, w)
	if len(kept) == 0 {
		return "the text does not answer: it refuses, asks or announces"
	}
	distinct := d.distinct()
	switch {
	case d.namesOnly():
		return "the text names the conversation, and says nothing of it"
	case d.loops() && w.keeps(kept...) == 0:
		return "the text repeats itself"
	case evades && w.keeps(kept...) == 0:
		return "the text refuses, and keeps no value of its window"
	case distinct >= mostWords:
		return "" // enough for any window
	}
	values := w.keeps(kept...)
	least := w.leastWords()
	if values == 0 {
		least += w.extraWords()
	}
	if distinct+wordsPerValue*values >= least && (values > 0 || d.readable()) {
		return ""
	}
	return fmt.Sprintf("the text is too short for its window: %d different words, at least %d are needed", distinct, max(least, 1))
}

// isDigest reports whether text is what [Extractive] writes for req.
func isDigest(req Request, text string) bool {
	if len(text) > 64*(req.maxTokens()+1) { // no digest is that long
		return false
	}
	res, err := Extractive{}.Summarize(context.Background(), req)
	if err != nil {
		return false
	}
	digest, err := Prose(res.Content)
	return err == nil && digest == text
}
