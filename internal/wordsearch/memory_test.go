package wordsearch_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"
	"pgregory.net/rapid"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
)

var began = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// said makes the events of a session from texts, a minute apart: "user: Where is it?", by default the user's.
func said(texts ...string) []*session.Event {
	var out []*session.Event
	for i, text := range texts {
		author, words, found := strings.Cut(text, ": ")
		if !found {
			author, words = "user", text
		}
		out = append(out, &session.Event{
			ID: fmt.Sprint("e", i), Author: author, Timestamp: began.Add(time.Duration(i) * time.Minute),
			LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(words, genai.RoleUser)},
		})
	}
	return out
}

// search searches with a context that does not end.
func search(m *wordsearch.Memory, key adk.SessionRef, events []*session.Event, q index.Query) []index.Hit {
	hits, err := m.Search(context.Background(), key, events, q)
	if err != nil {
		panic(err)
	}
	return hits
}

func key(id string) adk.SessionRef {
	return adk.SessionRef{AppName: "app", UserID: "user", SessionID: id}
}

// positions lists where the hits are, the best first.
func positions(hits []index.Hit) []int {
	out := make([]int, len(hits))
	for i, h := range hits {
		out[i] = h.Position
	}
	return out
}

func TestTheEventThatAnswersComesFirst(t *testing.T) {
	t.Parallel()
	chat := said(
		"My name is Mara, and I live in Lisbon.",
		"desk: Welcome, Mara! What can I do for you?",
		"My passport number is X4829917, please note it.",
		"desk: Noted.",
		"我最喜欢的科幻电影是《三体》。",
		"desk: 好的，我记住了。",
		"The invoices of order ORD-17 were never paid.",
		"desk: I have written to the bookkeepers.",
		"Was that all?",
	)
	for _, tt := range []struct {
		question string
		want     int
	}{
		{"What is my passport number?", 2},
		{"Which city do I live in?", 0},
		{"my name", 0},
		{"X4829917", 2},
		{"ord 17 invoice", 6},
		{"INVOICE", 6},
		{"我喜欢哪部科幻电影？", 4},
		{`"passport" AND NEAR(number*) : ^`, 2},
	} {
		got := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: tt.question})
		if len(got) == 0 || got[0].Position != tt.want || got[0].Event != chat[tt.want] {
			t.Errorf("%s: got %v, want %d first", tt.question, positions(got), tt.want)
		}
	}
}

func TestAQuestionWithoutAWordFindsNothing(t *testing.T) {
	t.Parallel()
	chat := said("The parcel is late.", "desk: It arrives on Monday.")
	for _, question := range []string{"", " \n\t", "the of and", "\x00\x01\x02", "🙂🙃", "\xff\xfe", "()*\"", "zebra"} {
		if got := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: question}); len(got) > 0 {
			t.Errorf("%q: got %v", question, positions(got))
		}
	}
	if got := search(wordsearch.NewMemory(0), key("s"), nil, index.Query{Text: "parcel"}); len(got) > 0 {
		t.Errorf("an empty session: got %v", positions(got))
	}
	huge := strings.Repeat("parcel ", 150_000) // a megabyte
	if got := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: huge}); !slices.Equal(positions(got), []int{0}) {
		t.Errorf("a question of a megabyte: got %v", positions(got))
	}
}

func TestADateInTheQuestionCounts(t *testing.T) {
	t.Parallel()
	var chat []*session.Event
	for d := range 10 {
		ev := said("We went for a run in the park.")[0]
		ev.ID, ev.Timestamp = fmt.Sprint(d), time.Date(2026, 5, 1+d, 12, 0, 0, 0, time.UTC)
		chat = append(chat, ev)
	}
	for question, want := range map[string]int{
		"Where did we run on May 6?": 5, "the run of the 6th of May": 5, "run on 2026-05-06": 5, "5月6号 run": 5, "run, May 10th, 2026": 9,
	} {
		got := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: question, Limit: 1})
		if len(got) != 1 || got[0].Position != want {
			t.Errorf("%s: got %v, want %d", question, positions(got), want)
		}
	}
}

func TestOnlyWhatMayBeReturnedIsReturned(t *testing.T) {
	t.Parallel()
	chat := said("secret parcel one", "parcel two", "secret parcel three", "parcel four")
	open := func(ev *session.Event) bool { return !strings.Contains(ev.Content.Parts[0].Text, "secret") }
	got := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: "parcel", Around: 3, May: open})
	if !slices.Equal(slices.Sorted(slices.Values(positions(got))), []int{1, 3}) {
		t.Fatalf("got %v", positions(got))
	}
	for _, h := range got {
		for _, n := range slices.Concat(h.Before, h.After) {
			if !open(n.Event) {
				t.Errorf("event %d came as the neighbor of %d", n.Position, h.Position)
			}
		}
	}
	if got := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: "secret", May: open}); len(got) > 0 {
		t.Errorf("words of what may not be returned: got %v", positions(got))
	}
	from, to := began.Add(time.Minute), began.Add(2*time.Minute)
	if got := positions(search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: "parcel", From: from, To: to})); !slices.Equal(slices.Sorted(slices.Values(got)), []int{1, 2}) {
		t.Errorf("within two minutes: got %v", got)
	}
}

