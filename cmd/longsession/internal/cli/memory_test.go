package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/internal/testkit"
)

// manyTalks are the lines of n conversations of about half a megabyte each, made while they are
// read.
type manyTalks struct {
	n    int
	read int64
	text io.Reader
}

func (m *manyTalks) Read(p []byte) (int, error) {
	for {
		if m.text != nil {
			if n, err := m.text.Read(p); err == nil {
				m.read += int64(n)
				return n, nil
			}
		}
		if m.n == 0 {
			return 0, io.EOF
		}
		m.n--
		m.text = strings.NewReader(bigTalk(m.n))
	}
}

func bigTalk(id int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"id":"talk-%d","messages":[`, id)
	for turn := range 3 {
		text := strings.Repeat(fmt.Sprintf("On day %d the gauge of pier %d stood at %d cm. ", turn, id, 300+turn), 1900)
		fmt.Fprintf(&b, `{"role":"user","content":%q},{"role":"assistant","content":%q},`, text, text)
	}
	return strings.TrimSuffix(b.String(), ",") + "]}\n"
}

func TestMemoryStaysFlatHoweverLongTheInput(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 100 MB")
	}
	// Not parallel: the heap is that of all tests at once.
	const ceiling = 32 << 20
	inUse := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := inUse()
	conversations := 200
	if testkit.Race {
		conversations = 80
	}
	// The lock keeps the other job from making garbage while the heap is measured.
	var playing sync.RWMutex
	var peak uint64
	played := 0
	compare := func(ctx context.Context, c *conversation.Conversation, policies []replay.Policy, opts replay.Options) ([]*replay.Report, error) {
		playing.RLock()
		reports, err := replay.Compare(ctx, c, policies, opts)
		playing.RUnlock()
		playing.Lock()
		defer playing.Unlock()
		if played++; played%10 == 0 {
			now := inUse()
			peak = max(peak, now-min(before, now))
		}
		return reports, err
	}
	input := &manyTalks{n: conversations}
	end := replayed(t.Context(), compare, input, "-", "--jobs", "2", "--context-window", "400000", "--threshold", "2", "--overlap", "1")
	if end.code != exit.CodeOK || !strings.Contains(end.stdout, fmt.Sprintf("\ntotal of %d ", conversations)) {
		t.Fatalf("exit code %d, stderr %q", end.code, end.stderr)
	}
	if input.read < ceiling+8<<20 {
		t.Fatalf("the input was %d bytes only: it would have fitted", input.read)
	}
	t.Logf("%d MB read, at most %d MB in use", input.read>>20, peak>>20)
	if peak > ceiling {
		t.Errorf("%d MB of %d MB were in memory, want at most %d MB", peak>>20, input.read>>20, ceiling>>20)
	}
}
