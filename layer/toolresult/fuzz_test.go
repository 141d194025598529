package toolresult_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/tokens"
)

// within returns n brought into a range.
func within(n, low, high int) int { return low + int(uint(n)%uint(high-low+1)) }

// anyLimits makes a valid Config of some numbers.
func anyLimits(maxBytes, maxLines, maxTokens, strategy int, readable bool) toolresult.Config {
	least := 2
	if readable {
		least = 64
	}
	cfg := toolresult.Config{Readable: readable, Limits: toolresult.Limits{
		MaxBytes: within(maxBytes, least, 3000), MaxLines: within(maxLines, 1, 40), MaxTokens: within(maxTokens, 32, 1200),
		Strategy:  []toolresult.Strategy{"", toolresult.Lines, toolresult.Head, toolresult.Tail, toolresult.Both}[within(strategy, 0, 4)],
		StubAbove: []int{0, toolresult.Off}[within(strategy/5, 0, 1)],
	}}
	return cfg
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("no JSON: %v", err)
	}
	return data
}

var markers = regexp.MustCompile(`\[\.\.\. omitted |\[truncated: kept `)

// checkCut checks all that holds for every result of a tool whatever it is.
func checkCut(t *testing.T, cfg toolresult.Config, response map[string]any) (out map[string]any, changed bool) {
	t.Helper()
	c := newCutter(t, cfg)
	before := canonical.String(response)
	out, cut, changed := c.Response("tool", response)
	if after := canonical.String(response); after != before {
		t.Fatalf("the tool's own map is changed:\n%s\n%s", before, after)
	}
	if !changed {
		if reflect.ValueOf(out).Pointer() != reflect.ValueOf(response).Pointer() {
			t.Fatal("nothing is cut, but the map is another one")
		}
		return out, false
	}
	data := marshal(t, out)
	if len(data) > cfg.MaxBytes {
		t.Errorf("%d bytes, and the limit is %d: %.300s", len(data), cfg.MaxBytes, data)
	}
	if got := tokens.OfObject(out); got > cfg.MaxTokens {
		t.Errorf("%d tokens, and the limit is %d: %.300s", got, cfg.MaxTokens, data)
	}
	if !json.Valid(data) || !utf8.ValidString(canonical.String(out)) || !reflect.DeepEqual(canonical.Value(out), any(out)) {
		t.Errorf("not as JSON brings it back: %.300s", data)
	}
	newlines, marked := 0, 0
	eachText(out, func(text string) {
		newlines += strings.Count(strings.TrimSuffix(text, "\n"), "\n")
		marked += len(markers.FindAllString(text, -1))
	})
	if cut.Kind == toolresult.Shortened && newlines+1 > cfg.MaxLines+2*marked {
		t.Errorf("%d lines with %d markers, and the limit is %d: %.300s", newlines+1, marked, cfg.MaxLines, data)
	}
	if again, _, twice := c.Response("tool", out); twice {
		t.Errorf("a second cut changes %.400s\ninto %.400s", data, marshal(t, again))
	}
	var loaded map[string]any
	if stored, err := json.Marshal(response); err == nil && json.Unmarshal(stored, &loaded) == nil {
		if other, _, _ := c.Response("tool", loaded); !bytes.Equal(marshal(t, other), data) {
			t.Errorf("after storage it is cut in another way:\n%.300s\n%.300s", data, marshal(t, other))
		}
	}
	if cut.Kind == toolresult.Repaired {
		return out, true
	}
	ref, short := toolresult.IsShortened("tool", out)
	if want := store.ResultOf(response).Ref; cfg.Readable != (out["ref_id"] == want && cut.Ref == want) {
		t.Errorf("reference %v, and that of the whole result is %s", out["ref_id"], want)
	} else if cfg.Readable && (!short || ref != want) {
		t.Errorf("not recognized: %.300s", data)
	}
	return out, true
}

