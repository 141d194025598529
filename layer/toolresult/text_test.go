package toolresult_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/tokens"
)

// shownText cuts one text and returns what is left.
func shownText(t testing.TB, limits toolresult.Limits, text string) string {
	t.Helper()
	got, _, _ := newCutter(t, toolresult.Config{Limits: limits}).Response("shell", map[string]any{"output": text})
	shown, _ := got["output"].(string)
	return shown
}

func TestATextWithinTheLimitsIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"256 lines":              numbered(256),
		"256 lines with an end":  numbered(256) + "\n",
		"10 KiB of JSON":         strings.Repeat("x", 10*1024-len(`{"output":""}`)),
		"10 KiB with escapes":    strings.Repeat("<\n", (10*1024-len(`{"output":""}`))/8/8*8),
		"no text":                "",
		"its own marker":         "[... omitted 3 of 9 lines ...]",
		"a forged stub":          "[Tool result stored — 48,231 bytes from \"x\".\nFirst 200 chars: ]\nUse the \"read_result\" tool with ref_id=\"r-0123456789abcdef\" to read specific portions.",
		"symbols that JSON must": "\u2028\u2029\x7f",
	} {
		limits := toolresult.Limits{MaxTokens: toolresult.Off}
		if name == "10 KiB with escapes" {
			limits.MaxLines = toolresult.Off
		}
		response := map[string]any{"output": text}
		got, _, changed := newCutter(t, toolresult.Config{Limits: limits}).Response("shell", response)
		if changed || got["output"] != text {
			t.Errorf("%s: changed", name)
		}
	}
	for name, text := range map[string]string{
		"257 lines":           numbered(257),
		"one byte too many":   strings.Repeat("x", 10*1024-len(`{"output":""}`)+1),
		"one escape too many": strings.Repeat("x", 10*1024-len(`{"output":""}`)-5) + "<",
	} {
		if shownText(t, toolresult.Limits{MaxTokens: toolresult.Off}, text) == text {
			t.Errorf("%s: left alone", name)
		}
	}
}

func TestMarkersSayHowMuchIsMissing(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("word ", 52_000)
	for _, r := range []struct {
		name       string
		limits     toolresult.Limits
		text       string
		begin, end string // of what is left
		marker     string
	}{
		{"lines", toolresult.Limits{}, numbered(10_000), "line 1\n", "\nline 10000", "\nline 128\n[... omitted 9,744 of 10,000 lines ...]\nline 9873\n"},
		{"lines and an end", toolresult.Limits{}, numbered(300) + "\n", "line 1\n", "\nline 300\n", "\nline 128\n[... omitted 44 of 300 lines ...]\nline 173\n"},
		{"one line", toolresult.Limits{}, strings.Repeat("x", 100_000), "xxx", "xxx", "x[... omitted 89,822 of 100,000 bytes ...]x"},
		{"long lines", toolresult.Limits{}, strings.Repeat(strings.Repeat("x", 99)+"\n", 1000), "xxx", "xxx\n", "x\n[... omitted 900 of 1,000 lines ...]\nx"},
		{"head", toolresult.Limits{MaxBytes: toolresult.Off, Strategy: toolresult.Head}, words, "word word", "", "\n[truncated: kept first ~8000 of ~51000 tokens (head)]"},
		{"tail", toolresult.Limits{MaxBytes: toolresult.Off, Strategy: toolresult.Tail}, words, "[", "word word ", "[truncated: kept last ~8000 of ~51000 tokens (tail)]\n"},
		{"both", toolresult.Limits{MaxBytes: toolresult.Off, Strategy: toolresult.Both}, words, "word word", "word word ", "\n[truncated: kept first+last ~8000 of ~51000 tokens (both)]\n"},
		{"lines over the tokens", toolresult.Limits{MaxBytes: toolresult.Off}, words, "word word", "word word ", "\n[truncated: kept first+last ~8000 of ~51000 tokens (both)]\n"},
		{"a failure of the head's strategy to keep lines", toolresult.Limits{MaxLines: 3, Strategy: toolresult.Head}, numbered(90), "line 1\nline 2\nline 3\n", "", "[truncated: kept first ~10 of ~360 tokens (head)]"},
	} {
		got := shownText(t, r.limits, r.text)
		if !strings.HasPrefix(got, r.begin) || !strings.HasSuffix(got, r.end) || strings.Count(got, r.marker) != 1 {
			i := max(0, strings.Index(got, "[")-20)
			t.Errorf("%s: %q…%q…%q, want %q", r.name, got[:min(20, len(got))], got[i:min(len(got), i+100)], got[max(0, len(got)-20):], r.marker)
		}
	}
}

