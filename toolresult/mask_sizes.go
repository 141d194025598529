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

// sizes measures parts in tokens, and remembers what it measured. Estimating 200 contents of 4 KB takes
// milliseconds, and a request repeats the contents of the one before. Safe for concurrent use.
type sizes struct {
	prints fingerprints
	known  *lru.Cache[uint64, sized]
}

// sized is what sizes knows about a part.
type sized struct {
	tokens int
	// mask is the size of a result's mask in tokens.
	mask int
	// text and ref are the text of the mask and the reference, nil until they are needed. They hold
	// strings, ready to be put into a map.
	text, ref any
}

func newSizes() *sizes {
	known, _ := lru.New[uint64, sized](knownParts) // New fails only for a size that is not positive
	return &sizes{fingerprints{maphash.MakeSeed()}, known}
}

// ofPart returns the size of a part, without its function response.
func (s *sizes) ofPart(part *genai.Part) int {
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
func (s *sizes) ofText(text string) int {
	if len(text) < smallText {
		return tokens.Estimate(text)
	}
	print := s.prints.text(text)
	found, ok := s.known.Get(print)
	if !ok {
		found.tokens = min(tokens.Estimate(text), maxTokens)
		s.known.Add(print, found)
	}
	return found.tokens
}

// ofCall returns the size of a call.
func (s *sizes) ofCall(call *genai.FunctionCall) int {
	print, known := s.prints.named(call.Name, call.Args)
	print = mix(kindCall, print) // a call and a response may have equal fields
	if known {
		if found, ok := s.known.Get(print); ok {
			return found.tokens
		}
	}
	size := min(tokens.OfPart(&genai.Part{FunctionCall: call}), maxTokens)
	if known {
		s.known.Add(print, sized{tokens: size})
	}
	return size
}

// ofResponse returns the sizes of a response, without its media, and of its mask. Those of a response
// that is masked already are the sizes from before. print is 0 if the response has no fingerprint.
func (s *sizes) ofResponse(response *genai.FunctionResponse) (size sized, print uint64) {
	print, known := s.prints.named(response.Name, response.Response)
	if known {
		if size, ok := s.known.Get(print); ok {
			return size, print
		}
	}
	before, masked := maskedTokens(response.Response)
	if !masked {
		before = sizeOfResponse(response.Name, response.Response)
	}
	size = sized{tokens: before, mask: sizeOfMask(response.Name, response.Response, before)}
	if !known {
		return size, 0
	}
	s.known.Add(print, size)
	return size, print
}

// ofMedia returns the size of the media that belong to a response.
func (s *sizes) ofMedia(part *genai.Part) int {
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
