package audit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// eventsOf are the events of an export of lines.
func eventsOf(t *testing.T, lines string) []*session.Event {
	t.Helper()
	var events []*session.Event
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		ev := &session.Event{}
		if err := json.Unmarshal([]byte(line), ev); err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
	}
	return events
}

// refused exports with patterns that cannot be taken out, and returns what was written and the
// error.
func refused(t *testing.T, path, format string, patterns ...string) (string, error) {
	t.Helper()
	r, err := redact.New(patterns, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	var out strings.Builder
	_, err = f.Export(t.Context(), []*audit.Session{find(t, f, "")}, format, r, &out)
	return out.String(), err
}

// TestAMatchOfAKeyAndItsValueIsGone: a pattern is written for what people see, which is JSON on one
// line.
func TestAMatchOfAKeyAndItsValueIsGone(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).User("i", `{"password": "hunter2", "shown": 1}`).Call("i", "bot", "login", "c").Response("i", "bot", "login", `{"password":"hunter2"}`, "c").
		Agent("i", "bot", "done")
	secret := func() map[string]any {
		return map[string]any{"password": "hunter2", "list": []any{map[string]any{"password": "hunter2"}}, "shown": "kept"}
	}
	h.Events[1].Content.Parts[0].FunctionCall.Args = secret()
	h.Events[3].Actions.StateDelta = secret()
	h.Events[3].CustomMetadata = secret()
	path := built(t, h)
	const pattern = `password": ?"[^"]*"`
	for _, format := range audit.Formats {
		if bare := html.UnescapeString(exported(t, path, format)); strings.Count(bare, "hunter2") < 6 {
			t.Errorf("%s without redaction shows the secret %d times: this test looks in the wrong place", format, strings.Count(bare, "hunter2"))
		}
		out := html.UnescapeString(exported(t, path, format, pattern))
		if strings.Contains(out, "hunter2") || !strings.Contains(out, "kept") || !strings.Contains(out, "shown") {
			t.Errorf("%s became\n%s", format, out)
		}
	}
	// Neighbors in a list, whose text has no spaces.
	h = (&ct.History{}).Call("i", "bot", "pay", "c").Response("i", "bot", "pay", "done", "c")
	h.Events[0].Content.Parts[0].FunctionCall.Args = map[string]any{"card": []any{4111.0, 1111.0, 7.0}}
	if out := exported(t, built(t, h), audit.Markdown, `4111,1111`); !strings.Contains(out, `{"card":["[redacted]","[redacted]",7]}`) {
		t.Errorf("a list became\n%s", out)
	}
}

func TestAMatchOverPartsOfAMessageIsGone(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).User("i", "My card is 4111 1111").Agent("i", "bot", "It is secret-").Turns(1, "bot").Compact("r1", "e1", "e2")
	h.Events[0].Content.Parts = append(h.Events[0].Content.Parts, &genai.Part{Text: "1111 1111, please charge it."})
	h.Events[1].Content.Parts = append(h.Events[1].Content.Parts, &genai.Part{Text: "word."}, &genai.Part{Text: "I think secret-", Thought: true}, &genai.Part{Text: "word", Thought: true})
	h.Events[2].ErrorCode, h.Events[2].ErrorMessage = "DENIED", "4111 1111"
	path := built(t, h)
	patterns := []string{`(\d{4}\s?){4}`, `secret-word`, `DENIED \d+`}
	for _, format := range audit.Formats {
		out := exported(t, path, format, patterns...)
		for _, left := range []string{"1111, please", "is 4111", "secret-", "DENIED"} {
			if strings.Contains(out, left) {
				t.Errorf("%s has %q:\n%s", format, left, out)
			}
		}
		for _, kept := range []string{"My card is [redacted]", ", please charge it.", "It is [redacted]", "I think [redacted]"} {
			if !strings.Contains(out, kept) {
				t.Errorf("%s lacks %q:\n%s", format, kept, out)
			}
		}
	}
	ev := eventsOf(t, exported(t, path, audit.JSONL, patterns...))[0]
	if text := ev.Content.Parts[0].Text + ev.Content.Parts[1].Text; text != "My card is [redacted][redacted], please charge it." {
		t.Errorf("the message became %q", text)
	}
}

// TestTheNameOfASessionIsRedactedAsAWhole: the title joins app, user and ID.
func TestTheNameOfASessionIsRedactedAsAWhole(t *testing.T) {
	t.Parallel()
	path := built(t, (&ct.History{}).Turns(1, "bot"))
	if bare := exported(t, path, audit.Markdown); !strings.Contains(bare, app+"/"+user) {
		t.Error("the page does not name the session")
	}
	if out := exported(t, path, audit.Markdown, app+"/"+user); strings.Contains(out, user) || !strings.Contains(out, "order-1") {
		t.Errorf("the page names the session still:\n%s", out)
	}
}

// key is the name that a field of an event has in JSON. ADK v1 names none, so there it is that in Go.
func key(field string) string {
	if adk.Major == 2 {
		return strings.ToLower(field[:1]) + field[1:]
	}
	return field
}

