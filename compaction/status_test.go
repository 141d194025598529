package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/adk/model"
	"google.golang.org/adk/platform"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// wantWaiting checks that nothing is due, and that the reason has all the words.
func wantWaiting(t *testing.T, svc *compaction.CompactionSessionService, words ...string) {
	t.Helper()
	got := status(t, svc)
	if got.Due || got.Trigger != "" {
		t.Errorf("due by %s, and nothing starts", got.Trigger)
	}
	for _, word := range words {
		if !strings.Contains(got.Reason, word) {
			t.Errorf("the reason does not say %q: %s", word, got.Reason)
		}
	}
}

// A prompt over the threshold that an earlier compaction could not bring under it waits for growth.
func TestStatusNamesTheSizeThatAnOverlongPromptWaitsFor(t *testing.T) {
	t.Parallel()
	cfg, oracle := oracleConfig()
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.RetainEvents = compaction.Off, 12_000, 1
	cfg.Pin = func(ev *session.Event) bool { return strings.HasPrefix(ev.InvocationID, "keep") }
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	var h compactiontest.History
	h.Turn("keep", "agent", words(4_600), words(3_700))
	h.Turn("inv1", "agent", words(500), words(500))
	h.Turn("inv2", "agent", words(150), words(150))
	appendAll(t, svc, sess, h.Events...)
	got := status(t, svc)
	if len(oracle.Requests()) == 0 || got.PromptTokens < got.TokenThreshold {
		t.Fatalf("%d summaries, %d tokens of %d: the test shows nothing", len(oracle.Requests()), got.PromptTokens, got.TokenThreshold)
	}
	wantWaiting(t, svc, "threshold of 7560", fmt.Sprintf("grown from %d to", got.PromptTokens))
	calls := len(oracle.Requests())
	h.Turn("inv3", "agent", words(5), words(5))
	appendAll(t, svc, sess, h.Events[6:]...)
	if len(oracle.Requests()) != calls {
		t.Error("it did not wait")
	}
}

// Where there was nothing to summarize, the next look waits for growth too.
func TestStatusNamesTheSizeThatTheNextLookWaitsFor(t *testing.T) {
	t.Parallel()
	cfg, oracle := oracleConfig()
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.RetainEvents = compaction.Off, 12_000, 1
	cfg.Pin = func(ev *session.Event) bool { return strings.HasPrefix(ev.InvocationID, "keep") }
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	var h compactiontest.History
	h.Turn("keep", "agent", words(4_600), words(3_700))
	h.Turn("inv1", "agent", words(500), words(500))
	h.Turn("inv2", "agent", words(20), words(20))
	for _, ev := range h.Events {
		appendAll(t, svc, sess, ev)
		if got := status(t, svc); got.Due && len(oracle.Requests()) == 0 {
			t.Errorf("%s: due by %s at %d of %d tokens, and nothing starts", ev.ID, got.Trigger, got.PromptTokens, got.TokenThreshold)
		}
	}
	wantWaiting(t, svc, "next look waits until the prompt of")
}

func TestStatusNamesTheTimeThatAFailingSummarizerWaitsFor(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	cfg.Summarizer = summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
		return summarizer.Result{}, errors.New("down")
	})
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), turns(12)...)
	got := status(t, svc)
	if got.Failures < 3 || got.RetryAt.IsZero() {
		t.Fatalf("%+v: the test shows nothing", got)
	}
	wantWaiting(t, svc, fmt.Sprintf("%d attempts", got.Failures), "waits until "+got.RetryAt.Format(time.RFC3339))
}

// The trigger by turns is looked at when a turn ends, so it is not due in the midst of one.
func TestStatusNamesTheTurnThatTheTriggerWaitsFor(t *testing.T) {
	t.Parallel()
	cfg, oracle := oracleConfig()
	inner := session.InMemoryService()
	appendAll(t, inner, create(t, inner), turns(9)...)
	svc := newService(t, inner, cfg)
	sess := get(t, svc)
	h := (&compactiontest.History{}).Turns(9, "agent").User("inv10", "And now?").Call("inv10", "agent", "lookup", "c1")
	appendAll(t, svc, sess, h.Events[18:]...)
	if len(oracle.Requests()) > 0 {
		t.Fatal("summarized in the midst of a turn: the test shows nothing")
	}
	wantWaiting(t, svc, "end of the turn")
	h.Response("inv10", "agent", "lookup", "found", "c1").Agent("inv10", "agent", "There it is.")
	appendAll(t, svc, sess, h.Events[20:]...)
	if len(oracle.Requests()) == 0 {
		t.Error("nothing started at the end of the turn")
	}
}

