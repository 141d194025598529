package compaction_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/oracle"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

// firstKB is a Cut function that keeps the first 1,000 bytes of each string of a response.
func firstKB(_ compaction.SessionRef, ev *session.Event) *session.Event {
	return withResponses(ev, func(response map[string]any) map[string]any {
		out, cut := maps.Clone(response), false
		for key, value := range response {
			if text, ok := value.(string); ok && len(text) > 1_000 {
				out[key], cut = text[:1_000], true
			}
		}
		if !cut {
			return nil
		}
		return out
	})
}

// withResponses returns ev with the responses that change returns, ev itself if it returns nil for each.
func withResponses(ev *session.Event, change func(map[string]any) map[string]any) *session.Event {
	form := *ev
	content := *ev.Content
	form.Content = &content
	content.Parts = append([]*genai.Part(nil), content.Parts...)
	changed := false
	for i, part := range content.Parts {
		if part.FunctionResponse == nil {
			continue
		}
		if response := change(part.FunctionResponse.Response); response != nil {
			other := *part.FunctionResponse
			other.Response = response
			content.Parts[i], changed = &genai.Part{FunctionResponse: &other}, true
		}
	}
	if !changed {
		return ev
	}
	return &form
}

// responseSize is the length of all responses' strings in events.
func responseSize(events []*session.Event) (size int) {
	for _, ev := range events {
		if ev == nil || ev.Content == nil {
			continue
		}
		for _, part := range ev.Content.Parts {
			if part.FunctionResponse != nil {
				for _, value := range part.FunctionResponse.Response {
					size += len(fmt.Sprint(value))
				}
			}
		}
	}
	return size
}

// readFile appends a turn in which a tool returns 200 KB.
func readFile(t testing.TB, svc session.Service, sess session.Session, turn int) {
	t.Helper()
	inv, id := fmt.Sprint("file", turn), fmt.Sprint("c", turn)
	var h compactiontest.History
	h.User(inv, "Read the file.").Call(inv, "bot", "read", id).Response(inv, "bot", "read", strings.Repeat("line of code\n", 15_500), id).Agent(inv, "bot", "It is code.")
	for i, ev := range h.Events {
		ev.ID, ev.Timestamp = fmt.Sprintf("turn%d-%d", turn, i), histories.Epoch.AddDate(0, 0, turn).Add(ev.Timestamp.Sub(histories.Epoch))
	}
	appendAll(t, svc, sess, h.Events...)
}

func TestTheViewShowsCutResultsAndStorageKeepsThemWhole(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, oracle := manualOnly()
		cfg.Cut = firstKB
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		for turn := range 4 {
			readFile(t, svc, sess, turn)
		}
		const whole = 4 * 200_000
		for name, view := range map[string][]*session.Event{"the turn's handle": eventsOf(sess), "a new handle": eventsOf(get(t, svc))} {
			if size := responseSize(view); size < 4_000 || size > 4_400 {
				t.Errorf("%s shows %d bytes of results, want 4,000", name, size)
			}
		}
		if size := responseSize(rawEvents(t, svc)); size < whole {
			t.Errorf("storage has %d bytes of results, want %d", size, whole)
		}
		if got := status(t, svc).PromptTokens; got > 4*600 {
			t.Errorf("the prompt is taken for %d tokens", got)
		}
		result := compact(t, svc, compaction.CompactOptions{KeepRecent: 1})
		if result.BeforeTokens > 4*600 || result.Skipped {
			t.Errorf("the compaction was from %d tokens: %+v", result.BeforeTokens, result)
		}
		for _, req := range oracle.Requests() {
			if size := responseSize(req.Events); size > 3_300 {
				t.Errorf("the summarizer was given %d bytes of results, want 3,000", size)
			}
		}
		for _, m := range records(t, rawEvents(t, svc)) {
			if m.OriginalTokens > 3*600 {
				t.Errorf("the record stands for %d tokens, more than was ever shown", m.OriginalTokens)
			}
		}
		if size := responseSize(eventsOf(sess)); size > 1_100 {
			t.Errorf("after the compaction %d bytes of results are shown, want 1,000", size)
		}
		if size := responseSize(rawEvents(t, svc)); size < whole {
			t.Errorf("after the compaction storage has %d bytes of results, want %d", size, whole)
		}
	})
}

// A result that is cut in every prompt is no reason to compact.
func TestResultsThatAreCutDoNotSetOffTheTokenTrigger(t *testing.T) {
	t.Parallel()
	for _, cut := range []bool{false, true} {
		cfg, _ := oracleConfig()
		seen := &notes{}
		cfg.InvocationThreshold, cfg.ContextWindow, cfg.Observer = compaction.Off, 128_000, seen.Observe
		if cut {
			cfg.Cut = firstKB
		}
		svc := newService(t, session.InMemoryService(), cfg)
		sess := create(t, svc)
		for turn := range 8 {
			readFile(t, svc, sess, turn)
		}
		if n := len(seen.of(compaction.Stored)); (n > 0) == cut {
			t.Errorf("cut %t: %d compactions", cut, n)
		}
	}
}

