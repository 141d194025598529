package persistence_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
	"github.com/adk-go-ext/longsession/persistence"
)

// asking is a conversation with questions about it.
type asking struct {
	Messages []struct{ Role, Content, Date string }
	QA       []struct{ Question string }
	Probing  []string `json:"probing_questions"`
}

func (a asking) questions() []string {
	all := slices.Clone(a.Probing)
	for _, q := range a.QA {
		all = append(all, q.Question)
	}
	return all
}

// The index of a file finds what the index in memory finds: for at least 95 % of the questions, the first five hits are
// the same in the same order. Each conversation is a session, and all of them together are one more.
func TestRealQuestionsFindTheSameInBothIndexes(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("LONGSESSION_DATA")
	if dir == "" {
		t.Skip("LONGSESSION_DATA is not set: no folder of real conversations")
	}
	s := open(t, newPath(t), persistence.WithSynchronousNormal())
	memory := wordsearch.NewMemory(0)
	var questions []string
	asked, same := 0, 0
	compare := func(id string, questions []string) {
		events := slices.Collect(get(t, s, id).Events().All())
		for _, q := range questions {
			want, err := memory.Search(t.Context(), adk.SessionRef{SessionID: id}, events, index.Query{Text: q, Limit: 5, Around: 1})
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.SearchText(t.Context(), request(id), index.Query{Text: q, Limit: 5, Around: 1})
			if err != nil {
				t.Fatal(err)
			}
			asked++
			if slices.EqualFunc(got, want, equalHits) {
				same++
			} else if !slices.Equal(idsOf(got), idsOf(want)) {
				t.Logf("session %s, question %d: file %v, memory %v", id, slices.Index(questions, q), idsOf(got), idsOf(want))
			}
		}
	}
	all := create(t, s, "all")
	n := 0
	for i, a := range askings(t, dir) {
		sess := create(t, s, fmt.Sprint(i))
		for _, m := range a.Messages {
			ev := text(fmt.Sprint(n), m.Content)
			if ev.Author = m.Role; m.Role == "assistant" {
				ev.Author, ev.Content.Role = "bot", "model"
			}
			ev.Timestamp = time.Date(2023, 1, 1, 0, 0, n, 0, time.UTC)
			if day, err := time.Parse(time.DateOnly, m.Date); err == nil {
				ev.Timestamp = day.Add(10*time.Hour + time.Duration(n)*time.Second)
			}
			n++
			again := *ev
			appendTo(t, s, sess, ev)
			appendTo(t, s, all, &again)
		}
		compare(fmt.Sprint(i), a.questions())
		questions = append(questions, a.questions()...)
	}
	compare("all", questions)
	t.Logf("%d of %d questions have the same first five hits; %d events in one session", same, asked, n)
	if asked < 100 || float64(same) < 0.95*float64(asked) {
		t.Errorf("only %d of %d questions have the same first five hits", same, asked)
	}
}

func equalHits(a, b index.Hit) bool {
	near := func(a, b index.Neighbor) bool {
		return a.Event.ID == b.Event.ID && a.Position == b.Position && a.Turn == b.Turn
	}
	return a.Event.ID == b.Event.ID && a.Position == b.Position && a.Turn == b.Turn &&
		slices.EqualFunc(a.Before, b.Before, near) && slices.EqualFunc(a.After, b.After, near)
}

// askings returns the conversations, those with questions first. The others make the session of all longer.
func askings(t *testing.T, dir string) (all []asking) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations in %s: %v", dir, err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var a asking
			if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
				t.Fatal(err)
			}
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b asking) int { return min(1, len(b.questions())) - min(1, len(a.questions())) })
	return all
}