func TestHitsHaveTheirTurnAndNeighbors(t *testing.T) {
	t.Parallel()
	chat := said("desk: Hello!", "Hi.", "desk: Yes?", "My parcel is late.", "desk: Which parcel?", "The blue zeppelin.", "desk: Thanks.")
	chat = slices.Insert(chat, 5, &session.Event{ID: "state only", Author: "desk", Timestamp: began})
	got := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: "zeppelin", Around: 1})
	if len(got) != 1 || got[0].Position != 6 || got[0].Turn != 3 || len(got[0].Before) != 1 || len(got[0].After) != 1 {
		t.Fatalf("got %+v", got)
	}
	if b, a := got[0].Before[0], got[0].After[0]; b.Position != 4 || b.Turn != 2 || a.Position != 7 || a.Event != chat[7] {
		t.Errorf("neighbors %+v and %+v", b, a)
	}
}

func TestWhatIsRedactedCannotBeFound(t *testing.T) {
	t.Parallel()
	chat := said("The code of the safe is zebra42.")
	hide := func(text string) string { return strings.ReplaceAll(text, "zebra42", "[code]") }
	if got := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: "zebra42", Redact: hide}); len(got) > 0 {
		t.Errorf("got %v", positions(got))
	}
	if got := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: "safe", Redact: hide}); len(got) != 1 {
		t.Errorf("the rest is not found: %v", positions(got))
	}
}

// An index that grows with the session finds the same as one that is built at once, whatever happens in between.
func TestAGrownIndexEqualsABuiltOne(t *testing.T) {
	t.Parallel()
	words := strings.Fields("parcel order late city driver monday red blue green 科幻 电影 visa 17 X42")
	testkit.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 8).Draw(t, "words"), " ")
		}), 1, 40).Draw(t, "texts")
		events := said(texts...)
		for _, ev := range events {
			ev.Author = rapid.SampledFrom([]string{"user", "desk", "boss"}).Draw(t, "author")
			ev.Timestamp = ev.Timestamp.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "later")) * time.Hour)
		}
		question := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(words, "boss", "may", "2026-03-05")), 1, 6).Draw(t, "question"), " ")
		q := index.Query{Text: question, Limit: rapid.IntRange(0, 5).Draw(t, "limit"), Around: rapid.IntRange(0, 2).Draw(t, "around")}
		grown := wordsearch.NewMemory(0)
		for n := 0; n < len(events); n += rapid.IntRange(1, 9).Draw(t, "more") {
			search(grown, key("s"), events[:n], q)
		}
		if rapid.Bool().Draw(t, "another history before") {
			others := said("something", "else", "entirely")[:rapid.IntRange(1, 3).Draw(t, "of")]
			for _, ev := range others {
				ev.ID += "'"
			}
			search(grown, key("s"), others, q)
		}
		got, want := search(grown, key("s"), events, q), search(wordsearch.NewMemory(0), key("s"), events, q)
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Fatalf("%s: grown %v, built %v", question, positions(got), positions(want))
		}
	})
}

func TestTheOldestSessionsAreForgotten(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	m := wordsearch.NewMemory(most)
	for i := range 40 {
		var texts []string
		for k := range 50 {
			texts = append(texts, fmt.Sprintf("session %d says word%d%d", i, i, k))
		}
		if got := search(m, key(fmt.Sprint(i)), said(texts...), index.Query{Text: fmt.Sprintf("word%d7", i)}); len(got) != 1 {
			t.Fatalf("session %d: got %v", i, positions(got))
		}
		if m.Bytes() > most {
			t.Fatalf("%d bytes after session %d, the most are %d", m.Bytes(), i, most)
		}
	}
	one := wordsearch.NewMemory(1)
	if got := search(one, key("s"), said("a parcel"), index.Query{Text: "parcel"}); len(got) != 1 {
		t.Error("a session that is larger than the limit is not searched")
	}
	one.Forget(key("s"))
	if one.Bytes() != 0 {
		t.Errorf("%d bytes are left of a session that was forgotten", one.Bytes())
	}
}

func TestMemoryIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	m := wordsearch.NewMemory(20 << 10)
	chat := said(strings.Split(strings.Repeat("the parcel is late,it comes on Monday,", 30), ",")...)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 20 {
				if got := search(m, key(fmt.Sprint(i%3)), chat[:10+n], index.Query{Text: "parcel"}); len(got) == 0 {
					t.Error("nothing found")
				}
				m.Forget(key(fmt.Sprint(n % 3)))
			}
		})
	}
	all.Wait()
}
