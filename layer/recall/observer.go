package recall

import (
	"cmp"
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/adk-go-ext/longsession/compaction"
)

// Observation is one search in one session. It never has the query, or what was found.
//
// Config.Observer gets them one at a time, in the order in which things happened.
// They come from a goroutine of the Recaller, a little later, so an observer that blocks, hangs or panics
// harms no turn. Up to 1,024 observations wait for it; those beyond are lost, and counted in
// [Observation.Missed]. The context has the values of the search's, and is never canceled. [Recaller.Flush]
// waits for the observer.
type Observation struct {
	Session compaction.SessionRef
	// Hits is how many events were found, Passages how many passages came back, and Tokens how many they take up.
	Hits, Passages, Tokens int
	// IndexBytes is the size of the index in memory, 0 if the session service has its own.
	IndexBytes int
	Took       time.Duration
	Err        error
	// Missed is how many observations were lost in front of this one, because the observer was slow.
	Missed int
}

const scope = "github.com/adk-go-ext/longsession/layer/recall"

// begin begins to trace a search. done ends that, and reports the search.
func (r *Recaller) begin(ctx context.Context, ref compaction.SessionRef) (_ context.Context, done func(result, error)) {
	provider := r.cfg.TracerProvider
	if provider == nil {
		provider = otel.GetTracerProvider()
	}
	ctx, span := provider.Tracer(scope).Start(ctx, "recall", trace.WithSpanKind(trace.SpanKindInternal))
	began := time.Now()
	return ctx, func(found result, err error) {
		size := 0
		if r.stored == nil {
			size = r.memory.Bytes()
		}
		span.SetAttributes(attribute.Int("recall.hits", found.hits), attribute.Int("recall.passages", len(found.passages)),
			attribute.Int("recall.tokens", found.tokens), attribute.Int("recall.index_bytes", size))
		if err != nil {
			span.SetStatus(codes.Error, "the search failed") // the text of an error may quote storage
		}
		span.End()
		if r.cfg.Observer != nil {
			r.outbox.Send(ctx, Observation{
				Session: ref, Hits: found.hits, Passages: len(found.passages), Tokens: found.tokens,
				IndexBytes: size, Took: time.Since(began), Err: err,
			}, r.deliver)
		}
	}
}

func (r *Recaller) deliver(ctx context.Context, o Observation, missed int) {
	o.Missed = missed
	r.cfg.Observer(ctx, o)
}

// Flush waits until the index in the file has taken in what [Recaller.Observe] was told of, and until the
// observer has received all observations so far. It returns only the context's error.
func (r *Recaller) Flush(ctx context.Context) error {
	return cmp.Or(r.toIndex.Flush(ctx), r.outbox.Flush(ctx))
}
