package databases_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/transfer"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// reworder summarizes anything in the same words, as a model's.
type reworder struct{}

func (reworder) Summarize(context.Context, summarizer.Request) (summarizer.Result, error) {
	return summarizer.Result{Content: genai.NewContentFromText("They talked about walls, and the codes for them.", genai.RoleModel), Model: "writer"}, nil
}

func wishOf(turn int) string { return fmt.Sprintf("Never paint wall %d blue.", 100+turn) }

// wish runs a turn with a wish of the user, and three in which the user says next to nothing.
func (a *app) wish(t *testing.T, id string, turn int) {
	t.Helper()
	for i, text := range []string{wishOf(turn), "ok", "go on", "thanks"} {
		if err := a.say(t.Context(), id, 4*turn+i, text); err != nil {
			t.Fatal(err)
		}
	}
}

func repeatingApp(t *testing.T, inner session.Service) *app {
	t.Helper()
	a, err := newApp(inner, false, func(cfg *compaction.Config) {
		cfg.Summarizer, cfg.Synchronous, cfg.MaxSummaries, cfg.InvocationThreshold, cfg.MaxLedgerTokens = reworder{}, true, 2, 16, 100
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// storedRecords returns the records of a session, in the order of their IDs: services order events of one time differently.
func storedRecords(t *testing.T, service session.Service, id string) (all []*record.Metadata) {
	t.Helper()
	resp, err := service.Get(t.Context(), &session.GetRequest{AppName: appName, UserID: userID, SessionID: id})
	if err != nil {
		t.Fatal(err)
	}
	for ev := range resp.Session.Events().All() {
		if m, err := record.From(ev); err != nil {
			t.Fatal(err)
		} else if m != nil {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *record.Metadata) int { return strings.Compare(a.RecordID, b.RecordID) })
	return all
}

// mustShow fails if a wish of the first turns is not in what the model is shown.
func mustShow(t *testing.T, service session.Service, id string, turns int) []string {
	t.Helper()
	view, _ := shownBy(t, service, id)
	for turn := range turns {
		if !strings.Contains(strings.Join(view, "\n"), wishOf(turn)) {
			t.Fatalf("wish %d of %d is gone:\n%s", turn, turns, strings.Join(view, "\n"))
		}
	}
	return view
}

// What the user said, the values, and how much a summary keeps move with a session, and grow on wherever it goes on.
func TestTheUsersWordsMoveToPostgreSQLAndBack(t *testing.T) {
	s := newStore(t, &postgreSQL)
	path := filepath.Join(t.TempDir(), "sessions.db")
	stored := opened(t, path)
	createSession(t.Context(), t, stored, "one")
	a := repeatingApp(t, stored)
	for turn := range 8 {
		a.wish(t, "one", turn)
	}
	file, database := openBoth(t, path, s)
	copyAll(t, file, database, transfer.Options{})
	there := repeatingApp(t, s.sessions)
	for turn := 8; turn < 24; turn++ {
		there.wish(t, "one", turn)
	}
	copyAll(t, database, file, transfer.Options{})
	for turn := 24; turn < 32; turn++ {
		a.wish(t, "one", turn)
	}
	copyAll(t, file, database, transfer.Options{})

	want := mustShow(t, stored, "one", 32)
	if got := mustShow(t, s.sessions, "one", 32); !slices.Equal(got, want) {
		t.Errorf("the database shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	ours, theirs := storedRecords(t, stored, "one"), storedRecords(t, s.sessions, "one")
	if diff := cmp.Diff(ours, theirs); diff != "" {
		t.Errorf("the records of the file and of the database (-file +database):\n%s", diff)
	}
	last := ours[len(ours)-1]
	if len(last.Said) == 0 || last.SaidTokens == 0 || last.UserTokens == 0 || len(last.Values) == 0 || last.Kept == nil {
		t.Errorf("the last record has %d words, %d and %d tokens, %d values, kept %v", len(last.Said), last.SaidTokens, last.UserTokens, len(last.Values), last.Kept)
	}
}

// Two processes over one store that take turns show the same words, and lose none.
func TestTwoProcessesRepeatTheSameWords(t *testing.T) {
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			s := newStore(t, e)
			createSession(t.Context(), t, s.sessions, "one")
			both := []*app{repeatingApp(t, s.sessions), repeatingApp(t, s.sessions)}
			for turn := range 32 {
				both[turn%3%2].wish(t, "one", turn)
				mustShow(t, s.sessions, "one", turn+1)
			}
			if n := len(storedRecords(t, s.sessions, "one")); n < 6 {
				t.Errorf("only %d records", n)
			}
		})
	}
}