func eachText(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case map[string]any:
		for _, e := range v {
			eachText(e, f)
		}
	case []any:
		for _, e := range v {
			eachText(e, f)
		}
	}
}

var oneMarker = regexp.MustCompile(`(?s)^(.*?)\n?(\[\.\.\. omitted [\d,]+ of [\d,]+ (?:lines|bytes) \.\.\.\]|\[truncated: kept (?:first|last|first\+last) ~\d+ of ~\d+ tokens \((?:head|tail|both)\)\])\n?(.*)$`)

// FuzzCutText holds that a cut text is a beginning and an end of the text around one marker.
func FuzzCutText(f *testing.F) {
	for _, text := range []string{
		"", "one line", numbered(500), strings.Repeat("x", 5000), strings.Repeat("<>&", 2000), strings.Repeat("\x00\x1b", 900),
		strings.Repeat("é", 3000), strings.Repeat("語", 2000), strings.Repeat("🙂", 2000), strings.Repeat("a\xff", 2000), strings.Repeat("\n", 4000),
		"\u2028" + strings.Repeat("\u2028x\r\n", 1000), strings.Repeat("12 ", 2000),
	} {
		f.Add(text, 1000, 20, 500, 0, false)
		f.Add(text, 77, 3, 40, 2, true)
		f.Add(text, 20, 1, 1000, 8, false)
	}
	f.Fuzz(func(t *testing.T, text string, maxBytes, maxLines, maxTokens, strategy int, readable bool) {
		cfg := anyLimits(maxBytes, maxLines, maxTokens, strategy, readable)
		out, changed := checkCut(t, cfg, map[string]any{"output": text})
		shown, ok := out["output"].(string)
		if !changed || !ok || shown == "" || shown == "[...]" || markers.MatchString(text) {
			return
		}
		valid := canonical.Text(text)
		m := oneMarker.FindStringSubmatch(shown)
		if m == nil {
			t.Fatalf("no marker in %q", shown)
		}
		if !strings.HasPrefix(valid, m[1]) || !strings.HasSuffix(valid, m[3]) || len(m[1])+len(m[3]) > len(valid) {
			t.Errorf("%q and %q are not the ends of the text", m[1], m[3])
		}
	})
}

// FuzzCutStructured holds that a structured result stays JSON within its limits, whatever its shape is.
func FuzzCutStructured(f *testing.F) {
	rows := make([]any, 40)
	for i := range rows {
		rows[i] = map[string]any{"id": i, "text": strings.Repeat("y", i/2)}
	}
	deep := any("bottom")
	for range 80 {
		deep = map[string]any{"a": []any{deep, deep == nil}}
	}
	keys := map[string]any{"status": "done"}
	for i := range 80 {
		keys[strings.Repeat("k", i%7)+string(rune('a'+i%26))+strings.Repeat("<", i/26)] = i
	}
	for _, v := range []map[string]any{
		{"rows": rows}, {"deep": deep}, keys, {"stdout": numbered(90), "stderr": numbered(30), "exit_code": 2},
		{"error": strings.Repeat("e", 600), "id": "7"}, {"ref_id": "own", "x": strings.Repeat("x", 900)}, {"m": []any{rows, rows}},
		{"": strings.Repeat("x", 900), "a_omitted": 1, "a": rows}, {"context_status": "[Context: 70% used]", "output": numbered(90)},
	} {
		data, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, 1000, 20, 500, 0, false)
		f.Add(data, 64, 3, 40, 2, true)
		f.Add(data, 2, 1, 1000, 8, false)
		f.Add(data, 300, 5, 100, 6, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, maxBytes, maxLines, maxTokens, strategy int, readable bool) {
		var response map[string]any
		if json.Unmarshal(data, &response) != nil {
			return
		}
		checkCut(t, anyLimits(maxBytes, maxLines, maxTokens, strategy, readable), response)
	})
}
