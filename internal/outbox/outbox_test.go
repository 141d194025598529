package outbox_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/adk-go-ext/longsession/internal/outbox"
)

// A receiver that panics or ends its goroutine loses the item that it was given, and no other.
func TestItemsArriveInOrderWhateverTheReceiverDoes(t *testing.T) {
	t.Parallel()
	var b outbox.Outbox[int]
	var got []int // the receiver has one item at a time
	for i := range 100 {
		b.Add(i, func(item, _ int) {
			switch item % 10 {
			case 3:
				panic("no")
			case 7:
				runtime.Goexit()
			}
			got = append(got, item)
		})
	}
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(got) != 80 || !slices.IsSorted(got) {
		t.Errorf("got %v", got)
	}
}

func TestASlowReceiverLosesItemsAndIsToldHowMany(t *testing.T) {
	t.Parallel()
	var b outbox.Outbox[int]
	begun, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	delivered, lost := 0, 0
	deliver := func(_, missed int) {
		once.Do(func() { close(begun) })
		<-release
		delivered++
		lost += missed
	}
	b.Add(0, deliver)
	<-begun
	for i := range outbox.Max + 10 {
		b.Add(i, deliver)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Flush(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("a receiver that hangs: %v", err)
	}
	close(release)
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Add(0, deliver)
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if delivered != outbox.Max+2 || lost != 10 {
		t.Errorf("%d items delivered, %d said to be lost", delivered, lost)
	}
}

func TestAnEmptyOutboxWaitsForNothing(t *testing.T) {
	t.Parallel()
	var b outbox.Outbox[int]
	if err := b.Flush(t.Context()); err != nil {
		t.Error(err)
	}
}
