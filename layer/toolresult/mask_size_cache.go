package toolresult

import (
	"hash/maphash"

	lru "github.com/hashicorp/golang-lru/v2"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

const (
	// contentOverhead is what each content costs in a prompt in addition to its parts: the role and
	// the separators.
	contentOverhead = 4
	// smallText is the length in bytes below which a text is cheaper to estimate than to look up.
	smallText = 64
	// knownParts bounds a masker's memory: about 5 MB.
	knownParts = 32_768
	// maxTokens bounds the size of a result, so that sums do not overflow and a mask's number has at
	// most nine digits.
	maxTokens = 999_999_999
)

// sizeCache measures parts in tokens and remembers their sizes. Estimating 200 contents of 4 KB takes
// milliseconds, and a request repeats the contents of the one before. It is safe for concurrent use.
type sizeCache struct {
	hash  fingerprinter
	known *lru.Cache[uint64, cachedSize]
}

// cachedSize is the size of a part.
type cachedSize struct {
	tokens int
	// mask is the size of a result's mask in tokens.
	mask int
	// text and ref are the text of the mask and the reference, nil until they are needed. They hold
	// strings, ready to be put into a map.
	text, ref any
}

func newSizeCache() *sizeCache {
	known, _ := lru.New[uint64, cachedSize](knownParts) // New fails only for a size that is not positive
	return &sizeCache{fingerprinter{maphash.MakeSeed()}, known}
}

// ofPart returns the size of a part, without its function response.
func (s *sizeCache) ofPart(part *genai.Part) int {
	size := s.ofText(part.Text)
	if part.FunctionCall != nil {
		size += s.ofCall(part.FunctionCall)
	}
	if part.InlineData != nil || part.FileData != nil || part.ExecutableCode != nil || part.CodeExecutionResult != nil ||
		part.ToolCall != nil || part.ToolResponse != nil {
		rest := *part
		rest.Text, rest.FunctionCall, rest.FunctionResponse = "", nil, nil
		size += min(tokens.OfPart(&rest), maxTokens)
	}
	return size
}

// ofText returns the size of a text.
func (s *sizeCache) ofText(text string) int {
	if len(text) < smallText {
		return tokens.Estimate(text)
	}
	fingerprint := s.hash.text(text)
	found, ok := s.known.Get(fingerprint)
	if !ok {
		found.tokens = min(tokens.Estimate(text), maxTokens)
		s.known.Add(fingerprint, found)
	}
	return found.tokens
}

// ofCall returns the size of a call.
func (s *sizeCache) ofCall(call *genai.FunctionCall) int {
	fingerprint, known := s.hash.named(call.Name, call.Args)
	fingerprint = mix(kindCall, fingerprint) // a call and a response may have equal fields
	if known {
		if found, ok := s.known.Get(fingerprint); ok {
			return found.tokens
		}
	}
	size := min(tokens.OfPart(&genai.Part{FunctionCall: call}), maxTokens)
	if known {
		s.known.Add(fingerprint, cachedSize{tokens: size})
	}
	return size
}

// ofResponse returns the sizes of a response, without its media, and of its mask. Those of a response
// that is masked already are the sizes from before. fingerprint is 0 if the response has no fingerprint.
func (s *sizeCache) ofResponse(response *genai.FunctionResponse) (size cachedSize, fingerprint uint64) {
	fingerprint, known := s.hash.named(response.Name, response.Response)
	if known {
		if size, ok := s.known.Get(fingerprint); ok {
			return size, fingerprint
		}
	}
	before, masked := maskedTokens(response.Response)
	if !masked {
		before = sizeOfResponse(response.Name, response.Response)
	}
	size = cachedSize{tokens: before, mask: sizeOfMask(response.Name, response.Response, before)}
	if !known {
		return size, 0
	}
	s.known.Add(fingerprint, size)
	return size, fingerprint
}

// ofMedia returns the size of the media that belong to a response.
func (s *sizeCache) ofMedia(part *genai.Part) int {
	if len(part.FunctionResponse.Parts) == 0 {
		return 0
	}
	return min(maxTokens, tokens.OfPart(&genai.Part{
		FunctionResponse: &genai.FunctionResponse{Parts: part.FunctionResponse.Parts},
		MediaResolution:  part.MediaResolution,
	}))
}

// sizeOfResponse returns the number of tokens of a response.
func sizeOfResponse(name string, response map[string]any) int {
	return min(maxTokens, tokens.OfPart(&genai.Part{FunctionResponse: &genai.FunctionResponse{Name: name, Response: response}}))
}
