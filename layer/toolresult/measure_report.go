package toolresult

import (
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/internal/survive"
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

// sizesOf returns the sizes of a whole result in the units of [Limits]: bytes and lines of its JSON, and tokens. Tokens
// of a large one are estimated from samples. content is the result as it is read back, if it is known.
func sizesOf(tool string, response map[string]any, content string) (bytes, lines, count int) {
	m := meter{most: noLimit, left: maxMeasured}
	m.object(response)
	bytes, lines = m.bytes, m.lines+1
	if text, one := onlyText(response); one && m.content > wholeEstimate {
		content = text
	}
	switch {
	case m.content <= wholeEstimate:
		count = countTokens(tool, response)
	case content != "":
		count = textTokens(content)
	default:
		count = m.content / bytesPerToken
	}
	return bytes, lines, count
}

// countTokens returns the tokens of a result. It is the one count by which a result is cut and reported. A provider may
// read the JSON, with its escapes, or the texts as they are, so the larger of the two counts. In most results that is
// the JSON; with many short lines it is the texts, as a line costs more than the two characters of its escape. Types
// whose MarshalJSON panics are counted by their bytes.
func countTokens(tool string, response map[string]any) (count int) {
	defer survive.Else("toolresult: the size of a result", func() {
		m := meter{most: noLimit, left: maxMeasured}
		m.object(response)
		count = m.content / bytesPerToken
	})
	sum := textSum{left: maxMeasured}
	sum.value(response)
	return max(sum.tokens, tokens.OfPart(&genai.Part{FunctionResponse: &genai.FunctionResponse{Name: tool, Response: response}}))
}

// textSum adds up the tokens of the texts of a value, as they are.
type textSum struct {
	path   canonical.Path
	left   int // values that may still be read
	tokens int
}

func (s *textSum) value(v any) {
	if s.left--; s.left < 0 {
		return
	}
	switch v := v.(type) {
	case string:
		s.tokens += tokens.Estimate(v)
	case map[string]any:
		if s.path.EnterObject(v) != "" {
			return
		}
		defer s.path.Leave()
		for _, element := range v {
			s.value(element)
		}
	case []any:
		if s.path.EnterList(v) != "" {
			return
		}
		defer s.path.Leave()
		for _, element := range v {
			s.value(element)
		}
	}
}

// bytesPerToken is what a token of a large structured result has: JSON of tools has 2.5 to 4.
const bytesPerToken = 3

// The sampling of a large text: pieces of it, evenly spread.
const (
	wholeEstimate = 256 << 10
	samples       = 32
	sampleBytes   = 4 << 10
)

// textTokens returns the approximate number of tokens of texts, counted as countTokens does. It reads samples of a large
// one.
func textTokens(texts ...string) int {
	plain, quoted := 0, 0
	for _, text := range texts {
		if len(text) <= wholeEstimate {
			plain, quoted = plain+tokens.Estimate(text), quoted+quotedTokens(text)
			continue
		}
		for i := range samples {
			start := (len(text) - sampleBytes) / (samples - 1) * i
			piece := text[start : start+sampleBytes]
			share := func(n int) int { return int(int64(n) * int64(len(text)) / (samples * sampleBytes)) }
			plain, quoted = plain+share(tokens.Estimate(piece)), quoted+share(quotedTokens(piece))
		}
	}
	return max(plain, quoted)
}

// quotedTokens returns the tokens of a text in JSON, without those of its quotes.
func quotedTokens(text string) int {
	return max(0, tokens.OfObject(map[string]any{"": text})-tokens.OfObject(map[string]any{"": ""}))
}
