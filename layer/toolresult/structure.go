package toolresult

import (
	"maps"
	"slices"

	"github.com/adk-go-ext/longsession/internal/notes"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// cutResponse returns a response that is over its limits within them. If ref is not empty, the response
// carries it. Texts are shortened first, the largest most; then arrays, from their middle; then keys are left
// out, and those that identify the result or hold its outcome are the last to go. Markers count tokens only if the
// result is over maxTokens, its limit, which lim may be below.
func cutResponse(tool string, response map[string]any, ref string, lim limits, maxTokens int) map[string]any {
	c := cutting{tool: tool, lim: lim, ref: ref, notes: map[string]any{}, failed: callFailed(response)}
	copyNotes(c.notes, response)
	_, hasRef := response[refKey]
	c.wrap = hasRef && ref != ""
	c.root = newBuilder(lim, c.failed).node(notes.Without(response))

	room, count := lim.MaxBytes, false
	for range maxAttempts {
		out := c.within(room, count)
		got := measure(out, unlimited)
		spent := countTokens(tool, out)
		switch {
		case got.bytes > lim.MaxBytes:
			room -= got.bytes - lim.MaxBytes
		case spent > lim.MaxTokens:
			// The next try gets the share of the bytes that the tokens allow, and a little less.
			next := int(int64(got.bytes) * int64(lim.MaxTokens) / int64(spent))
			room, count = min(next-next/slack, room-room/slack-1), count || spent > maxTokens
		case ref != "" && !recognized(out):
			return c.least() // there was no room for any marker
		default:
			return out
		}
		if room <= 0 {
			break
		}
	}
	return c.least()
}

// slack is the share by which each try to meet a token limit is smaller than seems necessary. maxAttempts
// bounds the tries; most results take two or three.
const (
	slack       = 300
	maxAttempts = 1 << 12
)

// cutting is one result that is being shortened.
type cutting struct {
	tool   string
	lim    limits
	ref    string
	notes  map[string]any // of other layers
	root   *node
	wrap   bool // the result has a ref_id of its own, so it goes under a key
	failed bool
}

// finish adds the reference and the notes of other layers.
func (c *cutting) finish(out map[string]any) map[string]any {
	if c.wrap {
		out = map[string]any{"result": out}
	}
	if c.ref != "" {
		out[refKey] = c.ref
	}
	maps.Copy(out, c.notes)
	return out
}

// least returns what is left at the smallest limits.
func (c *cutting) least() map[string]any {
	out := map[string]any{}
	if c.ref != "" {
		out[refKey] = c.ref
	}
	with := maps.Clone(out)
	maps.Copy(with, c.notes)
	if fits(c.tool, with, c.lim) {
		return with
	}
	return out
}

// within returns the result with at most that many bytes, as far as the sizes of its parts are known.
func (c *cutting) within(room int, countTokens bool) map[string]any {
	extra := measure(c.finish(map[string]any{}), unlimited).bytes
	s, ok := c.shape(room - extra)
	if !ok {
		return c.least()
	}
	s.tokens = countTokens
	out, _ := s.value(c.root, ordinary, c.lim, &elementCount{}).(map[string]any)
	return c.finish(out)
}