// Whatever a Cut function does, the stored event is shown if its answer cannot be used, and the app hears of it
// once.
func TestAnEventIsShownWholeIfCutFails(t *testing.T) {
	t.Parallel()
	changed := func(f func(form *session.Event)) func(compaction.SessionRef, *session.Event) *session.Event {
		return func(ref compaction.SessionRef, ev *session.Event) *session.Event {
			form := firstKB(ref, ev)
			if form != ev {
				f(form)
			}
			return form
		}
	}
	for name, cut := range map[string]func(compaction.SessionRef, *session.Event) *session.Event{
		"panics":          func(compaction.SessionRef, *session.Event) *session.Event { panic("secret") },
		"nil":             func(compaction.SessionRef, *session.Event) *session.Event { return nil },
		"no content":      changed(func(form *session.Event) { form.Content = nil }),
		"another ID":      changed(func(form *session.Event) { form.ID = "other" }),
		"another author":  changed(func(form *session.Event) { form.Author = "other" }),
		"another role":    changed(func(form *session.Event) { form.Content.Role = "model" }),
		"fewer parts":     changed(func(form *session.Event) { form.Content.Parts = nil }),
		"a nil part":      changed(func(form *session.Event) { form.Content.Parts[0] = nil }),
		"text":            changed(func(form *session.Event) { form.Content.Parts[0] = genai.NewPartFromText("cut") }),
		"another call":    changed(func(form *session.Event) { form.Content.Parts[0].FunctionResponse.ID = "other" }),
		"another tool":    changed(func(form *session.Event) { form.Content.Parts[0].FunctionResponse.Name = "other" }),
		"no response":     changed(func(form *session.Event) { form.Content.Parts[0].FunctionResponse.Response = nil }),
		"a state change":  changed(func(form *session.Event) { form.Actions.StateDelta = map[string]any{"k": "v"} }),
		"another partner": func(_ compaction.SessionRef, ev *session.Event) *session.Event { return &session.Event{ID: ev.ID} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, _ := manualOnly()
			seen := &notes{}
			cfg.Cut, cfg.Observer, cfg.ContextWindow = cut, seen.Observe, 1_000_000
			svc := newService(t, session.InMemoryService(), cfg)
			sess := create(t, svc)
			for turn := range 3 {
				readFile(t, svc, sess, turn)
			}
			shown, raw := eventsOf(get(t, svc)), rawEvents(t, svc)
			for i, ev := range shown {
				if ev != raw[i] {
					t.Errorf("event %d is shown as %v", i, ev)
				}
			}
			failed := seen.of(compaction.CutFailed)
			if len(failed) != 1 || failed[0].Session != ref || !errors.Is(failed[0].Err, compaction.ErrCompaction) || !strings.Contains(failed[0].Err.Error(), `"turn0-2"`) {
				t.Errorf("reported %+v, want one failure for turn0-2", failed)
			}
		})
	}
}

func TestCutIsCalledOnceForEachResultThatIsShown(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	cfg, _ := oracleConfig()
	cfg.Cut = func(ref compaction.SessionRef, ev *session.Event) *session.Event {
		calls.Add(1)
		return firstKB(ref, ev)
	}
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	for turn := range 20 { // with compactions in between
		readFile(t, svc, sess, turn)
		estimateOf(eventsOf(sess)...)
	}
	if n := calls.Load(); n > 3*20 {
		t.Errorf("%d calls for 20 results", n)
	}
	before := calls.Load()
	for range 3 {
		get(t, svc)
	}
	before = calls.Load() - before
	if n := calls.Load(); before > 3*3 {
		t.Errorf("%d calls, %d of them to read a session whose events the backend shares", n, before)
	}
	if got := promptsize.OfEvent(eventsOf(sess)[len(eventsOf(sess))-2]); got > 600 {
		t.Errorf("the newest result takes up %d tokens", got)
	}
}

// TestACutViewKeepsTheRulesWhileItIsRead: readers see whole snapshots of cut events while turns are appended and
// compacted.
func TestACutViewKeepsTheRulesWhileItIsRead(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	cfg, _ := oracleConfig()
	cfg.Cut, cfg.Synchronous = firstKB, false
	svc := newService(t, inner, cfg)
	sess := create(t, svc)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if size := responseSize(eventsOf(sess)); size > 20*1_100 {
					t.Errorf("%d bytes of results are shown", size)
					return
				}
				_ = responseSize(eventsOf(get(t, svc)))
			}
		})
	}
	for turn := range 12 {
		readFile(t, svc, sess, turn)
	}
	flush(t, svc)
	close(done)
	readers.Wait()
	cut := func(ev *session.Event) *session.Event { return firstKB(ref, ev) }
	if err := oracle.CheckCut(rawEvents(t, svc), eventsOf(get(t, svc)), cut); err != nil {
		t.Error(err)
	}
}
