package openai_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/internal/openai"
)

// BenchmarkFirstWord measures how long a word is on its way from the server's socket to the caller.
func BenchmarkFirstWord(b *testing.B) {
	sent := make(chan time.Time, 1)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		sent <- time.Now()
		stream(w, `{"choices":[{"delta":{"content":"first"}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "[DONE]")
	}))
	defer h.Close()
	m, err := openai.New(openai.Config{Model: "local", BaseURL: h.URL})
	if err != nil {
		b.Fatal(err)
	}
	var all time.Duration
	for range b.N {
		first := true
		for resp, err := range m.GenerateContent(b.Context(), hello, true) {
			if err != nil {
				b.Fatal(err)
			}
			if first && resp.Partial {
				all += time.Since(<-sent)
				first = false
			}
		}
	}
	b.ReportMetric(float64(all.Microseconds())/float64(b.N), "µs/first-word")
}
