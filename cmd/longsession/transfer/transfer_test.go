package transfer

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/eventrow"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

var s1 = Name{"app", "user", "s1"}

// made returns a session file with one session of n events.
func made(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.db")
	fill(t, path, s1, 0, n)
	return path
}

// fill appends events to a session, which it creates if from is 0.
func fill(t *testing.T, path string, name Name, from, to int) {
	t.Helper()
	svc, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	defer svc.Close()
	if from == 0 {
		if _, err := svc.Create(t.Context(), &session.CreateRequest{AppName: name.App, UserID: name.User, SessionID: name.ID, State: map[string]any{"k": 1, "app:k": 2}}); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := svc.Get(t.Context(), &session.GetRequest{AppName: name.App, UserID: name.User, SessionID: name.ID})
	if err != nil {
		t.Fatal(err)
	}
	var events []*session.Event
	for i := from; i < to; i++ {
		ev := &session.Event{ID: fmt.Sprintf("e%d", i), InvocationID: fmt.Sprintf("i%d", i), Author: "user", Timestamp: time.Unix(int64(1000+i), 0)}
		ev.Content = genai.NewContentFromText(fmt.Sprintf("text %d", i), genai.RoleUser)
		events = append(events, ev)
	}
	if err := persistence.Import(t.Context(), svc, resp.Session, events, nil); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string, write bool) Store {
	t.Helper()
	store, err := OpenFile(path)
	if write {
		store, err = CreateFile(path, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// stopping ends the context of a copy after some portions, as a kill would end the process.
func stopping(t *testing.T, portions int) (context.Context, Options) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, Options{Progress: func(int) {
		if portions--; portions == 0 {
			cancel()
		}
	}}
}

func TestACopyThatWasCutOffGoesOn(t *testing.T) {
	t.Parallel()
	const events = 3*portionEvents + 7
	from, to := open(t, made(t, events), false), open(t, filepath.Join(t.TempDir(), "to.db"), true)
	ctx, o := stopping(t, 2)
	if _, err := Copy(ctx, from, to, s1, o); err == nil { // it is the context's, or SQLite's for a statement that was interrupted
		t.Fatal("no error")
	}
	r, err := Copy(t.Context(), from, to, s1, Options{DryRun: true})
	if err != nil || r.Events != events || r.Copied != events-2*portionEvents {
		t.Fatalf("a dry run: %+v, %v", r, err)
	}
	r, err = Copy(t.Context(), from, to, s1, Options{})
	if err != nil || r.Events != events || r.Copied != events-2*portionEvents || len(r.Findings) > 0 || r.Shown != events || len(r.Digest) != 64 {
		t.Fatalf("%+v, %v", r, err)
	}
	if again, err := Copy(t.Context(), from, to, s1, Options{}); err != nil || again.Copied != 0 || again.Digest != r.Digest {
		t.Errorf("again: %+v, %v", again, err)
	}
}

func TestAnotherSessionOfTheNameIsLeftAlone(t *testing.T) {
	t.Parallel()
	long, short := made(t, 9), made(t, 5)
	_, err := Copy(t.Context(), open(t, short, false), open(t, long, true), s1, Options{})
	var different *DifferentError
	if !errors.As(err, &different) || different.Seq != 6 || !strings.Contains(err.Error(), "gone on") {
		t.Errorf("a target that has gone on: %v", err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	fill(t, other, s1, 0, 2)
	fill(t, other, s1, 4, 5)
	_, err = Copy(t.Context(), open(t, long, false), open(t, other, true), s1, Options{})
	if !errors.As(err, &different) || different.Seq != 3 || !strings.Contains(err.Error(), "event 3 differs") {
		t.Errorf("another session: %v", err)
	}
	if got, _, err := take(t.Context(), open(t, other, false), s1); err != nil || len(got.digests) != 3 {
		t.Errorf("the target was changed: %d events, %v", len(got.digests), err)
	}
}

func TestStateOfOthersStaysAsTheTargetHasIt(t *testing.T) {
	t.Parallel()
	from, path := open(t, made(t, 1), false), filepath.Join(t.TempDir(), "to.db")
	svc, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := svc.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "user", SessionID: "s0", State: map[string]any{"app:k": "mine"}}); err != nil {
		t.Fatal(err)
	}
	if err := svc.Close(); err != nil {
		t.Fatal(err)
	}
	to := open(t, path, true)
	r, err := Copy(t.Context(), from, to, s1, Options{})
	if err != nil || r.Losses[lostShared] != 1 || len(r.Findings) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	_, h, err := take(t.Context(), to, s1)
	if err != nil || h.state["app:k"] != "mine" || h.state["k"] != json.Number("1") {
		t.Errorf("state %v, %v", h.state, err)
	}
}

func TestChosenSessions(t *testing.T) {
	t.Parallel()
	all := []Name{{"b", "u", "s"}, {"a", "u", "s"}, {"a", "u", "s:sub:c1"}, {"a", "u", "s:sub:c1:sub:c2"}, {"a", "v", "s:sub:c1"}, {"a", "v", "t"}}
	for _, c := range []struct {
		which Which
		want  string
	}{
		{Which{}, "[a/u/s a/u/s:sub:c1 a/u/s:sub:c1:sub:c2 a/v/s:sub:c1 a/v/t b/u/s]"},
		{Which{App: "a", Session: "s"}, "[a/u/s a/u/s:sub:c1 a/u/s:sub:c1:sub:c2]"},
		{Which{Session: "b/u/s"}, "[b/u/s]"},
		{Which{User: "v"}, "[a/v/s:sub:c1 a/v/t]"},
		{Which{Session: "t"}, "[a/v/t]"},
		{Which{Session: "s"}, `the place has 2 sessions named "s": name one as app/user/id, such as "a/u/s"`},
		{Which{Session: "x", User: "v"}, `the place has no session named "x" of user "v"`},
		{Which{App: "z"}, `the place has no session of app "z"`},
	} {
		names, err := c.which.choose(all, "the place")
		got := fmt.Sprint(names)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %s, want %s", c.which, got, c.want)
		}
	}
}

func TestTimesGrowAndOnlyRecordsShareThem(t *testing.T) {
	t.Parallel()
	at := func(micros int) time.Time { return time.Unix(0, int64(micros)*1000).UTC() }
	var o order
	for i, c := range []struct {
		at     int
		record bool
		want   int
	}{{5, false, 5}, {5, false, 6}, {5, true, 6}, {6, true, 7}, {7, false, 8}, {2, false, 9}, {20, true, 20}, {20, false, 21}} {
		r := &row{time: at(c.at), record: c.record}
		moved := o.next(r)
		if !r.time.Equal(at(c.want)) || moved != time.Duration(c.want-c.at)*time.Microsecond {
			t.Errorf("event %d at %d: %v (moved %v), want %d", i, c.at, r.time.UnixMicro(), moved, c.want)
		}
	}
}

func TestJSONIsComparedByItsMeaning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":[1.0,2e3]}`, `{ "b": [1, 2000], "a": 1.00 }`, true},
		{`12345678901234567890`, `12345678901234567891`, false},
		{`0.1`, `0.10000000000000001`, false},
		{`"a\u0041"`, `"aA"`, true},
		{`[]`, `{}`, false},
		{`null`, ``, false},
		{`{"a":null}`, `{}`, false},
		{`1e999999999`, `1e999999999`, true},
		{`"1"`, `1`, false},
		{`["a","b"]`, `["a,b"]`, false},
		{`true`, `"true"`, false},
		{`{`, `{`, false},
	} {
		if sameJSON([]byte(c.a), []byte(c.b)) != c.same {
			t.Errorf("%s and %s: same is not %v", c.a, c.b, c.same)
		}
	}
}

