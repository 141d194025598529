package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// talk appends n turns of some 30 tokens each to a session that no compaction service has seen.
func talk(t testing.TB, inner session.Service, n int) *compactiontest.History {
	t.Helper()
	h := &compactiontest.History{}
	for i := range n {
		inv := fmt.Sprint("inv", i)
		h.User(inv, fmt.Sprintf("What is the weather like in town %d?", i))
		h.Agent(inv, "agent", fmt.Sprintf("In town %d the sun shines all day long.", i))
	}
	appendAll(t, inner, create(t, inner), h.Events...)
	return h
}

// weatherman writes a summary of a few words for any window that it can read, and counts its calls.
type weatherman struct {
	reads int // tokens; 0: any number

	mu    sync.Mutex
	calls int
	sizes []int // events and summaries of each window
}

func (w *weatherman) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls
}

var errTooLong = errors.New("prompt is too long")

func (w *weatherman) Summarize(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	w.sizes = append(w.sizes, len(req.Events)+len(req.Summaries))
	if w.reads > 0 && estimateOf(req.Events...) > w.reads {
		return summarizer.Result{}, errTooLong
	}
	return prose(fmt.Sprintf("The user asked about the weather in %d towns one after the other, and the agent said that the sun shines in all of them.", len(req.Events)/2+len(req.Summaries))), nil
}

// TestAdoptingALongHistoryCostsFewCalls: the first append to a session that grew before compaction was
// turned on makes the prompt fit, and no more; the rest is done in the background, in windows as large
// as the summarizer reads.
func TestAdoptingALongHistoryCostsFewCalls(t *testing.T) {
	t.Parallel()
	const stored = 5000
	for name, inner := range map[string]session.Service{"stores at once": session.InMemoryService(), "stores in turns": newPlain()} {
		h := talk(t, inner, stored)
		writer, seen := &weatherman{}, &notes{}
		cfg := compaction.DefaultConfig()
		cfg.ContextWindow, cfg.Summarizer, cfg.Observer = 128_000, writer, seen.Observe
		svc := newService(t, inner, cfg)
		turn := get(t, svc)
		appendAll(t, svc, turn, h.User("new", "And what will it be like tomorrow, in the last town?").Last())
		if size := estimateOf(eventsOf(turn)...); size >= 128_000*98/100 {
			t.Errorf("the prompt has %d tokens when the model is asked", size)
		}
		if n := writer.count(); n == 0 || n > 5 {
			t.Errorf("%d calls of the summarizer before the append returned, want a few", n)
		}
		appendAll(t, svc, turn, h.Agent("new", "agent", "The sun will shine.").Last())
		flush(t, svc)
		if n := writer.count(); n > 20 {
			t.Errorf("%d calls of the summarizer for %d turns: %v", n, stored, writer.sizes)
		}
		for _, o := range append(seen.of(compaction.Failed), seen.of(compaction.Declined)...) {
			t.Errorf("%s: %s: %s %v", name, o.Outcome, o.Reason, o.Err)
		}
		if view := eventsOf(get(t, svc)); len(view) > 2*(5+2)+5 {
			t.Errorf("the view still shows %d events", len(view))
		}
		wantOnce(t, svc, h.Events)
		checkView(t, svc)
	}
}

