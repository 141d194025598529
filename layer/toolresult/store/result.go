package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/internal/notes"
)

// refPrefix and refDigits give a reference its form, such as r-3f9a0c11d2e47b58. 64 bits make two
// equal references in a session of a million results a matter of one in 37 million.
const (
	refPrefix = "r-"
	refDigits = 16
)

// Result is a whole tool result in the form in which it is stored and read back.
type Result struct {
	// Ref is the reference: "r-" and 16 hexadecimal digits.
	Ref string
	// Content is the text that read_result reads. For a result of one text under one key, such as {"output":
	// "…"}, it is that text; for any other result, its JSON with sorted keys and without spaces.
	Content string
	// Text is true if Content is the one text of the result, and false if it is JSON.
	Text bool
}

// ResultOf returns the form of a function response in which it is stored. Two responses have the same
// reference exactly if JSON makes them the same. Values that JSON cannot hold, such as NaN and
// cycles, are replaced by a text in brackets. Notes of layers (notes.Is) are no part of the result. It
// does not change the response.
func ResultOf(response map[string]any) Result {
	response = notes.Without(response)
	if key, text, ok := onlyText(response); ok {
		// Escaping the text as JSON would cost more than the hash.
		return Result{Ref: newRef("text", canonical.Text(key), canonical.Text(text)), Content: text, Text: true}
	}
	content := canonical.String(response)
	return Result{Ref: newRef("json", content), Content: content}
}

// TextResult returns the form in which read_result finds a text that is no tool's result: a message, an
// answer, a thought, or an attachment of text.
func TextResult(text string) Result {
	return Result{Ref: newRef("message", canonical.Text(text)), Content: text, Text: true}
}

// minText is how many bytes a text has at least that Events finds by its reference. Only texts that are
// too large for a window are referred to.
const minText = 1 << 10

// textsOf returns the texts of a part that have a reference.
func textsOf(part *genai.Part) (texts []string) {
	said := []string{part.Text}
	if part.ExecutableCode != nil {
		said = append(said, part.ExecutableCode.Code)
	}
	if part.CodeExecutionResult != nil {
		said = append(said, part.CodeExecutionResult.Output)
	}
	for _, text := range said {
		if len(text) >= minText {
			texts = append(texts, text)
		}
	}
	if d := part.InlineData; d != nil && len(d.Data) >= minText && utf8.Valid(d.Data) {
		texts = append(texts, string(d.Data))
	}
	return texts
}

// ResultsOf returns the results of an event, and its texts that read_result finds: those of 1 KiB and more.
func ResultsOf(ev *session.Event) (results []Result) {
	if ev == nil || ev.Content == nil {
		return nil
	}
	for _, part := range ev.Content.Parts {
		if part == nil {
			continue
		}
		if part.FunctionResponse != nil {
			results = append(results, ResultOf(part.FunctionResponse.Response))
		}
		for _, text := range textsOf(part) {
			results = append(results, TextResult(text))
		}
	}
	return results
}

// onlyText returns the only entry of a response, if it is a text.
func onlyText(response map[string]any) (key, text string, ok bool) {
	if len(response) != 1 {
		return "", "", false
	}
	for k, v := range response {
		key = k
		text, ok = v.(string)
	}
	return key, text, ok
}

// newRef hashes the parts, separated by a byte that occurs in no UTF-8. It copies a part in small pieces,
// because a result may have a gigabyte.
func newRef(parts ...string) string {
	h := sha256.New()
	var piece [32 << 10]byte
	for _, part := range parts {
		for len(part) > 0 {
			n := copy(piece[:], part)
			_, _ = h.Write(piece[:n]) // a hash never returns an error
			part = part[n:]
		}
		_, _ = h.Write([]byte{0xff})
	}
	return refPrefix + hex.EncodeToString(h.Sum(nil))[:refDigits]
}

// IsRef reports whether s has the form of a reference.
func IsRef(s string) bool {
	digits, found := strings.CutPrefix(s, refPrefix)
	return found && len(digits) == refDigits && strings.Trim(digits, "0123456789abcdef") == ""
}
