package toolresult

import (
	"strconv"
	"strings"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// A masked result has its text under maskKey and the reference of the whole result under [refKey].
const (
	maskKey    = "result"
	maskOpens  = "[result masked — ~"
	maskCloses = " tokens removed]"
	// errorRunes is how much of an error stays visible: a model that no longer knows why a call failed
	// repeats it.
	errorRunes = 200
	// anyRef measures masks before the reference is known.
	anyRef = "r-0000000000000000"
)

// maskText is the text of a mask, such as "[result masked — ~12000 tokens removed]".
func maskText(tokens int) string { return maskOpens + strconv.Itoa(tokens) + maskCloses }

// maskedTokens returns the number of tokens that a result had before it was masked. masked is false if
// the result is not a mask.
func maskedTokens(response map[string]any) (tokens int, masked bool) {
	if !store.IsRef(refIn(response)) {
		return 0, false
	}
	text, _ := response[maskKey].(string)
	text, opens := strings.CutPrefix(text, maskOpens)
	digits, closes := strings.CutSuffix(text, maskCloses)
	if !opens || !closes || len(digits) > 9 {
		return 0, false
	}
	tokens, err := strconv.Atoi(digits)
	return tokens, err == nil && maskText(tokens) == maskOpens+digits+maskCloses && tokens > 0
}

// newMask returns what the model sees of a masked response. text and ref are a maskText and a reference.
// It shares the notes with the response, and no map.
func newMask(response map[string]any, text, ref any) map[string]any {
	mask := map[string]any{maskKey: text, refKey: ref}
	copyNotes(mask, response)
	if hasError(response) {
		mask[errorKey] = errorHead(response[errorKey])
	}
	return mask
}

// sizeOfMask is the number of tokens of the mask of a response that has the given number.
func sizeOfMask(name string, response map[string]any, tokens int) int {
	return sizeOfResponse(name, newMask(response, maskText(tokens), anyRef))
}

// errorHead returns the first [errorRunes] runes of an error.
func errorHead(value any) string {
	text, ok := value.(string)
	if err, is := value.(error); is {
		text, ok = errorText(err), true
	}
	if !ok {
		text = canonical.String(value)
	}
	return firstRunes(text, errorRunes)
}

// errorText returns the text of an error whose Error method may panic.
func errorText(err error) (text string) {
	defer survive.Else("toolresult: the text of an error", func() { text = "[error cannot be shown]" })
	return err.Error()
}

// IsMasked reports whether a response is a mask that a [Masker] has put in place of a result.
func IsMasked(response map[string]any) bool {
	_, masked := maskedTokens(response)
	return masked
}