// TestASlowSummarizerHoldsATurnNoLongerThanTheTimeout: at the time-out what is over the limit is
// summarized without the model, and the rest later.
func TestASlowSummarizerHoldsATurnNoLongerThanTheTimeout(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	h := talk(t, inner, 3000)
	cfg := compaction.DefaultConfig()
	seen := &notes{}
	cfg.ContextWindow, cfg.Timeout, cfg.Observer = 20_000, 50*time.Millisecond, seen.Observe
	cfg.Summarizer = summarizerFunc(func(ctx context.Context, _ summarizer.Request) (summarizer.Result, error) {
		<-ctx.Done()
		return summarizer.Result{}, ctx.Err()
	})
	svc := newService(t, inner, cfg)
	turn := get(t, svc)
	appendAll(t, svc, turn, h.User("new", "And tomorrow?").Last())
	if size := estimateOf(eventsOf(turn)...); size >= 20_000*98/100 {
		t.Errorf("the prompt has %d tokens when the model is asked", size)
	}
	inlineFailures := 0
	for _, o := range seen.of(compaction.Failed) {
		if o.Inline {
			inlineFailures++
		}
	}
	if inlineFailures != 1 {
		t.Errorf("%d calls of the model failed while the turn waited, want 1", inlineFailures)
	}
	wantOnce(t, svc, h.Events)
	checkView(t, svc)
}

// TestATurnThatWaitsInVainForAModelWaitsForOneMoreSummary: at the time-out one summary without a model makes a prompt
// fit, however long the history is. Later turns do the rest.
func TestATurnThatWaitsInVainForAModelWaitsForOneMoreSummary(t *testing.T) {
	t.Parallel()
	for name, makeInner := range map[string]func() session.Service{"stores at once": session.InMemoryService, "stores in turns": func() session.Service { return newPlain() }} {
		for _, stored := range []int{1500, 12_000} {
			t.Run(fmt.Sprint(name, " ", stored), func(t *testing.T) {
				t.Parallel()
				inner := makeInner()
				h := talk(t, inner, stored)
				cfg := compaction.DefaultConfig()
				seen := &notes{}
				cfg.ContextWindow, cfg.Timeout, cfg.Observer = 20_000, 50*time.Millisecond, seen.Observe
				cfg.Summarizer = summarizerFunc(func(ctx context.Context, _ summarizer.Request) (summarizer.Result, error) {
					<-ctx.Done()
					return summarizer.Result{}, ctx.Err()
				})
				svc := newService(t, inner, cfg)
				turn := get(t, svc)
				appendAll(t, svc, turn, h.User("new", "And tomorrow?").Last())
				inline := 0
				for _, o := range seen.of(compaction.Stored) {
					if o.Inline {
						inline++
					}
				}
				if inline == 0 || inline > 3 {
					t.Errorf("a turn behind %d others waited for %d summaries", stored, inline)
				}
				if size := estimateOf(eventsOf(turn)...); size >= 20_000*98/100 {
					t.Errorf("the prompt has %d tokens when the model is asked", size)
				}
				wantOnce(t, svc, h.Events)
				checkView(t, svc)
			})
		}
	}
}

