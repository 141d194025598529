package audit_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
)

// everywhere is a session with a secret in every place that an event and a record have.
func everywhere(t *testing.T, secret string) string {
	t.Helper()
	h := (&ct.History{}).Branch("root."+secret).User("i"+secret, "hello "+secret).LongCall("i"+secret, "bot"+secret, "tool"+secret, "call"+secret).
		Response("i"+secret, "bot"+secret, "tool"+secret, secret, "call"+secret).Agent("i"+secret, "bot"+secret, secret)
	first := h.Events[0]
	first.ID = "event " + secret
	first.Content.Parts = append(first.Content.Parts,
		&genai.Part{Text: "I think of " + secret, Thought: true, ThoughtSignature: []byte(secret)},
		&genai.Part{InlineData: &genai.Blob{MIMEType: "text/plain", DisplayName: secret + ".txt", Data: []byte(secret)}},
		&genai.Part{FileData: &genai.FileData{FileURI: "https://example.org/" + url.PathEscape(secret), DisplayName: secret, MIMEType: "text/" + secret}},
		&genai.Part{ExecutableCode: &genai.ExecutableCode{Code: "print('" + secret + "')"}},
		&genai.Part{CodeExecutionResult: &genai.CodeExecutionResult{Output: secret}})
	first.Content.Parts[0].PartMetadata = map[string]any{secret: secret}
	first.Content.Role = "user" + secret
	last := h.Events[3]
	last.ErrorCode, last.ErrorMessage = "code "+secret, "message "+secret
	last.InputTranscription = &genai.Transcription{Text: secret}
	last.ModelVersion = secret
	last.GroundingMetadata = &genai.GroundingMetadata{WebSearchQueries: []string{secret}}
	last.CustomMetadata = map[string]any{secret: map[string]any{secret: []any{secret}}}
	last.Actions = session.EventActions{
		StateDelta:                 map[string]any{"plan": secret, "user:mail": secret, "app:key " + secret: []any{secret}, "user:" + secret: 1.0},
		ArtifactDelta:              map[string]int64{secret + ".pdf": 2},
		RequestedToolConfirmations: map[string]toolconfirmation.ToolConfirmation{"call" + secret: {Hint: secret, Payload: map[string]any{secret: secret}}},
		TransferToAgent:            "bot" + secret,
	}
	h.Compact("r "+secret, h.Events[0].ID, "e2", "e3").Amend(func(m *record.Metadata) {
		m.Focus, m.Note, m.Model, m.Uncut = "focus "+secret, "note "+secret, secret, "uncut "+secret
		if err := m.SetText("They said " + secret + "."); err != nil {
			t.Fatal(err)
		}
	})
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := writing(t, path)
	resp, err := s.Create(t.Context(), &session.CreateRequest{AppName: "shop" + secret, UserID: "user" + secret, SessionID: "s" + secret})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range h.Events {
		if err := s.AppendEvent(t.Context(), resp.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNoPlaceAndNoDisguiseKeepsASecret: in no field, name, key or file name of any format, however
// it is encoded.
func TestNoPlaceAndNoDisguiseKeepsASecret(t *testing.T) {
	t.Parallel()
	const secret = "Ada.L+x@example.org"
	r, err := redact.New(nil, []string{"email"})
	if err != nil {
		t.Fatal(err)
	}
	for name, hidden := range map[string]string{
		"plain":       secret,
		"base64":      base64.StdEncoding.EncodeToString([]byte(secret)),
		"raw base64":  base64.RawURLEncoding.EncodeToString([]byte("to " + secret + "!")),
		"URL":         url.QueryEscape(secret),
		"URL twice":   url.QueryEscape(url.QueryEscape(secret)),
		"zero widths": strings.ReplaceAll(secret, "a", "a\u200b\u00ad\u2060"),
		"full width":  strings.NewReplacer("@", "＠", "x", "ｘ").Replace(secret),
		"entities":    html.EscapeString(strings.ReplaceAll(secret, "@", "&#64;")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := everywhere(t, hidden)
			f := open(t, path)
			s := find(t, f, "")
			for _, format := range audit.Formats {
				var bare, out strings.Builder
				if _, err := f.Export(t.Context(), []*audit.Session{s}, format, nil, &bare); err != nil {
					t.Fatal(err)
				}
				if n, err := f.Export(t.Context(), []*audit.Session{s}, format, r, &out); err != nil || n != 5 {
					t.Fatalf("%s: %d events, %v", format, n, err)
				}
				for _, what := range []string{secret, hidden, url.PathEscape(hidden), quoted(hidden), "example.org\""} {
					if strings.Contains(out.String(), what) || strings.Contains(html.UnescapeString(out.String()), what) {
						t.Errorf("%s: %q is left in\n%s", format, what, out.String())
					}
				}
				if n := strings.Count(out.String(), "[redacted]"); n < 18 || strings.Contains(bare.String(), "[redacted]") {
					t.Errorf("%s: %d places are redacted:\n%s", format, n, out.String())
				}
				for _, kept := range []string{"hello", "They said", "print(", "plan", "user:mail"} {
					if !strings.Contains(html.UnescapeString(out.String()), kept) {
						t.Errorf("%s lost %q:\n%s", format, kept, out.String())
					}
				}
			}
		})
	}
}

// TestRedactedNamesStillRefer: an answer names its call and a record its events, also where names
// become alike.
func TestRedactedNamesStillRefer(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).User("i", "q").Call("i", "ada@x.org", "t", "k11", "k22").Response("i", "ada@x.org", "t", "one", "k11").Response("i", "ada@x.org", "t", "two", "k22").
		Agent("i", "bob@x.org", "done").Turns(1, "eve@x.org")
	for i, ev := range h.Events {
		ev.ID = fmt.Sprintf("k%d%d", i+1, i+1)
		ev.InvocationID += fmt.Sprint(" k", 33+i/5)
	}
	h.Compact("k77", "k11", "k22", "k33", "k44", "k55")
	path := built(t, h)
	events := eventsOf(t, exported(t, path, audit.JSONL, `k\d\d`, `\w+@x\.org`))
	ids := map[string]bool{}
	for _, ev := range events {
		if ids[ev.ID] || !strings.Contains(ev.ID, "[redacted]") && ev != events[len(events)-1] {
			t.Errorf("event %q is named so twice, or not redacted", ev.ID)
		}
		ids[ev.ID] = true
	}
	calls := events[1].Content.Parts
	one, two := calls[0].FunctionCall.ID, calls[1].FunctionCall.ID
	if one == two || events[2].Content.Parts[0].FunctionResponse.ID != one || events[3].Content.Parts[0].FunctionResponse.ID != two {
		t.Errorf("calls %q and %q are answered by %q and %q", one, two, events[2].Content.Parts[0].FunctionResponse.ID, events[3].Content.Parts[0].FunctionResponse.ID)
	}
	if a, b := events[1].Author, events[4].Author; a == b || a != events[2].Author || strings.Contains(a+b, "@") {
		t.Errorf("authors became %q and %q", a, b)
	}
	m, err := record.From(events[len(events)-1])
	if err != nil || len(m.Covered) != 5 {
		t.Fatalf("the record became %+v, %v", m, err)
	}
	for i, ref := range m.Covered {
		if ref.ID != events[i].ID || ref.InvocationID != events[i].InvocationID || ref.Author != events[i].Author {
			t.Errorf("reference %d is %+v, and the event %q of %q by %q", i, ref, events[i].ID, events[i].InvocationID, events[i].Author)
		}
	}
	if again := exported(t, path, audit.JSONL, `k\d\d`, `\w+@x\.org`); again != exported(t, path, audit.JSONL, `k\d\d`, `\w+@x\.org`) {
		t.Error("two exports differ")
	}
}

// TestAnErrorTellsNothingPrivate: also one about something else.
func TestAnErrorTellsNothingPrivate(t *testing.T) {
	t.Parallel()
	path := everywhere(t, "ada@example.org")
	run(t, path, "UPDATE events SET content = '{' WHERE seq = 1")
	r, err := redact.New(nil, []string{redact.All})
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	var out strings.Builder
	_, err = f.Export(t.Context(), []*audit.Session{find(t, f, "")}, audit.JSONL, r, &out)
	if err == nil || strings.Contains(err.Error(), "example.org") || !strings.Contains(err.Error(), "event 1 cannot be read") || out.Len() > 0 {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestPresetsLeaveAnOrdinarySessionAsItIs: IDs, times and counts are neither cards nor telephone
// numbers.
func TestPresetsLeaveAnOrdinarySessionAsItIs(t *testing.T) {
	t.Parallel()
	path := made(t, 10)
	f := open(t, path)
	s := find(t, f, "")
	r, err := redact.New(nil, []string{redact.All})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range audit.Formats {
		var bare, out strings.Builder
		if _, err := f.Export(t.Context(), []*audit.Session{s}, format, nil, &bare); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Export(t.Context(), []*audit.Session{s}, format, r, &out); err != nil {
			t.Fatal(err)
		}
		if bare.String() != out.String() {
			a, b := strings.Split(bare.String(), "\n"), strings.Split(out.String(), "\n")
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Errorf("%s became\n%s", a[i], b[i])
				}
			}
		}
		if format == audit.JSONL && !json.Valid([]byte(strings.SplitN(out.String(), "\n", 2)[0])) {
			t.Error("no JSON")
		}
	}
}
