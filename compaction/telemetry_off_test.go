package compaction_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// asked counts how often it is asked for a tracer or a meter.
type asked struct{ tracers, meters atomic.Int32 }

type countingTracers struct {
	tracenoop.TracerProvider
	asked *asked
}

func (c countingTracers) Tracer(name string, options ...trace.TracerOption) trace.Tracer {
	c.asked.tracers.Add(1)
	return c.TracerProvider.Tracer(name, options...)
}

type countingMeters struct {
	metricnoop.MeterProvider
	asked *asked
}

func (c countingMeters) Meter(name string, options ...metric.MeterOption) metric.Meter {
	c.asked.meters.Add(1)
	return c.MeterProvider.Meter(name, options...)
}

// TestNothingDueAsksForNoTelemetry: an append that sets nothing off pays nothing for it.
func TestNothingDueAsksForNoTelemetry(t *testing.T) {
	t.Parallel()
	n := &asked{}
	cfg, _ := oracleConfig()
	cfg.TracerProvider, cfg.MeterProvider = countingTracers{asked: n}, countingMeters{asked: n}
	svc := newService(t, session.InMemoryService(), cfg)
	sess, events := create(t, svc), turns(5)
	appendAll(t, svc, sess, events[:9]...)
	status(t, svc)
	if n.tracers.Load() != 0 || n.meters.Load() != 0 {
		t.Errorf("asked for %d tracers and %d meters with nothing due", n.tracers.Load(), n.meters.Load())
	}
	appendAll(t, svc, sess, events[9])
	if n.tracers.Load() != 1 || n.meters.Load() != 1 {
		t.Errorf("asked for %d tracers and %d meters by one compaction", n.tracers.Load(), n.meters.Load())
	}
}

// TestAppendAllocatesNothingForTelemetry: with providers or without, an append with nothing due costs
// the same. It counts the allocations of the whole process, so it runs beside no other test.
func TestAppendAllocatesNothingForTelemetry(t *testing.T) {
	const runs = 200
	perAppend := func(change func(*compaction.Config)) float64 {
		cfg, _ := oracleConfig()
		cfg.InvocationThreshold = 10 * runs
		change(&cfg)
		svc := newService(t, session.InMemoryService(), cfg)
		sess := create(t, svc)
		h := &compactiontest.History{}
		for i := range runs + 1 {
			h.Agent(fmt.Sprintf("inv%d", i), "agent", "Noted.")
		}
		next := 0
		return testing.AllocsPerRun(runs, func() {
			if err := svc.AppendEvent(context.Background(), sess, h.Events[next]); err != nil {
				t.Fatal(err)
			}
			next++
		})
	}
	without := perAppend(func(*compaction.Config) {})
	with := perAppend(func(cfg *compaction.Config) {
		cfg.TracerProvider = newTraces().provider
		cfg.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	})
	if with > without || without == 0 {
		t.Errorf("%v allocations for an append with telemetry, %v without", with, without)
	}
}

// TestGlobalProvidersSetLaterAreHonoured: an app often sets them up after its services. They are the
// process's, so it runs beside no other test.
func TestGlobalProvidersSetLaterAreHonoured(t *testing.T) {
	cfg, _ := oracleConfig()
	svc := newService(t, session.InMemoryService(), cfg)
	sess, events := create(t, svc), turns(10)
	appendAll(t, svc, sess, events[:12]...)

	traced, reader := newTraces(), sdkmetric.NewManualReader()
	tracers, meters := otel.GetTracerProvider(), otel.GetMeterProvider()
	t.Cleanup(func() {
		otel.SetTracerProvider(tracers)
		otel.SetMeterProvider(meters)
	})
	otel.SetTracerProvider(traced.provider)
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	appendAll(t, svc, sess, events[12:]...)
	if spans := traced.spans(t); len(spans) != 1 || spans[0].InstrumentationScope().Name != "github.com/adk-go-ext/longsession/compaction" {
		t.Errorf("spans %v, want that of turn 10", spans)
	}
	if n := read(t, reader)["compaction.triggers"].values["outcome=stored,trigger=invocations"]; n != 1 {
		t.Errorf("%v compactions counted, want that of turn 10", n)
	}
}
