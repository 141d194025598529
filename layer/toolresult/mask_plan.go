package toolresult

import (
	"sync"

	"google.golang.org/genai"
)

// maskPlan decides which results of a request are masked. It goes through the contents from the oldest to
// the newest, and decides behind each content as if the request ended there. So each decision depends
// only on the contents before it, and a longer request makes the same ones and more.
//
// For example, with KeepFirst 1, KeepLast 2 and BatchTokens 100, results r1 to r7 of 60 tokens each:
//
//	r1 r2 r3 r4              r2 is ready to be masked, 60 tokens
//	r1 ── ── r4 r5           r2 and r3, 120 tokens: the first batch
//	r1 ── ── r4 r5 r6        r4, 60 tokens
//	r1 ── ── ── ── r6 r7     r4 and r5: the second batch
type maskPlan struct {
	*Masker
	results []result
	calls   []*genai.FunctionCall // of the newest round, without those that were answered
	newest  int                   // index of the first result of the newest round
	// model is the index of the newest content of the model: the request before this one ended there.
	model int
}

// result is one tool result of a request.
type result struct {
	response    *genai.FunctionResponse
	call        *genai.FunctionCall // nil if the request has no call of it
	content     int                 // index of its content
	fingerprint uint64              // 0: it has none
	cachedSize
	maskable bool
	// masked is true if the result was masked before the call, hide if the plan masks it. since is the
	// index of the content behind which it does.
	masked, hide bool
	since        int
}

// plans keeps the memory of plans for the next requests.
var plans = sync.Pool{New: func() any { return &maskPlan{} }}

func newMaskPlan(m *Masker) *maskPlan {
	p := plans.Get().(*maskPlan)
	p.Masker, p.newest, p.model = m, 0, -1
	return p
}

// release returns the plan for the next request. It keeps no part of this one in memory.
func (p *maskPlan) release() {
	clear(p.results)
	clear(p.calls)
	p.Masker, p.results, p.calls = nil, p.results[:0], p.calls[:0]
	plans.Put(p)
}

// chooseBatches masks the results in the middle whenever those that are still visible have the tokens of a
// batch and the request is not smaller than least.
func (p *maskPlan) chooseBatches(contents []*genai.Content, size, least, batch int) {
	border := p.keepFirst // results before it are masked, except the first
	edge := border        // the results before it are counted in ready
	ready := 0
	for i, content := range contents {
		if content == nil {
			continue
		}
		size += p.add(i, content)
		if content.Role == genai.RoleModel {
			continue // no request ends here
		}
		for limit := min(len(p.results)-p.keepLast, p.newest); edge < limit; edge++ {
			ready += p.results[edge].saving()
		}
		if ready < batch || size < least {
			continue
		}
		for j := border; j < edge; j++ {
			size -= p.hide(j, i)
		}
		border, ready = edge, 0
		size -= p.hideRepeated(edge, i)
	}
}

// hideRepeated masks results from index j on whose call was repeated since, with success. The results of
// the newest round stay visible. It returns the number of tokens saved.
func (p *maskPlan) hideRepeated(j, now int) (saved int) {
	for ; j < p.newest; j++ {
		if p.results[j].saving() == 0 {
			continue
		}
		for k := j + 1; k < len(p.results); k++ {
			if !hasError(p.results[k].response.Response) && p.sameCall(p.results[j].call, p.results[k].call) {
				saved += p.hide(j, now)
				break
			}
		}
	}
	return saved
}

// chooseAll masks all results but those of the newest round.
func (p *maskPlan) chooseAll(contents []*genai.Content) {
	for i, content := range contents {
		if content != nil {
			p.add(i, content)
		}
	}
	for j := range p.newest {
		p.hide(j, len(contents))
	}
}

// hide masks result j and returns the number of tokens saved.
func (p *maskPlan) hide(j, now int) int {
	result := &p.results[j]
	saved := result.saving()
	if saved > 0 {
		result.hide, result.since = true, now
	}
	return saved
}

// saving is the number of tokens that masking the result saves: 0 if it is masked, must not be masked, or
// is smaller than its mask.
func (r *result) saving() int {
	if !r.maskable || r.hide {
		return 0
	}
	return max(0, r.tokens-r.mask)
}

// add adds the content at index i, and returns its size.
func (p *maskPlan) add(i int, content *genai.Content) int {
	size := contentOverhead
	calls := false
	for _, part := range content.Parts {
		if part == nil {
			continue
		}
		size += p.sizes.ofPart(part)
		if part.FunctionResponse != nil {
			size += p.addResult(i, part)
		}
		if part.FunctionCall != nil {
			if !calls {
				calls = true
				clear(p.calls)
				p.calls, p.newest = p.calls[:0], len(p.results)
			}
			p.calls = append(p.calls, part.FunctionCall)
		}
	}
	if content.Role == genai.RoleModel {
		p.model = i
	}
	return size
}

// addResult adds a response of the content at index i, and returns its size.
func (p *maskPlan) addResult(i int, part *genai.Part) int {
	response := part.FunctionResponse
	size, fingerprint := p.sizes.ofResponse(response)
	_, masked := maskedTokens(response.Response)
	p.results = append(p.results, result{
		response: response, call: p.callOf(response), content: i, fingerprint: fingerprint, cachedSize: size, masked: masked,
		maskable: !exempt(response.Name, p.exempt) && (response.Name != ReadResultName || refIn(response.Response) != ""),
	})
	return size.tokens + p.sizes.ofMedia(part)
}

// callOf returns the call of the newest round that a response answers: by ID, or the first of its name, as
// ADK removes its own IDs from requests. It returns nil if there is none.
func (p *maskPlan) callOf(response *genai.FunctionResponse) *genai.FunctionCall {
	for i, call := range p.calls {
		if call != nil && call.Name == response.Name && call.ID == response.ID {
			p.calls[i] = nil
			return call
		}
	}
	return nil
}

// sameCall reports whether two calls are of the same tool with the same arguments.
func (p *maskPlan) sameCall(a, b *genai.FunctionCall) bool {
	if a == nil || b == nil || a.Name != b.Name || len(a.Args) != len(b.Args) {
		return false
	}
	x, known := p.sizes.hash.named(a.Name, a.Args)
	y, both := p.sizes.hash.named(b.Name, b.Args)
	return known && both && x == y
}
