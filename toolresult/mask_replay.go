package toolresult

import (
	"sync"

	"google.golang.org/genai"
)

// replay decides which results of a request are masked. It goes through the contents from the oldest to
// the newest, and decides behind each content as if the request ended there. So each decision depends
// only on the contents before it, and a longer request makes the same ones and more.
//
// For example, with KeepFirst 1, KeepLast 2 and BatchTokens 100, results r1 to r7 of 60 tokens each:
//
//	r1 r2 r3 r4              r2 is ready to be masked, 60 tokens
//	r1 ── ── r4 r5           r2 and r3, 120 tokens: the first batch
//	r1 ── ── r4 r5 r6        r4, 60 tokens
//	r1 ── ── ── ── r6 r7     r4 and r5: the second batch
type replay struct {
	*Masker
	results []result
	calls   []*genai.FunctionCall // of the newest round, without those that were answered
	newest  int                   // index of the first result of the newest round
	// model is the index of the newest content of the model: the request before this one ended there.
	model int
}

// result is one tool result of a request.
type result struct {
	response *genai.FunctionResponse
	call     *genai.FunctionCall // nil if the request has no call of it
	content  int                 // index of its content
	print    uint64              // 0: it has none
	sized
	maskable bool
	// masked is true if the result was masked before the call, hide if the replay masks it. since is the
	// index of the content behind which the replay did.
	masked, hide bool
	since        int
}

var replays = sync.Pool{New: func() any { return &replay{} }}

func newReplay(m *Masker) *replay {
	r := replays.Get().(*replay)
	r.Masker, r.newest, r.model = m, 0, -1
	return r
}

// release returns r for the next request. It keeps no part of this one in memory.
func (r *replay) release() {
	clear(r.results)
	clear(r.calls)
	r.Masker, r.results, r.calls = nil, r.results[:0], r.calls[:0]
	replays.Put(r)
}

// batches masks the results in the middle whenever those that are still visible have the tokens of a
// batch and the request is not smaller than least.
func (r *replay) batches(contents []*genai.Content, size, least, batch int) {
	border := r.keepFirst // results before it are masked, except the first
	edge := border        // the results before it are counted in ready
	ready := 0
	for i, content := range contents {
		if content == nil {
			continue
		}
		size += r.add(i, content)
		if content.Role == genai.RoleModel {
			continue // no request ends here
		}
		for limit := min(len(r.results)-r.keepLast, r.newest); edge < limit; edge++ {
			ready += r.results[edge].saving()
		}
		if ready < batch || size < least {
			continue
		}
		for j := border; j < edge; j++ {
			size -= r.hide(j, i)
		}
		border, ready = edge, 0
		size -= r.hideRepeated(edge, i)
	}
}

// hideRepeated masks results from index j on whose call was repeated since, with success. The results of
// the newest round stay visible. It returns the number of tokens saved.
func (r *replay) hideRepeated(j, now int) (saved int) {
	for ; j < r.newest; j++ {
		if r.results[j].saving() == 0 {
			continue
		}
		for k := j + 1; k < len(r.results); k++ {
			if !hasError(r.results[k].response.Response) && r.sameCall(r.results[j].call, r.results[k].call) {
				saved += r.hide(j, now)
				break
			}
		}
	}
	return saved
}

// everything masks all results but those of the newest round.
func (r *replay) everything(contents []*genai.Content) {
	for i, content := range contents {
		if content != nil {
			r.add(i, content)
		}
	}
	for j := range r.newest {
		r.hide(j, len(contents))
	}
}

// hide masks result j and returns the number of tokens saved.
func (r *replay) hide(j, now int) int {
	result := &r.results[j]
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
	return max(0, r.tokens-r.sized.mask)
}

// add adds the content at index i, and returns its size.
func (r *replay) add(i int, content *genai.Content) int {
	size := contentOverhead
	calls := false
	for _, part := range content.Parts {
		if part == nil {
			continue
		}
		size += r.sizes.ofPart(part)
		if part.FunctionResponse != nil {
			size += r.addResult(i, part)
		}
		if part.FunctionCall != nil {
			if !calls {
				calls = true
				clear(r.calls)
				r.calls, r.newest = r.calls[:0], len(r.results)
			}
			r.calls = append(r.calls, part.FunctionCall)
		}
	}
	if content.Role == genai.RoleModel {
		r.model = i
	}
	return size
}

// addResult adds a response of the content at index i, and returns its size.
func (r *replay) addResult(i int, part *genai.Part) int {
	response := part.FunctionResponse
	size, print := r.sizes.ofResponse(response)
	_, masked := maskedTokens(response.Response)
	r.results = append(r.results, result{
		response: response, call: r.callOf(response), content: i, print: print, sized: size, masked: masked,
		maskable: !exempt(response.Name, r.exempt) && (response.Name != ReadResultName || refIn(response.Response) != ""),
	})
	return size.tokens + r.sizes.ofMedia(part)
}

// callOf returns the call of the newest round that a response answers: by ID, or the first of its name, as
// ADK removes its own IDs from requests. It returns nil if there is none.
func (r *replay) callOf(response *genai.FunctionResponse) *genai.FunctionCall {
	for i, call := range r.calls {
		if call != nil && call.Name == response.Name && call.ID == response.ID {
			r.calls[i] = nil
			return call
		}
	}
	return nil
}

// sameCall reports whether two calls are of the same tool with the same arguments.
func (r *replay) sameCall(a, b *genai.FunctionCall) bool {
	if a == nil || b == nil || a.Name != b.Name || len(a.Args) != len(b.Args) {
		return false
	}
	x, known := r.sizes.prints.named(a.Name, a.Args)
	y, both := r.sizes.prints.named(b.Name, b.Args)
	return known && both && x == y
}
