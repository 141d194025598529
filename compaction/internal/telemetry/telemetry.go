// Package telemetry reports what a compaction service does: OpenTelemetry spans and metrics, log
// lines, and observations. Package compaction's comment lists the names of spans, attributes and
// metrics, which dashboards depend on.
//
// A [Reporter] serves all sessions of one service. Each compaction that a trigger sets off is one
// [Attempt], which begins once and is concluded once. Its conclusion is also noted in what was
// learned of the session (package learned):
//
//	ctx, a := reporter.Begin(ctx, state, job, window)
//	a.Spent(ctx, result)    // the summarizer has answered
//	a.Summarized(draft)     // its answer is a record
//	a.Store(ctx, eventID)   // or Wait, Decline, Discard, Fail
//
// All methods of a Reporter are safe for concurrent use. An Attempt belongs to one goroutine at a
// time.
package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// scope is the name under which all telemetry of package compaction appears.
const scope = "github.com/adk-go-ext/longsession/compaction"

// Config says where reports go and what spans add about the service's own configuration.
type Config struct {
	// TracerProvider and MeterProvider, if nil, are OpenTelemetry's global ones at the time of use.
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	// Logger, if nil, is slog.Default() at the time of use.
	Logger *slog.Logger
	// Observe receives the observations of a session one at a time and in order. If nil, there are
	// none.
	Observe func(context.Context, Observation)
	// Summarizer writes the summaries. Provider may know whose model that is: it is the model if
	// the service made the summarizer for it, else the summarizer.
	Summarizer, Provider any
	// Registry has the prices of models; nil for the built-in table.
	Registry *tokens.Registry
	// OmitErrorText keeps the text of errors out of spans.
	OmitErrorText bool
	// Interval and Overlap are the invocation trigger's numbers, both left out where Interval is 0.
	// Retention is the token trigger's, left out where that trigger is off.
	Interval, Overlap, Retention int
}

// Reporter reports for one service.
type Reporter struct {
	cfg   Config
	queue queue
	// valuesLost is true once it was logged that no values are taken from messages.
	valuesLost atomic.Bool
	// usageDoubted is true once it was reported that the summarizer's usage is impossible.
	usageDoubted atomic.Bool
	// beside is true once it was reported that ADK's own compaction is on, too.
	beside atomic.Bool
	// leasesLost is true once it was logged that no leases can be had.
	leasesLost atomic.Bool
	// Places are where panics end: of the service, and of what the app has set.
	Places survive.Places
	// logger are those where a panic of the logger itself ends. It is told to the default one.
	logger survive.Places
}

// New returns a Reporter for cfg.
func New(cfg Config) *Reporter {
	return &Reporter{cfg: cfg, Places: survive.Places{Logger: cfg.Logger}}
}

// tracer and meter look their provider up for every attempt, so that one which the app installs
// after it made the service is honored. An attempt costs so much more that the lookup does not
// matter.
func (r *Reporter) tracer() trace.Tracer {
	return cmp.Or(r.cfg.TracerProvider, otel.GetTracerProvider()).Tracer(scope)
}

func (r *Reporter) meter() metric.Meter {
	return cmp.Or(r.cfg.MeterProvider, otel.GetMeterProvider()).Meter(scope)
}

// Observe passes an observation to Config.Observe, in order with the session's others. Where
// another goroutine is passing one on at this moment, or Config.Observe itself caused this one,
// Observe returns at once and that goroutine passes it on. A panic in Config.Observe is logged once.
func (r *Reporter) Observe(ctx context.Context, o Observation) {
	if r.cfg.Observe == nil {
		return
	}
	r.queue.inOrder(o.Session, func() {
		defer r.Places.Survive("compaction: Config.Observe")
		r.cfg.Observe(ctx, o)
	})
}

// Log writes one line about a change of state. Lines never hold content: no event, no summary, no
// text of a provider's error. Observations have the errors. A panic in the logger is told to
// the default one, once.
func (r *Reporter) Log(ctx context.Context, level slog.Level, message string, attrs ...slog.Attr) {
	defer r.logger.Survive("compaction: Config.Logger")
	cmp.Or(r.cfg.Logger, slog.Default()).LogAttrs(ctx, level, "longsession: "+message, attrs...)
}

// logAbout is Log for a line about one session.
func (r *Reporter) logAbout(ctx context.Context, level slog.Level, about adk.SessionRef, message string, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{slog.String("app", about.AppName), slog.String("session", about.SessionID)}, attrs...)
	r.Log(ctx, level, message, attrs...)
}

// Outcome is what happened. Package compaction documents each of the outcomes for its users.
type Outcome string

// The outcomes, under the names that package compaction gives them.
const (
	Started     Outcome = "started"
	Waiting     Outcome = "waiting"
	Stored      Outcome = "stored"
	Declined    Outcome = "declined"
	Discarded   Outcome = "discarded"
	Failed      Outcome = "failed"
	Unreadable  Outcome = "unreadable"
	Misreported Outcome = "misreported"
	GivenUp     Outcome = "given up"
	CutFailed   Outcome = "cut failed"
)

// Observation is one thing that happened. Package compaction documents the fields for its users.
type Observation struct {
	Outcome              Outcome
	Session              adk.SessionRef
	Trigger              record.Trigger
	Branch, InvocationID string
	Inline               bool

	Events, TokensBefore, TokensAfter int

	RecordID  string
	Calls     []string
	Duration  time.Duration
	Usage     tokens.Usage
	Estimated tokens.Usage
	Answers   int
	Cost      float64
	Model     string
	Kept      *float64
	Invented  int
	Economy   meter.Economy

	Reason string
	Err    error
}
