package budget

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/genai"
)

// IsOverflow reports whether err means that a prompt is longer than the model's context window. It
// knows the texts of Gemini, Vertex AI, Anthropic, Amazon Bedrock, OpenAI and the many services with
// OpenAI's API, llama.cpp, LM Studio, Ollama, vLLM and Hugging Face TGI.
//
// Rate limits and quotas, even in tokens, bodies and media that are too large, single arguments that
// are too long, and failures of the server are not overflows: a shorter prompt does not help.
//
// [Config.Overflow] adds texts of other services. IsOverflow does not know them, but it reports every
// [*OverflowError].
func IsOverflow(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if errors.Is(err, ErrContextOverflow) {
		return true
	}
	if status, known := statusOf(err); known && status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return false
	}
	return isOverflowText(err.Error())
}

// isOverflowText reports whether a text means that a prompt is too long.
func isOverflowText(text string) bool {
	text = strings.ToLower(text)
	switch {
	case containsAny(text, otherLimits):
		return false
	case containsAny(text, overflowTexts):
		return true
	default:
		return containsAny(text, generalOverflowTexts) && !containsAny(text, doubtfulTexts)
	}
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// statusInText finds an HTTP status in the text of an error, such as "429 Too Many Requests" and "status
// code: 413".
var statusInText = regexp.MustCompile(`(?i)\b(?:status|status code|http|error code|error)[ :=]{1,3}([45]\d\d)\b|\b([45]\d\d) (?:bad|payment|too many|request entity|payload|content too|internal|gateway|service|unavailable)`)

// statusOf returns the HTTP status of an error, if it has one.
func statusOf(err error) (status int, known bool) {
	var value genai.APIError // returned by value; see TestPinOverflowIsAnErrorBeforeTheFirstResponse
	if errors.As(err, &value) {
		return value.Code, value.Code != 0
	}
	var pointer *genai.APIError
	if errors.As(err, &pointer) && pointer != nil {
		return pointer.Code, pointer.Code != 0
	}
	if status := statusField(err, 16); status != 0 {
		return status, true
	}
	if found := statusInText.FindStringSubmatch(err.Error()); found != nil {
		status, _ = strconv.Atoi(found[1] + found[2]) // three digits
		return status, true
	}
	return 0, false
}

// statusField looks for the status in the errors of other clients: the methods StatusCode and
// HTTPStatusCode, or a field StatusCode, as OpenAI's and Anthropic's have it. It returns 0 for none.
func statusField(err error, depth int) int {
	if err == nil || depth == 0 {
		return 0
	}
	switch e := err.(type) {
	case interface{ HTTPStatusCode() int }:
		return e.HTTPStatusCode()
	case interface{ StatusCode() int }:
		return e.StatusCode()
	}
	value := reflect.ValueOf(err)
	for value.Kind() == reflect.Pointer && !value.IsNil() {
		value = value.Elem()
	}
	if value.Kind() == reflect.Struct {
		if field := value.FieldByName("StatusCode"); field.IsValid() && field.CanInt() {
			return int(field.Int())
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return statusField(e.Unwrap(), depth-1)
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			if status := statusField(part, depth-1); status != 0 {
				return status
			}
		}
	}
	return 0
}

// refusal holds the numbers in the text of an overflow, in tokens as the service counts them. Each is 0
// if the text lacks it.
type refusal struct {
	limit  int // the window
	prompt int // the size of the prompt
	reply  int // the reserve for the reply that the request asked for
}

// Limits outside of this range are taken for numbers of something else.
const (
	minPlausibleLimit = 512
	maxPlausibleLimit = 100_000_000
)

var commaInNumber = regexp.MustCompile(`(\d),(\d{3})`)

// readRefusal reads the numbers in the text of an overflow. Numbers that contradict each other are
// ignored.
func readRefusal(text string) refusal {
	text = strings.ToLower(text)
	for commaInNumber.MatchString(text) {
		text = commaInNumber.ReplaceAllString(text, "$1$2")
	}
	for _, p := range limitPatterns {
		found := p.text.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		number := func(group string) int {
			i := p.text.SubexpIndex(group)
			if i < 0 {
				return 0
			}
			n, err := strconv.Atoi(found[i])
			if err != nil || n > maxPlausibleLimit {
				return 0
			}
			return n
		}
		r := refusal{limit: number("limit"), prompt: number("prompt"), reply: number("reply")}
		if r.limit < minPlausibleLimit || r.prompt > 0 && r.prompt+r.reply <= r.limit {
			return refusal{}
		}
		return r
	}
	return refusal{}
}

// onlyReply reports whether the prompt itself fits, and only the reserve for the reply does not.
func (r refusal) onlyReply() bool { return r.reply > 0 && r.prompt > 0 && r.prompt < r.limit }
