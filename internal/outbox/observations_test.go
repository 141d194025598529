package outbox_test

import (
	"context"
	"testing"

	"github.com/adk-go-ext/longsession/internal/outbox"
)

type key struct{}

func TestAnObservationOutlivesTheCallThatSentIt(t *testing.T) {
	t.Parallel()
	var b outbox.Observations[string]
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "trace"))
	cancel()
	b.Send(ctx, "charged", func(ctx context.Context, o string, missed int) {
		if o != "charged" || missed != 0 || ctx.Err() != nil || ctx.Value(key{}) != "trace" {
			t.Errorf("got %q with %d missed, %v, %v", o, missed, ctx.Err(), ctx.Value(key{}))
		}
	})
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}