// TestASummarizerThatReadsLessThanItSaysGetsSmallerWindows: a model whose window is smaller than the
// table says fails on every large window, and must not fail for ever.
func TestASummarizerThatReadsLessThanItSaysGetsSmallerWindows(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	h := talk(t, inner, 800)
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.ContextWindow = &weatherman{reads: 18_000}, 1_000_000
	svc := newService(t, inner, cfg)
	for i := range 6 {
		inv := fmt.Sprint("new", i)
		appendAll(t, svc, get(t, svc), h.User(inv, "And tomorrow?").Last(), h.Agent(inv, "agent", "The sun will shine.").Last())
		if err := svc.Flush(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(records(t, rawEvents(t, svc))); n == 0 {
		t.Error("nothing was ever summarized")
	}
	wantOnce(t, svc, h.Events)
	checkView(t, svc)
}

// halting is a reader that answers some calls of a turn at once, and takes longer than it is given for all others.
type halting struct {
	reader

	mu        sync.Mutex
	answers   int                // left in this turn
	deadlines map[time.Time]bool // since the turn began
	given     []time.Duration    // by each call
}

func (h *halting) begin(answers int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers, h.deadlines = answers, map[time.Time]bool{}
}

func (h *halting) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	now := time.Now()
	until, _ := ctx.Deadline()
	h.mu.Lock()
	h.given, h.deadlines[until] = append(h.given, until.Sub(now)), true
	h.answers--
	answers := h.answers >= 0
	h.mu.Unlock()
	if !answers {
		<-ctx.Done()
		return summarizer.Result{}, ctx.Err()
	}
	return h.reader.Summarize(ctx, req)
}

// TestAnAdoptedHistoryIsSummarizedInTurnsThatWaitNoLongerThanTheTimeout: all calls that a turn waits for end when its time
// ends, and later turns do the rest, here two summaries behind each.
func TestAnAdoptedHistoryIsSummarizedInTurnsThatWaitNoLongerThanTheTimeout(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name            string
		window, answers int // of the model; and how many calls of a turn it answers
		timeout         time.Duration
		turns           int // at least
	}{
		{"the prompt is over the limit, and the model is too slow", 50_000, 3, 500 * time.Millisecond, 1},
		{"the prompt is over the limit", 50_000, 100, time.Minute, 4},
		{"the prompt fits", 200_000, 100, time.Minute, 8},
	} {
		for storing, inner := range map[string]session.Service{"stores at once": session.InMemoryService(), "stores in turns": newPlain()} {
			t.Run(row.name+", "+storing, func(t *testing.T) {
				t.Parallel()
				h := talk(t, inner, 2_500)
				writer := &halting{reader: reader{&weatherman{}}}
				cfg := compaction.DefaultConfig()
				cfg.ContextWindow, cfg.TokenThreshold, cfg.Timeout, cfg.Summarizer = row.window, compaction.Off, row.timeout, writer
				var may atomic.Int32 // summaries in the background
				cfg.MaySummarize = func(compaction.SessionRef) bool { return may.Add(-1) >= 0 }
				svc := newService(t, inner, cfg)
				turns, left := 0, len(h.Events)
				for ; left > 2*(5+2)+5; turns++ {
					if turns == 60 {
						t.Fatalf("the view still shows %d events", left)
					}
					inv := fmt.Sprint("new", turns)
					writer.begin(row.answers)
					turn := get(t, svc)
					appendAll(t, svc, turn, h.User(inv, "And tomorrow?").Last())
					if size := estimateOf(eventsOf(turn)...); size >= row.window*98/100 {
						t.Errorf("turn %d: the prompt has %d tokens when the model is asked", turns, size)
					}
					if n := len(writer.deadlines); n > 1 {
						t.Errorf("turn %d waited for calls that end at %d different times", turns, n)
					}
					writer.begin(row.answers)
					may.Store(2)
					appendAll(t, svc, turn, h.Agent(inv, "agent", "The sun will shine.").Last())
					for status(t, svc).Running {
						time.Sleep(10 * time.Millisecond)
					}
					may.Store(0)
					left = len(eventsOf(get(t, svc)))
				}
				if turns < row.turns {
					t.Errorf("all was summarized in %d turns: nothing was left for later ones", turns)
				}
				for _, given := range writer.given {
					if given > cfg.Timeout {
						t.Errorf("a call was given %v, want at most %v", given, cfg.Timeout)
					}
				}
				wantOnce(t, svc, h.Events)
				checkView(t, svc)
			})
		}
	}
}

