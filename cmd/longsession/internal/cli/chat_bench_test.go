package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// arrivals is an output that notes when the first word of each answer arrives.
type arrivals struct{ at chan time.Time }

func (a arrivals) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("first")) {
		a.at <- time.Now()
	}
	return len(p), nil
}

// BenchmarkFirstToken measures how long the first word of an answer takes from the server's socket to the output of a chat
// with its usual layers, over a session that grows.
func BenchmarkFirstToken(b *testing.B) {
	b.Setenv("HOME", b.TempDir())
	sent := make(chan time.Time, 1)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		select {
		case sent <- time.Now():
		default: // a summary
		}
		_, _ = fmt.Fprint(w, `data: {"choices":[{"delta":{"content":"first"}}]}`, "\n\n")
		w.(http.Flusher).Flush()
		_, _ = fmt.Fprint(w, `data: {"choices":[{"delta":{"content":" and last"},"finish_reason":"stop"}]}`, "\n\ndata: [DONE]\n\n")
	}))
	defer h.Close()
	in, person := io.Pipe()
	out := arrivals{make(chan time.Time, 1)}
	var complaints bytes.Buffer
	ended := make(chan int)
	go func() {
		ended <- Run(b.Context(), []string{"chat", "--base-url", h.URL + "/v1", "--model", "local", "--context-window", "128000", "--no-tools",
			"--invocation-threshold", "0", "--file", filepath.Join(b.TempDir(), "a.db"), "--session", "a"}, in, out, &complaints)
	}()
	var took []time.Duration
	for b.Loop() {
		if _, err := io.WriteString(person, "Go on.\n"); err != nil {
			b.Fatal(err)
		}
		select {
		case at := <-out.at:
			took = append(took, at.Sub(<-sent))
		case code := <-ended:
			b.Fatalf("exit code %d\n%s", code, &complaints)
		}
	}
	_ = person.Close()
	if code := <-ended; code != exit.CodeOK {
		b.Fatalf("exit code %d\n%s", code, &complaints)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs/median")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs/p99")
}
