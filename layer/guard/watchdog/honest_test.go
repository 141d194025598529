package watchdog_test

import (
	"fmt"
	"testing"

	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
)

// TestHonestWorkIsNotStopped: what comes one after another is numbered by ones, and many things are found to be alike.
func TestHonestWorkIsNotStopped(t *testing.T) {
	t.Parallel()
	poll := func(result func(i int) map[string]any) func(i int) move {
		return func(i int) move { return one("poll", map[string]any{"job": "b1"}, result(i)) }
	}
	sweep := func(result map[string]any) func(i int) move {
		return func(i int) move { return one("check", map[string]any{"item": fmt.Sprint("item ", i)}, result) }
	}
	for name, at := range map[string]func(i int) move{
		"a job polled by percent": poll(func(i int) map[string]any {
			return map[string]any{"status": "running", "percent": float64(i)}
		}),
		"a job polled by files":     poll(func(i int) map[string]any { return text("copied %d files", i) }),
		"a job polled by its step":  poll(func(i int) map[string]any { return text("step %d", i) }),
		"lines read one by one":     poll(func(i int) map[string]any { return map[string]any{"line": float64(i)} }),
		"rows read one by one":      poll(func(i int) map[string]any { return text("row %d", i) }),
		"tickets taken from a list": poll(func(i int) map[string]any { return map[string]any{"ticket": float64(1000 + i)} }),
		"tests mended one by one": func(i int) move {
			if i%2 == 0 {
				return one("edit", map[string]any{"line": float64(i)}, text("The file has been updated."))
			}
			return one("test", nil, text("%d passed", i/2))
		},
		"names that are taken":   sweep(text("taken")),
		"names that are not yet": sweep(map[string]any{"registered": false}),
		"rows that are valid":    sweep(text("valid")),
		"guesses":                sweep(text("too low")),
		"hosts that answer":      sweep(map[string]any{"state": "up", "port": float64(443)}),
		"commits that fail": func(i int) move {
			if i%2 == 0 {
				return one("checkout", map[string]any{"commit": fmt.Sprint("c", i)}, text("HEAD is elsewhere"))
			}
			return one("test", map[string]any{"commit": fmt.Sprint("c", i-1)}, text("FAIL shop/cart: want 3, got 4"))
		},
	} {
		w := newWatchdog(t, watchdog.Config{Mode: watchdog.Stop})
		for i, m := range many(60, at) {
			if v := w.Observe(step(w, "1", m)); v.Stop != nil {
				t.Errorf("%s: stopped after %d answers: %s", name, i+1, v.Stop.Text)
				break
			}
		}
	}
}
