package view

import "slices"

// absorbed and absorbers are the two directions of the graph of absorption.
func absorbed(n *recordNode) []*recordNode  { return n.absorbs }
func absorbers(n *recordNode) []*recordNode { return n.absorbedBy }

// findCircles sets the circle of each node to one node of its strongly connected component, so that
// two nodes absorb each other, directly or not, if their circles are equal. It is Kosaraju's algorithm:
// the second walk takes the nodes in reverse order of the first one's end, and follows the edges
// backwards.
func findCircles(nodes []*recordNode) {
	ended := make([]*recordNode, 0, len(nodes))
	walk(nodes, absorbed, func(_, n *recordNode) { ended = append(ended, n) })
	slices.Reverse(ended)
	walk(ended, absorbers, func(root, n *recordNode) { n.circle = root })
}

// walk visits the roots and everything behind them depth first, each node once. It calls leave after
// the nodes behind a node have been visited. It keeps a stack of its own, because a forged chain of
// records may be as long as the history.
func walk(roots []*recordNode, next func(*recordNode) []*recordNode, leave func(root, n *recordNode)) {
	type step struct {
		n       *recordNode
		leaving bool
	}
	seen := make(map[*recordNode]bool, len(roots))
	for _, root := range roots {
		stack := []step{{n: root}}
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			switch {
			case top.leaving:
				leave(root, top.n)
			case !seen[top.n]:
				seen[top.n] = true
				stack = append(stack, step{top.n, true})
				for _, n := range next(top.n) {
					stack = append(stack, step{n: n})
				}
			}
		}
	}
}
