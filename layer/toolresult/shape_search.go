package toolresult

// The texts and lines that shorter arrays and fewer keys leave to each text.
const (
	comfortable = 256 // bytes of a text before arrays are shortened
	tight       = 48  // bytes of a text before keys are left out
	leastLines  = 4
)

// shape returns the largest shape that fits into the bytes.
func (c *cutting) shape(room int) (shape, bool) {
	longest, most := c.root.widest()
	ok := func(s shape) bool {
		bytes, lines := s.sizeOf(c.root, ordinary, &elementCount{})
		return bytes <= room && lines < c.lim.MaxLines
	}
	all := shape{text: comfortable, failure: room / 2, lines: min(leastLines, c.lim.MaxLines), elements: longest, keys: most, rank: identity, failed: c.failed}
	stages := []struct {
		start shape
		grow  func(*shape) *int // what is as large as possible, from start on
		most  int
	}{
		{all, nil, 0},
		{all.with(comfortable, 2, most), func(s *shape) *int { return &s.elements }, longest},
		{all.with(tight, 2, most), nil, 0},
		{all.with(2*tight, 2, 4), func(s *shape) *int { return &s.keys }, most},
		{all.with(tight, 0, 0), func(s *shape) *int { return &s.keys }, 4},
		{all.with(tight, 0, 0).only(outcome, tight), nil, 0},
		{all.with(tight, 0, 0).only(failure, tight), nil, 0},
		{all.with(tight, 0, 0).only(failure, tight).silently(), nil, 0},
	}
	for _, stage := range stages {
		s := stage.start
		if !ok(s) {
			continue
		}
		if stage.grow != nil {
			grow(stage.grow(&s), stage.most, func() bool { return ok(s) })
		}
		grow(&s.lines, c.lim.MaxLines, func() bool { return ok(s) })
		grow(&s.text, room, func() bool { return ok(s) })
		return s, true
	}
	return shape{}, false
}

func (s shape) with(text, elements, keys int) shape {
	s.text, s.elements, s.keys = text, min(s.elements, elements), min(s.keys, keys)
	if text < comfortable {
		s.failure = min(s.failure, comfortable)
	}
	return s
}

func (s shape) only(rank importance, text int) shape {
	s.rank, s.failure = rank, text
	return s
}

func (s shape) silently() shape {
	s.silent = true
	return s
}

// grow raises a value as far as ok holds, at most to most.
func grow(value *int, most int, ok func() bool) {
	low, high := *value, most
	for low < high {
		mid := low + (high-low+1)/2
		*value = mid
		if ok() {
			low = mid
		} else {
			high = mid - 1
		}
	}
	*value = low
}

// widest returns the length of the longest array and of the largest object.
func (n *node) widest() (elements, keys int) {
	switch n.kind {
	case arrayNode:
		elements = n.total
	case objectNode:
		keys = n.total
	}
	for _, child := range n.children {
		e, k := child.widest()
		elements, keys = max(elements, e), max(keys, k)
	}
	return elements, keys
}
