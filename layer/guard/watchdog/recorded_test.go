package watchdog_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit/recorded"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
)

// conversations returns the recorded conversations, or skips the test.
func conversations(t *testing.T) []recorded.Conversation {
	t.Helper()
	all := recorded.Read(t, "*.jsonl")
	if len(all) < 100 {
		t.Fatalf("%d conversations only: the test reads wrongly", len(all))
	}
	return all
}

// call is a call as it is planted: arguments and a response.
type call struct {
	tool           string
	args, response map[string]any
}

// move is one answer of the model.
type move struct {
	calls        []call
	text         bool
	promptTokens int
	planted      bool
}

// turns returns the answers of a conversation, by turn.
func turns(c recorded.Conversation) (out [][]move) {
	responses := map[string]map[string]any{}
	for _, m := range c.Messages {
		responses[m.ToolCallID] = m.Response()
	}
	for _, m := range c.Messages {
		switch m.Role {
		case "user":
			out = append(out, nil)
		case "assistant":
			answer := move{promptTokens: m.Usage.PromptTokens, text: strings.TrimSpace(m.Content) != ""}
			for _, tool := range m.ToolCalls {
				answer.calls = append(answer.calls, call{tool.Function.Name, tool.Args(), responses[tool.ID]})
			}
			out[len(out)-1] = append(out[len(out)-1], answer)
		}
	}
	return out
}

// step converts an answer.
func step(w *watchdog.Watchdog, invocation string, m move) watchdog.Step {
	s := watchdog.Step{Invocation: invocation, Branch: "root", Agent: "agent", Text: m.text, PromptTokens: m.promptTokens}
	for _, c := range m.calls {
		s.Calls = append(s.Calls, w.Call("", c.tool, c.args, c.response))
	}
	return s
}

// playback is what a watchdog said about a conversation.
type playback struct {
	alerts []watchdog.Alert
	stops  int
	calls  int
	// after is how many answers of a planted loop there were, up to the first alert about it; 0 without one.
	after int
}

func playTurns(t *testing.T, cfg watchdog.Config, all [][]move) (p playback) {
	t.Helper()
	w, err := watchdog.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, moves := range all {
		invocation, planted := fmt.Sprint(i), 0
		for _, m := range moves {
			if m.planted {
				planted++
			}
			p.calls += len(m.calls)
			verdict := w.Observe(step(w, invocation, m))
			if m.planted && len(verdict.Alerts) > 0 && p.after == 0 {
				p.after = planted
			}
			p.alerts = append(p.alerts, verdict.Alerts...)
			if verdict.Stop != nil {
				p.stops++
			}
		}
		w.Forget(invocation)
	}
	if n := w.Lanes(); n != 0 {
		t.Errorf("%d lanes are left", n)
	}
	return p
}

// TestRecordedSessionsAreNoLoops: agents at work are not stopped, and hardly ever warned about.
func TestRecordedSessionsAreNoLoops(t *testing.T) {
	t.Parallel()
	sessions, calls, warned := 0, 0, 0
	for _, c := range conversations(t) {
		p := playTurns(t, watchdog.Config{Mode: watchdog.Stop}, turns(c))
		sessions++
		calls += p.calls
		if p.stops > 0 {
			t.Errorf("%s is stopped", c.ID)
		}
		if len(p.alerts) > 0 {
			warned++
			t.Logf("%s: %v", c.ID, p.alerts)
		}
	}
	t.Logf("%d sessions, %d calls, %d sessions with a warning, 0 stops asked for", sessions, calls, warned)
	if calls < 1_000 || warned*100 > sessions {
		t.Errorf("%d of %d sessions with %d calls have a warning", warned, sessions, calls)
	}
}

// TestRowsOfRecordedSessions measures the longest row for each signal that counts without comparing results: the
// defaults of Config come from here.
func TestRowsOfRecordedSessions(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		create  func(int) watchdog.Signal
		initial int // the default, or one that would warn about sessions without a loop
		warned  int // sessions with it, at most
	}{
		{watchdog.SameName, 15, 1},
		{watchdog.Failures, 3, 0},
		{watchdog.NoOp, 3, 0},
		{watchdog.ToolsWithoutText, 25, 0},
	} {
		signal := r.create(2)
		longest, warned := []int{}, 0
		for _, c := range conversations(t) {
			w, err := watchdog.New(watchdog.Config{})
			if err != nil {
				t.Fatal(err)
			}
			row := 0
			for _, moves := range turns(c) {
				signal.Reset()
				for _, m := range moves {
					if a := signal.Observe(step(w, "", m)); a != nil {
						row = max(row, a.Count)
					}
				}
			}
			longest = append(longest, row)
			if row >= r.initial {
				warned++
			}
		}
		slices.Sort(longest)
		slices.Reverse(longest)
		t.Logf("%s: the longest rows are %v; %d sessions reach %d", signal.Name(), longest[:5], warned, r.initial)
		if warned != r.warned {
			t.Errorf("%s: %d sessions reach %d, want %d", signal.Name(), warned, r.initial, r.warned)
		}
	}
}