// TestNothingIsWrittenIfAnythingMatchesStill: not even the events in front of the one that matches.
// The error names the event and the field, and nothing of the match.
func TestNothingIsWrittenIfAnythingMatchesStill(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(3, "bot").User("last", "hello")
	h.Events[len(h.Events)-1].Branch = "line"
	h.Events[len(h.Events)-1].Actions.StateDelta = map[string]any{"line": 1.0}
	path := built(t, h)
	for _, c := range []struct{ pattern, where string }{
		{`"` + key("Author") + `":"user","` + key("Actions") + `".*`, `event 1: field "`},
		{`"line","` + key("Author"), `event 7: field "` + key("Author") + `"`},
		{`last","` + key("Branch") + `":"line`, `event 7: field "` + key("Branch") + `"`},
		{key("StateDelta") + `":\{"line`, `event 7: field "` + key("Actions") + "." + key("StateDelta") + `.line"`},
		{`2026-01-01T00:00:07`, `event 7: field "` + key("Timestamp") + `"`},
		{`false`, `event 1: field "`},
	} {
		if c.pattern == "false" && adk.Major == 2 {
			continue // which leaves it out
		}
		out, err := refused(t, path, audit.JSONL, c.pattern)
		if !errors.Is(err, audit.ErrRedact) || !strings.Contains(fmt.Sprint(err), "make the pattern narrower") || !strings.Contains(fmt.Sprint(err), c.where) || out != "" {
			t.Errorf("%s: %v\n%s", c.pattern, err, out)
		}
		if text := fmt.Sprint(err); regexp.MustCompile(c.pattern).MatchString(text) || strings.Contains(text, `"line"`) {
			t.Errorf("%s: the error tells what was found: %v", c.pattern, err)
		}
	}
}

// TestADocumentIsRedactedAsItIsShown: also where a match takes in words of the format.
func TestADocumentIsRedactedAsItIsShown(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(3, "bot").User("last", "hello")
	h.Events[len(h.Events)-1].Branch = "line"
	path := built(t, h.Compact("r1", "e1", "e2"))
	for pattern, shown := range map[string]string{`, branch line`: "line", `Created 20\d\d`: "20", `2026-01-01T00:00:07`: "2026-01-01T00:00:07", `covered by r1`: "covered by `r1", `compaction record r1`: "record `r1"} {
		bare, out := exported(t, path, audit.Markdown), exported(t, path, audit.Markdown, pattern)
		if n := strings.Count(out, "[redacted]"); n == 0 || strings.Count(bare, shown) < n {
			t.Errorf("%s has %d marks:\n%s", pattern, n, out)
		}
		plain := regexp.MustCompile("`").ReplaceAllString(out, "")
		if left := regexp.MustCompile(pattern).FindString(plain); left != "" {
			t.Errorf("%s has %q left:\n%s", pattern, left, out)
		}
	}
}

// TestWordsOfTheFormatAreNotLookedAt: otherwise a common word could not be redacted at all.
func TestWordsOfTheFormatAreNotLookedAt(t *testing.T) {
	t.Parallel()
	path := built(t, (&ct.History{}).User("i", "the "+key("Author")+" covered it").Call("i", "bot", "t", "c").Response("i", "bot", "t", "r", "c").Turns(2, "bot").Compact("r1", "e1", "e2", "e3"))
	for _, format := range audit.Formats {
		out := exported(t, path, format, key("Author")+`|covered|Session|call of|version|compaction record|agent|event_count|"ID":`)
		if !strings.Contains(out, "the [redacted] [redacted] it") || format == audit.JSONL && !strings.Contains(out, `"`+key("Author")+`":`) {
			t.Errorf("%s became\n%s", format, out)
		}
	}
}

// TestKeysThatBecomeTheSameAreAllKept: which of them would be left was up to chance.
func TestKeysThatBecomeTheSameAreAllKept(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Call("i", "bot", "t", "c").Response("i", "bot", "t", "r", "c")
	h.Events[0].Content.Parts[0].FunctionCall.Args = map[string]any{"ada@x.org": "first", "bob@x.org": "second", "eve@x.org": "third", "[redacted] 2": "there before"}
	h.Events[0].Actions.ArtifactDelta = map[string]int64{"ada@x.org": 1, "bob@x.org": 2}
	path := built(t, h)
	const want = `{"[redacted]":"first","[redacted] 2":"there before","[redacted] 3":"second","[redacted] 4":"third"}`
	for range 5 {
		if out := exported(t, path, audit.Markdown, `\w+@x\.org`); !strings.Contains(out, want) {
			t.Errorf("the arguments became\n%s", out)
		}
	}
	// A number that is redacted itself does not tell them apart.
	events := eventsOf(t, exported(t, path, audit.JSONL, `\w+@x\.org`, `redacted\] \d`))
	args := events[0].Content.Parts[0].FunctionCall.Args
	if len(args) != 4 || regexp.MustCompile(`@|\d`).MatchString(fmt.Sprint(args)) {
		t.Errorf("the arguments became %v", args)
	}
	if delta := events[0].Actions.ArtifactDelta; len(delta) != 2 || delta["[redacted]"] != 1 {
		t.Errorf("the artifacts became %v", delta)
	}
}
