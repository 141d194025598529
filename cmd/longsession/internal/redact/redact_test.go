package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
)

func redactor(t *testing.T, patterns ...string) *redact.Redactor {
	t.Helper()
	r, err := redact.New(patterns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// between puts a text between any two characters of another.
func between(text, what string) string { return strings.Join(strings.Split(text, ""), what) }

func wide(text string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r + 0xfee0
		}
		return r
	}, text)
}

func escapes(text, format string) (out string) {
	for _, b := range []byte(text) {
		out += fmt.Sprintf(format, b)
	}
	return out
}

func inUTF16(text string) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}

// TestNoDisguiseHidesAMatch: however it is encoded, once or several times.
func TestNoDisguiseHidesAMatch(t *testing.T) {
	t.Parallel()
	const secret = "Kim?Sk-4711>>x"
	r := redactor(t, regexp.QuoteMeta(secret))
	std, raw := base64.StdEncoding.EncodeToString, base64.RawStdEncoding.EncodeToString
	web, rawWeb := base64.URLEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString
	asJSON := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	long := strings.Repeat("All is well. ", 20) + secret + strings.Repeat(" Nothing happened.", 20)
	lines := regexp.MustCompile(`.{1,76}`).ReplaceAllString(std([]byte(long)), "$0\r\n")
	for name, hidden := range map[string]string{
		"plain":                    secret,
		"base64":                   std([]byte(secret)),
		"base64, no padding":       raw([]byte(secret)),
		"base64 for URLs":          web([]byte(secret)),
		"base64 for URLs, raw":     rawWeb([]byte(secret)),
		"base64 of a longer text":  std([]byte("x" + secret + "y")),
		"base64 in lines":          strings.TrimSpace(lines),
		"base64 twice":             std([]byte(std([]byte("a " + secret)))),
		"base64 in a path":         "/f/" + rawWeb([]byte(secret)),
		"base64 among bytes":       std([]byte("\x00\x01\xff\xfe" + secret + "\x80\x81\x82\x83")),
		"base64 of UTF-16":         std(inUTF16(secret)),
		"base64 in JSON":           strings.ReplaceAll(std([]byte("??>"+secret)), "/", `\/`),
		"base64 in a query":        url.QueryEscape(std([]byte(secret + "!"))),
		"URL":                      url.QueryEscape(secret),
		"URL, every byte":          escapes(secret, "%%%02x"),
		"URL twice":                url.QueryEscape(url.QueryEscape(secret)),
		"URL three times":          url.QueryEscape(url.QueryEscape(url.QueryEscape(secret))),
		"zero-width space":         between(secret, "\u200b"),
		"zero-width joiner":        between(secret, "\u200d"),
		"soft hyphen":              between(secret, "\u00ad"),
		"marks of direction":       "\u202e" + between(secret, "\u2066") + "\u202c",
		"word joiner and BOM":      between(secret, "\u2060\ufeff"),
		"tags":                     between(secret, "\U000e0041"),
		"variation selectors":      between(secret, "\ufe0f"),
		"fillers":                  between(secret, "\u3164\u115f"),
		"NUL":                      between(secret, "\x00"),
		"full width":               wide(secret),
		"mathematical letters":     "\U0001d40a\U0001d422\U0001d426?\U0001d412\U0001d424-\U0001d7d2\U0001d7d5\U0001d7cf\U0001d7cf>>\U0001d431",
		"other digits and dashes":  "Kim?Sk\u2011\u0664\u0667\u0661\u0661>>x",
		"escapes of JSON":          escapes(secret, `\u%04x`),
		"escapes of JSON in JSON":  strings.Trim(asJSON(escapes(secret, `\u%04X`)), `"`),
		"escapes of programs":      escapes(secret, `\x%02x`),
		"entities":                 escapes(secret, "&#%d;"),
		"entities in hexadecimals": escapes(secret, "&#x%x;"),
		"HTML":                     html.EscapeString(secret),
		"JSON":                     asJSON(map[string]any{"a": []any{secret}}),
		"JSON in JSON":             asJSON(asJSON(map[string]string{secret: "a"})),
		"base64 with zero widths":  between(std([]byte(secret)), "\u200b"),
		"URL of base64 of URL":     url.QueryEscape(std([]byte(url.QueryEscape(secret)))),
	} {
		for _, frame := range []string{"%s", "Here it is: %s, and that was it.", "key=%s&more=1", "(%s)", `{"text":"%s"}`} {
			if strings.Contains(hidden, `"`) && strings.Contains(frame, `"`) || strings.Contains(hidden, "\n") && strings.Contains(frame, `"`) {
				continue
			}
			text := fmt.Sprintf(frame, hidden)
			got := r.Text(text)
			rest := fmt.Sprintf(frame, "")
			if !strings.Contains(got, redact.Mark) || strings.Contains(got, hidden) || len(got) > len(rest)+len(redact.Mark)*3+len(hidden)/2 {
				t.Errorf("%s: %q became %q", name, text, got)
			}
			if r.Matches(got) {
				t.Errorf("%s: %q matches still", name, got)
			}
			if json.Valid([]byte(text)) && !json.Valid([]byte(got)) {
				t.Errorf("%s: %q is no JSON any more", name, got)
			}
		}
	}
}

