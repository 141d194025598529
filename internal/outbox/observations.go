package outbox

import "context"

// Observations passes observations to an observer, each with the context of its origin. Like an [Outbox], the zero
// value is ready to use, is safe for concurrent use, and must not be copied.
type Observations[O any] struct{ waiting Outbox[observed[O]] }

type observed[O any] struct {
	ctx context.Context
	o   O
}

// Send passes an observation to deliver, as [Outbox.Add] does. The context that deliver receives has the values of
// ctx, and is never canceled.
func (b *Observations[O]) Send(ctx context.Context, o O, deliver func(ctx context.Context, o O, missed int)) {
	b.waiting.Add(observed[O]{context.WithoutCancel(ctx), o}, func(item observed[O], missed int) {
		deliver(item.ctx, item.o, missed)
	})
}

// Flush waits until all observations so far are delivered. It returns only the context's error.
func (b *Observations[O]) Flush(ctx context.Context) error { return b.waiting.Flush(ctx) }
