package compaction_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// A summarizer of the app's may report anything as its usage and its model. Each summary is paid for once, whatever it
// reports, and its record can be read.
func TestWhateverASummarizerReportsEachSummaryIsPaidForOnce(t *testing.T) {
	t.Parallel()
	play := func(t *testing.T, inner session.Service, reported summarizer.Result) (calls int, seen *notes, log string) {
		var asked atomic.Int32
		var lines bytes.Buffer
		seen = &notes{}
		cfg, oracle := oracleConfig()
		cfg.Observer, cfg.Logger = seen.Observe, slog.New(slog.NewTextHandler(&lines, nil))
		cfg.Summarizer = summarizerFunc(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
			asked.Add(1)
			result, err := oracle.Summarize(ctx, req)
			result.Usage, result.Estimated, result.Calls, result.Model = reported.Usage, reported.Estimated, reported.Calls, reported.Model
			return result, err
		})
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		events := turns(12)
		appendAll(t, svc, sess, events...)
		read := 0
		for _, ev := range rawEvents(t, svc) {
			m, err := compaction.GetCompactionMetadata(ev)
			if errors.Is(err, compaction.ErrNoRecord) {
				continue
			}
			if err != nil {
				t.Fatalf("a record that nobody can read: %v", err)
			}
			read++
			if m.Usage.PromptTokens < 0 || m.Usage.OutputTokens > math.MaxInt32 || strings.Contains(m.Model, "\x00") || !utf8.ValidString(m.Model) || len(m.Model) > 1000 {
				t.Errorf("stored as %+v by %q", m.Usage, m.Model)
			}
		}
		if read == 0 {
			t.Fatal("nothing was stored")
		}
		checkView(t, svc)
		wantOnce(t, svc, events)
		return int(asked.Load()), seen, lines.String()
	}
	want, _, _ := play(t, session.InMemoryService(), summarizer.Result{Usage: tokens.Usage{PromptTokens: 100, OutputTokens: 10}, Model: "scripted"})
	for name, of := range map[string]struct {
		summarizer.Result
		told bool
	}{
		"below zero":   {summarizer.Result{Usage: tokens.Usage{PromptTokens: -1, OutputTokens: 10}}, true},
		"beyond count": {summarizer.Result{Usage: tokens.Usage{PromptTokens: 100, OutputTokens: 1 << 62}}, true},
		"cached":       {summarizer.Result{Usage: tokens.Usage{PromptTokens: 100, CachedTokens: math.MinInt, OutputTokens: 1}}, true},
		"estimated":    {summarizer.Result{Estimated: tokens.Usage{PromptTokens: math.MaxInt}}, true},
		"many calls":   {summarizer.Result{Usage: tokens.Usage{PromptTokens: 100}, Calls: math.MaxInt}, true},
		"fewer calls":  {summarizer.Result{Usage: tokens.Usage{PromptTokens: 100}, Calls: -1}, true},
		"name":         {summarizer.Result{Usage: tokens.Usage{PromptTokens: 100}, Model: "a\x00b\xff" + strings.Repeat("c", 1<<20)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				calls, seen, log := play(t, inner, of.Result)
				if calls != want {
					t.Errorf("the summarizer was asked %d times, want %d", calls, want)
				}
				for _, o := range seen.of(compaction.Stored) {
					if o.Usage.PromptTokens < 0 || o.Usage.CachedTokens < 0 || o.Usage.OutputTokens > math.MaxInt32 || o.Estimated.PromptTokens > math.MaxInt32 || o.Answers < 0 || o.Answers > 1000 || len(o.Model) > 1000 {
						t.Errorf("observed as %+v, %+v, %d by %.20q", o.Usage, o.Estimated, o.Answers, o.Model)
					}
				}
				told := 0
				for _, o := range seen.of(compaction.Misreported) {
					if told++; o.Session != ref || !strings.Contains(o.Reason, "summarizer") {
						t.Errorf("told: %+v", o)
					}
				}
				if logged := strings.Count(log, "the summarizer reports a usage"); told != logged || (told == 1) != of.told {
					t.Errorf("told %d times, logged %d times", told, logged)
				}
			})
		})
	}
}

// An inner service that changes the record of a summary on its way to storage. The summary is then of no use: the
// service gives up for a while, instead of having it written again and again.
func TestARecordThatCannotBeReadBackEndsTheJob(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(map[string]any){
		"unreadable": func(custom map[string]any) {
			custom[record.Key].(map[string]any)["usage"] = map[string]any{"prompt_tokens": -1.0}
		},
		"gone": func(custom map[string]any) { delete(custom, record.Key) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := &tampered{Service: session.InMemoryService(), appendEvent: func(ev *session.Event, store func() error) error {
				if compaction.IsCompactionEvent(ev) {
					spoil(ev.CustomMetadata)
				}
				return store()
			}}
			seen := &notes{}
			cfg, oracle := oracleConfig()
			cfg.Observer = seen.Observe
			svc := newService(t, inner, cfg)
			events := turns(12)
			appendAll(t, svc, create(t, svc), events...)
			if n := len(oracle.Requests()); n == 0 || n > 5 {
				t.Errorf("the summarizer was asked %d times", n)
			}
			failed := seen.of(compaction.Failed)
			if len(failed) == 0 || !strings.Contains(failed[0].Err.Error(), "read back") {
				t.Errorf("observed %+v", seen.all())
			}
			if status(t, svc).RetryAt.IsZero() {
				t.Error("the service does not back off")
			}
			if shown := eventsOf(get(t, svc)); !slices.ContainsFunc(shown, func(ev *session.Event) bool { return ev.ID == events[0].ID }) {
				t.Error("what no record stands for is hidden")
			}
		})
	}
}
