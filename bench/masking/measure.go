package main

import (
	"fmt"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/tokens"
)

// setting is a masking and the context window in which it works, in tokens.
type setting struct {
	masking toolresult.Masking
	window  int
}

// row is what a setting came to.
type row struct {
	setting
	figures
	whole figures // without masking
}

// figures are sums over all requests.
type figures struct {
	requests, prompt, cached int // the last two in tokens
	breaks                   int // requests that do not begin like the one before
	batches                  int // requests with a new batch, as the masker reports them
	masked                   int // results that are masked at the end
}

// cachedShare is the price of a cached token, in prices of others: what Anthropic, OpenAI and Google ask.
const cachedShare = 0.1

// cost is in prices of an uncached token.
func (f figures) cost() float64 {
	return float64(f.prompt-f.cached) + cachedShare*float64(f.cached)
}

// saved is the share of prompt tokens that are not sent, and price the cost compared to no masking.
func (r row) saved() float64 { return 1 - float64(r.prompt)/float64(r.whole.prompt) }
func (r row) price() float64 { return r.cost() / r.whole.cost() }

// none masks nothing.
var none = toolresult.Masking{KeepFirst: toolresult.Off, KeepLast: toolresult.Off}

// allSettings are the settings that are compared: four sizes of batches, in requests of any size and in
// requests over a quarter of two windows.
func allSettings() []setting {
	var all []setting
	for _, from := range []struct {
		share  float64
		window int
	}{{toolresult.Off, 0}, {0.25, 32_000}, {0.25, 128_000}} {
		for _, batch := range []int{toolresult.Off, 5_000, 10_000, 20_000} {
			all = append(all, setting{toolresult.Masking{BatchTokens: batch, From: from.share}, from.window})
		}
	}
	return all
}

// measure masks the requests with each setting.
func measure(sessions []*recorded, fixed int) ([]row, error) {
	whole, err := play(sessions, setting{masking: none}, fixed)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, s := range allSettings() {
		f, err := play(sessions, s, fixed)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{s, f, whole})
	}
	return rows, nil
}

// play masks the requests with one setting.
func play(sessions []*recorded, s setting, fixed int) (figures, error) {
	masker, err := toolresult.NewMasker(s.masking)
	if err != nil {
		return figures{}, err
	}
	var sum figures
	room := toolresult.Room{Effective: s.window, Fixed: fixed}
	for _, session := range sessions {
		var before []sent
		for call, request := range session.requests {
			req := copyOf(request)
			masked := masker.Apply(req, room, nil)
			if masked.Err != nil {
				return figures{}, fmt.Errorf("%s, call %d: %w", session.id, call, masked.Err)
			}
			now := look(request, req)
			sum.add(before, now, fixed, call)
			if masked.Batch {
				sum.batches++
			}
			if call == len(session.requests)-1 {
				sum.masked += masked.Results
			}
			before = now
		}
	}
	return sum, nil
}

// sent is a content as it is sent: equal values are sent as equal bytes, because a mask depends on
// nothing but the result.
type sent struct {
	content *content
	masked  uint64 // a bit for each part
}

// add adds a request.
func (f *figures) add(before, now []sent, fixed, call int) {
	f.requests++
	f.prompt += fixed
	if call > 0 {
		f.cached += fixed
	}
	same := true
	for i, c := range now {
		size := c.size()
		f.prompt += size
		if same = same && i < len(before) && before[i] == c; same {
			f.cached += size
		} else if i < len(before) {
			f.breaks++
			before = before[:i] // counted
		}
	}
	if len(now) < len(before) {
		f.breaks++
	}
}

func (s sent) size() int {
	if s.masked == 0 {
		return s.content.size
	}
	return s.content.masked[s.masked]
}

// copyOf returns a request that the masker may change.
func copyOf(request []*content) *model.LLMRequest {
	req := &model.LLMRequest{Contents: make([]*genai.Content, len(request))}
	for i, c := range request {
		changed := &genai.Content{Role: c.Role, Parts: make([]*genai.Part, len(c.Parts))}
		for j, part := range c.Parts {
			changed.Parts[j] = part
			if part.FunctionResponse != nil {
				p, response := *part, *part.FunctionResponse
				p.FunctionResponse, changed.Parts[j] = &response, &p
			}
		}
		req.Contents[i] = changed
	}
	return req
}

// look compares a request with what was sent of it.
func look(request []*content, req *model.LLMRequest) []sent {
	out := make([]sent, len(request))
	for i, c := range request {
		bits := uint64(0)
		for j, part := range req.Contents[i].Parts {
			if part.FunctionResponse != nil && changed(c.Parts[j].FunctionResponse.Response, part.FunctionResponse.Response) {
				bits |= 1 << (j % 64)
			}
		}
		if _, known := c.masked[bits]; bits != 0 && !known {
			c.masked[bits] = tokens.OfContent(req.Contents[i]) + overhead
		}
		out[i] = sent{c, bits}
	}
	return out
}

// changed reports whether the masker has replaced a response.
func changed(before, after map[string]any) bool {
	return toolresult.IsMasked(after) && !toolresult.IsMasked(before)
}
