package audit_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/layer/recall/index"
)

// asked searches the session "order-1" of a file.
func asked(t *testing.T, path string, q index.Query, whole bool) audit.Searched {
	t.Helper()
	f := open(t, path)
	s, err := f.Find(t.Context(), "order-1", audit.Narrow{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := audit.Search(t.Context(), f, s, q, whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found.Passages {
		for _, one := range p {
			if one.By != found.By {
				t.Errorf("event %d was found by %q, the search says %q", one.Seq, one.By, found.By)
			}
		}
	}
	return found
}

// shown is what was found, with scores to six places: the two ways add up in another order.
func shown(found audit.Searched) string {
	var b strings.Builder
	for _, p := range found.Passages {
		for _, one := range p {
			fmt.Fprintln(&b, one.Passage, one.Seq, one.ID, one.Turn, one.Author, math.Round(one.Score*1e6)/1e6, one.Text, len(one.Calls), len(one.Responses))
		}
	}
	return b.String()
}

// TestTheIndexFindsWhatAllEventsHave: the same passages, with the same scores.
func TestTheIndexFindsWhatAllEventsHave(t *testing.T) {
	t.Parallel()
	path := indexedFile(t, nil)
	for _, q := range []index.Query{
		{Text: "parcel 1007 Kassel", Limit: 8, Around: 1}, {Text: "shelf", Limit: 3}, {Text: "What did I pay on 2026-03-05?", Limit: 8, Around: 2},
		{Text: "track in Kassel", Limit: 50, Around: 1}, {Text: "Friday morning", Limit: 5, From: time.Date(2026, 1, 1, 0, 0, 20, 0, time.UTC), To: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		byIndex, byEvents := asked(t, path, q, false), asked(t, path, q, true)
		if byIndex.By != audit.ByIndex || byIndex.Why != "" || byEvents.By != audit.ByEvents || byEvents.Why != "as it was asked for" {
			t.Fatalf("%q: by %s (%s) and by %s (%s)", q.Text, byIndex.By, byIndex.Why, byEvents.By, byEvents.Why)
		}
		if got, want := shown(byIndex), shown(byEvents); got != want || len(byIndex.Passages) == 0 {
			t.Errorf("%q: the index has\n%s\nthe events\n%s", q.Text, got, want)
		}
	}
}

// The index goes on without an event that cannot be read. Its words still count there, so only scores and
// neighbors differ.
func TestAnEventThatCannotBeReadIsPassedOver(t *testing.T) {
	t.Parallel()
	path := indexedFile(t, nil)
	run(t, path, "UPDATE events SET content = '{' WHERE seq = 3")
	q := index.Query{Text: "Kassel", Limit: 100, Around: 1}
	byIndex, byEvents := asked(t, path, q, false), asked(t, path, q, true)
	if byIndex.By != audit.ByIndex || byEvents.By != audit.ByEvents {
		t.Fatalf("by %s and by %s", byIndex.By, byEvents.By)
	}
	got, want := numbers(byIndex), numbers(byEvents)
	for _, seq := range want {
		if !slices.Contains(got, seq) {
			t.Errorf("event %d is not found by the index", seq)
		}
	}
	if len(want) < 10 || slices.Contains(got, 3) {
		t.Errorf("found %v and %v", got, want)
	}
}

// numbers are those of the events that were found, with their neighbors.
func numbers(found audit.Searched) (all []int64) {
	for _, p := range found.Passages {
		for _, one := range p {
			all = append(all, one.Seq)
		}
	}
	return all
}

// TestEventsAreReadWithoutAnIndexThatIsUpToDate: nothing is missed, and the reason is said.
func TestEventsAreReadWithoutAnIndexThatIsUpToDate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path func(t *testing.T) string
		why  string
	}{
		"never searched": {func(t *testing.T) string { return made(t, 12) }, "no app has searched this session"},
		"behind": {func(t *testing.T) string {
			path := indexedFile(t, nil)
			run(t, path, "UPDATE search_sessions SET indexed_to = indexed_to - 3")
			return path
		}, "the index of words has the first "},
		"another version": {func(t *testing.T) string {
			path := indexedFile(t, nil)
			run(t, path, "UPDATE search_sessions SET version = version + 1")
			return path
		}, "of another version"},
		"rows are missing": {func(t *testing.T) string {
			path := indexedFile(t, nil)
			run(t, path, "DELETE FROM search WHERE rowid IN (SELECT key FROM events WHERE seq < 9)")
			return path
		}, "is damaged"},
		"a table is missing": {func(t *testing.T) string {
			path := indexedFile(t, nil)
			run(t, path, "DROP TABLE search_sessions")
			return path
		}, "cannot be read"},
		"redacted": {func(t *testing.T) string {
			return indexedFile(t, func(text string) string { return strings.ReplaceAll(text, "Kassel", "somewhere") })
		}, "but an app may have redacted it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := c.path(t)
			q := index.Query{Text: "Kassel", Limit: 100, Around: 1}
			found, want := asked(t, path, q, false), asked(t, path, q, true)
			if found.By != audit.ByEvents || !strings.Contains(found.Why, c.why) {
				t.Errorf("by %s: %q, want one that has %q", found.By, found.Why, c.why)
			}
			if got, want := shown(found), shown(want); got != want || got == "" {
				t.Errorf("found\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestASearchOfADeletedSessionIsAnError: one that was deleted after it was named.
func TestASearchOfADeletedSessionIsAnError(t *testing.T) {
	t.Parallel()
	path := indexedFile(t, nil)
	f := open(t, path)
	s, err := f.Find(t.Context(), "order-1", audit.Narrow{})
	if err != nil {
		t.Fatal(err)
	}
	run(t, path, "PRAGMA foreign_keys = ON", "DELETE FROM sessions")
	if found, err := audit.Search(t.Context(), f, s, index.Query{Text: "Kassel"}, false); err == nil || len(found.Passages) > 0 {
		t.Errorf("got %+v, %v", found, err)
	}
}
