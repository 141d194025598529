package persistence_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"
	"pgregory.net/rapid"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/textindex"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
	"github.com/adk-go-ext/longsession/persistence"
)

// IndexText indexes up to the newest covered event, and appends and records index nothing.
func TestOnlyCoveredEventsAreIndexed(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	sess, question := told(t, s, 200)
	if err := s.IndexText(t.Context(), request("s"), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendRecord(t.Context(), sess, recordOver(t, "r", "e0", "e1", "e150")); err != nil {
		t.Fatal(err)
	}
	if n := number(t, path, "SELECT count(*) FROM search_sessions"); n != 0 {
		t.Errorf("%d sessions are indexed before anybody asked for it", n)
	}
	if err := s.IndexText(t.Context(), request("s"), nil); err != nil {
		t.Fatal(err)
	}
	if to := number(t, path, "SELECT indexed_to FROM search_sessions"); to != 151 {
		t.Errorf("indexed up to event %d, want 151", to)
	}
	right(t, s, "s", question)
	if to := number(t, path, "SELECT indexed_to FROM search_sessions"); to != 201 {
		t.Errorf("a search indexed up to event %d, want 201", to)
	}
	for _, err := range []error{
		s.IndexText(t.Context(), request("other"), nil),
		s.IndexText(t.Context(), &session.GetRequest{AppName: "other", UserID: user, SessionID: "s"}, nil),
	} {
		if !adk.IsNotFound(err) {
			t.Errorf("a missing session: %v", err)
		}
	}
	if err := s.IndexText(t.Context(), &session.GetRequest{}, nil); err == nil || !strings.Contains(err.Error(), "required") {
		t.Errorf("without a name: %v", err)
	}
}

// An indexing that ended early is carried on, and not begun anew.
func TestIndexingIsCarriedOn(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	sess, question := told(t, s, 300)
	if err := s.AppendRecord(t.Context(), sess, recordOver(t, "r", "e299")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := s.IndexText(ctx, request("s"), func(text string) string {
		if number(t, path, "SELECT count(*) FROM search_sessions") > 0 {
			cancel()
		}
		return text
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if to := number(t, path, "SELECT indexed_to FROM search_sessions"); to != 64 && to != 128 {
		t.Errorf("indexed up to event %d before the context ended", to)
	}
	salt := number(t, path, "SELECT unicode(hex(salt)) FROM search_sessions")
	right(t, s, "s", question)
	if again := number(t, path, "SELECT unicode(hex(salt)) FROM search_sessions"); again != salt {
		t.Error("the index was begun anew")
	}
}

// The index has no word of the session, and none that was redacted can be found.
func TestTheIndexHoldsNoWords(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	sess := create(t, s, "s")
	appendTo(t, s, sess, text("1", "My passport is zyxwvut and my dog is Bello"), text("2", "Fine."))
	redact := func(text string) string { return strings.ReplaceAll(text, "zyxwvut", "[redacted]") }
	for question, want := range map[string]int{"zyxwvut": 0, "bello": 1} {
		hits, err := s.SearchText(t.Context(), request("s"), index.Query{Text: question, Redact: redact})
		if err != nil || min(1, len(hits)) != want {
			t.Errorf("%q: %v, %v", question, idsOf(hits), err)
		}
	}
	run("UPDATE events SET content = NULL")(t, path)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	run("PRAGMA secure_delete = ON; VACUUM")(t, path)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"bello", "Bello", "zyxwvut", "passport"} {
		if bytes.Contains(data, []byte(word)) {
			t.Errorf("the file has %q in its index", word)
		}
	}
	if n := number(t, path, "SELECT count(*) FROM search_words WHERE doc > 0"); n == 0 {
		t.Error("the index is empty, so the test proves nothing")
	}
}

func TestASearchStaysInItsSession(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	for _, name := range []session.CreateRequest{
		{AppName: app, UserID: user, SessionID: "s"}, {AppName: app, UserID: user, SessionID: "other"},
		{AppName: app, UserID: "mallory", SessionID: "s"}, {AppName: "another", UserID: user, SessionID: "s"},
	} {
		resp, err := s.Create(t.Context(), &name)
		if err != nil {
			t.Fatal(err)
		}
		appendTo(t, s, resp.Session, text(fmt.Sprint(name.AppName, name.UserID, name.SessionID), "the treasure is on an island"))
	}
	if got := fmt.Sprint(found(t, s, "s", "treasure island")); got != fmt.Sprint([]string{app + user + "s"}) {
		t.Errorf("found %s", got)
	}
}

func TestAnyQueryIsAnswered(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	sess := create(t, s, "s")
	appendTo(t, s, sess, text("1", "Hello world ñandú שלום 👍 C++ a_b x:y"), text("2", strings.Repeat("long ", 100_000)))
	for name, q := range map[string]string{
		"empty": "", "spaces": " \n\t", "stop words": "the of and", "syntax": `" OR * ^ NEAR(a b, 2) col : x - + ( ) {`,
		"controls": "\x00\x01\x1f\x7f", "right to left": "שלום \u202e hello", "emoji": "👍👍🏽 👩‍👩‍👧", "broken": "\xff\xfe hello",
		"1 MB": strings.Repeat("hello world ", 90_000), "1 MB word": strings.Repeat("a", 1<<20), "marks": "n\u0303andu\u0301 e\u0301\u0301\u0301", "colon": "1:hello d:m5 :",
	} {
		hits, err := s.SearchText(t.Context(), request("s"), index.Query{Text: q})
		if err != nil {
			t.Fatal(err)
		}
		want, err := wordsearch.NewMemory(0).Search(t.Context(), adk.SessionRef{}, slices.Collect(get(t, s, "s").Events().All()), index.Query{Text: q})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(idsOf(hits), idsOf(want)) {
			t.Errorf("%s: %v, want %v", name, idsOf(hits), idsOf(want))
		}
	}
}

// Whatever is appended, asked and deleted, the file finds what the index in memory finds.
func TestTheFileFindsWhatMemoryFinds(t *testing.T) {
	t.Parallel()
	s := open(t, ":memory:")
	run := 0
	testkit.Check(t, func(r *rapid.T) {
		run++
		id := fmt.Sprint("s", run)
		resp, err := s.Create(context.Background(), &session.CreateRequest{AppName: app, UserID: user, SessionID: id})
		if err != nil {
			r.Fatal(err)
		}
		word := rapid.SampledFrom([]string{"cat", "dogs", "苹果", "5月6号", "May", "6", "order-17", "x:y", "ñandú", "👍", "the", "Ann", "Bob", "?", "running", "e\u0301a"})
		sentence := rapid.Map(rapid.SliceOfN(word, 0, 6), func(words []string) string { return strings.Join(words, " ") })
		at := histories.Epoch
		n := 0
		for range rapid.IntRange(1, 3).Draw(r, "rounds") {
			for range rapid.IntRange(0, 80).Draw(r, "events") {
				ev := text(fmt.Sprint(n), sentence.Draw(r, "text"))
				ev.Author = rapid.SampledFrom([]string{"user", "Ann", "Bob"}).Draw(r, "author")
				at = at.Add(time.Duration(rapid.IntRange(0, 10).Draw(r, "hours")) * time.Hour)
				ev.Timestamp = at
				n++
				if err := s.AppendEvent(context.Background(), resp.Session, ev); err != nil {
					r.Fatal(err)
				}
			}
			q := index.Query{Text: sentence.Draw(r, "question"), Limit: rapid.IntRange(0, 12).Draw(r, "limit"), Around: rapid.IntRange(0, 2).Draw(r, "around")}
			if rapid.Bool().Draw(r, "bounded") {
				q.From, q.To = histories.Epoch.Add(20*time.Hour), at.Add(-10*time.Hour)
			}
			if rapid.Bool().Draw(r, "filtered") {
				q.May = func(ev *session.Event) bool { return ev.Author != "Bob" }
			}
			stored, err := s.Get(context.Background(), request(id))
			if err != nil {
				r.Fatal(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			want, err := wordsearch.NewMemory(0).Search(t.Context(), adk.SessionRef{}, slices.Collect(stored.Session.Events().All()), q)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.SearchText(context.Background(), request(id), q)
			if err != nil || !slices.EqualFunc(got, want, equalHits) {
				r.Fatalf("%q: found %v, want %v (%v)", q.Text, idsOf(got), idsOf(want), err)
			}
		}
	})
}

func TestTheStateOfAnIndexIsTold(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	sess, question := told(t, s, 70)
	state := func() (state textindex.State) {
		t.Helper()
		reading := open(t, path, persistence.WithReadOnly())
		defer reading.Close()
		err := reading.Snapshot(t.Context(), func(snap *persistence.Snapshot) (err error) {
			state, err = textindex.StateOf(t.Context(), snap, 1)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	if got := state(); got != (textindex.State{LastSeq: 70}) {
		t.Errorf("before anything is indexed: %+v", got)
	}
	if err := s.AppendRecord(t.Context(), sess, recordOver(t, "r", "e0", "e1", "e50")); err != nil {
		t.Fatal(err)
	}
	if err := s.IndexText(t.Context(), request("s"), nil); err != nil {
		t.Fatal(err)
	}
	want := textindex.State{Exists: true, Version: wordsearch.AnalyzerVersion, Current: true, IndexedTo: 51, LastSeq: 71, Documents: 51, Rows: 51, Newest: 51, Answers: true, AnswersAny: true}
	if got := state(); got != want {
		t.Errorf("after indexing: %+v, want %+v", got, want)
	}
	found(t, s, "s", question)
	run("DELETE FROM search WHERE rowid = 51")(t, path)
	want.IndexedTo, want.Documents, want.Rows, want.Answers = 71, 70, 69, false // the events before it are found
	if got := state(); got != want {
		t.Errorf("without the row of the newest covered event: %+v, want %+v", got, want)
	}
	run("UPDATE search_sessions SET version = 99")(t, path)
	if got := state(); got != (textindex.State{Exists: true, Version: 99, IndexedTo: 71, LastSeq: 71}) {
		t.Errorf("of another version: %+v", got)
	}
}