// TestWithoutAModelALongHistoryIsSummarizedInPieces: a summary that no model writes has to be written in time, too, on
// however busy a machine. One of all that there is would fail in each turn anew.
func TestWithoutAModelALongHistoryIsSummarizedInPieces(t *testing.T) {
	t.Parallel()
	inner, h := session.InMemoryService(), &compactiontest.History{}
	for i := range 300 {
		h.Turn(fmt.Sprint("inv", i), "agent", fmt.Sprintf("What is on page %d?", i), strings.Repeat(fmt.Sprintf("On page %d the sun shines. ", i), 300))
	}
	appendAll(t, inner, create(t, inner), h.Events...)
	cfg, seen := compaction.DefaultConfig(), &notes{}
	cfg.ContextWindow, cfg.Observer = 20_000, seen.Observe
	cfg.Summarizer = summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) {
		return summarizer.Result{}, errTooLong
	})
	svc := newService(t, inner, cfg)
	turn := get(t, svc)
	appendAll(t, svc, turn, h.User("new", "And tomorrow?").Last())
	if size := estimateOf(eventsOf(turn)...); size >= 20_000*98/100 {
		t.Errorf("the prompt has %d tokens when the model is asked", size)
	}
	for _, m := range records(t, rawEvents(t, svc)) {
		if len(m.Covered) > 0 && m.OriginalTokens > 1<<19 {
			t.Errorf("a summary is of %d tokens at once", m.OriginalTokens)
		}
	}
	wantOnce(t, svc, h.Events)
	checkView(t, svc)
}

// TestACheckpointThatIsAskedForWhileALongHistoryIsSummarizedIsWritten: the windows of the history are planned ahead, and the
// last of them would take what the checkpoint is to hold.
func TestACheckpointThatIsAskedForWhileALongHistoryIsSummarizedIsWritten(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	h := talk(t, inner, 300)
	w := &busy{reader: reader{&weatherman{}}}
	cfg := compaction.DefaultConfig()
	cfg.ContextWindow, cfg.CheckpointTool, cfg.CheckpointTokens, cfg.Summarizer = 100_000, done, 500, w
	svc := newService(t, inner, cfg)
	turn := get(t, svc)
	w.meanwhile = func() error {
		before := len(h.Events)
		appendAll(t, svc, turn, marks(h, "marked", "the survey").Events[before:]...)
		return nil
	}
	appendAll(t, svc, turn, h.User("new", "And tomorrow?").Last(), h.Agent("new", "agent", "The sun will shine.").Last())
	stored := settled(t, svc)
	if len(stored) < 3 || stored[1].Kind != record.KindSummary {
		t.Fatalf("%d records: the test shows nothing", len(stored))
	}
	if m := stored[len(stored)-1]; m.Kind != record.KindCheckpoint || m.Note != "the survey" {
		t.Errorf("the last of %d records is a %s with note %q, want the checkpoint", len(stored), m.Kind, m.Note)
	}
}

// busy is a reader during whose second call something happens, which may fail the call.
type busy struct {
	reader
	meanwhile func() error
}

func (b *busy) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	if b.count() == 1 {
		if err := b.meanwhile(); err != nil {
			return summarizer.Result{}, err
		}
	}
	return b.reader.Summarize(ctx, req)
}

// TestWindowsAreNotPlannedAheadForAModelOfBefore: a larger context window that an agent has got meanwhile needs no further
// summaries.
func TestWindowsAreNotPlannedAheadForAModelOfBefore(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	h := talk(t, inner, 1000)
	w := &busy{reader: reader{&weatherman{}}}
	var large atomic.Bool
	cfg := compaction.Config{InvocationThreshold: compaction.Off, Synchronous: true, Summarizer: w}
	var err error
	if cfg.Registry, err = tokens.NewRegistry(tokens.Model{Name: "small", ContextWindow: 10_000}, tokens.Model{Name: "large", ContextWindow: 1_000_000}); err != nil {
		t.Fatal(err)
	}
	cfg.AgentModelFunc = func(context.Context, compaction.SessionRef) string {
		if large.Load() {
			return "large"
		}
		return "small"
	}
	svc := newService(t, inner, cfg)
	w.meanwhile = func() error {
		large.Store(true)
		appendAll(t, svc, get(t, svc), h.Agent("new", "agent", "I think better now.").Last())
		return nil
	}
	appendAll(t, svc, get(t, svc), h.User("new", "And tomorrow?").Last())
	flush(t, svc)
	if w.count() != 2 {
		t.Errorf("%d summaries were written, want 2: the second was under way when the window grew", w.count())
	}
}
