package wordsearch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
)

// TestAQuestionIsReadUpToALimit: whatever a model pastes, the work is that of some words, and the first of them count.
func TestAQuestionIsReadUpToALimit(t *testing.T) {
	t.Parallel()
	chat := said("The parcel is late.", "desk: It arrives on Monday.", "包裹迟到了。", "سيصل الطرد يوم الاثنين")
	var different strings.Builder
	for i := range 150_000 {
		fmt.Fprintf(&different, "w%d ", i)
	}
	for name, tail := range map[string]string{
		"one word":       strings.Repeat("a", 1<<20),
		"words":          different.String(),
		"months":         strings.Repeat("may ", 1<<18),
		"dates":          strings.Repeat("2026-05-06 5月6号 ", 1<<16),
		"numbers":        strings.Repeat("1,000,000,", 1<<17),
		"characters":     strings.Repeat("漢", 1<<18),
		"signs":          strings.Repeat("\"*^:()[]{}", 1<<17),
		"controls":       strings.Repeat("\x00\x01\x1b\r\u2028", 1<<17),
		"right to left":  strings.Repeat("\u202e\u200f عربي ", 1<<16),
		"emoji":          strings.Repeat("👩‍👩‍👧‍👦🏳️‍🌈", 1<<15),
		"broken UTF-8":   strings.Repeat("\xff\xc3(\xe2\x82", 1<<17),
		"marks":          "e" + strings.Repeat("\u0301", 1<<18),
		"FTS5 operators": strings.Repeat(" AND NEAR OR NOT", 1<<16),
	} {
		q := wordsearch.Ask("parcel " + tail)
		if len(q.Terms) > 64 || len(q.Dates) > 64 || q.Empty() || q.Terms[0] != "parcel" {
			t.Errorf("%s: %d terms, %d dates", name, len(q.Terms), len(q.Dates))
		}
		for _, term := range append(q.Terms, q.Dates...) {
			if len(term) > 64 || strings.ContainsFunc(strings.TrimPrefix(term, "d:"), func(r rune) bool { return strings.ContainsRune("\"*^:() \x00", r) }) {
				t.Errorf("%s: the term %q", name, term)
			}
		}
		if got := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: "parcel " + tail}); !slices.Contains(positions(got), 0) {
			t.Errorf("%s: got %v", name, positions(got))
		}
	}
}

func TestEventsOfAnySizeAreFoundByTheirBeginning(t *testing.T) {
	t.Parallel()
	chat := said("parcel "+strings.Repeat("late ", 1<<20), "desk: parcel "+strings.Repeat("字", 1<<18), "parcel \x00\xff 👍")
	got := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: "parcel"})
	found := positions(got)
	slices.Sort(found)
	if !slices.Equal(found, []int{0, 1, 2}) {
		t.Errorf("got %v", found)
	}
	for _, ev := range chat {
		if list := wordsearch.Terms(ev, nil); len(list) > 40_000 {
			t.Errorf("%d terms", len(list))
		}
	}
}

// TestASecretAtTheEndOfWhatIsIndexed: what is redacted must not be cut before.
func TestASecretAtTheEndOfWhatIsIndexed(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-opensesame"
	redact := func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") }
	for length := 32<<10 - 40; length < 32<<10+4; length++ {
		ev := said(strings.Repeat(".", length) + " " + secret)[0]
		for _, term := range wordsearch.Terms(ev, redact) {
			if strings.HasPrefix(term, "hunt") || strings.HasPrefix(term, "open") {
				t.Fatalf("behind %d bytes, the term %q is left of a secret", length, term)
			}
		}
	}
}

func TestNumbersAreFoundWithAndWithoutCommas(t *testing.T) {
	t.Parallel()
	chat := said("The loan is $12,500 for now.", "desk: The other one was 48000 a year.", "And the ids are 7,8,9.")
	for question, want := range map[string]int{"12500": 0, "12,500": 0, "48,000": 1, "48000": 1, "8": 2} {
		if got := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: question}); len(got) != 1 || got[0].Position != want {
			t.Errorf("%s: got %v, want %d", question, positions(got), want)
		}
	}
}

// TestHiddenEventsFindNothing: the events that may be returned are found, whatever the others say.
func TestHiddenEventsFindNothing(t *testing.T) {
	t.Parallel()
	words := strings.Fields("parcel order late city driver monday 科幻 电影 visa X42")
	testkit.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 6).Draw(t, "words"), " ") + "."
		})
		open := said(rapid.SliceOfN(text, 1, 30).Draw(t, "texts")...)
		hidden := rapid.SliceOfN(rapid.Bool(), len(open), len(open)).Draw(t, "hidden")
		other := make([]*session.Event, len(open)) // the same, but for what the hidden events say
		for i, ev := range open {
			other[i] = ev
			if hidden[i] {
				other[i] = said(text.Draw(t, "other text"))[0]
				other[i].ID, other[i].Timestamp = ev.ID, ev.Timestamp
			}
		}
		q := index.Query{
			Text: strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 5).Draw(t, "question"), " "), Limit: 100,
			Around: rapid.IntRange(0, 3).Draw(t, "around"),
			May:    func(ev *session.Event) bool { return !hidden[number(ev)] },
		}
		if rapid.Bool().Draw(t, "a time") {
			q.From = began.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "from")) * time.Minute)
		}
		got, want := search(wordsearch.NewMemory(0), key("s"), open, q), search(wordsearch.NewMemory(0), key("s"), other, q)
		for _, h := range got {
			for _, ev := range slices.Concat([]index.Neighbor{{Event: h.Event}}, h.Before, h.After) {
				if hidden[number(ev.Event)] || ev.Event.Timestamp.Before(q.From) {
					t.Fatalf("%s: %s was returned", q.Text, ev.Event.ID)
				}
			}
		}
		a, b := positions(got), positions(want)
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) {
			t.Fatalf("%s: hits %v, and %v when hidden events say something else", q.Text, a, b)
		}
	})
}

