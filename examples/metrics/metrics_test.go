package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// played returns a scrape after all turns, and what was printed.
func played(t *testing.T) (scrape, printed string) {
	t.Helper()
	a, err := newApp()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	var lines, text strings.Builder
	if err := a.play(t.Context(), &lines); err != nil {
		t.Fatal(err)
	}
	if err := a.scrape(&text); err != nil {
		t.Fatal(err)
	}
	return text.String(), lines.String()
}

// series are the names of a scrape's time series, with the labels of each.
func series(scrape string) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z]\w*)(?:\{([^}]*)\})? `).FindAllStringSubmatch(scrape, -1) {
		if found[m[1]] == nil {
			found[m[1]] = map[string]bool{}
		}
		for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(m[2], -1) {
			found[m[1]][label[1]] = true
		}
	}
	return found
}

// TestTheDashboardShowsWhatIsExported: each metric of each query is in a scrape, with each label that the
// query or its legend names, and the dashboard shows every metric.
func TestTheDashboardShowsWhatIsExported(t *testing.T) {
	scrape, _ := played(t)
	exported := series(scrape)
	file, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(file, &dashboard); err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\b(?:longsession|compaction)_\w+`)
	shown := map[string]bool{}
	for _, panel := range dashboard.Panels {
		if len(panel.Targets) == 0 {
			t.Errorf("%s shows nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			metrics := names.FindAllString(target.Expr, -1)
			if len(metrics) != 1 {
				t.Errorf("%s: %q has the metrics %v, want one", panel.Title, target.Expr, metrics)
				continue
			}
			shown[strings.TrimSuffix(metrics[0], "_bucket")] = true
			labels, found := exported[metrics[0]]
			if !found {
				t.Errorf("%s shows %s, which is not exported", panel.Title, metrics[0])
			}
			var used []string
			for _, m := range regexp.MustCompile(`by \(([^)]*)\)|\{\{(\w+)\}\}`).FindAllStringSubmatch(target.Expr+target.LegendFormat, -1) {
				used = append(used, strings.Split(m[1]+m[2], ", ")...)
			}
			for _, label := range used {
				if !labels[label] {
					t.Errorf("%s: %s has no label %q; it has %v", panel.Title, metrics[0], label, labels)
				}
			}
		}
	}
	for name := range exported {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		if names.MatchString(name) && !shown[base] && base != "compaction_summarizer_tokens_total" {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
	if len(shown) < 10 {
		t.Errorf("%d metrics found: the test reads wrongly", len(shown))
	}
}

// TestTheNumbersAreThoseOfTheGuard: the script has one loop, one turn and one session over their limits, and one
// summary that fails.
func TestTheNumbersAreThoseOfTheGuard(t *testing.T) {
	scrape, printed := played(t)
	for _, line := range []string{
		"longsession_guard_alerts_total 1",
		`longsession_guard_stops_total{kind="watchdog",scope="turn"} 1`,
		`longsession_guard_stops_total{kind="cost_ceiling",scope="turn"} 1`,
		`longsession_guard_stops_total{kind="model_calls",scope="session"} 1`,
		`compaction_errors_total{error_type="unusable_summary",trigger="invocations"} 1`,
	} {
		if !strings.Contains(scrape, "\n"+line+"\n") {
			t.Errorf("the scrape lacks %q:\n%s", line, strings.Join(slices.DeleteFunc(strings.Split(scrape, "\n"), func(l string) bool { return !strings.HasPrefix(l, "longsession") }), "\n"))
		}
	}
	for _, part := range []string{"8 model calls, then stopped by the guard: watchdog", "30 model calls of 30"} {
		if !strings.Contains(printed, part) {
			t.Errorf("%q is not in what was printed:\n%s", part, printed)
		}
	}
	if again, _ := played(t); regexp.MustCompile(`(?m)^longsession_model_cost.*$`).FindString(again) != regexp.MustCompile(`(?m)^longsession_model_cost.*$`).FindString(scrape) {
		t.Error("two runs cost different amounts")
	}
}

// TestItServesUntilItIsInterrupted over a real socket.
func TestItServesUntilItIsInterrupted(t *testing.T) {
	reader, writer := io.Pipe()
	done := make(chan int, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	go func() {
		done <- run(ctx, []string{"-addr", "127.0.0.1:0"}, writer, io.Discard)
		_ = writer.Close()
	}()
	var address string
	var seen strings.Builder
	for buffer := make([]byte, 1024); address == ""; {
		n, err := reader.Read(buffer)
		if err != nil {
			t.Fatalf("ended before it served: %v\n%s", err, &seen)
		}
		seen.Write(buffer[:n])
		if m := regexp.MustCompile(`serving (http://\S+);`).FindStringSubmatch(seen.String()); m != nil {
			address = m[1]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil || !strings.Contains(string(body), "longsession_model_cost_total") {
		t.Errorf("scrape: %v\n%s", err, body)
	}
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
	_ = reader.Close()
}

func TestBadArgumentsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-nothing"}, {"more"}} {
		if code := run(t.Context(), args, io.Discard, io.Discard); code != 2 {
			t.Errorf("%v: exit code %d, want 2", args, code)
		}
	}
	if code := run(t.Context(), []string{"-addr", "nowhere:x"}, io.Discard, io.Discard); code != 1 {
		t.Errorf("a bad address: exit code %d, want 1", code)
	}
}
