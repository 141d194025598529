package toolresult

import (
	"cmp"
	"slices"

	"github.com/adk-go-ext/longsession/internal/canonical"
)

// nodeKind is the JSON type of a node.
type nodeKind uint8

const (
	literalNode nodeKind = iota // null, a bool or a number
	textNode
	arrayNode
	objectNode
)

// node is a value of a result with the sizes that decide what is left out. Sizes are those of
// encoding/json, and no greater than the limit for the whole result plus one.
type node struct {
	kind  nodeKind
	value any    // of a literal
	text  string // of a text
	size  int    // of a literal or of a text without its quotes
	lines int    // of a text with more than one line

	// Of an array or object. A large one has only as many children as a result within the limits could
	// show: of an array the first and the last, of an object the most important keys, then in order.
	children []*node
	keys     []string // of an object, as valid UTF-8, parallel to children
	keySizes []int    // with quotes and colon
	ranks    []importance
	total    int // elements or keys that the value really has
}

// builder makes nodes of values.
type builder struct {
	lim    limits
	failed bool
	most   int // sizes stop here
	left   int // nodes that may still be made
	path   canonical.Path
}

// The bounds of the nodes that are made. A value takes at least two bytes of JSON with its comma.
const (
	leastElement = 2
	maxNodes     = 1 << 16
	maxChildren  = 1 << 14
)

func newBuilder(lim limits, failed bool) *builder {
	most := min(lim.MaxBytes, noLimit-1)
	return &builder{lim: lim, failed: failed, most: most, left: min(maxNodes, max(1<<10, most))}
}

func (b *builder) node(v any) *node {
	b.left--
	switch v := canonical.Level(v).(type) {
	case string:
		return b.text(v)
	case map[string]any:
		return b.object(v)
	case []any:
		return b.array(v)
	case bool:
		return &node{value: v, size: len("false")}
	case float64:
		return &node{value: v, size: len(canonical.AppendNumber(nil, v))}
	}
	return &node{size: len("null")}
}

func (b *builder) text(text string) *node {
	text = canonical.Text(text)
	n := &node{kind: textNode, text: text}
	if lines := lineCount(text); lines > 1 {
		n.lines = lines
	}
	n.size = escapedSize(text, b.most)
	if n.lines > b.lim.MaxLines {
		// Most of it is going to be left out whatever the number of bytes.
		r := b.lim.room(b.most, b.lim.MaxLines, b.failed)
		n.size = min(n.size, escapedSize(firstLines(text, r.first), b.most)+escapedSize(lastLines(text, r.last), b.most)+longestMarker)
	}
	return n
}

func (b *builder) array(v []any) *node {
	if problem := b.path.EnterList(v); problem != "" {
		return b.text(problem)
	}
	defer b.path.Leave()
	n := &node{kind: arrayNode, total: len(v)}
	if b.left <= 0 {
		return n
	}
	most := min(len(v), maxChildren, b.most/leastElement+2)
	head, tail := make([]*node, 0, (most+1)/2), make([]*node, 0, most/2)
	// From both ends inward, so that both survive if there are too many values.
	for i := 0; i < most && (b.left > 0 || i < 2); i++ {
		if i%2 == 0 {
			head = append(head, b.node(v[i/2]))
		} else {
			tail = append(tail, b.node(v[len(v)-1-i/2]))
		}
	}
	slices.Reverse(tail)
	n.children = append(head, tail...)
	return n
}

func (b *builder) object(v map[string]any) *node {
	if problem := b.path.EnterObject(v); problem != "" {
		return b.text(problem)
	}
	defer b.path.Leave()
	n := &node{kind: objectNode, total: len(v)}
	if b.left <= 0 {
		return n
	}
	most := min(len(v), maxChildren, b.most/len(`"":1,`)+2)
	for i, key := range importantKeys(v, most) {
		if b.left <= 0 && i >= 2 {
			break
		}
		text := canonical.Text(key)
		n.keys = append(n.keys, text)
		n.keySizes = append(n.keySizes, escapedSize(text, b.most)+len(`"":`))
		n.children = append(n.children, b.node(v[key]))
		n.ranks = append(n.ranks, rankOf(text, n.children[i]))
	}
	return n
}

// rankOf is the importance of an entry. Only short values count as identity or outcome. An error is
// important however long it is.
func rankOf(key string, value *node) importance {
	rank := importanceOf(key)
	switch {
	case rank == failure:
		return rank
	case value.kind > textNode, value.size > maxShort:
		return ordinary
	}
	return rank
}

// maxShort is the size of a value that survives as a whole because of its key.
const maxShort = 256

// importantKeys returns most keys of an object: the most important ones first, then in order. Of keys that
// are equal as valid UTF-8, it returns the first.
func importantKeys(v map[string]any, most int) []string {
	keys := make([]rankedKey, 0, min(len(v), 2*most))
	full := false
	for key := range v {
		ranked := rankedKey{key, importanceOf(key)}
		if full && compareKeys(ranked, keys[most-1]) > 0 {
			continue
		}
		keys = append(keys, ranked)
		if len(keys) == 2*most {
			slices.SortFunc(keys, compareKeys)
			keys, full = keys[:most], true
		}
	}
	slices.SortFunc(keys, compareKeys)
	out := make([]string, 0, min(most, len(keys)))
	seen := make(map[string]bool, cap(out))
	for _, k := range keys[:cap(out)] {
		if text := canonical.Text(k.key); !seen[text] {
			seen[text] = true
			out = append(out, k.key)
		}
	}
	return out
}

type rankedKey struct {
	key  string
	rank importance
}

// compareKeys puts the important keys first.
func compareKeys(a, b rankedKey) int {
	return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.key, b.key))
}
