package summarizer

import (
	"cmp"
	"container/heap"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/tokens"
)

// candidate is a sentence that the digest may quote.
type candidate struct {
	text   string
	group  int     // where it was said; sentences of a group share a line
	order  int     // position among all sentences
	weight float64 // depends on the speaker
	bonus  float64 // extra credit for the focus, in values
	tokens int
	values []uint64
	score  float64
	hash   uint64
}

// pool keeps the best candidates of any number of sentences. Its memory is bounded. A repeated
// sentence is kept once.
type pool struct {
	size     int
	overhead int // tokens per sentence in addition to its own
	focus    []string
	next     int
	best     candidateHeap // the worst is on top
	held     map[uint64]bool
}

// newPool returns a pool that can fill budget tokens, even with sentences of one token each.
func newPool(budget, overhead int, focus string) *pool {
	return &pool{
		size:     max(256, 2*budget),
		overhead: overhead,
		focus:    strings.Fields(strings.ToLower(focus)),
		held:     map[uint64]bool{},
	}
}

// add offers every sentence of text except the first skip ones, which the digest already has.
func (p *pool) add(text string, skip, group int, weight float64) {
	for s := range sentences(text) {
		if skip > 0 {
			skip--
			p.held[hashOf(s)] = true
			continue
		}
		p.offer(s, group, weight)
	}
}

func (p *pool) offer(text string, group int, weight float64) {
	c := candidate{text: text, group: group, order: p.next, weight: weight, hash: hashOf(text)}
	p.next++
	if p.held[c.hash] {
		return
	}
	c.tokens = tokens.Estimate(text) + p.overhead
	c.values = concreteValues(text)
	c.bonus = p.aboutFocus(text)
	if isHeading(text) {
		c.weight /= 5
	}
	c.score = c.gain(len(c.values))
	if len(p.best) == p.size {
		if !p.best[0].worse(c) {
			return
		}
		delete(p.held, p.best[0].hash)
		heap.Pop(&p.best)
	}
	p.held[c.hash] = true
	c.text = escape(strings.Clone(text)) // a substring would keep the whole source in memory
	heap.Push(&p.best, c)
}

// isHeading reports whether text only announces what follows. Capitals in a heading do not mark
// names.
func isHeading(text string) bool {
	return strings.HasPrefix(text, "#") || strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}

// aboutFocus returns the credit for the words of the focus that occur in text.
func (p *pool) aboutFocus(text string) float64 {
	const perWord = 4
	if len(p.focus) == 0 {
		return 0
	}
	text = strings.ToLower(text)
	credit := 0.0
	for _, word := range p.focus {
		if len(word) > 2 && strings.Contains(text, word) {
			credit += perWord
		}
	}
	return credit
}

// gain returns the value per token of a sentence with n values that are not kept yet. The constant
// accounts for the rest of the line, and keeps single numbers from beating sentences. A sentence
// without values has a small gain, which grows with its length: it fills room that is otherwise
// unused.
func (c candidate) gain(n int) float64 {
	return c.weight * (float64(n) + c.bonus + 0.01*float64(c.tokens)) / float64(c.tokens+6)
}

// worse reports whether c has a lower score than other, or the same score and a later position.
func (c candidate) worse(other candidate) bool {
	if c.score != other.score {
		return c.score < other.score
	}
	return c.order > other.order
}

// take removes the best sentences from the pool until budget tokens are used. It returns the
// sentences in their original order, and the number of tokens used. A value counts once: after the
// digest takes "Gate B7, seat 12F", another sentence gets no credit for B7.
func (p *pool) take(budget int) (kept []candidate, used int) {
	queue := bestFirst{p.best}
	heap.Init(&queue)
	seen := map[uint64]bool{}
	for queue.Len() > 0 {
		c := heap.Pop(&queue).(candidate)
		if c.tokens+lineBreak > budget-used {
			continue
		}
		fresh := 0
		for _, v := range c.values {
			if !seen[v] {
				fresh++
			}
		}
		if score := c.gain(fresh); score < c.score {
			c.score = score // scores only fall, so the heap stays ordered
			heap.Push(&queue, c)
			continue
		}
		for _, v := range c.values {
			seen[v] = true
		}
		kept = append(kept, c)
		used += c.tokens + lineBreak
	}
	p.best = nil
	slices.SortFunc(kept, func(a, b candidate) int { return cmp.Compare(a.order, b.order) })
	return kept, used
}

// candidateHeap is a heap with the worst candidate on top.
type candidateHeap []candidate

func (h candidateHeap) Len() int           { return len(h) }
func (h candidateHeap) Less(i, j int) bool { return h[i].worse(h[j]) }
func (h candidateHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *candidateHeap) Push(x any)        { *h = append(*h, x.(candidate)) }
func (h *candidateHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	*h = (*h)[:last]
	return c
}

// bestFirst is the same heap with the best candidate on top.
type bestFirst struct{ candidateHeap }

func (h bestFirst) Less(i, j int) bool { return h.candidateHeap[j].worse(h.candidateHeap[i]) }

func hashOf(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // a hash never fails to write
	return h.Sum64()
}
