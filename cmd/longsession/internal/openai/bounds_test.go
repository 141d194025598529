package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// Each fragment of the arguments must not copy those before it.
func TestArgumentsInManyFragmentsAreJoinedOnce(t *testing.T) {
	const fragments = 40_000
	cfg := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		begin := `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"look","arguments":"{\"id\":\""}}]}}]}` + "\n\n"
		_, _ = io.WriteString(w, begin)
		_, _ = io.WriteString(w, strings.Repeat(`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"0123456789abcdef"}}]}}]}`+"\n\n", fragments))
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, whole, err := ask(t, cfg, hello, true)
	runtime.ReadMemStats(&after)
	if err != nil || len(whole.Content.Parts) != 1 || whole.Content.Parts[0].FunctionCall.Args["id"] != strings.Repeat("0123456789abcdef", fragments) {
		t.Fatalf("%v: %.200v", err, whole)
	}
	// Joined anew with each fragment, they take 12 GiB.
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<30 {
		t.Errorf("%d MiB for %d KiB of arguments", taken>>20, fragments*16>>10)
	}
}

// A server that never ends must not fill the memory.
func TestAStreamHasTheBoundOfAWholeResponse(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("on and on ", 6_000)
	cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", text); err != nil {
				return
			}
		}
	})
	parts, _, err := ask(t, cfg, hello, true)
	if err == nil || !strings.Contains(err.Error(), "longer than 64 MiB") {
		t.Fatalf("%v after %d parts", err, len(parts))
	}
	if n := len(parts); n < 1_000 || n*len(text) > 64<<20 {
		t.Errorf("%d parts of %d bytes", n, len(text))
	}
}