func TestNULIsFoundAndReplaced(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":"x\u0000y\u0000"}`: `{"a":"x\ufffdy\ufffd"}`,
		`{"a":"x\\u0000y"}`:      `{"a":"x\\u0000y"}`,
		`{"a":"x\\\u0000y"}`:     `{"a":"x\\\ufffdy"}`,
		`{"a":"\n"}`:             `{"a":"\n"}`,
	} {
		if got := string(replaceNUL([]byte(text))); got != want || hasNUL([]byte(text)) != (text != want) {
			t.Errorf("%s: %s (found %v), want %s", text, got, hasNUL([]byte(text)), want)
		}
	}
}

// A skeleton must not keep the text that it leaves out, or memory would hold the whole session.
func TestASkeletonKeepsNothingElse(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("long ", 1000)
	ev := &session.Event{ID: "e", LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleUser)}}
	ev.Content.Parts = append(ev.Content.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: "c", Response: map[string]any{"text": text}}})
	bare := skeleton(ev, new(seen).same)
	if result := bare.Content.Parts[1].FunctionResponse; result.ID != "c" || result.Response != nil {
		t.Errorf("kept: %+v", result)
	}
	kept := bare.Content.Parts[0].Text
	if kept == "" || len(kept) > 100 || !strings.HasPrefix(text, kept) {
		t.Fatalf("kept: %q", kept)
	}
	if unsafe.StringData(kept) == unsafe.StringData(text) {
		t.Error("the beginning of the text keeps all of it")
	}
}

// What decides where a view shows an event is in its skeleton.
func TestSkeletonsHaveTheViewOfTheirEvents(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 7))
	for range 400 {
		events := slices.DeleteFunc(histories.Generate(5+random.IntN(36), random.IntN), func(ev *session.Event) bool { return ev == nil })
		var bare []*session.Event
		for _, ev := range events {
			bare = append(bare, skeleton(ev, new(seen).same))
		}
		if got, want := compactiontest.IDs(view.Project(bare)), compactiontest.IDs(view.Project(events)); !slices.Equal(got, want) {
			t.Fatalf("the view of %q is %q, and of their skeletons %q", compactiontest.IDs(events), want, got)
		}
	}
}

