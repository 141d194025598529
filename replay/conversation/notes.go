package conversation

import "fmt"

// notes counts changes to a recording, by kind.
type notes struct {
	order  []string
	counts map[string]int
}

func (n *notes) add(kind string, count int) {
	if count == 0 {
		return
	}
	if n.counts == nil {
		n.counts = map[string]int{}
	}
	if n.counts[kind] == 0 {
		n.order = append(n.order, kind)
	}
	n.counts[kind] += count
}

// addAll adds other notes.
func (n *notes) addAll(other notes) {
	for _, kind := range other.order {
		n.add(kind, other.counts[kind])
	}
}

// lines returns "kind: number" for each kind, in the order of their first occurrence.
func (n *notes) lines() []string {
	var out []string
	for _, kind := range n.order {
		out = append(out, fmt.Sprintf("%s: %d", kind, n.counts[kind]))
	}
	return out
}