// number is that of an event of said.
func number(ev *session.Event) (n int) {
	_, _ = fmt.Sscanf(ev.ID, "e%d", &n)
	return n
}

// TestASmallerHistoryDoesNotMakeTheIndexAnew: of two callers, one may have read the session a little earlier.
func TestASmallerHistoryDoesNotMakeTheIndexAnew(t *testing.T) {
	t.Parallel()
	chat := said("The parcel is late.", "desk: It comes on Monday.", "The parcel came.")
	m, read := wordsearch.NewMemory(0), 0
	q := index.Query{Text: "parcel", Redact: func(s string) string { read++; return s }}
	for _, n := range []int{3, 2, 3, 1, 3} {
		got := search(m, key("s"), chat[:n], q)
		if want := []int{0, 1, 1, 3}[n]; len(got) != want || slices.ContainsFunc(got, func(h index.Hit) bool { return h.Position >= n }) {
			t.Errorf("of %d events got %v", n, positions(got))
		}
	}
	if read != 3 {
		t.Errorf("%d events were read, want each of 3 once", read)
	}
}

// TestAnotherHistoryIsReadAnew: a session may have been deleted, and another one begun under its name.
func TestAnotherHistoryIsReadAnew(t *testing.T) {
	t.Parallel()
	changed := func(i int) []*session.Event {
		chat := said("parcel", "-", "-", "-", "parcel")
		if i >= 0 {
			chat[i] = said("tomatoes")[0]
			chat[i].ID = "new"
		}
		return chat
	}
	for _, i := range []int{0, 4} {
		m := wordsearch.NewMemory(0)
		search(m, key("s"), changed(-1), index.Query{Text: "parcel"})
		if got := search(m, key("s"), changed(i), index.Query{Text: "tomatoes"}); !slices.Equal(positions(got), []int{i}) {
			t.Errorf("event %d is another one: got %v", i, positions(got))
		}
	}
}

// TestFrequentWordsFindWhatRareOnesDoNot: events are chosen by rare words first, and these may be in events only that
// may not be returned.
func TestFrequentWordsFindWhatRareOnesDoNot(t *testing.T) {
	t.Parallel()
	chat := said("zebra yak xylophone wombat parcel")
	for range 20 {
		chat = append(chat, said("-", "-", "-", "-", "the parcel")...)
	}
	q := index.Query{Text: "zebra yak xylophone wombat parcel", Limit: 100}
	if got := search(wordsearch.NewMemory(0), key("s"), chat, q); len(got) != 21 || got[0].Position != 0 {
		t.Errorf("got %v", positions(got))
	}
	q.May = func(ev *session.Event) bool { return ev != chat[0] }
	if got := search(wordsearch.NewMemory(0), key("s"), chat, q); len(got) != 20 {
		t.Errorf("without the first event, got %v", positions(got))
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("The parcel is late.", "parcel")
	f.Add("5月6号 电影", "May 6, 2026 1,000")
	f.Add("\xff\x00", "\" OR *")
	f.Fuzz(func(t *testing.T, text, question string) {
		chat := said("first: "+text, "desk: "+question, "user: "+text+question)
		first := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: question, Around: 1})
		again := search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: question, Around: 1})
		if fmt.Sprintf("%+v", first) != fmt.Sprintf("%+v", again) {
			t.Fatalf("%q: %v, then %v", question, positions(first), positions(again))
		}
		if wordsearch.Ask(question).Empty() && len(first) > 0 {
			t.Fatalf("%q asks for nothing, and got %v", question, positions(first))
		}
	})
}

// A function that fails once must not leave an event behind that is never found.
func TestARedactThatPanicsLeavesNoGap(t *testing.T) {
	t.Parallel()
	m := wordsearch.NewMemory(0)
	ev := &session.Event{ID: "1", Author: "user", LLMResponse: model.LLMResponse{Content: genai.NewContentFromText("The parcel is in Kassel", genai.RoleUser)}}
	search := func(redact func(string) string) (hits []index.Hit) {
		defer func() { _ = recover() }()
		return search(m, adk.SessionRef{SessionID: "s"}, []*session.Event{ev}, index.Query{Text: "parcel", Redact: redact})
	}
	search(func(string) string { panic("no pattern") })
	if hits := search(nil); len(hits) != 1 {
		t.Errorf("after the panic, a search finds %v", hits)
	}
}
