package toolresult

import (
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/tokens"
)

// mediaTokens returns the tokens of the media that come with a result.
func mediaTokens(r *genai.FunctionResponse) int {
	if len(r.Parts) == 0 {
		return 0
	}
	return tokens.OfPart(&genai.Part{FunctionResponse: &genai.FunctionResponse{Parts: r.Parts}})
}

// maxMeasured bounds the values whose sizes are added up for people. A larger result is reported as that
// much.
const maxMeasured = 1 << 20

// sizesOf returns the sizes of a whole result, for people: bytes, lines and tokens. Tokens of a large one
// are estimated from samples. content is the result as it is read back, if it is known.
func sizesOf(response map[string]any, content string) (bytes, lines, count int) {
	if text, one := onlyText(response); one {
		text = canonical.Text(text)
		return len(text), lineCount(text), estimate(text)
	}
	m := meter{most: noLimit, left: maxMeasured}
	m.object(response)
	if m.content <= wholeEstimate {
		return m.content, m.lines + 1, countTokens(response, m.content)
	}
	if content != "" {
		return len(content), m.lines + 1, estimate(content)
	}
	return m.content, m.lines + 1, m.content / bytesPerToken
}

// countTokens returns the tokens of a result. Types whose MarshalJSON panics are counted by their bytes.
func countTokens(response map[string]any, bytes int) (count int) {
	defer func() {
		if recover() != nil {
			count = bytes / bytesPerToken
		}
	}()
	return tokens.OfObject(response)
}

// bytesPerToken is what a token of a large structured result has: JSON of tools has 2.5 to 4.
const bytesPerToken = 3

// The sampling of a large text: pieces of it, evenly spread.
const (
	wholeEstimate = 256 << 10
	samples       = 32
	sampleBytes   = 4 << 10
)

// estimate returns the approximate number of tokens of a text, of a large one from samples.
func estimate(text string) int {
	if len(text) <= wholeEstimate {
		return tokens.Estimate(text)
	}
	sum := 0
	for i := range samples {
		start := (len(text) - sampleBytes) / (samples - 1) * i
		sum += tokens.Estimate(text[start : start+sampleBytes])
	}
	return int(int64(sum) * int64(len(text)) / (samples * sampleBytes))
}
