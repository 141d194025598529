package recall_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/memory"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall"
)

// A function of the app that panics costs a search, and no turn.
func TestAFilterOrARedactionThatPanicsIsAnError(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]recall.Config{
		"Filter": {Filter: func(*session.Event) bool { panic("no") }},
		"Redact": {Redact: func(string) string { panic("no") }},
	} {
		svc := service(t)
		store(t, svc, ref, long()...)
		r := recaller(t, svc, cfg)
		if found, err := r.Search(t.Context(), ref, recall.Query{Text: "passport", Shown: true}); err == nil || !strings.Contains(err.Error(), "panic: no") || len(found) > 0 {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		if _, err := r.Turn(t.Context(), ref, "", "m1"); err == nil || !strings.Contains(err.Error(), "panic: no") {
			t.Errorf("%s: the turn: %v", name, err)
		}
	}
}

// A function of the app that does not return costs searches of its session, which end with their context, and no turn.
func TestAFilterOrARedactionThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Filter", "Redact"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svc := service(t)
			other := compaction.SessionRef{AppName: ref.AppName, UserID: ref.UserID, SessionID: "other"}
			store(t, svc, ref, long()...)
			store(t, svc, other, "user: My passport is green.")
			called, release := make(chan struct{}), make(chan struct{})
			var once, freed sync.Once
			free := func() { freed.Do(func() { close(release) }) }
			defer free()
			hang := func(text string) {
				if strings.Contains(text, "X4829917") {
					once.Do(func() { close(called) })
					<-release
				}
			}
			cfg := recall.Config{Filter: func(ev *session.Event) bool { hang(wordsearch.Text(ev)); return true }}
			if name == "Redact" {
				cfg = recall.Config{Redact: func(text string) string { hang(text); return text }}
			}
			r := recaller(t, svc, cfg)
			find := func(ctx context.Context, ref compaction.SessionRef) ([]recall.Passage, error) {
				return r.Search(ctx, ref, recall.Query{Text: "passport", Shown: true})
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-called
				cancel()
			}()
			if found, err := find(ctx, ref); !errors.Is(err, context.Canceled) || len(found) > 0 {
				t.Errorf("%v, %v", found, err)
			}
			if _, err := find(t.Context(), ref); err == nil || !strings.Contains(err.Error(), "it does not return") {
				t.Errorf("the second search: %v", err)
			}
			if _, err := r.Turn(t.Context(), ref, "", "m1"); err == nil || !strings.Contains(err.Error(), "it does not return") {
				t.Errorf("a turn: %v", err)
			}
			if found, err := find(t.Context(), other); err != nil || len(found) != 1 {
				t.Errorf("another session: %v, %v", found, err)
			}
			free()
			for { // until the first search has returned
				if found, err := find(t.Context(), ref); err == nil {
					if len(found) == 0 {
						t.Error("nothing is found afterward")
					}
					return
				}
				runtime.Gosched()
			}
		})
	}
}

// ADK fails a turn for an error of its memory, and waits for it.
func TestMemoryIsGivenUpWithoutAnError(t *testing.T) {
	t.Parallel()
	svc, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{Summarizer: &compactiontest.Oracle{}, Timeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close(context.Background()) })
	store(t, svc, ref, "user: My passport is green.")
	release := make(chan struct{})
	defer close(release)
	r := recaller(t, svc, recall.Config{Filter: func(*session.Event) bool { <-release; return true }})
	got, err := r.Memory().SearchMemory(t.Context(), &memory.SearchRequest{AppName: ref.AppName, UserID: ref.UserID, Query: "passport"})
	if err != nil || got == nil || len(got.Memories) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// The index in memory forgets a session that is deleted.
func TestADeletedSessionIsForgotten(t *testing.T) {
	t.Parallel()
	svc := service(t)
	store(t, svc, ref, long()...)
	var sizes []int
	r := recaller(t, svc, recall.Config{Observer: func(_ context.Context, o recall.Observation) { sizes = append(sizes, o.IndexBytes) }})
	find := func() error {
		_, err := r.Search(t.Context(), ref, recall.Query{Text: "passport", Shown: true})
		return err
	}
	if err := find(); err != nil {
		t.Fatal(err)
	}
	if err := svc.Delete(t.Context(), &session.DeleteRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	if err := find(); !adk.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 2 || sizes[0] == 0 || sizes[1] != 0 {
		t.Errorf("the index had %d bytes", sizes)
	}
}

// What Filter refuses never comes back: not as a hit, a neighbor or part of a turn, and no turn begins from it.
func TestWhatFilterRefusesNeverComesBack(t *testing.T) {
	t.Parallel()
	svc := service(t)
	store(t, svc, ref, "user: My passport is green.", "bot: Noted, your passport is secret.", "user: Bye.")
	r := recaller(t, svc, recall.Config{Filter: func(ev *session.Event) bool { return !strings.Contains(wordsearch.Text(ev), "secret") }})
	found, err := r.Search(t.Context(), ref, recall.Query{Text: "passport", Shown: true})
	if err != nil || len(found) != 1 || found[0].Lines[0].Ref != "m1" {
		t.Fatalf("%v, %v", found, err)
	}
	turn, err := r.Turn(t.Context(), ref, "", "m1")
	if err != nil || len(turn.Lines) != 1 {
		t.Errorf("%v, %v", turn, err)
	}
	for _, line := range found[0].Lines {
		if strings.Contains(line.Text, "secret") {
			t.Errorf("found %q", line)
		}
	}
	if got, err := r.Turn(t.Context(), ref, "", "m2"); !errors.Is(err, recall.ErrNoSuchRef) {
		t.Errorf("%v, %v", got, err)
	}
}