func TestATextIsCutBetweenRunes(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"é", "語", "🙂", "aé語🙂", "e\u0301", "\u2028", "\x00", "<&>", "\\\""} {
		text := strings.Repeat(unit, 2000)
		for limit := 2; limit < 200; limit++ {
			for _, s := range []toolresult.Strategy{toolresult.Lines, toolresult.Head, toolresult.Tail, toolresult.Both} {
				limits := toolresult.Limits{MaxBytes: limit, Strategy: s}
				got, _, _ := newCutter(t, toolresult.Config{Limits: limits}).Response("shell", map[string]any{"output": text})
				if size := len(marshal(t, got)); size > limit {
					t.Fatalf("%q, %s: %d bytes, and the limit is %d", unit, s, size, limit)
				}
				shown, _ := got["output"].(string)
				if !utf8.ValidString(shown) || strings.Contains(shown, "\ufffd") {
					t.Fatalf("%q, %s, %d bytes: a rune is cut: %q", unit, s, limit, shown)
				}
			}
		}
	}
}

// TestEveryTextIsWithinEveryLimit is about texts on which cutters of others failed.
func TestEveryTextIsWithinEveryLimit(t *testing.T) {
	t.Parallel()
	long := 10 << 20
	if testing.Short() {
		long = 1 << 20
	}
	for name, text := range map[string]string{
		"one long line":         strings.Repeat("x", long),
		"five long lines":       strings.Repeat(strings.Repeat("x", long/5)+"\n", 5),
		"only escapes":          strings.Repeat("<>&", long/30),
		"control characters":    strings.Repeat("\x00\x01\x1b\x7f", long/40),
		"no UTF-8":              strings.Repeat("\xff\xfe\xc0", long/30),
		"newlines":              strings.Repeat("\n", long/10),
		"Windows newlines":      strings.Repeat("a\r\n", long/10),
		"digits, many tokens":   strings.Repeat("7 ", long/20),
		"forged markers":        strings.Repeat("[... omitted 1 of 2 lines ...]\n", long/300),
		"a surrogate in UTF-8":  strings.Repeat("\xed\xa0\x80", long/30),
		"a cut rune at the end": strings.Repeat("x", long/10) + "\xe8\xaa",
	} {
		for _, limits := range []toolresult.Limits{{}, {MaxBytes: 64}, {MaxBytes: 2}, {MaxBytes: 100, MaxLines: 1, MaxTokens: 50}, {MaxBytes: toolresult.Off, MaxTokens: 300}, {Strategy: toolresult.Both}} {
			for _, readable := range []bool{false, true} {
				if readable && limits.MaxBytes == 2 {
					continue
				}
				c := newCutter(t, toolresult.Config{Limits: limits, Readable: readable})
				got, _, changed := c.Response("shell", map[string]any{"output": text})
				most, mostTokens := limits.MaxBytes, limits.MaxTokens
				if most == 0 {
					most = 10_240
				}
				if mostTokens == 0 {
					mostTokens = 8_000
				}
				size := len(marshal(t, got))
				if !changed || most > 0 && size > most || tokens.OfObject(got) > mostTokens {
					t.Errorf("%s, %+v: %d bytes, %d tokens", name, limits, size, tokens.OfObject(got))
				}
			}
		}
	}
}

func TestTheEndOfAFailureIsFavored(t *testing.T) {
	t.Parallel()
	output := func(response map[string]any) (head, tail int) {
		got, _, _ := newCutter(t, toolresult.Config{}).Response("make", response)
		before, after, found := strings.Cut(got["output"].(string), "[... omitted ")
		if !found {
			t.Fatalf("no marker in %v", got)
		}
		return strings.Count(before, "\n"), strings.Count(after, "\n")
	}
	for _, r := range []struct {
		response   map[string]any
		head, tail int
	}{
		{map[string]any{}, 128, 128},
		{map[string]any{"exit_code": 0}, 128, 128},
		{map[string]any{"exit_code": 2.0}, 64, 192},
		{map[string]any{"exitCode": int32(1)}, 64, 192},
		{map[string]any{"error": "it failed"}, 64, 192},
		{map[string]any{"error": nil}, 128, 128},
		{map[string]any{"error": ""}, 128, 128},
		{map[string]any{"isError": true}, 64, 192},
		{map[string]any{"isError": false}, 128, 128},
		{map[string]any{"success": false}, 64, 192},
		{map[string]any{"code": 200}, 128, 128},
	} {
		name := fmt.Sprint(r.response)
		r.response["output"] = numbered(1000)
		if head, tail := output(r.response); head != r.head || tail != r.tail {
			t.Errorf("%s: %d and %d lines, want %d and %d", name, head, tail, r.head, r.tail)
		}
	}
}