func TestStatusListsEveryBoundary(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	cfg.InvocationThreshold, cfg.MaxSummaries = compaction.Off, 2
	cfg.MaxLedgerTokens = compaction.Off
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), turns(24)...)
	made := histories.Epoch.Add(time.Hour)
	at := func(hours int) context.Context {
		return platform.WithTimeProvider(t.Context(), func() time.Time { return made.Add(time.Duration(hours) * time.Hour) })
	}
	for i, focus := range []string{"prices", "names", "dates"} {
		if _, err := svc.Compact(at(i), ref, compaction.CompactOptions{Focus: focus, KeepRecent: 20 - 4*i}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := svc.Checkpoint(at(3), ref, compaction.CheckpointOptions{Note: "all is ordered", KeepRecent: 8}); err != nil {
		t.Fatal(err)
	}
	got, err := svc.Status(at(10), ref)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Summaries) != 2 {
		t.Fatalf("%d summaries", len(got.Summaries))
	}
	merged, checkpoint := got.Summaries[0], got.Summaries[1]
	if checkpoint.Kind != record.KindCheckpoint || checkpoint.Note != "all is ordered" || checkpoint.Age != 7*time.Hour || checkpoint.Absorbed != 0 {
		t.Errorf("checkpoint: %+v", checkpoint)
	}
	if merged.Absorbed < 3 {
		t.Errorf("merged: %+v", merged)
	}
	for i, ev := range eventsOf(get(t, svc))[:2] {
		shown := utf8.RuneCountInString(ev.Content.Parts[0].Text)
		if n := got.Summaries[i].Characters; n == 0 || n >= shown || n < shown-600 {
			t.Errorf("summary %d has %d characters, with its frame %d", i, n, shown)
		}
	}
}

func TestResultOfACompactionSaysWhatItSaved(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	cfg.InvocationThreshold = compaction.Off
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), turns(12)...)
	got := compact(t, svc, compaction.CompactOptions{})
	if got.Skipped || got.TokensSaved != got.BeforeTokens-got.AfterTokens || got.TokensSaved <= 0 ||
		math.Abs(got.CompressionRatio-float64(got.BeforeTokens)/float64(got.AfterTokens)) > 1e-9 {
		t.Errorf("%+v", got)
	}
	if again := compact(t, svc, compaction.CompactOptions{}); !again.Skipped || again.TokensSaved != 0 || again.CompressionRatio != 1 {
		t.Errorf("skipped: %+v", again)
	}
}

// The wording may be chosen for one summary, whatever is configured.
func TestPackOfOneCompactionReachesThePrompt(t *testing.T) {
	t.Parallel()
	for pack, says := range map[summarizer.Pack]string{
		"": "my own words", summarizer.PackHandover: "# Exact next steps", summarizer.PackIntent: "in 2-3 sentences",
		summarizer.PackCheckpoint: "# Where we are", summarizer.PackDefault: "key decisions",
	} {
		prompt := ""
		cfg := compaction.Config{InvocationThreshold: compaction.Off, ContextWindow: 100_000, PromptTemplate: "my own words {{history}}"}
		cfg.Model = compactiontest.NewModel("house-llm", func(_ int, req *model.LLMRequest) *model.LLMResponse {
			prompt = req.Contents[0].Parts[0].Text
			return compactiontest.Say("The codes " + compactiontest.Fact(1) + " and " + compactiontest.Fact(2) + " were noted by the agent.")
		})
		svc := newService(t, session.InMemoryService(), cfg)
		appendAll(t, svc, create(t, svc), turns(12)...)
		if got := compact(t, svc, compaction.CompactOptions{Pack: pack}); got.Skipped {
			t.Errorf("%q: %+v", pack, got)
		}
		if own := strings.Contains(prompt, "my own words"); own != (pack == "") || !strings.Contains(strings.ToLower(prompt), strings.ToLower(says)) {
			t.Errorf("%q: the prompt is %.300q", pack, prompt)
		}
	}
	svc := newService(t, session.InMemoryService(), compaction.Config{Summarizer: summarizer.Extractive{}})
	create(t, svc)
	if _, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{Pack: "poem"}); err == nil || !strings.Contains(err.Error(), "poem") {
		t.Errorf("an unknown pack: %v", err)
	}
}
