package compaction_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// journal keeps what is logged, one line each.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) logger() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

// lines are those with all of the words.
func (j *journal) lines(words ...string) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []string
	for line := range strings.Lines(j.buf.String()) {
		has := true
		for _, word := range words {
			has = has && strings.Contains(line, word)
		}
		if has {
			out = append(out, line)
		}
	}
	return out
}

// A summarizer that is dead for twenty turns is one line, and one more when it is back.
func TestAFailingSummarizerIsLoggedOnceAndItsRecoveryToo(t *testing.T) {
	t.Parallel()
	var j journal
	dead := true
	oracle := &compactiontest.Oracle{}
	cfg, _ := oracleConfig()
	cfg.Logger, cfg.ContextWindow = j.logger(), 100_000
	cfg.Summarizer = summarizer.Func(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		if dead {
			return summarizer.Result{}, fmt.Errorf("refused: %w, you asked about %q", genai.APIError{Code: 429, Status: "RESOURCE_EXHAUSTED", Message: "the secret"}, "the secret")
		}
		return oracle.Summarize(ctx, req)
	})
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	events := turns(40)
	appendAll(t, svc, sess, events[:40]...)
	if got := j.lines("level=WARN", "begins to fail", "session=session", "code=429", "trigger=invocations"); len(got) != 1 || len(j.lines()) != 1 {
		t.Errorf("20 turns with a dead summarizer logged %q", j.lines())
	}
	dead = false
	if _, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	appendAll(t, svc, sess, events[40:]...)
	if got := j.lines("level=INFO", "works again"); len(got) != 1 || len(j.lines()) != 2 {
		t.Errorf("after its recovery: %q", j.lines())
	}
	if secret := j.lines("secret"); len(secret) > 0 {
		t.Errorf("content is logged: %q", secret)
	}
}

func TestAnAssumedContextWindowIsLoggedOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*compaction.Config)
		lines  int
	}{
		"unknown":         {func(c *compaction.Config) { c.AgentModel = "house-llm" }, 1},
		"no name":         {func(*compaction.Config) {}, 1},
		"known":           {func(c *compaction.Config) { c.AgentModel = "gemini-2.5-flash" }, 0},
		"window given":    {func(c *compaction.Config) { c.AgentModel, c.ContextWindow = "house-llm", 8_000 }, 0},
		"nothing depends": {func(c *compaction.Config) { c.InvocationThreshold, c.SafetyRatio = compaction.Off, compaction.Off }, 0},
	} {
		var j journal
		cfg, _ := oracleConfig()
		cfg.Logger = j.logger()
		tt.change(&cfg)
		svc := newService(t, session.InMemoryService(), cfg)
		appendAll(t, svc, create(t, svc), turns(6)...)
		if got := j.lines("level=WARN", "context_window=128000"); len(got) != tt.lines || len(j.lines()) != tt.lines {
			t.Errorf("%s: %q, want %d lines", name, j.lines(), tt.lines)
		}
	}
}

func TestUnreadableRecordsAreLoggedOnceWithoutAnObserver(t *testing.T) {
	t.Parallel()
	var j journal
	cfg, _ := oracleConfig()
	cfg.Logger, cfg.ContextWindow = j.logger(), 100_000
	inner := session.InMemoryService()
	sess := create(t, inner)
	bad := &session.Event{ID: "bad", Author: "user"}
	bad.CustomMetadata = map[string]any{compaction.CompactionMetadataKey: map[string]any{"version": 99.0}}
	appendAll(t, inner, sess, bad)
	svc := newService(t, inner, cfg)
	appendAll(t, svc, get(t, svc), turns(12)...)
	if got := j.lines("level=WARN", "cannot be read", "records=1"); len(got) != 1 || len(j.lines()) != 1 {
		t.Errorf("%q", j.lines())
	}
}

