package conversation_test

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// endless repeats the same text up to a size.
type endless struct {
	text string
	left int
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), e.left)], e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	e.left -= n
	return n, nil
}

// heap measures the peak memory use above the level at its start.
type heap struct{ start, most uint64 }

func (h *heap) look() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if h.start == 0 {
		h.start = m.HeapAlloc
	}
	h.most = max(h.most, m.HeapAlloc)
}

// The ceiling is the allowed memory, and the file is larger than it.
const (
	ceiling  = 64 << 20
	fileSize = 300 << 20
)

// These two tests are not parallel, because allocations of other tests would count.

func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	line := `{"messages":[{"role":"user","content":"` + strings.Repeat("word ", 200_000) + `"}]}` + "\n"
	r := conversation.NewReader(&endless{text: line, left: fileSize / len(line) * len(line)}, "f")
	runtime.GC()
	var used heap
	used.look()
	n := 0
	for ; ; n++ {
		c, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil || len(c.Turns[0].User.Parts[0].Text) != 1_000_000 {
			t.Fatalf("conversation %d: %v", n, err)
		}
		used.look()
	}
	if n < 290 || used.most > used.start+ceiling {
		t.Errorf("%d conversations of a megabyte took %d MB, want at most %d", n, (used.most-used.start)>>20, ceiling>>20)
	}
}

func TestALineThatIsTooLongIsNotHeld(t *testing.T) {
	tail := &endless{text: strings.Repeat("x", 1<<20), left: fileSize}
	runtime.GC()
	var used heap
	used.look()
	r := conversation.NewReader(io.MultiReader(tail, watch(used.look), strings.NewReader("\n"+named("a"))), "f")
	r.MaxLine = 16 << 20
	if got := found(r); got != "error@1:16777217 a@2 EOF" {
		t.Errorf("found %s", got)
	}
	if used.most == used.start || used.most > used.start+2*ceiling {
		t.Errorf("a line of 300 MB took %d MB with a limit of 16 MB", (used.most-used.start)>>20)
	}
}

// watch is an empty reader that calls a function when it is read.
type watch func()

func (w watch) Read([]byte) (int, error) {
	w()
	return 0, io.EOF
}
