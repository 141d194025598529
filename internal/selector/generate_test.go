package selector_test

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/adk/session"
	"pgregory.net/rapid"
)

// generated draws a session in which up to four runs alternate, with calls of every kind, in three
// branches, with broken clocks, names and parts.
func generated(t *rapid.T) []*session.Event {
	n := rapid.IntRange(0, 70).Draw(t, "n")
	invocation, calls := 1, 0
	var words []string
	for range n {
		if rapid.IntRange(0, 3).Draw(t, "next") == 0 {
			invocation++
		}
		at := fmt.Sprint(max(1, invocation-rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 1, 2, 3}).Draw(t, "run")))
		if rapid.IntRange(0, 19).Draw(t, "nameless") == 0 {
			at = "-"
		}
		branch := rapid.SampledFrom([]string{"", "", "", "p.a|", "p.b|"}).Draw(t, "branch")
		author := "@" + rapid.SampledFrom([]string{"bot", "bot", "bot", "helper", "boss"}).Draw(t, "author")
		id := fmt.Sprint("x", rapid.IntRange(max(0, calls-4), calls).Draw(t, "id"))
		var w string
		switch kind := rapid.SampledFrom(strings.Split("qqqaaaaccclrrrruufxvsSn", "")).Draw(t, "kind"); kind {
		case "c", "l":
			calls++
			w = kind + ":" + fmt.Sprint("x", calls)
			if rapid.Bool().Draw(t, "parallel") {
				calls++
				w += fmt.Sprint(",x", calls)
			}
			if rapid.IntRange(0, 9).Draw(t, "call without an ID") == 0 {
				w = kind + ":"
			}
			w += author
		case "r", "u":
			w = kind + ":" + id + author
		case "f":
			calls++
			w = fmt.Sprintf("f:x%d>%s%s", calls, id, author)
		case "a", "x", "s":
			w = kind + author
		default:
			w = kind
		}
		words = append(words, fmt.Sprintf("%s%s%s*%d", branch, at, w, rapid.IntRange(0, 40).Draw(t, "size")))
	}
	t.Log(strings.Join(words, " "))
	events := script(words...)
	spoil(t, events)
	return events
}

// spoil damages a history in the ways that backends and importers do.
func spoil(t *rapid.T, events []*session.Event) {
	for i, ev := range events {
		if ev == nil {
			continue
		}
		switch rapid.IntRange(0, 14).Draw(t, "name") {
		case 0:
			ev.ID = ""
		case 1:
			ev.ID = "e1"
		}
		switch rapid.IntRange(0, 14).Draw(t, "clock") {
		case 0:
			ev.Timestamp = time.Time{}
		case 1, 2:
			if i > 0 && events[i-1] != nil {
				ev.Timestamp = events[i-1].Timestamp
			}
		case 3:
			ev.Timestamp = ev.Timestamp.Add(-time.Hour)
		}
		if rapid.IntRange(0, 19).Draw(t, "part") == 0 && ev.Content != nil {
			ev.Content.Parts = append(ev.Content.Parts, nil)
		}
		if rapid.IntRange(0, 29).Draw(t, "author") == 0 {
			ev.Author = ""
		}
	}
}