// loop makes the answers of a planted loop. unlike is what distinguishes the calls that are not part of it.
type loop struct {
	name string
	// moves returns n answers.
	moves func(r *rand.Rand, n int) []move
	// work is true for what looks like a loop, and is none.
	work bool
}

func text(format string, args ...any) map[string]any {
	return map[string]any{"output": fmt.Sprintf(format, args...)}
}

const page = "1\tpackage main\n2\t\n3\tfunc main() {\n4\t\tprintln(\"hello\")\n5\t}\n"

func one(tool string, args, response map[string]any) move {
	return move{calls: []call{{tool, args, response}}, planted: true}
}

func many(n int, at func(i int) move) (out []move) {
	for i := range n {
		out = append(out, at(i))
	}
	return out
}

// inTurn is a cycle of calls.
func inTurn(period int) func(*rand.Rand, int) []move {
	return func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			i %= period
			return one("Grep", map[string]any{"pattern": fmt.Sprint("TODO", i)}, text("%d matches in %s", i, page))
		})
	}
}

var loops = []loop{
	{name: "identical", moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(int) move { return one("Read", map[string]any{"file_path": "main.go"}, text(page)) })
	}},
	{name: "identical, with an empty result", moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(int) move { return one("Bash", map[string]any{"command": "git add ."}, text("")) })
	}},
	{name: "identical, failing", moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(int) move {
			return one("Read", map[string]any{"file_path": "mian.go"}, map[string]any{"error": "no such file"})
		})
	}},
	{name: "identical, with one unrelated call", moves: func(r *rand.Rand, n int) []move {
		at := r.IntN(7)
		return many(n, func(i int) move {
			if i == at {
				return one("Glob", map[string]any{"pattern": fmt.Sprint(i, "*.go")}, text("%d.go", i))
			}
			return one("Read", map[string]any{"file_path": "main.go"}, text(page))
		})
	}},
	{name: "every second call is unrelated", moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			if i%2 == 1 {
				return one("Glob", map[string]any{"pattern": fmt.Sprint(i, "*.go")}, text("%d.go", i))
			}
			return one("Read", map[string]any{"file_path": "main.go"}, text(page))
		})
	}},
	{name: "cycle of 2", moves: inTurn(2)},
	{name: "cycle of 3", moves: inTurn(3)},
	{name: "cycle of 4", moves: inTurn(4)},
	{name: "reworded, with one result", moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			return one("search", map[string]any{"query": "where is the login, attempt " + fmt.Sprint(i)}, text("No results."))
		})
	}},
	{name: "reworded, and nothing is done", moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			return one("mark_task_done", map[string]any{"detail": fmt.Sprint("finished, really ", i)}, map[string]any{"no_op": true, "result": fmt.Sprint("nothing new since ", i)})
		})
	}},
	{name: "a round of 2, in any order", moves: round(2)},
	{name: "a round of 5, in any order", moves: round(5)},
	{name: "the same call in a round with others", moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			return move{planted: true, calls: []call{
				{"Read", map[string]any{"file_path": "main.go"}, text(page)},
				{"Glob", map[string]any{"pattern": fmt.Sprint(i, "*.go")}, text("%d.go", i)},
			}}
		})
	}},
	{name: "polling whose results change", work: true, moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			return one("TaskOutput", map[string]any{"task_id": "b1"}, text("running, %d of 40 tests", i))
		})
	}},
	{name: "polling whose results change, with a pause in between", work: true, moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			if i%2 == 1 {
				return one("Sleep", map[string]any{"seconds": 5.0}, text(""))
			}
			return one("TaskOutput", map[string]any{"task_id": "b1"}, text("running, %d of 40 tests", i))
		})
	}},
	{name: "edits of one file", work: true, moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			return one("Edit", map[string]any{"file_path": "/src/main.go", "old_string": fmt.Sprint("a", i), "new_string": fmt.Sprint("b", i)},
				text("The file /src/main.go has been updated successfully."))
		})
	}},
	{name: "a sweep of writes", work: true, moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			return one("add_row", map[string]any{"row": float64(i)}, map[string]any{"status": "ok"})
		})
	}},
	{name: "a sweep of reads", work: true, moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			return one("Read", map[string]any{"file_path": fmt.Sprint(i, ".go")}, text("file %d", i))
		})
	}},
	{name: "edits and builds that pass", work: true, moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			if i%2 == 1 {
				return one("Bash", map[string]any{"command": "go build ./..."}, text(""))
			}
			return one("Edit", map[string]any{"file_path": "/src/main.go", "old_string": fmt.Sprint("a", i), "new_string": fmt.Sprint("b", i)},
				text("The file /src/main.go has been updated successfully."))
		})
	}},
	{name: "edits and tests that pass in some time", work: true, moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			if i%2 == 1 {
				return one("Bash", map[string]any{"command": "go test ./cart"}, text("ok  \tshop/cart\t0.0%d3s", i%7))
			}
			return one("Edit", map[string]any{"file_path": "/src/main.go", "old_string": fmt.Sprint("a", i), "new_string": fmt.Sprint("b", i)},
				text("The file /src/main.go has been updated successfully."))
		})
	}},
	{name: "a sweep of writes in words of the tool", work: true, moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			return one("insert", map[string]any{"row": float64(i)}, map[string]any{"result": "The row was inserted successfully."})
		})
	}},
	{name: "a sweep of writes with new IDs", work: true, moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			return one("create", map[string]any{"name": fmt.Sprint("n", i)}, map[string]any{"id": float64(100 + i)})
		})
	}},
	{name: "polling of things that get done", work: true, moves: func(r *rand.Rand, n int) []move {
		done := 0
		return many(n, func(int) move {
			done += 3 + r.IntN(40)
			return one("Job", map[string]any{"id": "j"}, map[string]any{"rows": float64(done), "checked_at": fmt.Sprintf("10:%02d:00", done%60)})
		})
	}},
	{name: "polling of what remains", work: true, moves: func(_ *rand.Rand, n int) []move {
		return many(n, func(i int) move {
			return one("Job", map[string]any{"id": "j"}, text("%d seconds remaining", 900-7*i))
		})
	}},
}

