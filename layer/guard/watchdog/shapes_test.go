package watchdog_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
)

// shape is a loop of a kind. docs/limits.md names those that are not stopped.
type shape struct {
	name string
	// period is how many answers a lap has.
	period int
	move   func(i int) move
	left   bool // not stopped
}

// lap makes a cycle of calls, each with a result of its own.
func lap(period int) shape {
	return shape{name: fmt.Sprint("period ", period), period: period, move: func(i int) move {
		return one("Read", map[string]any{"file_path": fmt.Sprint(i%period, ".go")}, text("%d: %s", i%period, page))
	}}
}

// shuffled makes the same calls in every lap, one after another, each lap in another order.
func shuffled(period int) shape {
	r := rand.New(rand.NewPCG(7, uint64(period)))
	var order []int
	return shape{name: fmt.Sprint(period, " calls one by one in changing order"), period: period, move: func(i int) move {
		if i%period == 0 {
			order = r.Perm(period)
		}
		k := order[i%period]
		return one("Read", map[string]any{"file_path": fmt.Sprint(k, ".go")}, text("%d: %s", k, page))
	}}
}

// together makes the same calls in one answer each time.
func together(size int) shape {
	r := rand.New(rand.NewPCG(8, uint64(size)))
	return shape{name: fmt.Sprint(size, " calls of one answer in changing order"), period: 1, move: func(int) move {
		return round(size)(r, 1)[0]
	}}
}

// same makes one call with a result that differs in what means nothing.
func same(name string, result func(i int) map[string]any) shape {
	return shape{name: name, period: 1, move: func(i int) move {
		return one("Status", map[string]any{"id": "b1"}, result(i))
	}}
}

// reworded makes calls of some tools in turn, with other arguments each time.
func reworded(name string, tools int, result func(tool, i int) map[string]any) shape {
	return shape{name: name, period: tools, move: func(i int) move {
		k := i % tools
		return one(fmt.Sprint("search", k), map[string]any{"query": fmt.Sprint("where is the login, attempt ", i)}, result(k, i))
	}}
}

// among makes one call, the same each time, with others in between that find something.
func among(name string, every int) shape {
	return shape{name: name, period: every, left: true, move: func(i int) move {
		if i%every > 0 {
			return one("Glob", map[string]any{"pattern": fmt.Sprint(i, "*.go")}, text("found%d.go and %s", i, strings.Repeat("x", i)))
		}
		return one("Read", map[string]any{"file_path": "main.go"}, text(page))
	}}
}

// shapes are the loops that mode Stop is judged by.
func shapes() []shape {
	all := []shape{
		lap(1), lap(2), lap(3), lap(4), lap(5), lap(6), lap(7), lap(8), lap(10), lap(12),
		together(2), together(3), together(6), shuffled(3), shuffled(6),
		same("an empty result", func(int) map[string]any { return text("") }),
		same("a failure", func(int) map[string]any { return map[string]any{"error": "no such file"} }),
		same("a time in a field", func(i int) map[string]any {
			return map[string]any{"state": "the disk is full", "checked_at": fmt.Sprintf("2026-03-01T10:%02d:07Z", i)}
		}),
		same("a time in a text", func(i int) map[string]any { return text("10:%02d:31 the disk of db1 is full", i) }),
		same("a duration in a text", func(i int) map[string]any { return text("FAIL shop/cart (%d.%d3s): want 3, got 4", i%3, i) }),
		same("a duration in a field", func(i int) map[string]any {
			return map[string]any{"state": "the disk is full", "duration_ms": float64(31 + i*i%7)}
		}),
		same("a counter in a field", func(i int) map[string]any {
			return map[string]any{"state": "the disk is full", "requests": float64(11 + i)}
		}),
		same("a counter in a text", func(i int) map[string]any { return text("Request %d: the disk of db1 is full.", 11+i) }),
		{name: "a cycle of 3 with times and a counter", period: 3, move: func(i int) move {
			return one("Status", map[string]any{"id": i % 3}, text("10:%02d:31 disk %d is full (request %d)", i, i%3, i))
		}},
		reworded("one result, reworded", 1, func(int, int) map[string]any { return text("No results.") }),
		reworded("two tools, reworded, with one result each", 2, func(k, _ int) map[string]any { return text("Nothing of kind %d was found.", k) }),
		reworded("three tools, reworded, with one result each", 3, func(k, _ int) map[string]any { return text("Nothing of kind %d was found.", k) }),
		reworded("an empty list, reworded", 1, func(int, int) map[string]any { return map[string]any{"results": []any{}} }),
		reworded("a failure, reworded", 1, func(_, i int) map[string]any { return map[string]any{"error": fmt.Sprint("no such file: ", i)} }),
		reworded("nothing is done, reworded", 1, func(_, i int) map[string]any { return map[string]any{"no_op": true, "result": i} }),
		among("every second call", 2),
		among("every third call", 3),
		reworded("nothing at all, reworded", 1, func(int, int) map[string]any { return text("") }),
		reworded("a number, reworded", 1, func(_, i int) map[string]any { return map[string]any{"result": float64(i)} }),
	}
	all[len(all)-2].left, all[len(all)-1].left = true, true
	return all
}

// TestLoopsOfEveryShapeAreStopped within 3 laps or 20 answers, whichever is more, in mode Stop.
func TestLoopsOfEveryShapeAreStopped(t *testing.T) {
	t.Parallel()
	all := shapes()
	stopped := 0
	for _, s := range all {
		w := newWatchdog(t, watchdog.Config{Mode: watchdog.Stop})
		warned, at := 0, 0
		for i := 0; i < max(3*s.period, 20) && at == 0; i++ {
			v := w.Observe(step(w, "1", s.move(i)))
			if len(v.Alerts) > 0 && warned == 0 {
				warned = i + 1
			}
			if v.Stop != nil {
				at = i + 1
			}
		}
		t.Logf("%-45s warned after %2d answers, stopped after %2d", s.name, warned, at)
		if at > 0 {
			stopped++
		}
		if (at == 0) != s.left {
			t.Errorf("%s: stopped after %d answers", s.name, at)
		}
	}
	if len(all) != 34 || stopped < 28 {
		t.Errorf("%d of %d are stopped, want 28 of 34", stopped, len(all))
	}
}
