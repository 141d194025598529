package integration_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	recaller "github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/layer/recall/index"
	"github.com/adk-go-ext/longsession/persistence"
)

// countedFile counts what a session file is asked for.
type countedFile struct {
	*persistence.SQLiteSessionService
	reads, indexed atomic.Int64
}

func (a *countedFile) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	a.reads.Add(1)
	return a.SQLiteSessionService.Get(ctx, req)
}

func (a *countedFile) GetActive(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	a.reads.Add(1)
	return a.SQLiteSessionService.GetActive(ctx, req)
}

func (a *countedFile) History(ctx context.Context, req *session.GetRequest, from int64, limit int) ([]*session.Event, int64, error) {
	a.reads.Add(1)
	return a.SQLiteSessionService.History(ctx, req, from, limit)
}

func (a *countedFile) IndexText(ctx context.Context, req *session.GetRequest, redact func(string) string) error {
	a.indexed.Add(1)
	return a.SQLiteSessionService.IndexText(ctx, req, redact)
}

func (a *countedFile) SearchText(ctx context.Context, req *session.GetRequest, q index.Query) ([]index.Hit, error) {
	a.indexed.Add(1)
	return a.SQLiteSessionService.SearchText(ctx, req, q)
}

// Before the first summary, recall reads nothing and indexes nothing. The file's index takes in what the summary stands
// for, before anybody searches.
func TestRecallCostsNothingBeforeTheFirstSummary(t *testing.T) {
	t.Parallel()
	reads := map[bool]int64{}
	for _, disabled := range []bool{true, false} {
		file, err := persistence.NewSQLiteSessionService(filepath.Join(t.TempDir(), "sessions.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		store := &countedFile{SQLiteSessionService: file}
		s := newSearched(t, store, recaller.Config{Disabled: disabled})
		bot := s.caller("bot")
		s.run(ref, bot, nil, "Hello.", "How are you?", "What is new?", "Go on.")
		if reads[disabled] = store.reads.Load(); store.indexed.Load() > 0 {
			t.Errorf("disabled %v: the index was used before the first summary", disabled)
		}
		s.run(ref, bot, nil, chatter(passport)...)
		if err := s.stack.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if indexed := store.indexed.Load() > 0; indexed == disabled {
			t.Errorf("disabled %v: indexed behind the first summary: %v", disabled, indexed)
		}
	}
	if reads[true] == 0 || reads[true] != reads[false] {
		t.Errorf("the session is read %d times without recall, and %d times with it", reads[true], reads[false])
	}
}

// A session whose summaries were written without recall is searched from the next request on, over every storage.
func TestASessionBegunWithoutRecallIsSearched(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			s := newSearched(t, store.Open(t), recaller.Config{Disabled: true})
			s.run(ref, s.caller("bot"), nil, chatter(passport)...)
			s = newSearched(t, store.Open(t), recaller.Config{})
			answers := s.run(ref, s.caller("bot"), nil, "recall> passport number")
			if len(answers) != 1 || !strings.Contains(fmt.Sprint(answers[0]["passages"]), "X4829917") {
				t.Errorf("%v", answers)
			}
		})
	}
}

// Two processes that serve a session in turn find what either of them was told, by the default.
func TestTwoProcessesSearchOneStorage(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			both := []*searched{newSearched(t, store.Open(t), recaller.Config{}), newSearched(t, store.Open(t), recaller.Config{})}
			for n, message := range chatter(passport, "My locker number is 7713.") {
				s := both[n%2]
				s.run(ref, s.caller("bot"), nil, message)
			}
			for i, s := range both {
				for query, want := range map[string]string{"passport number": "X4829917", "locker number": "7713"} {
					answers := s.run(ref, s.caller("bot"), nil, "recall> "+query)
					if len(answers) != 1 || !strings.Contains(fmt.Sprint(answers[0]), want) && !strings.Contains(fmt.Sprint(answers[0]), "Same as before") {
						t.Errorf("process %d, %s: %v", i, query, answers)
					}
				}
			}
		})
	}
}

// broken is a session service whose index fails, or panics.
type broken struct {
	session.Service
	panics bool
	asked  atomic.Int64
}

func (b *broken) SearchText(context.Context, *session.GetRequest, index.Query) ([]index.Hit, error) {
	return nil, b.fail()
}

func (b *broken) IndexText(context.Context, *session.GetRequest, func(string) string) error {
	return b.fail()
}

func (b *broken) fail() error {
	b.asked.Add(1)
	if b.panics {
		panic("no index")
	}
	return fmt.Errorf("no index")
}

// An index that fails or panics fails no turn and no summary: the model is told that it must go on without.
func TestABrokenIndexFailsNoTurn(t *testing.T) {
	t.Parallel()
	for _, panics := range []bool{false, true} {
		inner := &broken{Service: session.InMemoryService(), panics: panics}
		s := newSearched(t, inner, recaller.Config{})
		s.run(ref, s.caller("bot"), nil, chatter(passport)...)
		answers := s.run(ref, s.caller("bot"), nil, "recall> passport number", "Thank you.")
		if len(answers) != 1 || !strings.Contains(fmt.Sprint(answers[0]["error"]), "cannot be searched now") {
			t.Errorf("panics %v: %v", panics, answers)
		}
		if err := s.stack.Close(t.Context()); err != nil || inner.asked.Load() < 2 {
			t.Errorf("panics %v: asked %d times, closed with %v", panics, inner.asked.Load(), err)
		}
	}
}
