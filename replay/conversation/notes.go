package conversation

import "fmt"

// notes counts what was changed, left out or made up: one line for each kind, however often it happened.
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

// addAll takes in other notes.
func (n *notes) addAll(other notes) {
	for _, kind := range other.order {
		n.add(kind, other.counts[kind])
	}
}

// lines are "kind: number", in the order in which the kinds came up.
func (n *notes) lines() []string {
	var out []string
	for _, kind := range n.order {
		out = append(out, fmt.Sprintf("%s: %d", kind, n.counts[kind]))
	}
	return out
}
