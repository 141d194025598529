package prompt

import (
	"errors"
	"fmt"
	"testing"

	"google.golang.org/genai"
)

func TestRefusalsOfASize(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		err            error
		total, minimum int
		ok             bool
	}{
		// BerriAI/litellm #17696
		{genai.APIError{Code: 400, Message: "Cached content is too small. total_token_count=896, min_total_token_count=1024"}, 896, 1_024, true},
		// Vertex AI
		{fmt.Errorf("create: %w", genai.APIError{Code: 400, Message: "The cached content is of 2000 tokens. The minimum token count to start caching is 4096."}), 0, 4_096, true},
		{genai.APIError{Code: 400, Message: "Cached content is too small."}, 0, 0, true},
		{genai.APIError{Code: 400, Message: "Request contains an invalid argument."}, 0, 0, false},
		{genai.APIError{Code: 429, Message: "too small a quota"}, 0, 0, false},
		{errors.New("too small"), 0, 0, false},
	} {
		if total, minimum, ok := refusesSize(r.err); total != r.total || minimum != r.minimum || ok != r.ok {
			t.Errorf("%v: %d, %d, %v", r.err, total, minimum, ok)
		}
	}
}
