package toolresult_test

import (
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// BenchmarkResponse measures a result of 10 MB, and results that stay as they are.
func BenchmarkResponse(b *testing.B) {
	line := "internal/view/append.go:117: the view is extended, not computed anew\n"
	text := strings.Repeat(line, 10<<20/len(line))
	rows := make([]any, 10<<20/120)
	for i := range rows {
		rows[i] = map[string]any{"id": float64(i), "path": "internal/view/append.go", "text": line}
	}
	keys := make(map[string]any, 100_000)
	for i := range 100_000 {
		keys[strings.Repeat("k", i%9)+string(rune('a'+i%26))+line[:i%60]+string(rune(i+100))] = line
	}
	for _, bb := range []struct {
		name     string
		cfg      toolresult.Config
		response map[string]any
		bytes    int
	}{
		{"text/cut", toolresult.Config{}, map[string]any{"output": text}, len(text)},
		{"text/stub", toolresult.Config{Readable: true}, map[string]any{"output": text}, len(text)},
		{"text/tokens", toolresult.Config{Limits: toolresult.Limits{MaxTokens: 1000}}, map[string]any{"output": text}, len(text)},
		{"line/cut", toolresult.Config{}, map[string]any{"output": strings.Repeat("x", 10<<20)}, 10 << 20},
		{"two texts/cut", toolresult.Config{}, map[string]any{"stdout": text, "exit_code": 0.0}, len(text)},
		{"two texts/stub", toolresult.Config{Readable: true}, map[string]any{"stdout": text, "exit_code": 0.0}, len(text)},
		{"rows/cut", toolresult.Config{}, map[string]any{"rows": rows}, 10 << 20},
		{"rows/stub", toolresult.Config{Readable: true}, map[string]any{"rows": rows}, 10 << 20},
		{"keys/cut", toolresult.Config{}, keys, 10 << 20},
		{"whole/3KB", toolresult.Config{Readable: true}, map[string]any{"output": text[:3000], "exit_code": 0.0}, 3000},
		{"whole/9KB", toolresult.Config{}, map[string]any{"output": text[:9000], "exit_code": 0.0}, 9000},
	} {
		b.Run(bb.name, func(b *testing.B) {
			c := newCutter(b, bb.cfg)
			b.SetBytes(int64(bb.bytes))
			b.ReportAllocs()
			for b.Loop() {
				c.Response("shell", bb.response)
			}
		})
	}
}
