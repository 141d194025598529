package tokens

import (
	"bufio"
	"embed"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

//go:embed testdata
var testdata embed.FS

// sample is one text of a kind, with its Gemma 3 token count. No weight was fitted to these texts.
type sample struct {
	name  string
	text  string
	gemma int
	limit float64 // largest error compared with gemma
}

func samples(tb testing.TB) []sample {
	tb.Helper()
	all := []sample{
		{name: "prose", gemma: 355, limit: 0.05},
		{name: "json", gemma: 413, limit: 0.08},
		{name: "code", gemma: 472, limit: 0.10},
		{name: "terminal", gemma: 663, limit: 0.12},
		{name: "cjk", gemma: 347, limit: 0.10},
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
		got := Estimate(s.text)
		t.Logf("%s: %d, Gemma 3 %d (%+.1f%%)", s.name, got, s.gemma, 100*(float64(got)/float64(s.gemma)-1))
		if relativeError(got, s.gemma) > s.limit {
			t.Errorf("%s: Estimate = %d, Gemma 3 counts %d; want within %.0f%%", s.name, got, s.gemma, 100*s.limit)
		}
	}
}

func TestTotalIsCloseToO200k(t *testing.T) {
	t.Parallel()
	codec := o200k(t)
	var got, want int
	for _, s := range samples(t) {
		n, err := codec.Count(s.text)
		if err != nil {
			t.Fatal(err)
		}
		e := Estimate(s.text)
		t.Logf("%s: %d, o200k %d (%+.1f%%)", s.name, e, n, 100*(float64(e)/float64(n)-1))
		got += e
		want += n
	}
	if relativeError(got, want) > 0.20 {
		t.Errorf("Estimate = %d in total, o200k counts %d; want within 20%%", got, want)
	}
}

// The test reads at most a few hundred kilobytes of each file, because the tokenizer is slow and
// the total settles early.
func TestRealConversationsAreCloseToO200k(t *testing.T) {
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
	var got, want int
	for _, file := range files {
		var fileGot, fileWant int
		for _, text := range messages(t, file, 300_000) {
			n, err := codec.Count(text)
			if err != nil {
				t.Fatal(err)
			}
			fileGot += Estimate(text)
			fileWant += n
		}
		if fileWant == 0 {
			t.Errorf("%s: no text found", file)
			continue
		}
		t.Logf("%s: %d, o200k %d (%+.1f%%)", filepath.Base(file), fileGot, fileWant, 100*(float64(fileGot)/float64(fileWant)-1))
		got += fileGot
		want += fileWant
	}
	if want == 0 || relativeError(got, want) > 0.20 {
		t.Errorf("Estimate = %d in total, o200k counts %d; want within 20%%", got, want)
	}
}

// messages returns the texts and tool arguments of a file of conversations, up to size bytes.
func messages(t *testing.T, file string, size int) []string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var texts []string
	add := func(s string) {
		if s != "" && size > 0 {
			texts = append(texts, s)
			size -= len(s)
		}
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for size > 0 && lines.Scan() {
		var conversation struct {
			Messages []struct {
				Content   any `json:"content"`
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
				add(strings.ToValidUTF8(s, ""))
			}
			for _, call := range m.ToolCalls {
				add(call.Function.Arguments)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return texts
}

func o200k(t *testing.T) tokenizer.Codec {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	return codec
}
