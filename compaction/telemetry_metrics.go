package compaction

import (
	"cmp"
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// The instruments, as the package comment describes them under the names that Prometheus gives them,
// and their attributes: few values each, so no session, user, branch or model.
const (
	metricTriggers = "compaction.triggers"
	metricDuration = "compaction.duration"
	metricRatio    = "compaction.compression_ratio"
	metricErrors   = "compaction.errors"
	metricTokens   = "compaction.summarizer.tokens"
	metricCost     = "compaction.summarizer.cost"

	keyMetricTrigger = "trigger"
	keyMetricOutcome = "outcome"
	keyTokenType     = "gen_ai.token.type"
)

// durations are the bounds of the histogram's buckets in seconds: from an extractive summary to one
// that runs into the default time-out, and a slow store behind it.
var durations = []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120}

// count adds what became of an attempt to the metrics. An instrument that cannot be made counts nothing.
func (p *policy) count(ctx context.Context, a *attempt) {
	meter := p.instruments()
	trigger := attribute.String(keyMetricTrigger, cmp.Or(string(a.Trigger), "none"))
	outcome := attribute.String(keyMetricOutcome, string(a.Outcome))

	if c, err := meter.Int64Counter(metricTriggers, metric.WithUnit("{compaction}"),
		metric.WithDescription("Compactions that a trigger set off, by what became of them.")); err == nil {
		c.Add(ctx, 1, metric.WithAttributes(trigger, outcome))
	}
	if a.Outcome == Failed {
		if c, err := meter.Int64Counter(metricErrors, metric.WithUnit("{error}"),
			metric.WithDescription("Compactions that failed.")); err == nil {
			c.Add(ctx, 1, metric.WithAttributes(trigger, attribute.String(keyErrorType, a.errorType)))
		}
	}
	if a.Outcome == Stored {
		if g, err := meter.Float64Gauge(metricRatio, metric.WithUnit("1"),
			metric.WithDescription("Tokens that the newest record stands for, for each of its own.")); err == nil {
			g.Record(ctx, a.draft.meta.CompressionRatio, metric.WithAttributes(trigger))
		}
	}
	if !a.asks {
		return
	}
	if h, err := meter.Float64Histogram(metricDuration, metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(durations...),
		metric.WithDescription("Time from the call of the summarizer until it is known what became of the summary.")); err == nil {
		h.Record(ctx, a.Duration.Seconds(), metric.WithAttributes(trigger, outcome))
	}
	p.countCost(ctx, meter, a, trigger)
}

// countCost counts what the summarizer's own calls took, apart from what the agent's took.
func (p *policy) countCost(ctx context.Context, meter metric.Meter, a *attempt, trigger attribute.KeyValue) {
	if a.Usage.Total() > 0 {
		if c, err := meter.Int64Counter(metricTokens, metric.WithUnit("{token}"),
			metric.WithDescription("Tokens that the summarizer's own calls used.")); err == nil {
			c.Add(ctx, int64(a.Usage.PromptTokens), metric.WithAttributes(trigger, attribute.String(keyTokenType, "input")))
			c.Add(ctx, int64(a.Usage.OutputTokens), metric.WithAttributes(trigger, attribute.String(keyTokenType, "output")))
		}
	}
	if a.Cost > 0 {
		if c, err := meter.Float64Counter(metricCost, metric.WithUnit("{USD}"),
			metric.WithDescription("What the summarizer's own calls cost, where the model's price is known.")); err == nil {
			c.Add(ctx, a.Cost, metric.WithAttributes(trigger))
		}
	}
}