// TestWhatHidesNothingStays: a text with all that redaction decodes is left as it is written.
func TestWhatHidesNothingStays(t *testing.T) {
	t.Parallel()
	r, err := redact.New([]string{`sk-\d+`, `(?i)kassel`}, []string{redact.All})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"", " ", "Ordinary words, 100% of them; C:\\new\\table\\x41 and &amp; %20 \\u0041 👩\u200d👧 e\u0301 ﬁne soft\u00adhyphen.",
		`{"a": [1, 2.50, true, null, "x\u0041"], "b": {"": "\/"}}`, base64.StdEncoding.EncodeToString([]byte("nothing to see here, move along")),
		"a/b/c_d-e+f=g internationalization antidisestablishmentarianism", "\xff\xfe\x00 bytes",
	} {
		if got := r.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestOnlyTheMatchIsTakenOut of a text in which it is hidden.
func TestOnlyTheMatchIsTakenOut(t *testing.T) {
	t.Parallel()
	r := redactor(t, `sk-\d+`)
	for text, want := range map[string]string{
		"a%20b sk%2D12 c%20d":                               "a%20b [redacted] c%20d",
		"one s\u200bk-1\u200b2 two\u200b":                   "one [redacted] two\u200b",
		"see c2stMTIz and bm90aGluZw":                       "see [redacted] and bm90aGluZw",
		`{"a\u0041":"sk-1","b":["x",{"sk-2":"y"}]}`:         `{"a\u0041":"[redacted]","b":["x",{"[redacted]":"y"}]}`,
		`{"sk-1":1,"sk-2":2,"[redacted] 2":3,"n":"\u00e9"}`: `{"[redacted]":1,"[redacted] 3":2,"[redacted] 2":3,"n":"\u00e9"}`,
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	digits := redactor(t, `\d{4},\d{4}`)
	if got := digits.JSON(`{"card":[4111,1111,7],"ok":true}`); got != `{"card":["[redacted]","[redacted]",7],"ok":true}` {
		t.Errorf("numbers side by side became %s", got)
	}
}

func TestAPatternThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{"(": "syntax of Go's package regexp", "a*": "matches the empty text", "red": "replaces every match", `^"`: "replaces every match"} {
		if _, err := redact.New([]string{"fine", pattern}, nil); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", pattern)) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	if r, err := redact.New(nil, nil); r != nil || err != nil || r.Text("x") != "x" || r.Matches("x") || r.Data([]byte("x")) || r.Value(1) != 1 {
		t.Error("no patterns")
	}
}

// TestWhatARedactionJoinsIsRedactedToo: the text on both sides of a match may match in turn.
func TestWhatARedactionJoinsIsRedactedToo(t *testing.T) {
	t.Parallel()
	r := redactor(t, "secret", `a\[redacted\]b`)
	if got := r.Text("1 asecretb 2"); r.Matches(got) || strings.Contains(got, "a[redacted]b") {
		t.Errorf("left %q", got)
	}
	one, two := "one sec", "ret two"
	if r.Joined("", &one, &two); one != "one [redacted]" || two != "[redacted] two" {
		t.Errorf("became %q and %q", one, two)
	}
}

// TestTokensAreFoundWhereTheyStand, with their paths, for any JSON.
func TestTokensAreFoundWhereTheyStand(t *testing.T) {
	t.Parallel()
	const text = ` {"a" : [ 1, "x\"y" , {"b": null}], "":true} `
	tokens, err := redact.Tokens(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, token := range tokens {
		got = append(got, fmt.Sprintf("%s=%s/%v", token.Path, text[token.From:token.To], token.Key))
	}
	if want := `a=a/true a[0]=1/false a[1]=x\"y/false a[2].b=b/true a[2].b=/false =/true =true/false`; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", strings.Join(got, " "), want)
	}
	for _, bad := range []string{`{"a"`, `[1,]`, `"x`, `{]`} {
		if _, err := redact.Tokens(bad); err == nil {
			t.Errorf("%s has tokens", bad)
		}
	}
}

// FuzzText: a result is clean, is the same when it is redacted again, and is JSON if the text was.
func FuzzText(f *testing.F) {
	for n := range 20 {
		random := rand.New(rand.NewPCG(uint64(n), 5))
		pieces := []string{"sk-1", "%73k-1", `\u0073k-1`, "c2stMQ==", `{"a":"`, `"}`, "s\u200bk-1", "&#115;k-1", "\xff", "+", "\\", "%", `"`, ",", ":", "[", "]", "1", "\n"}
		text := ""
		for range random.IntN(12) {
			text += pieces[random.IntN(len(pieces))]
		}
		f.Add(text)
	}
	r, err := redact.New([]string{`sk-\d`, `"a":"\d`}, []string{redact.All})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := r.Text(text)
		if r.Matches(got) || r.Text(got) != got {
			t.Errorf("%q became %q, which matches still", text, got)
		}
		if json.Valid([]byte(text)) && !json.Valid([]byte(got)) && got != redact.Mark {
			t.Errorf("%q became %q, which is no JSON", text, got)
		}
	})
}

// One byte of a character may be decoded before the other one.
func TestACharacterOfTwoEncodingsHidesNothing(t *testing.T) {
	t.Parallel()
	r, err := redact.New([]string{"4711"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	semicolon, err := redact.New([]string{"4;11"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := semicolon.Text(`&#52&#59;11`); got != redact.Mark {
		t.Errorf("an encoded semicolon behind an entity without one: %s", got)
	}
	for _, text := range []string{
		`%D9%A4711`, `%\u00449%A4711`, `\u0025D9%A4711`, `%D9\u0025A4711`, // an Arabic 4
		`\ud835\udfd2711`, `\ud835%5Cudfd2711`, `%5Cud835\udfd2711`, // a mathematical 4
		`&#5%32;711`, `&#52;7&#49&#x31`, `&#52&#55;11`,
	} {
		if got := r.Text(text); got != redact.Mark {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

// Browsers read a number of a character without its semicolon.
func TestAnEntityWithoutSemicolonHidesNothing(t *testing.T) {
	t.Parallel()
	r, err := redact.New(nil, []string{"email"})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"bob&#64x.org;", "bob&#64example.org", "bob&#x40;example.org"} {
		if got := r.Text(text); strings.Contains(got, "bob") {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}
