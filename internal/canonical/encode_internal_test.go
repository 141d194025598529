package canonical

import (
	"strings"
	"testing"
)

// A map that holds itself twice has millions of values on the way down to MaxDepth. Memory reserved for
// each of them would be terabytes.
func TestTheSizeOfACycleIsThatOfItsEncoding(t *testing.T) {
	t.Parallel()
	cycle := map[string]any{"text": strings.Repeat("x", 1_000)}
	cycle["again"], cycle["list"] = cycle, []any{cycle}
	encoding := String(cycle)
	s := sizer{left: MaxValues}
	s.add(cycle)
	if s.bytes < len(encoding) || s.bytes > 2*len(encoding) {
		t.Errorf("%d bytes are reserved for an encoding of %d", s.bytes, len(encoding))
	}
}
