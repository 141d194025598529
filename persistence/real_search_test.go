package persistence_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/recorded"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
	"github.com/adk-go-ext/longsession/persistence"
)

// questionsOf returns what is asked about a conversation.
func questionsOf(c recorded.Conversation) []string {
	all := slices.Clone(c.Probing)
	for _, q := range c.QA {
		all = append(all, q.Question)
	}
	return all
}

// The index of a file finds what the index in memory finds: for at least 95 % of the questions, the first five hits are
// the same in the same order. Each conversation is a session, and all of them together are one more.
func TestRealQuestionsFindTheSameInBothIndexes(t *testing.T) {
	t.Parallel()
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
	recordings := recorded.Read(t, "*.jsonl")
	// Those with questions first: the others make the session of all longer.
	slices.SortStableFunc(recordings, func(a, b recorded.Conversation) int {
		return min(1, len(questionsOf(b))) - min(1, len(questionsOf(a)))
	})
	for i, c := range recordings {
		sess := create(t, s, fmt.Sprint(i))
		for _, m := range c.Messages {
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
		compare(fmt.Sprint(i), questionsOf(c))
		questions = append(questions, questionsOf(c)...)
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
