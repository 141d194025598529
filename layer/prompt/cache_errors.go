package prompt

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/genai"
)

// errNoName is for a cache that was created without a name.
var errNoName = errors.New("the provider has created a cache without a name")

var (
	// namesACache matches what the services say about caches: "CachedContent not found (or permission
	// denied)", "Cache content 123 is expired.", "Not found: cached content metadata for 123".
	namesACache = regexp.MustCompile(`(?i)\bcached?[ _-]?contents?\b`)
	// notFound matches the first of these.
	notFound = regexp.MustCompile(`(?i)not found`)
	// tooLong matches the refusal of a prompt for its length, which no cache has caused.
	tooLong = regexp.MustCompile(`(?i)token.{0,40}exceed|exceed.{0,80}token`)
	// tooSmall matches "Cached content is too small. total_token_count=896, min_total_token_count=1024" of
	// the Gemini API, and "The minimum token count to start caching is 4096." of Vertex AI.
	tooSmall = regexp.MustCompile(`(?i)too small|minimum token count|min_total_token_count`)

	hasTokens   = regexp.MustCompile(`\btotal_token_count\s*=\s*(\d+)`)
	needsTokens = regexp.MustCompile(`(?i)(?:min_total_token_count\s*=|minimum token count[^0-9]{0,60})\s*(\d+)`)
)

// refusesCache reports whether a provider has refused a request because of its cache.
func refusesCache(err error, name string) bool {
	api, ok := apiError(err)
	if !ok {
		return false
	}
	switch api.Code {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		return (namesACache.MatchString(api.Message) || strings.Contains(api.Message, name)) && !tooLong.MatchString(api.Message)
	}
	return false
}

// isGone reports whether an error means that a cache does not exist anymore. The Gemini API says so with a 403,
// with which Vertex AI also refuses who lacks a permission: that cache exists, and is billed.
func isGone(err error) bool {
	api, ok := apiError(err)
	return ok && (api.Code == http.StatusNotFound || api.Code == http.StatusForbidden && notFound.MatchString(api.Message))
}

// refusesSize reports whether a provider has refused to create a cache because it is too small, and with
// which numbers of tokens: 0 if it does not say.
func refusesSize(err error) (total, minimum int, ok bool) {
	api, known := apiError(err)
	if !known || api.Code != http.StatusBadRequest || !tooSmall.MatchString(api.Message) {
		return 0, 0, false
	}
	return numberIn(hasTokens, api.Message), numberIn(needsTokens, api.Message), true
}

func numberIn(pattern *regexp.Regexp, text string) int {
	found := pattern.FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return 0
	}
	return n
}

// apiError finds the error of a Google service, which is a value: see
// TestPinOverflowIsAnErrorBeforeTheFirstResponse.
func apiError(err error) (genai.APIError, bool) {
	var value genai.APIError
	if errors.As(err, &value) {
		return value, true
	}
	var pointer *genai.APIError
	if errors.As(err, &pointer) && pointer != nil {
		return *pointer, true
	}
	return value, false
}
