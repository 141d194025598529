package chart_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chart"
	"github.com/adk-go-ext/longsession/replay"
)

func TestEveryNumberOfAReportStandsOnThePage(t *testing.T) {
	t.Parallel()
	r := made("harbour", "default", 60, 8000)
	r.Orphans, r.Hidden = 2, 1
	r.Problems = []string{"event e7 is hidden and no summary covers it"}
	r.Over = []replay.Overlong{{Call: 41, Turn: 11, Tokens: 9123, Event: "e88", EventTokens: 8777, KeptTokens: 8790, Alone: true, Unavoidable: true}}
	r.Recorded = []replay.AtRecorded{{Call: 30, Turn: 8, Trigger: "auto", Before: 70707, Theirs: 20202, Ours: 10101}}
	r.Facts = &replay.Facts{Questions: 9, Kept: 7, Raw: 3, KeepLast: 2, Tokens: 5150}
	r.Notes = []string{"One answer was made up."}
	r.Summarizer = replay.Summaries{Calls: 4, PromptTokens: 31313, OutputTokens: 1717, Dollars: 0.02, Failed: 1}
	r.Counts.Fixed, r.Counts.Left = 12345, true
	page := pageOf(r)
	page.Time = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	_, root := write(t, page)

	if len(r.Compactions) < 3 {
		t.Fatalf("the report has %d compactions only: it shows nothing", len(r.Compactions))
	}
	tables := all(root, named("table"))
	seen := text(tables[0])
	for _, want := range []string{"whole history", "default", "+ $0.0200 summaries", "31,313 in", "1,717 out", "1 failed", "7 of 9", "keep-last 2"} {
		if !strings.Contains(seen, want) {
			t.Errorf("the totals lack %q: %s", want, seen)
		}
	}
	seen = text(tables[1])
	findings := []string{r.Problems[0], "Call 42 (turn 11): a prompt of 9,123 tokens, over the limit; the largest part that must stay raw is e88 with 8,777 tokens, too long by itself"}
	for _, want := range append(findings, "harbour", fmt.Sprintf("%.1f%%", r.SavedPercent)) {
		if !strings.Contains(seen, want) {
			t.Errorf("the index lacks %q: %s", want, seen)
		}
	}
	seen = text(all(root, named("section"))[0])
	for _, want := range append(findings, "sessions.jsonl:3", "15 turns", "120 messages", "60 model calls", "8,000", "70,707", "20,202", "10,101",
		"3 word for word", "5,150", "One answer was made up.", "1 attempt to summarize failed", "leave out the 12,345 tokens", "30 were counted", "31,313", "times 1.07") {
		if !strings.Contains(seen, want) {
			t.Errorf("the section lacks %q: %s", want, seen)
		}
	}
	seen = text(root)
	for _, want := range []string{page.Title, page.Ran[0], "2026-03-01T09:30:00Z"} {
		if !strings.Contains(seen, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	red := 0
	for _, n := range all(root, classed("bad")) {
		if text(n) == "2" {
			red++
		}
	}
	if red != 3 {
		t.Errorf("%d of the 3 counts of orphans are red", red)
	}
}

// TestThePageSaysWhatAModelWrote, and nothing of it where no model did.
func TestThePageSaysWhatAModelWrote(t *testing.T) {
	t.Parallel()
	r, share := made("harbour", "default", 60, 8000), 0.
	r.Summarizer = replay.Summaries{Calls: 4, PromptTokens: 1, Written: 3, WithoutModel: 2, Measured: 3, Kept: .526, Invented: 7, Seconds: 12.34}
	r.With.Said, r.With.SaidWhole = 8, 6
	r.Compactions[0].Kept, r.Compactions[0].Invented = &share, 5
	_, root := write(t, pageOf(r))
	const all5 = "3 of 5 by the model, 53% of the values kept, 7 invented, 12.3 s"
	if seen := text(all(root, named("table"))[0]); !strings.Contains(seen, all5) {
		t.Errorf("the totals lack %q: %s", all5, seen)
	}
	seen := text(all(root, named("section"))[0])
	for _, want := range []string{all5, "75.0% of people's messages", "0.0% of the values kept · 5 invented, cut out"} {
		if !strings.Contains(seen, want) {
			t.Errorf("the section lacks %q: %s", want, seen)
		}
	}
	if _, root = write(t, pageOf(made("harbour", "default", 60, 8000))); strings.Contains(text(root), "by the model") {
		t.Error("a page without a model says what one wrote")
	}
}

func TestEveryPartOfThePageCanBeReached(t *testing.T) {
	t.Parallel()
	page := pageOf(made("harbour", "a", 20, 8000), made("garden", "a", 20, 8000), made("mill", "a", 20, 8000))
	page.Summary = "Saves 84% of the prompt tokens over 3 conversations; nothing was lost."
	_, root := write(t, page)
	if got := text(all(root, named("title"))[0]); got != page.Title {
		t.Errorf("the tab is called %q, want %q", got, page.Title)
	}
	if got := all(root, classed("summary")); len(got) != 1 || text(got[0]) != page.Summary {
		t.Errorf("the page does not say %q", page.Summary)
	}
	links := func(n *html.Node) string {
		var to []string
		for _, a := range all(n, named("a")) {
			to = append(to, attribute(a, "href"))
		}
		return strings.Join(to, " ")
	}
	var got []string
	for _, n := range all(root, named("nav")) {
		got = append(got, links(n))
	}
	want := []string{
		"#totals #conversations #c1 #c3",
		"#conversations #c2 #top", "#c1 #conversations #c3 #top", "#c2 #conversations #top",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the links are %q, want %q", got, want)
	}
	for i, section := range all(root, named("section")) {
		if head := all(section, named("h2"))[0]; links(head) != fmt.Sprintf("#c%d", i+1) {
			t.Errorf("the heading of section %d links to %q", i+1, links(head))
		}
	}
}

// On a phone a table scrolls in its box, and the page stays where it is.
func TestEveryTableScrollsByItself(t *testing.T) {
	t.Parallel()
	r := made("harbour", "a", 20, 8000)
	r.Recorded = []replay.AtRecorded{{Call: 3, Turn: 1, Trigger: "auto", Ours: 100}}
	_, root := write(t, pageOf(r))
	tables := all(root, named("table"))
	for _, table := range tables {
		box := table.Parent
		if !classed("wide")(box) {
			t.Errorf("a table stands in <%s class=%q>, which does not scroll", box.Data, attribute(box, "class"))
		}
	}
	if len(tables) < 3 {
		t.Errorf("%d tables only", len(tables))
	}
	if css := text(all(root, named("style"))[0]); !strings.Contains(css, ".wide { overflow-x: auto;") {
		t.Error("the box of a table does not scroll")
	}
}

func TestATieIsNotCalledTheCheapest(t *testing.T) {
	t.Parallel()
	a, b, c := made("harbour", "theta=5", 40, 8000), made("harbour", "theta=6", 40, 8000), made("harbour", "theta=90", 40, 80000)
	_, root := write(t, pageOf(a, b, c))
	best := all(root, classed("best"))
	if len(best) != 2 || !strings.Contains(text(best[0]), "theta=5") || !strings.Contains(text(best[1]), "theta=6") {
		t.Fatalf("%d policies are marked, want the two that tie", len(best))
	}
	for _, row := range best {
		if !classed("tied")(row) || attribute(row, "title") != "the cheapest: a tie" {
			t.Errorf("%s is called %q", text(row), attribute(row, "title"))
		}
	}
}

func TestOnlyWhatIsWrongIsRed(t *testing.T) {
	t.Parallel()
	_, root := write(t, pageOf(made("harbour", "default", 60, 8000)))
	if bad := all(root, classed("bad")); len(bad) > 0 {
		t.Errorf("a clean report has red in %d places: %q", len(bad), text(bad[0]))
	}
}

func TestEveryCompactionHasItsSummaryAndItsMark(t *testing.T) {
	t.Parallel()
	r := made("harbour", "default", 60, 8000)
	_, root := write(t, pageOf(r))
	articles := all(root, named("article"))
	if len(articles) != len(r.Compactions) || len(articles) < 3 {
		t.Fatalf("%d of %d compactions are on the page", len(articles), len(r.Compactions))
	}
	data := sections(t, root)[0][0]
	for i, k := range r.Compactions {
		got := text(articles[i])
		for _, want := range []string{k.Trigger, fmt.Sprintf("turn %d", k.Turn), fmt.Sprintf("%d events", k.Events), k.Summary} {
			if !strings.Contains(got, want) {
				t.Errorf("compaction %d lacks %q", i, want)
			}
		}
		if data.Marks[i] != k.Call {
			t.Errorf("compaction %d is marked at call %d, not %d", i, data.Marks[i], k.Call)
		}
	}
}

func TestPoliciesOfOneConversationShareASection(t *testing.T) {
	t.Parallel()
	a, b, c := made("harbour", "theta=5", 40, 8000), made("harbour", "theta=3", 40, 4000), made("garden", "theta=5", 20, 8000)
	_, root := write(t, pageOf(a, c, b))
	data := sections(t, root)
	if len(data) != 2 || len(data[0]) != 2 || len(data[1]) != 1 {
		t.Fatalf("two conversations, one under two policies, gave these curves: %v", data)
	}
	first, second := data[0][0], data[0][1]
	if len(first.Without) != 40 || len(first.Turns) != 40 || len(first.With) != 40 || first.Limit != 8000 {
		t.Errorf("the first curve lacks points: %+v", first)
	}
	if len(first.WithoutUSD) != 40 || len(first.USD) != 40 || second.WithoutUSD != nil || len(second.USD) != 40 || math.Abs(second.USD[39]-b.With.Dollars) > 1e-5 {
		t.Errorf("the curves of costs: %v, %v", first.USD, second.USD)
	}
	if n := len(all(root, classed("costs"))); n != 2 {
		t.Errorf("%d charts of costs, want one for each conversation", n)
	}
	if second.Without != nil || second.Turns != nil || len(second.With) != 40 || second.Limit != 4000 || second.Policy != 1 {
		t.Errorf("the second curve repeats the first, or lacks its own: %+v", second)
	}
	if first.With[39] != a.Calls[39].With || second.With[39] != b.Calls[39].With {
		t.Error("the curves are not those of their policies")
	}
	options := all(root, func(n *html.Node) bool { return n.Data == "select" && attribute(n, "id") == "policy" })
	if len(options) != 1 || text(options[0]) != "theta=5theta=3" {
		t.Error("the policies cannot be chosen")
	}
	if best := all(root, classed("best")); len(best) != 1 || !strings.Contains(text(best[0]), "theta=3") {
		t.Error("the cheapest policy is not marked")
	}
}

func TestACurveOfItsOwnIsNotTakenFromAnother(t *testing.T) {
	t.Parallel()
	a, b := made("harbour", "theta=5", 40, 8000), made("harbour", "theta=3", 41, 4000)
	_, root := write(t, pageOf(a, b))
	if second := sections(t, root)[0][1]; len(second.Without) != 41 || len(second.Turns) != 41 {
		t.Errorf("a run with one call more has %d points without compaction", len(second.Without))
	}
}

func TestACompactionOutsideTheCallsIsDrawnAtTheirEnds(t *testing.T) {
	t.Parallel()
	r := made("harbour", "default", 5, 8000)
	r.Compactions = []replay.Compaction{{Call: -1}, {Call: 5}, {Call: 99}}
	_, root := write(t, pageOf(r))
	if got := fmt.Sprint(sections(t, root)[0][0].Marks); got != "[0 5 5]" {
		t.Errorf("marks at %s, want [0 5 5]", got)
	}
}

func TestNothingReplayedIsSaid(t *testing.T) {
	t.Parallel()
	_, root := write(t, chart.Page{})
	if got := text(root); !strings.Contains(got, "No conversation was replayed.") {
		t.Error("an empty page does not say that it is empty")
	}
	empty := &replay.Report{ID: "empty"}
	_, root = write(t, pageOf(empty))
	if got := sections(t, root); len(got) != 1 || got[0][0].With == nil || got[0][0].Marks == nil {
		t.Errorf("a conversation without calls has no data that the script can read: %+v", got)
	}
}

func TestWithoutScriptsTheCurveIsATable(t *testing.T) {
	t.Parallel()
	r := made("harbour", "default", 60, 8000)
	out, _ := write(t, pageOf(r))
	notes := strings.Split(out, "<noscript>")
	if len(notes) != 3 {
		t.Fatalf("%d noscript parts, want a note and a table", len(notes)-1)
	}
	table, _, _ := strings.Cut(notes[2], "</noscript>")
	if got := strings.Count(table, "<tr>"); got != 1+r.Turns {
		t.Errorf("the table has %d rows for %d turns", got, r.Turns)
	}
	var largest int
	for _, c := range r.Calls {
		if c.Turn == 3 {
			largest = max(largest, c.With)
		}
	}
	row := fmt.Sprintf("<tr><td>3</td><td>4</td><td>%d</td><td>%d</td></tr>", r.Calls[11].Without, largest)
	if !strings.Contains(strings.ReplaceAll(table, ",", ""), row) {
		t.Errorf("turn 3 with its largest prompt of %d is not in the table", largest)
	}
}

func TestTheSamePageGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	page := pageOf(made("harbour", "a", 40, 8000), made("harbour", "b", 40, 4000), made("garden", "a", 9, 8000))
	first, _ := write(t, page)
	for range 5 {
		if again, _ := write(t, page); again != first {
			t.Fatal("two writes of one page differ")
		}
	}
}

func TestErrorsNameWhatIsWrong(t *testing.T) {
	t.Parallel()
	err := chart.Write(&bytes.Buffer{}, chart.Page{Reports: []*replay.Report{made("a", "p", 3, 800), nil}})
	if err == nil || !strings.Contains(err.Error(), "report 2 of 2 is nil") {
		t.Errorf("a nil report gave %v", err)
	}
	full := errors.New("no space left")
	if err := chart.Write(failing{full}, pageOf(made("a", "p", 3, 800))); !errors.Is(err, full) {
		t.Errorf("a writer's error became %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
