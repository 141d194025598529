package view

// findCircles gives each node the number of its strongly connected component of the absorption
// graph (Tarjan's algorithm, with a stack of its own: a forged chain may be as long as the history).
func findCircles(nodes []*recordNode) {
	type frame struct {
		e    *recordNode
		next int
	}
	var (
		order  = make(map[*recordNode]int, len(nodes))
		low    = make(map[*recordNode]int, len(nodes))
		open   = make(map[*recordNode]bool)
		path   []*recordNode
		frames []frame
		count  int
		groups int
	)
	enter := func(e *recordNode) {
		count++
		order[e], low[e], open[e] = count, count, true
		path = append(path, e)
		frames = append(frames, frame{e: e})
	}
	for _, root := range nodes {
		if order[root] != 0 {
			continue
		}
		enter(root)
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			if f.next < len(f.e.absorbs) {
				child := f.e.absorbs[f.next]
				f.next++
				switch {
				case order[child] == 0:
					enter(child)
				case open[child]:
					low[f.e] = min(low[f.e], order[child])
				}
				continue
			}
			e := f.e
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				parent := frames[len(frames)-1].e
				low[parent] = min(low[parent], low[e])
			}
			if low[e] != order[e] {
				continue
			}
			groups++
			for {
				top := path[len(path)-1]
				path = path[:len(path)-1]
				open[top] = false
				top.circle = groups
				if top == e {
					break
				}
			}
		}
	}
}
