package audit_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
)

// quoted is a text as it stands in JSON.
func quoted(text string) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err)
	}
	return strings.Trim(strings.TrimSpace(out.String()), `"`)
}

// leaks returns what of a secret is left in an export, also where an escape hides it.
func leaks(format, out string, re *regexp.Regexp) []string {
	if format == audit.Markdown {
		return re.FindAllString(out, -1)
	}
	var left []string
	var look func(value any)
	look = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			for key, inner := range v {
				look(key)
				look(inner)
			}
		case []any:
			for _, inner := range v {
				look(inner)
			}
		default:
			text := fmt.Sprint(v)
			left = append(left, re.FindAllString(text, -1)...)
			var inner any
			if _, isText := value.(string); isText && json.Unmarshal([]byte(text), &inner) == nil && strings.ContainsAny(text[:1], `{["`) {
				look(inner)
			}
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(out), "\n") {
		var value any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&value); err != nil {
			left = append(left, err.Error())
		}
		look(value)
	}
	return left
}

// TestNothingThatMatchesIsLeft: secrets in every place of an event, of any characters, whole or
// beside each other, in every format.
func TestNothingThatMatchesIsLeft(t *testing.T) {
	t.Parallel()
	const alphabet = "sk\"<&\\\n\t/é漢\u2028 '`-"
	for n := range 25 {
		random := rand.New(rand.NewPCG(uint64(n), 3))
		runes := []rune(alphabet)
		secret := "k"
		for range 3 + random.IntN(5) {
			secret += string(runes[random.IntN(len(runes))])
		}
		secret += "9"
		number := 4_000_000_000_000 + float64(random.IntN(1_000_000))
		inJSON, _ := json.Marshal(map[string]any{"deep": []any{secret}})
		asKey, _ := json.Marshal(map[string]any{secret: 1})
		twice, _ := json.Marshal(string(inJSON))
		h := (&ct.History{}).User("i", "my key is "+secret+secret+".").
			Call("i", "bot", "t", "c").Response("i", "bot", "t", string(inJSON), "c").
			Agent("i", "bot", string(twice)).Turns(2, "bot").User("j", string(asKey)).Agent("j", "bot", fmt.Sprintf("[%.0f]", number)).Compact("r1", "e1", "e2", "e3", "e4")
		h.Events[1].Content.Parts[0].FunctionCall.Args = map[string]any{secret: secret, "list": []any{secret, map[string]any{"n": number, secret: 1}}}
		h.Events[3].Actions.StateDelta = map[string]any{secret: "x" + secret, "n": number}
		h.Events[3].ErrorMessage = secret
		h.Events[4].CustomMetadata = map[string]any{"note": secret}
		h.Events[4].Content.Parts = append(h.Events[4].Content.Parts, &genai.Part{InlineData: &genai.Blob{MIMEType: "text/plain", Data: []byte("a " + secret)}})
		h.Amend(func(m *record.Metadata) {
			if err := m.SetText("The key is " + secret + ", the card " + fmt.Sprintf("%.0f", number)); err != nil {
				t.Fatal(err)
			}
		})
		path := filepath.Join(t.TempDir(), "sessions.db")
		s := writing(t, path)
		create(t, s, user, "order-"+secret, h.Events...)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		pattern := regexp.QuoteMeta(secret)
		either := regexp.MustCompile(pattern + "|4000000[0-9]{6}")
		for _, format := range audit.Formats {
			if bare := leaks(format, exported(t, path, format), either); len(bare) < 5 {
				t.Errorf("%s without redaction has %q only: this test looks in the wrong place", format, bare)
			}
			out := exported(t, path, format, pattern, "4000000[0-9]{6}")
			if left := leaks(format, out, either); len(left) > 0 {
				t.Errorf("%s of secret %q: %q is left in\n%s", format, secret, left, out)
			}
			for _, hidden := range []string{string(inJSON[1 : len(inJSON)-1]), string(asKey), quoted(secret), html.EscapeString(quoted(secret)), base64.StdEncoding.EncodeToString([]byte("a " + secret))} {
				if strings.Contains(out, hidden) {
					t.Errorf("%s of secret %q: %q is left", format, secret, hidden)
				}
			}
			if !strings.Contains(out, "[redacted]") {
				t.Errorf("%s of secret %q has nothing redacted", format, secret)
			}
		}
		// The others are there, and what is left can still be read.
		var events []*session.Event
		for line := range strings.SplitSeq(strings.TrimSpace(exported(t, path, audit.JSONL, pattern, "4000000[0-9]{6}")), "\n") {
			ev := &session.Event{}
			if err := json.Unmarshal([]byte(line), ev); err != nil {
				t.Fatal(err)
			}
			events = append(events, ev)
		}
		if m, err := record.From(events[len(events)-1]); err != nil || len(m.Covered) != 4 || !strings.Contains(m.CompactedContentJSON, "The key is [redacted]") {
			t.Errorf("the record became %+v, %v", m, err)
		}
	}
}

// TestTimesAndCountsAreRedactedAsFarAsTheyCanBe, and what cannot be is named.
func TestTimesAndCountsAreRedactedAsFarAsTheyCanBe(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).User("i", "call 5551234567")
	h.Events[0].Timestamp = histories.Epoch.Add(123456789)
	h.Events[0].UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 1234567}
	path := built(t, h)
	out := exported(t, path, audit.JSONL, `\d{7,}`)
	if regexp.MustCompile(`\d{7,}`).MatchString(out) || !strings.Contains(out, "call [redacted]") || !strings.Contains(out, "2026-01-01T00:00:00Z") {
		t.Errorf("exported %s", out)
	}
	r, err := redact.New([]string{`2026`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	_, err = f.Export(t.Context(), []*audit.Session{find(t, f, "")}, audit.JSONL, r, new(strings.Builder))
	if err == nil || !strings.Contains(err.Error(), key("Timestamp")) || !strings.Contains(err.Error(), "make the pattern narrower") {
		t.Errorf("a year: %v", err)
	}
}
