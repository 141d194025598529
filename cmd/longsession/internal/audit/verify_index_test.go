package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/recall/index"
	"github.com/adk-go-ext/longsession/persistence"
)

// searched searches a session of a file, as an app does, which also brings the index up to date.
func searched(t *testing.T, path, text string, redact func(string) string) []index.Hit {
	t.Helper()
	s, err := persistence.NewSQLiteSessionService(path, persistence.WithSynchronousNormal())
	if err != nil {
		t.Fatal(err)
	}
	hits, err := s.SearchText(t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: "order-1"}, index.Query{Text: text, Redact: redact})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// indexedFile is a file of one compacted session with an index of words.
func indexedFile(t *testing.T, redact func(string) string) string {
	t.Helper()
	return stored(t, func(t *testing.T, path string) {
		t.Run("converse", func(t *testing.T) {
			converse(t, serviceOn(t, path, extractive(func(*compaction.Config) {})), 25)
		})
		if len(searched(t, path, "Kassel", redact)) == 0 && redact == nil {
			t.Fatal("the search finds nothing: this test has no index")
		}
	})
}

// TestADamagedIndexIsFound: each damage is done by SQL. Afterward, the statement that the finding names mends the
// index.
func TestADamagedIndexIsFound(t *testing.T) {
	t.Parallel()
	good := indexedFile(t, nil)
	if found, texts, _ := verified(t, good, 5); len(found) > 0 {
		t.Fatalf("before any damage: %v\n%s", found, texts)
	}
	const newest = "(SELECT key FROM events WHERE covered_by IS NOT NULL AND record_id IS NULL ORDER BY seq DESC LIMIT 1)"
	for name, r := range map[string]struct {
		damage  string
		says    string
		warning bool
	}{
		"the mark is behind the newest event": {"UPDATE search_sessions SET indexed_to = 1000", "goes up to event 1000, but the newest event is ", false},
		"the mark is negative":                {"UPDATE search_sessions SET indexed_to = -1", "goes up to event -1", false},
		"it was emptied":                      {"INSERT INTO search (search) VALUES ('delete-all')", "events, but has 0", false},
		"an old event was taken out":          {"DELETE FROM search WHERE rowid = (SELECT min(key) FROM events)", "the index of words counts", false},
		"the newest event was taken out":      {"DELETE FROM search WHERE rowid = " + newest, "the index of words counts", false},
		"a row too many":                      {"UPDATE search_sessions SET documents = documents - 1", "the index of words counts", false},
		"the key was changed":                 {"UPDATE search_sessions SET salt = x'00112233445566778899aabbccddeeff'", "finds neither this event", false},
		"the newest event has foreign words":  {"INSERT OR REPLACE INTO search (rowid, words) VALUES (" + newest + ", '1:abcdefgh')", "its words were redacted, or", true},
		"a table of it is gone":               {"DROP TABLE search", "the index of words cannot be read", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := copied(t, good)
			run(t, path, r.damage)
			f := open(t, path)
			found, _, err := lookedAt(t, f, find(t, f, ""))
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(found, func(f audit.Finding) bool { return f.Rule == audit.RuleIndex })
			if i < 0 || !strings.Contains(found[i].Text, r.says) || found[i].Warning != r.warning {
				t.Fatalf("no finding of rule index says %q: %+v", r.says, found)
			}
			if strings.HasPrefix(r.damage, "DROP") {
				return // rule schema names the statement that mends it
			}
			_, statement, _ := strings.Cut(found[i].Text, "after ")
			run(t, path, strings.Split(statement, "; ")...)
			if hits := searched(t, path, "Kassel", nil); len(hits) == 0 {
				t.Error("the search finds nothing after the index was mended")
			}
			if found, texts, _ := verified(t, path, 5); len(found) > 0 {
				t.Errorf("after the index was mended: %v\n%s", found, texts)
			}
		})
	}
}

// TestASoundIndexHasNoFinding: of a session that was never searched, by a program with another analysis, behind the
// session, and of texts that were redacted.
func TestASoundIndexHasNoFinding(t *testing.T) {
	t.Parallel()
	good := indexedFile(t, nil)
	for name, path := range map[string]func(t *testing.T) string{
		"none": func(t *testing.T) string {
			path := copied(t, good)
			run(t, path, "PRAGMA foreign_keys = ON", "DELETE FROM search_sessions")
			return path
		},
		"of another version": func(t *testing.T) string {
			path := copied(t, good)
			run(t, path, "UPDATE search_sessions SET version = version + 1, salt = x'00112233445566778899aabbccddeeff'")
			return path
		},
		"behind": func(t *testing.T) string {
			path := copied(t, good)
			s, err := persistence.NewSQLiteSessionService(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Get(t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: "order-1"})
			if err != nil {
				t.Fatal(err)
			}
			for i, ev := range said(30)[:8] {
				ev.ID, ev.InvocationID = fmt.Sprint("late", i), fmt.Sprint("late", i/4)
				if err := s.AppendEvent(t.Context(), got.Session, ev); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return path
		},
		"without digits": func(t *testing.T) string {
			return indexedFile(t, func(text string) string {
				return strings.Map(func(r rune) rune {
					if r >= '0' && r <= '9' {
						return '#'
					}
					return r
				}, text)
			})
		},
		"without any word": func(t *testing.T) string { return indexedFile(t, func(string) string { return "" }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, texts, _ := verified(t, path(t), 5)
			if len(found) > 0 {
				t.Errorf("%v\n%s", found, texts)
			}
		})
	}
}
