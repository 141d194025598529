package audit_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// TestViewIsWhatAnAppWouldGet, event by event, and what package filtered makes of the whole
// history.
func TestViewIsWhatAnAppWouldGet(t *testing.T) {
	t.Parallel()
	path := made(t, 30)
	f := open(t, path)
	s := find(t, f, "order-1")
	seen, err := f.View(t.Context(), s, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	entries := seen.Entries
	for from := range entries { // a part of it is that part of the whole
		part, err := f.View(t.Context(), s, from, 3)
		if want := entries[from:min(from+3, len(entries))]; err != nil || !reflect.DeepEqual(part.Entries, want) || part.Events != seen.Events || part.Tokens != seen.Tokens {
			t.Errorf("from %d: %+v, %v; want %+v", from, part, err, want)
		}
	}
	_, size, sizeErr := f.Size(t.Context(), s)
	app := compacting(t, writing(t, path)) // from now on the audit must open the file again
	resp, err := app.Get(t.Context(), &session.GetRequest{AppName: s.App, UserID: s.User, SessionID: s.ID})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := app.Raw(t.Context(), &session.GetRequest{AppName: s.App, UserID: s.User, SessionID: s.ID})
	if err != nil {
		t.Fatal(err)
	}
	whole := view.Project(view.Collect(raw.Session.Events()))
	summaries := 0
	for i, want := range view.Collect(resp.Session.Events()) {
		e := entries[i]
		if e.ID != want.ID || e.Text != textOf(want) || e.Author != want.Author || whole[i].ID != e.ID {
			t.Errorf("view[%d] is %s %q, an app gets %s, and the whole history gives %s", i, e.ID, e.Text, want.ID, whole[i].ID)
		}
		if e.Seq == 0 {
			summaries++
			if e.Record == nil || e.Record.RecordID != e.ID || !strings.Contains(e.Text, e.Record.Summary) || e.Record.State != audit.Current {
				t.Errorf("summary %+v", e)
			}
		}
	}
	if len(entries) != len(whole) || summaries == 0 {
		t.Errorf("%d entries with %d summaries, want %d", len(entries), summaries, len(whole))
	}
	if sizeErr != nil || size.ViewEvents != len(entries) || size.ViewTokens != seen.Tokens || seen.Events != len(entries) || size.Summaries != summaries || size.AllTokens < 2*size.ViewTokens {
		t.Errorf("size %+v, %v", size, sizeErr)
	}
}

func textOf(ev *session.Event) string {
	var texts []string
	for _, part := range ev.Content.Parts {
		if part.Text != "" {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// TestRowsArePaged: any start and any limit, also over the edge of a page.
func TestRowsArePaged(t *testing.T) {
	t.Parallel()
	f := open(t, built(t, (&ct.History{}).Turns(300, "bot"))) // 600 events
	s := find(t, f, "")
	for _, r := range []struct {
		from        int64
		limit       int
		first, last int64
	}{{0, -1, 1, 600}, {1, 256, 1, 256}, {255, 3, 255, 257}, {500, 1000, 500, 600}, {600, 1, 600, 600}, {601, -1, 0, 0}, {5, 0, 0, 0}} {
		var got []int64
		for row, err := range f.Rows(t.Context(), s, r.from, r.limit) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, row.Seq)
		}
		n := int(r.last - r.first + 1)
		if r.last == 0 {
			n = 0
		}
		if len(got) != n || n > 0 && (got[0] != r.first || got[n-1] != r.last) || !slices.IsSorted(got) {
			t.Errorf("from %d limit %d: %d rows %v", r.from, r.limit, len(got), got)
		}
	}
}

func TestReplacementsAreAllThatASummaryStandsFor(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(6, "bot").Compact("r1", "e1", "e2").Compact("r2", "e3", "e4").Merge("m1", "r1", "r2").Compact("r3", "e5", "e6")
	f := open(t, built(t, h))
	s := find(t, f, "")
	told := func(id string, all bool) string {
		found, err := f.Replacements(t.Context(), s, id, all)
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, r := range found {
			var seqs []int64
			for _, e := range r.Replaced {
				seqs = append(seqs, e.Seq)
			}
			out = append(out, fmt.Sprintf("%s%v%v%s", r.RecordID, seqs, r.Through, r.State))
		}
		return strings.Join(out, " ")
	}
	for _, r := range []struct {
		id   string
		all  bool
		want string
	}{
		{"", false, "m1[1 2 3 4][m1 r1 r2]current r3[5 6][r3]current"},
		{"", true, "r1[1 2][r1]absorbed r2[3 4][r2]absorbed m1[1 2 3 4][m1 r1 r2]current r3[5 6][r3]current"},
		{"r1", false, "r1[1 2][r1]absorbed"},
		{"r", false, `3 records of session "shop/ada/order-1" begin or end with "r": name one of "r1", "r2", "r3"`},
		{"x", false, `session "shop/ada/order-1" has no readable record whose ID is "x" or begins or ends with that; it has "m1", "r1", "r2", "r3"`},
	} {
		if got := told(r.id, r.all); got != r.want {
			t.Errorf("%q, all %v:\n got %s\nwant %s", r.id, r.all, got, r.want)
		}
	}
}

// TestAnAuditLeavesTheFileAlone, whatever it does, also while an app holds the file open.
// sums are the names and hashes of the files beside a file, without the locks in -shm.
// TestAnEventThatCannotBeReadIsNamed, and shown as what it is where single events are shown.
func TestStatesOfCompactionsAreToldApart(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(6, "bot").Compact("r1", "e1", "e2").Compact("r2", "e1", "e2", "e3", "e4").Compact("r3", "e5", "e6").Merge("m", "r3").Compact("bad", "e7")
	h.Last().CustomMetadata[record.Key] = "no record"
	h.User("inv8", "A summary of all that.")
	h.Last().CustomMetadata = map[string]any{record.Key: map[string]any{"compacted_content_json": "{}"}} // as ADR-009 stores it
	f := open(t, built(t, h))
	records, err := f.Compactions(t.Context(), find(t, f, ""))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range records {
		got = append(got, c.RecordID+" "+c.State)
	}
	if want := []string{"r1 replaced", "r2 current", "r3 absorbed", "m current", " unreadable", " unreadable"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestACopyOfARecordIsNamedAsOne: it shows nothing, and a full ID names the record that does.
func TestACopyOfARecordIsNamedAsOne(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(6, "bot").Compact("r1", "e1", "e2")
	again := *h.Last()
	again.ID = "again"
	h.AddEvent(&again).Compact("r12", "e3", "e4")
	f := open(t, built(t, h))
	s := find(t, f, "")
	records, err := f.Compactions(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range records {
		got = append(got, c.RecordID+" "+c.State)
	}
	if want := []string{"r1 current", "r1 copy", "r12 current"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for id, want := range map[string]int64{"r1": 13, "r12": 15} {
		if found, err := f.Replacements(t.Context(), s, id, false); err != nil || len(found) != 1 || found[0].Seq != want {
			t.Errorf("%s: %+v, %v", id, found, err)
		}
	}
	if found, err := f.Replacements(t.Context(), s, "", true); err != nil || len(found) != 2 {
		t.Errorf("all: %d replacements, %v", len(found), err)
	}
	seen, err := f.View(t.Context(), s, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	entries := seen.Entries
	if entries[0].Record == nil || entries[0].Record.Seq != 13 || entries[0].Record.State != audit.Current {
		t.Errorf("%+v, %v", entries[0].Record, err)
	}
}

// TestASessionThatCannotBeReadIsNotToldToBeEmpty: what the model sees of it is not known.
func TestASessionThatCannotBeReadIsNotToldToBeEmpty(t *testing.T) {
	t.Parallel()
	path := built(t, (&ct.History{}).Turns(2, "bot").Compact("r1", "e1", "e2"))
	f := open(t, path)
	o, err := f.Overview(t.Context(), find(t, f, ""), 5)
	if err != nil || o.Error != "" || o.ViewEvents != 3 || o.Newest == nil || o.Findings == nil {
		t.Errorf("a good one: %+v, %v", o, err)
	}
	run(t, path, "UPDATE events SET content = '{' WHERE seq = 4")
	f = open(t, path)
	o, err = f.Overview(t.Context(), find(t, f, ""), 5)
	if err != nil || !strings.Contains(o.Error, "event 4 cannot be read") || o.Newest != nil || o.ViewEvents != 0 || len(o.Findings) != 2 {
		t.Errorf("a bad one: %+v, %v", o, err)
	}
}

// TestRowsShowWhatSomebodyPutThere, with whatever number: an app reads it too. They end with the
// last number that there is.
func TestRowsShowWhatSomebodyPutThere(t *testing.T) {
	t.Parallel()
	path := built(t, (&ct.History{}).Turns(256, "bot")) // two pages
	run(t, path, "UPDATE events SET seq = -3 WHERE seq = 1", "UPDATE events SET seq = 0 WHERE seq = 2",
		"UPDATE events SET seq = 9223372036854775807 - 512 + seq WHERE seq > 144")
	f := open(t, path)
	s := find(t, f, "")
	for from, want := range map[int64]int{0: 512, 1: 512, 3: 510} {
		n, last := 0, int64(0)
		for row, err := range f.Rows(t.Context(), s, from, -1) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n > want {
				break
			}
			last = row.Seq
		}
		if n != want || last != 9223372036854775807 {
			t.Errorf("from %d: %d events up to %d, want %d", from, n, last, want)
		}
	}
}