// The skeleton of a record is small, and a view reads the same from it.
func TestASkeletonPacksItsRecord(t *testing.T) {
	t.Parallel()
	h := (&compactiontest.History{}).Turns(3, "bot")
	ev := h.Record("r1", "e1", "e2", "e3")
	ev.CustomMetadata["a2a:task"] = "t1"
	want, err := record.From(ev)
	if err != nil || len(want.Covered) != 3 {
		t.Fatal(want, err)
	}
	bare := skeleton(ev, new(seen).same)
	if _, text := bare.CustomMetadata[record.Key].(string); !text || bare.CustomMetadata["a2a:task"] != "t1" {
		t.Errorf("the skeleton has %v", bare.CustomMetadata)
	}
	if got, err := record.From(bare); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the skeleton's record is %+v, %v; want %+v", got, err, want)
	}
	if _, object := ev.CustomMetadata[record.Key].(map[string]any); !object {
		t.Error("the event itself was changed")
	}
	for _, odd := range []map[string]any{nil, {record.Key: "{}"}, {record.Key: 7}} {
		if got := packed(odd); !reflect.DeepEqual(got, odd) {
			t.Errorf("packed(%v) is %v", odd, got)
		}
	}
}

// A DSN that cannot be read is told without any part of its password, whatever in it cannot be read.
func TestAnErrorHasNothingOfThePassword(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"postgres://app:s3c ret@host/db", "postgres://app:s3cret%zz@host/db", "postgres://app:%zzs3cret@host/db", "postgres://app:s3#cret@host/db",
		"postgres://app:s3cret@[::1/db", "postgres://host/db?password=s3cret&sslmode=none", "postgres://host:99999/db?password=s3cret",
		"app:s3cret@tcp(host:3306)/db", "host=h password=s3cret port=abc", "host=h password='s3cret port=5", "host=h password=s3cret sslmode=none",
	} {
		store, err := OpenDatabase(t.Context(), dsn, false, false)
		if err == nil {
			t.Fatalf("%s is understood: %v", dsn, store.Close())
		}
		if text := err.Error(); strings.Contains(text, "s3") || strings.Contains(text, "cret") || strings.Contains(text, "zz") || !strings.Contains(text, "the DSN cannot be read") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}

// A file may be from an app that is newer than the command. What a copy cannot have of it must not be gone without a word
// when the file is deleted.
func TestFieldsThatOnlyALaterFileHasAreCounted(t *testing.T) {
	t.Parallel()
	path := made(t, 5)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for id, set := range map[string]string{
		"e0": `extra = '{"further":{"Hologram":{"a":1},"Aura":"red"}}'`,
		"e1": `extra = '{"further":{"Hologram":{"a":2}},"finish_reason":"STOP"}'`,
		"e2": `content = '{"parts":[{"text":"text 2","hologram":1}],"role":"user"}'`,
		"e3": `usage_metadata = '{"promptTokenCount":2,"dreamTokenCount":3}', extra = '{"mood":"good"}'`,
	} {
		if _, err := db.ExecContext(t.Context(), "UPDATE events SET "+set+" WHERE id = ?", id); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	want := Losses{
		"values of the field Hologram that this version of ADK does not know": 2, "values of the field Aura that this version of ADK does not know": 1,
		"events with fields that this version of ADK does not know": 2,
	}
	from, to := open(t, path, false), open(t, filepath.Join(t.TempDir(), "to.db"), true)
	for _, dry := range []bool{true, false} {
		r, err := Copy(t.Context(), from, to, s1, Options{DryRun: dry})
		if err != nil || len(r.Findings) > 0 || !maps.Equal(r.Losses, want) {
			t.Errorf("dry run %t: %+v, %v", dry, r, err)
		}
	}
	if r, err := Copy(t.Context(), open(t, made(t, 5), false), open(t, filepath.Join(t.TempDir(), "to.db"), true), s1, Options{}); err != nil || len(r.Losses) > 0 {
		t.Errorf("without such fields: %+v, %v", r, err)
	}
}

// Only ADK v2's tables have a column for isolation scopes. A file has them behind the branch, and so has what a command for
// ADK v1 exports: the copy says so, and a copy back into a file has the scopes again.
func TestAScopeThatTheTablesCannotKeepIsCounted(t *testing.T) {
	t.Parallel()
	ev := &session.Event{ID: "e", Author: "worker", Branch: adk.JoinLane("desk", "call-1")} // as v1 reads it in a file
	lost := Losses{}
	(&database{}).losses(ev, lost)
	if want := (Losses{"isolation scopes that this version of ADK does not know: they are behind the branch": 1}); !maps.Equal(lost, want) {
		t.Errorf("%v", lost)
	}
	r, _, err := prepare(&file{}, s1, 1, ev, Options{}, lost)
	if err != nil {
		t.Fatal(err)
	}
	back, err := r.event()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := eventrow.Encode(back)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := eventrow.Decode(stored.Stored())
	if err != nil {
		t.Fatal(err)
	}
	again, err := rowOf(decoded)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := r.digest()
	b, _ := again.digest()
	if a != b || adk.Lane(decoded) != adk.JoinLane("desk", "call-1") {
		t.Errorf("the file has another event: %+v", decoded)
	}
}
