// Package accuracy holds the estimate of tokens against a real tokenizer, which no user of the library has to download.
package accuracy

import (
	"bufio"
	"embed"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/tiktoken-go/tokenizer"

	"github.com/adk-go-ext/longsession/tokens"
)

//go:embed testdata
var testdata embed.FS

// sample is one text of a kind, with its Gemma 3 token count. No weight was fitted to these texts. They are short,
// so they are off by more than their kind: the tokenizers themselves differ by up to 23%.
type sample struct {
	name         string
	text         string
	gemma        int
	limit, o200k float64 // largest errors compared with gemma and with o200k
}

func samples(tb testing.TB) []sample {
	tb.Helper()
	all := []sample{
		{name: "prose", gemma: 355, limit: 0.03, o200k: 0.03},
		{name: "json", gemma: 413, limit: 0.08, o200k: 0.10},
		{name: "code", gemma: 472, limit: 0.08, o200k: 0.15},
		{name: "terminal", gemma: 663, limit: 0.10, o200k: 0.10},
		{name: "cjk", gemma: 347, limit: 0.05, o200k: 0.18}, // a third of it is Japanese
	}
	for i := range all {
		b, err := testdata.ReadFile("testdata/" + all[i].name + ".txt")
		if err != nil {
			tb.Fatal(err)
		}
		all[i].text = string(b)
	}
	return all
}

func relativeError(got, want int) float64 {
	return math.Abs(float64(got)-float64(want)) / float64(want)
}

func TestEachKindOfTextIsCloseToGemma(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		got := tokens.Estimate(s.text)
		t.Logf("%s: %d, Gemma 3 %d (%+.1f%%)", s.name, got, s.gemma, 100*(float64(got)/float64(s.gemma)-1))
		if relativeError(got, s.gemma) > s.limit {
			t.Errorf("%s: Estimate = %d, Gemma 3 counts %d; want within %.0f%%", s.name, got, s.gemma, 100*s.limit)
		}
	}
}

func TestEachKindOfTextIsCloseToO200k(t *testing.T) {
	t.Parallel()
	codec := o200k(t)
	for _, s := range samples(t) {
		want, err := codec.Count(s.text)
		if err != nil {
			t.Fatal(err)
		}
		got := tokens.Estimate(s.text)
		t.Logf("%s: %d, o200k %d (%+.1f%%)", s.name, got, want, 100*(float64(got)/float64(want)-1))
		if relativeError(got, want) > s.o200k {
			t.Errorf("%s: Estimate = %d, o200k counts %d; want within %.0f%%", s.name, got, want, 100*s.o200k)
		}
	}
}

// The test reads at most some hundred kilobytes of each kind, because the tokenizer is slow and the total settles early.
func TestEachKindOfRealTextIsWithinATenthOfO200k(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("LONGSESSION_DATA")
	if dir == "" {
		t.Skip("LONGSESSION_DATA is not set: no folder of real conversations (JSONL) to compare with")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no *.jsonl in LONGSESSION_DATA=%s (%v)", dir, err)
	}
	codec := o200k(t)
	type sum struct{ bytes, got, want int }
	kinds := map[string]*sum{}
	for _, file := range files {
		messages(t, file, func(kind, text string) {
			s := kinds[kind]
			if s == nil {
				s = &sum{}
				kinds[kind] = s
			}
			if text == "" || s.bytes > 150_000 {
				return
			}
			n, err := codec.Count(text)
			if err != nil {
				t.Fatal(err)
			}
			s.bytes, s.got, s.want = s.bytes+len(text), s.got+tokens.Estimate(text), s.want+n
		})
	}
	if len(kinds) < 5 {
		t.Fatalf("only %d kinds of text found", len(kinds))
	}
	for kind, s := range kinds {
		t.Logf("%s: %d, o200k %d (%+.1f%%)", kind, s.got, s.want, 100*(float64(s.got)/float64(s.want)-1))
		if relativeError(s.got, s.want) > 0.10 {
			t.Errorf("%s: Estimate = %d, o200k counts %d; want within 10%%", kind, s.got, s.want)
		}
	}
}

// kindOf is the kind of a message, by who wrote it and how it looks.
func kindOf(role, text string) string {
	han := 0
	for _, r := range text {
		if unicode.Is(unicode.Han, r) {
			han++
		}
	}
	switch {
	case han*10 > len(text): // Han characters have three bytes
		return "Chinese"
	case role != "tool":
		return "English"
	case strings.HasPrefix(text, "{") || strings.HasPrefix(text, "["):
		return "JSON results"
	}
	return "other results"
}

// messages passes on the texts and tool arguments of a file of conversations, with their kinds.
func messages(t *testing.T, file string, each func(kind, text string)) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var conversation struct {
			Messages []struct {
				Role      string `json:"role"`
				Content   any    `json:"content"`
				ToolCalls []struct {
					Function struct {
						Arguments string `json:"arguments"`
					} `json:"function"`
				} `json:"tool_calls"`
			} `json:"messages"`
		}
		if err := json.Unmarshal(lines.Bytes(), &conversation); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, m := range conversation.Messages {
			if s, ok := m.Content.(string); ok {
				s = strings.ToValidUTF8(s, "")
				each(kindOf(m.Role, s), s)
			}
			for _, call := range m.ToolCalls {
				each("arguments", call.Function.Arguments)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func o200k(t *testing.T) tokenizer.Codec {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	return codec
}

func BenchmarkEstimate(b *testing.B) {
	for _, s := range samples(b) {
		b.Run(s.name, func(b *testing.B) {
			b.SetBytes(int64(len(s.text)))
			b.ReportAllocs()
			for b.Loop() {
				tokens.Estimate(s.text)
			}
		})
	}
}
