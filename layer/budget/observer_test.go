package budget

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/internal/outbox"
)

func TestAnObserverHearsEverythingInOrder(t *testing.T) {
	t.Parallel()
	var heard []int
	m, err := New(Config{Observer: func(_ context.Context, o Observation) {
		heard = append(heard, o.Counted)
		if o.Counted%10 == 3 {
			panic("an observer's own fault")
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		m.observe(t.Context(), Observation{Counted: i})
		if i == 50 {
			if err := m.Flush(t.Context()); err != nil || len(heard) != 51 {
				t.Fatalf("%d heard, %v", len(heard), err)
			}
		}
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if len(heard) != 100 || heard[i] != i {
			t.Fatalf("heard %v", heard)
		}
	}
}

func TestAnObserverThatHangsDelaysNobody(t *testing.T) {
	t.Parallel()
	release, total, missed := make(chan struct{}), 0, 0
	m, err := New(Config{Observer: func(ctx context.Context, o Observation) {
		<-release
		if ctx.Err() != nil {
			t.Error("the observer's context is canceled")
		}
		total++
		missed += o.Missed
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	for range outbox.Max + 101 {
		m.observe(ctx, Observation{})
	}
	cancel()
	soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := m.Flush(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Flush does not wait for the observer: %v", err)
	}
	close(release)
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.observe(t.Context(), Observation{})
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if total+missed != outbox.Max+102 || missed < 100 {
		t.Errorf("%d heard and %d missed, want %d in all", total, missed, outbox.Max+102)
	}
}