// The app's windows and prices reach limits and costs, and a model that is switched is followed.
func TestLimitsFollowTheAgentsModelAndTheRegistry(t *testing.T) {
	t.Parallel()
	registry, err := tokens.NewRegistry(
		tokens.Model{Name: "house-llm", ContextWindow: 10_000, MaxOutputTokens: 500, InputPrice: 2, OutputPrice: 10},
		tokens.Model{Name: "large-llm", ContextWindow: 400_000, MaxOutputTokens: 4_000},
	)
	if err != nil {
		t.Fatal(err)
	}
	model := "house-llm"
	seen := &notes{}
	cfg, oracle := oracleConfig()
	cfg.Registry, cfg.Observer = registry, seen.Observe
	cfg.AgentModelFunc = func(_ context.Context, of compaction.SessionRef) string {
		if of != ref {
			t.Errorf("asked for the model of %v", of)
		}
		return model
	}
	cfg.Summarizer = summarizer.Func(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		result, err := oracle.Summarize(ctx, req)
		result.Model, result.Usage = "house-llm", tokens.Usage{PromptTokens: 1_000_000, OutputTokens: 100_000}
		return result, err
	})
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	appendAll(t, svc, sess, turns(5)...)
	want := func(window, reply int) {
		t.Helper()
		got := status(t, svc)
		if got.ContextWindow != window || got.HardLimit != int(0.98*float64(window-reply)) || got.TokenThreshold != int(math.Ceil(0.7*float64(window-reply))) {
			t.Errorf("%s: window %d, hard limit %d, threshold %d", model, got.ContextWindow, got.HardLimit, got.TokenThreshold)
		}
	}
	want(10_000, 500)
	if stored := seen.of(compaction.Stored); len(stored) == 0 || stored[0].Cost != 3 {
		t.Errorf("a call of 1,000,000 tokens at $2 and 100,000 at $10 cost %+v", stored)
	}
	model = "large-llm"
	want(400_000, 4_000)
	model = "" // not known at the moment: as before
	want(400_000, 4_000)
	model = "gemini-2.5-flash"
	appendAll(t, svc, sess, turns(6)[10:]...)
	want(1_048_576, 65_536)
}

// A reserve for the reply that takes up nearly all of the window of a model that the app switches to leaves no
// room for a prompt; there the default is reserved.
func TestAReserveThatAModelHasNoRoomForGivesWay(t *testing.T) {
	t.Parallel()
	registry, err := tokens.NewRegistry(tokens.Model{Name: "tiny-llm", ContextWindow: 4_000, MaxOutputTokens: 1_000})
	if err != nil {
		t.Fatal(err)
	}
	model := "gemini-2.5-flash"
	seen := &notes{}
	cfg, _ := oracleConfig()
	cfg.InvocationThreshold, cfg.MaxOutputTokens, cfg.Registry, cfg.Observer = compaction.Off, 3_900, registry, seen.Observe
	cfg.AgentModelFunc = func(context.Context, compaction.SessionRef) string { return model }
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	events := turns(100)
	appendAll(t, svc, sess, events[:10]...)
	model = "tiny-llm"
	appendAll(t, svc, sess, events[10:]...)
	if got := status(t, svc); got.HardLimit != 3528 || got.TokenThreshold != 2520 || got.PromptTokens >= 2520 {
		t.Errorf("hard limit %d, threshold %d, prompt %d; want 0.98 and 0.7 of 3,600, and less than that", got.HardLimit, got.TokenThreshold, got.PromptTokens)
	}
	if stored, all := len(seen.of(compaction.Stored)), len(seen.all()); stored == 0 || all != 2*stored {
		t.Errorf("%d records stored, %d observations", stored, all)
	}
	wantFacts(t, eventsOf(sess), 100)
}

// A typed nil is an error where it is given, not a panic in the middle of a turn.
func TestTypedNilIsAnError(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	var inner *compactiontest.StrictService
	if svc, err := compaction.NewCompactionService(inner, cfg); err == nil || svc != nil {
		t.Errorf("typed nil service: %v, %v", svc, err)
	}
	for field, change := range map[string]func(*compaction.Config){
		"Summarizer": func(c *compaction.Config) { c.Summarizer = (*compactiontest.Oracle)(nil) },
		"Model":      func(c *compaction.Config) { c.Model = (*compactiontest.Model)(nil) },
	} {
		cfg, _ := oracleConfig()
		change(&cfg)
		_, err := compaction.NewCompactionService(session.InMemoryService(), cfg)
		var refused *compaction.ConfigError
		if !errors.As(err, &refused) || refused.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	svc := newService(t, session.InMemoryService(), cfg)
	var sess *opaqueSession
	if err := svc.AppendEvent(t.Context(), sess, turns(1)[0]); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("typed nil session: %v", err)
	}
	if err := svc.AppendEvent(t.Context(), nil, turns(1)[0]); err == nil {
		t.Error("nil session: no error")
	}
}

type opaqueSession struct{ session.Session }

func TestAnEventThatIsNoRecordIsSaidToBeNone(t *testing.T) {
	t.Parallel()
	for name, ev := range map[string]*session.Event{"nil": nil, "ordinary": turns(1)[0]} {
		if m, err := compaction.GetCompactionMetadata(ev); !errors.Is(err, compaction.ErrNoRecord) || m != nil {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	ev := turns(1)[0]
	if compaction.SetCompactionMetadata(nil, &compaction.CompactionMetadata{}) == nil || compaction.SetCompactionMetadata(ev, nil) == nil {
		t.Error("nil is no error")
	}
	if err := compaction.SetCompactionMetadata(ev, &compaction.CompactionMetadata{}); err == nil || ev.CustomMetadata != nil {
		t.Errorf("a record that nobody could read: %v, %v", err, ev.CustomMetadata)
	}
}
