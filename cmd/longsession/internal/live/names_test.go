package live_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/live"
)

func TestThePagesTellRecordsApartByTheirNames(t *testing.T) {
	t.Parallel()
	h := serve(t, live.Config{Path: file(t, 30)})
	body := ask(t, h, page("conversation")).body
	var names []string
	for _, found := range regexp.MustCompile(`Compaction record ([0-9a-f]+) `).FindAllStringSubmatch(body, -1) {
		names = append(names, found[1])
	}
	if len(names) < 2 || len(names) != len(slices.Compact(slices.Sorted(slices.Values(names)))) {
		t.Fatalf("the records of the conversation are named %q", names)
	}
	for _, name := range names {
		if !strings.Contains(body, "in summary "+name) && !strings.Contains(ask(t, h, page("summaries")+"&all=1").body, name) {
			t.Errorf("no event and no summary names the record %s", name)
		}
		if got := ask(t, h, page("summaries")+"&record="+name); got.code != 200 || strings.Count(got.body, `<section class="replaced"`) != 1 {
			t.Errorf("the page of record %s: %d", name, got.code)
		}
	}
}

func TestThePageOfASessionCountsMergesApart(t *testing.T) {
	t.Parallel()
	h := serve(t, live.Config{Path: file(t, 60)})
	body := ask(t, h, page("session")).body
	if !regexp.MustCompile(`<dt>Compactions</dt><dd>\d+, and \d+ merges?</dd>`).MatchString(body) || !regexp.MustCompile(`<summary>\d+ compactions and \d+ merges?`).MatchString(body) {
		t.Errorf("the page does not count compactions and merges:\n%s", body)
	}
}
