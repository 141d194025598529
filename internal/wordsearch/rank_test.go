package wordsearch_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
)

// first returns the position of the best hit.
func first(t *testing.T, chat []*session.Event, question string) int {
	t.Helper()
	got := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: question})
	if len(got) == 0 {
		t.Fatalf("%s: nothing found", question)
	}
	return got[0].Position
}

func TestWordsThatStandTogetherCountMore(t *testing.T) {
	t.Parallel()
	if got := first(t, said("a red house, a green car", "nothing at all", "and more", "besides", "a green house, a red car"), "red car"); got != 4 {
		t.Errorf("got %d", got)
	}
}

func TestNeighborsHelpEachOther(t *testing.T) {
	t.Parallel()
	chat := said("parcel", "empty", "hello", "green", "good", "what about the driver", "parcel", "driver monday", "bye")
	if got := first(t, chat, "parcel driver monday"); got != 7 && got != 6 {
		t.Errorf("got %d", got)
	}
	lone, among := said("a visa", "-x-", "-y-", "-z-", "-u-", "a visa", "visa desk visa"), index.Query{Text: "visa"}
	got := search(wordsearch.NewMemory(0), key("s"), lone, among)
	if p := positions(got); len(p) < 3 || !slices.Equal(p[:3], []int{6, 5, 0}) {
		t.Errorf("got %v: the event next to another one must come before the one alone", p)
	}
	apart := slices.Clone(lone)
	last := *lone[6]
	last.Timestamp = last.Timestamp.Add(wordsearch.EpisodeGap)
	apart[6] = &last
	got = search(wordsearch.NewMemory(0), key("s"), apart, among)
	if p := positions(got); !slices.Equal(p, []int{6, 0, 5}) {
		t.Errorf("got %v: events of another episode are no neighbors", p)
	}
}

func TestWhatStandsBetweenHitsIsFound(t *testing.T) {
	t.Parallel()
	chat := said("Did your health condition lead to a visit?", "It was low sugar, at night.", "The visit was for my health.", "-", "What else?", "Rain.")
	got := positions(search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: "health condition visit"}))
	if !slices.Contains(got, 1) || slices.Contains(got, 5) {
		t.Errorf("got %v", got)
	}
	if got := positions(search(wordsearch.NewMemory(0), key("s"), said("a", "b", "X42", "c"), index.Query{Text: "X42"})); !slices.Equal(got, []int{2}) {
		t.Errorf("got %v: one event with the word makes no hits of its neighbors", got)
	}
}

func TestTheOnlyAuthorThatIsNamedCountsMore(t *testing.T) {
	t.Parallel()
	chat := said("Mara: The visa came.", "-", "-", "-", "Jon: The visa came.")
	for question, want := range map[string]int{"What did Jon say about the visa?": 4, "What did Mara say about the visa?": 0} {
		if got := first(t, chat, question); got != want {
			t.Errorf("%s: got %d", question, got)
		}
	}
	corpus := wordsearch.Corpus{Events: 2, Length: 8, Frequency: []int{2, 2, 2}, Authors: []string{"Mara", "Jon"}}
	for question, want := range map[string]int{"Jon, any visa?": 9, "Mara, Jon, visa?": 0, "a visa, any visum?": 0} {
		q := wordsearch.Ask(question)
		counts := slices.Repeat([]int{1}, len(q.Terms))
		same := []wordsearch.Candidate{{Position: 0, Author: "Mara", Length: 4, Counts: counts}, {Position: 9, Author: "Jon", Length: 4, Counts: counts}}
		got := wordsearch.Rank(q, corpus, same)
		if alone := want == 9; got[0].Position != want || alone != (got[0].Score > got[1].Score) {
			t.Errorf("%s: got %v", question, got)
		}
	}
}

func TestAShortQuestionCountsLess(t *testing.T) {
	t.Parallel()
	if got := first(t, said("Is the visa here?", "-", "-", "-", "The visa is here."), "visa"); got != 4 {
		t.Errorf("got %d", got)
	}
	if got := first(t, said("签证到了吗？", "-", "-", "-", "签证到了呢。"), "签证"); got != 4 {
		t.Errorf("got %d", got)
	}
}

func TestTheEpisodeThatFitsCountsMore(t *testing.T) {
	t.Parallel()
	chat := said("We talk of the visa.", "-", "-", "-", "-", "We talk of the visa.", "-", "-", "-", "The embassy sent it.")
	for _, ev := range chat[5:] {
		ev.Timestamp = ev.Timestamp.Add(24 * time.Hour)
	}
	if got := first(t, chat, "visa embassy"); got != 9 {
		t.Errorf("got %d", got)
	}
	got := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: "visa embassy"})
	if p := positions(got); len(p) < 3 || !slices.Equal(p[:3], []int{9, 5, 0}) {
		t.Errorf("got %v", p)
	}
}

// TestRankDoesNotDependOnTheOrderOfCandidates, and gives each of them once at most.
func TestRankDoesNotDependOnTheOrderOfCandidates(t *testing.T) {
	t.Parallel()
	q := wordsearch.Ask("parcel driver monday")
	testkit.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "candidates")
		corpus := wordsearch.Corpus{Events: 40, Length: 200, Frequency: []int{20, 10, 5}, Authors: []string{"a", "b"}, Episodes: []wordsearch.Episode{{0, 19, 100}, {20, 60, 100}}}
		var list []wordsearch.Candidate
		for _, position := range rapid.SliceOfNDistinct(rapid.IntRange(0, 60), n, n, rapid.ID).Draw(t, "positions") {
			list = append(list, wordsearch.Candidate{
				Position: position, Author: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "author"), Length: rapid.IntRange(1, 20).Draw(t, "length"),
				Counts: rapid.SliceOfN(rapid.IntRange(0, 3), 3, 3).Draw(t, "counts"), Asking: rapid.Bool().Draw(t, "asking"),
			})
		}
		first := wordsearch.Rank(q, corpus, list)
		again := wordsearch.Rank(q, corpus, rapid.Permutation(list).Draw(t, "order"))
		if fmt.Sprint(first) != fmt.Sprint(again) {
			t.Fatalf("%v, and in another order %v", first, again)
		}
		seen := map[int]bool{}
		for i, r := range first {
			if seen[r.Position] || r.Score <= 0 || i > 0 && r.Score > first[i-1].Score {
				t.Fatalf("got %v", first)
			}
			seen[r.Position] = true
		}
		for _, p := range wordsearch.Beside(first, list) {
			if p < 0 || slices.ContainsFunc(list, func(c wordsearch.Candidate) bool { return c.Position == p }) {
				t.Fatalf("%d is beside, and it is a candidate or none", p)
			}
		}
	})
}
