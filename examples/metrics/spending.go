package main

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/adk-go-ext/longsession/layer/guard"
)

// spending makes metrics of what a guard observes. No metric has a session, a user or an agent among its
// attributes: each of their values would be a time series of its own, forever.
type spending struct {
	cost                           metric.Float64Counter
	calls, tokens                  metric.Int64Counter
	alerts, stops, refusals, notes metric.Int64Counter
	missed                         metric.Int64Counter
}

func newSpending(provider metric.MeterProvider) (*spending, error) {
	meter := provider.Meter("github.com/adk-go-ext/longsession/examples/metrics")
	var problems []error
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		problems = append(problems, err)
		return c
	}
	s := &spending{
		calls:    counter("longsession.model.calls", "{call}", "Model calls that were charged."),
		tokens:   counter("longsession.model.tokens", "{token}", "Tokens of these calls."),
		alerts:   counter("longsession.guard.alerts", "{alert}", "Patterns that the watchdog has seen."),
		stops:    counter("longsession.guard.stops", "{stop}", "Bounds that were reached, by kind and scope."),
		refusals: counter("longsession.guard.refusals", "{refusal}", "Runs and model calls that were refused."),
		notes:    counter("longsession.guard.notes", "{note}", "Times that a model was told to come to an end."),
		missed:   counter("longsession.guard.missed", "{observation}", "Observations that were lost because the observer was slow."),
	}
	var err error
	s.cost, err = meter.Float64Counter("longsession.model.cost", metric.WithUnit("{USD}"), metric.WithDescription("Cost of the model calls whose prices are known."))
	return s, errors.Join(append(problems, err)...)
}

// Observe counts one observation.
func (s *spending) Observe(ctx context.Context, o guard.Observation) {
	s.missed.Add(ctx, int64(o.Missed))
	switch o.Kind {
	case guard.Charged:
		s.charge(ctx, o)
	case guard.Noted, guard.Landed:
		s.notes.Add(ctx, 1, metric.WithAttributes(attribute.String("kind", string(o.Kind))))
	case guard.Alerted:
		s.alerts.Add(ctx, 1)
	case guard.Tripped:
		s.stops.Add(ctx, 1, metric.WithAttributes(attribute.String("kind", string(o.Stop.Kind)), attribute.String("scope", string(o.Stop.Scope))))
	case guard.Refused:
		s.refusals.Add(ctx, 1)
	}
}

// charge counts one settled call.
func (s *spending) charge(ctx context.Context, o guard.Observation) {
	model := attribute.String("model", o.Model)
	s.calls.Add(ctx, int64(o.Calls), metric.WithAttributes(model))
	s.tokens.Add(ctx, int64(o.Tokens.PromptTokens), metric.WithAttributes(model, attribute.String("gen_ai.token.type", "input")))
	s.tokens.Add(ctx, int64(o.Tokens.OutputTokens), metric.WithAttributes(model, attribute.String("gen_ai.token.type", "output")))
	s.cost.Add(ctx, o.USD.USD(), metric.WithAttributes(model))
}