// round is the same calls in one answer each time.
func round(size int) func(*rand.Rand, int) []move {
	return func(r *rand.Rand, n int) []move {
		return many(n, func(int) move {
			m := move{planted: true}
			for _, i := range r.Perm(size) {
				m.calls = append(m.calls, call{"Read", map[string]any{"file_path": fmt.Sprint(i, ".go")}, text("%d: %s", i, page)})
			}
			return m
		})
	}
}

// plant puts a loop at a random place of a random turn.
func plant(r *rand.Rand, all [][]move, l loop, length int) [][]move {
	all = slices.Clone(all)
	i := r.IntN(len(all))
	at := r.IntN(len(all[i]) + 1)
	all[i] = slices.Insert(slices.Clone(all[i]), at, l.moves(r, length)...)
	return all
}

// TestPlantedLoopsAreFound plants each loop at random places of each recorded session with tools.
func TestPlantedLoopsAreFound(t *testing.T) {
	t.Parallel()
	var sessions [][][]move
	for _, c := range conversations(t) {
		if all := turns(c); playTurns(t, watchdog.Config{}, all).calls > 0 {
			sessions = append(sessions, all)
		}
	}
	const places = 5
	for _, l := range loops {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, uint64(len(l.name))))
			found, latest, stops, planted := 0, 0, 0, 0
			after := map[int]int{}
			for _, all := range sessions {
				for range places {
					planted++
					length := 13
					if l.work {
						length = 60
					}
					p := playTurns(t, watchdog.Config{Mode: watchdog.Stop}, plant(r, all, l, length))
					if p.after > 0 {
						found++
						after[p.after]++
						latest = max(latest, p.after)
					}
					if p.stops > 0 {
						stops++
					}
				}
			}
			t.Logf("%d of %d found, after %d answers at the latest; %d stopped; after %v", found, planted, latest, stops, slices.Sorted(maps.Keys(after)))
			switch {
			case l.work && (found > 0 || stops > 0):
				t.Errorf("%d of %d are taken for a loop, %d are stopped", found, planted, stops)
			case !l.work && found < planted:
				t.Errorf("%d of %d are found", found, planted)
			case latest > 8:
				t.Errorf("found after %d answers", latest)
			}
		})
	}
}
