package telemetry

import (
	"cmp"
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// The instruments and their attributes. Each attribute takes few values, so none holds a session, a
// user, a branch or a model.
const (
	metricTriggers = "compaction.triggers"
	metricDuration = "compaction.duration"
	metricRatio    = "compaction.compression_ratio"
	metricKept     = "compaction.kept"
	metricInvented = "compaction.invented"
	metricErrors   = "compaction.errors"
	metricTokens   = "compaction.summarizer.tokens"
	metricCost     = "compaction.summarizer.cost"

	keyMetricTrigger = "trigger"
	keyMetricOutcome = "outcome"
	keyTokenType     = "gen_ai.token.type"
)

// durations are the upper bounds of the histogram's buckets in seconds: from an extractive summary
// to a summary that takes the default time-out of 60 s, plus a slow store.
var durations = []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120}

// count adds the attempt's outcome to the metrics. It skips an instrument that cannot be made.
func (a *Attempt) count(ctx context.Context) {
	meter := a.reporter.meter()
	trigger := attribute.String(keyMetricTrigger, cmp.Or(string(a.Trigger), "none"))
	outcome := attribute.String(keyMetricOutcome, string(a.Outcome))

	if c, err := meter.Int64Counter(metricTriggers, metric.WithUnit("{compaction}"),
		metric.WithDescription("Compactions that a trigger set off, by outcome.")); err == nil {
		c.Add(ctx, 1, metric.WithAttributes(trigger, outcome))
	}
	if a.Outcome == Failed {
		if c, err := meter.Int64Counter(metricErrors, metric.WithUnit("{error}"),
			metric.WithDescription("Compactions that failed.")); err == nil {
			c.Add(ctx, 1, metric.WithAttributes(trigger, attribute.String(keyErrorType, errorType(a.Err))))
		}
	}
	if a.Outcome == Stored {
		if g, err := meter.Float64Gauge(metricRatio, metric.WithUnit("1"),
			metric.WithDescription("Tokens that the newest record stands for, divided by its own.")); err == nil {
			g.Record(ctx, a.Draft.Meta.CompressionRatio, metric.WithAttributes(trigger))
		}
		a.countChecked(ctx, meter, trigger)
	}
	if !a.asks {
		return
	}
	if h, err := meter.Float64Histogram(metricDuration, metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(durations...),
		metric.WithDescription("Time from the call of the summarizer until the outcome is known.")); err == nil {
		h.Record(ctx, a.Duration.Seconds(), metric.WithAttributes(trigger, outcome))
	}
	a.countCost(ctx, meter, trigger)
}

// countChecked counts what was found when a model's summary was checked.
func (a *Attempt) countChecked(ctx context.Context, meter metric.Meter, trigger attribute.KeyValue) {
	if a.Kept != nil {
		if g, err := meter.Float64Gauge(metricKept, metric.WithUnit("1"),
			metric.WithDescription("Share of its window's exact values that the view has with the newest record.")); err == nil {
			g.Record(ctx, *a.Kept, metric.WithAttributes(trigger))
		}
	}
	if a.Invented > 0 {
		if c, err := meter.Int64Counter(metricInvented, metric.WithUnit("{value}"),
			metric.WithDescription("Values that were cut out of summaries because their windows do not have them.")); err == nil {
			c.Add(ctx, int64(a.Invented), metric.WithAttributes(trigger))
		}
	}
}

// countCost counts the summarizer's own calls, apart from the agent's.
func (a *Attempt) countCost(ctx context.Context, meter metric.Meter, trigger attribute.KeyValue) {
	if a.Usage.Total() > 0 {
		if c, err := meter.Int64Counter(metricTokens, metric.WithUnit("{token}"),
			metric.WithDescription("Tokens that the summarizer's own calls used.")); err == nil {
			c.Add(ctx, int64(a.Usage.PromptTokens), metric.WithAttributes(trigger, attribute.String(keyTokenType, "input")))
			c.Add(ctx, int64(a.Usage.OutputTokens), metric.WithAttributes(trigger, attribute.String(keyTokenType, "output")))
		}
	}
	if a.Cost > 0 {
		if c, err := meter.Float64Counter(metricCost, metric.WithUnit("{USD}"),
			metric.WithDescription("Cost of the summarizer's own calls, where the model's price is known.")); err == nil {
			c.Add(ctx, a.Cost, metric.WithAttributes(trigger))
		}
	}
}
