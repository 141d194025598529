package toolresult

// longestMarker is more than the size of any marker.
const longestMarker = 96

// shape is how much of the nodes of a result is shown. A value within it is shown whole.
type shape struct {
	text     int // bytes of a text, without quotes
	failure  int // bytes of an error's text, if that is more
	lines    int // lines of a text
	elements int // of an array: the first and the last
	keys     int // ordinary keys of an object; at the root and with few keys, important ones are extra
	rank     importance
	tokens   bool // markers count tokens
	failed   bool // ends matter more
	silent   bool // there is no room for the marker of missing keys
}

// bytesOf returns the bytes of a text under a key of that importance.
func (s shape) bytesOf(rank importance) int {
	switch {
	case rank == failure:
		return max(s.text, s.failure)
	case rank > ordinary:
		return max(s.text, maxShort)
	}
	return s.text
}

// kept returns how many elements of an array are shown at its beginning and at its end.
func (s shape) kept(n *node) (head, tail int) {
	k := min(s.elements, len(n.children))
	if k >= n.total {
		return n.total, 0
	}
	return (k + 1) / 2, k / 2
}

// each calls f for the children of an object that are shown, and returns how many keys are missing.
func (s shape) each(n *node, f func(i int)) (missing int) {
	shown, some := 0, 0
	for i, rank := range n.ranks {
		if rank == ordinary {
			if some >= s.keys {
				continue
			}
			some++
		} else if rank < s.rank {
			continue
		}
		shown++
		f(i)
	}
	return n.total - shown
}

// sizeOf returns a size that the JSON of a node does not exceed in this shape, and the newlines of its texts.
// It adds the missing elements of arrays to count, for the marker in the object around them.
func (s shape) sizeOf(n *node, rank importance, count *elementCount) (bytes, lines int) {
	switch n.kind {
	case textNode:
		if n.lines > 0 {
			lines = min(n.lines, s.lines) - 1
		}
		return min(n.size, s.bytesOf(rank)) + len(`""`), lines
	case arrayNode:
		head, tail := s.kept(n)
		count.add(n.total-head-tail, n.total)
		bytes = len("[]")
		for i, child := range n.children {
			if i < head || i >= len(n.children)-tail {
				b, l := s.sizeOf(child, ordinary, count)
				bytes, lines = bytes+b+len(","), lines+l
			}
		}
		return bytes, lines
	case objectNode:
		bytes = len("{}")
		missing := s.each(n, func(i int) {
			var within elementCount
			b, l := s.sizeOf(n.children[i], n.ranks[i], &within)
			bytes, lines = bytes+n.keySizes[i]+b+len(","), lines+l
			if within.missing > 0 {
				bytes += n.keySizes[i] + len(omittedSuffix) + len(`"_",`) + omittedSize(within.missing, within.total, "elements")
			}
		})
		if missing > 0 && !s.silent {
			bytes += len(`"":"_",`) + len(omittedKeys) + omittedSize(missing, n.total, "keys")
		}
		return bytes, lines
	}
	return n.size, 0
}

// elementCount adds up elements of arrays within one entry of an object.
type elementCount struct{ missing, total int }

func (c *elementCount) add(missing, total int) {
	if missing > 0 {
		c.missing += missing
		c.total += total
	}
}

// The keys of the markers for missing elements and keys. An array under the key "rows" has its marker under
// "rows_omitted".
const (
	omittedSuffix = "_omitted"
	omittedKeys   = "keys_omitted"
)

// value returns the value of a node in this shape.
func (s shape) value(n *node, rank importance, lim limits, count *elementCount) any {
	switch n.kind {
	case textNode:
		r := lim.room(s.bytesOf(rank), s.lines, s.failed || rank == failure)
		r.countTokens = s.tokens
		return r.cut(n.text)
	case arrayNode:
		head, tail := s.kept(n)
		count.add(n.total-head-tail, n.total)
		out := make([]any, 0, head+tail)
		for i, child := range n.children {
			if i < head || i >= len(n.children)-tail {
				out = append(out, s.value(child, ordinary, lim, count))
			}
		}
		return out
	case objectNode:
		return s.object(n, lim)
	}
	return n.value
}

// object returns the shown entries of an object. If elements of an array are missing, an entry next to it has
// their number.
func (s shape) object(n *node, lim limits) map[string]any {
	out := make(map[string]any, len(n.keys))
	notes := map[string]string{}
	missing := s.each(n, func(i int) {
		var within elementCount
		out[n.keys[i]] = s.value(n.children[i], n.ranks[i], lim, &within)
		if within.missing > 0 {
			notes[n.keys[i]+omittedSuffix] = omitted(within.missing, within.total, "elements")
		}
	})
	if missing > 0 && !s.silent {
		notes[omittedKeys] = omitted(missing, n.total, "keys")
	}
	taken := make(map[string]bool, len(n.keys))
	for _, key := range n.keys {
		taken[key] = true
	}
	for _, key := range sortedKeys(notes) {
		free := key
		for taken[free] {
			free += "_"
		}
		taken[free] = true
		out[free] = notes[key]
	}
	return out
}
