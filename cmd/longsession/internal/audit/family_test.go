package audit_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// notes returns what the history says of each call.
func notes(t *testing.T, f *audit.File, id string) []string {
	t.Helper()
	s := find(t, f, id)
	a, err := audit.Annotate(t.Context(), f, s, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for row, err := range f.Rows(t.Context(), s, 0, -1) {
		if err != nil {
			t.Fatal(err)
		}
		e := a.Entry(row)
		for _, c := range e.Calls {
			found = append(found, fmt.Sprintf("#%d %s %s%s", e.Seq, c.Name, c.Subtask, c.Checkpoint))
		}
	}
	pagesAreAnnotatedAlike(t, f, s)
	return found
}

// pagesAreAnnotatedAlike checks that what is read for a page alone says the same as what is read for all events.
func pagesAreAnnotatedAlike(t *testing.T, f *audit.File, s *audit.Session) {
	t.Helper()
	rows := slices.Collect(func(yield func(*sessionfile.Row) bool) {
		for row, err := range f.Rows(t.Context(), s, 0, -1) {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(row) {
				return
			}
		}
	})
	for from := range rows {
		for size := 1; size <= min(3, len(rows)-from); size++ {
			shown := rows[from : from+size]
			whole, err := audit.Annotate(t.Context(), f, s, shown[0].Seq)
			if err != nil {
				t.Fatal(err)
			}
			alone, err := audit.AnnotateRows(t.Context(), f, s, shown)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range shown {
				if got, want := alone.Entry(row), whole.Entry(row); !reflect.DeepEqual(got, want) {
					t.Errorf("event %d on a page of %d from %d:\n%+v, want\n%+v", row.Seq, size, shown[0].Seq, got, want)
				}
			}
		}
	}
}

// TestASessionIsFoundWithoutTheOthers and is what the list of all says of it, its subtasks included.
func TestASessionIsFoundWithoutTheOthers(t *testing.T) {
	t.Parallel()
	f := open(t, family(t))
	all, err := f.Sessions(t.Context(), audit.Narrow{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 4 {
		t.Fatalf("%d sessions", len(all))
	}
	names := func(s *audit.Session) (found []string) {
		for _, s := range s.Family() {
			found = append(found, s.Name(), s.Parent, s.Call, fmt.Sprint(s.Events, s.Compactions, s.Orphan()))
		}
		return found
	}
	for _, want := range all {
		got, err := audit.Named(t.Context(), f, want.App, want.User, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(names(got), names(want)) || got.State() != want.State() || !reflect.DeepEqual(got.Ledger, want.Ledger) {
			t.Errorf("%q, want %q", names(got), names(want))
		}
	}
	if _, err := audit.Named(t.Context(), f, app, user, "order"); !adk.IsNotFound(err) {
		t.Errorf("the beginning of a name: %v", err)
	}
}

func TestHistoryShowsWhereASubtaskWasCalled(t *testing.T) {
	t.Parallel()
	f := open(t, family(t))
	want := "[#2 agentic_grep order-1:sub:c1 #6 agentic_research order-1:sub:c:sub:2]"
	if got := fmt.Sprint(notes(t, f, "order-1")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A file of one conversation with subtasks has one session to ask about.
func TestTheOnlySessionNeedsNoNameNextToItsSubtasks(t *testing.T) {
	t.Parallel()
	if s := find(t, open(t, family(t)), ""); s.ID != "order-1" {
		t.Errorf("found %s", s.ID)
	}
}

// A checkpoint answers the calls of its branch up to the event that it reaches to, however many there
// are. A later call, and one of another branch, still waits.
func TestCallsForACheckpointAreAnsweredOrPending(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).User("i1", "q").Call("i1", "desk", "mark_task_done", "c1").Response("i1", "desk", "mark_task_done", "noted", "c1").
		Call("i1", "desk", "mark_task_done", "c2").Response("i1", "desk", "mark_task_done", "noted", "c2").Agent("i1", "desk", "a").
		Branch("desk.clerk").Call("i1", "clerk", "mark_task_done", "c3").Response("i1", "clerk", "mark_task_done", "noted", "c3").Branch("")
	h.Compact("r1", "e1", "e2", "e3").Amend(func(m *record.Metadata) {
		m.Kind, m.Note, m.Through = record.KindCheckpoint, "the survey is done", record.RefTo(h.Events[5])
	})
	h.Call("i1", "desk", "mark_task_done", "c5").Response("i1", "desk", "mark_task_done", "noted", "c5") // of the same turn
	h.User("i2", "q").Call("i2", "desk", "mark_task_done", "c6").Response("i2", "desk", "mark_task_done", "", "c6")
	h.Last().Content.Parts[0].FunctionResponse.Response = map[string]any{"error": "a detail is needed"}
	h.Call("i2", "desk", "mark_task_done", "c4").Response("i2", "desk", "mark_task_done", "noted", "c4").Agent("i2", "desk", "a")
	f := open(t, built(t, h))
	want := "[#2 mark_task_done r1 #4 mark_task_done r1 #7 mark_task_done pending #10 mark_task_done r1 #13 mark_task_done refused #15 mark_task_done pending]"
	if got := fmt.Sprint(notes(t, f, "order-1")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	o, err := f.Overview(t.Context(), find(t, f, "order-1"), 5)
	if err != nil || o.Checkpoints != 1 || o.Pending != 2 {
		t.Errorf("%d checkpoints, %d pending, %v", o.Checkpoints, o.Pending, err)
	}
	view, err := f.View(t.Context(), find(t, f, "order-1"), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	found := ""
	for _, e := range view.Entries {
		for _, c := range e.Calls {
			found += fmt.Sprint(e.Seq, c.Checkpoint, " ")
		}
		if e.Record != nil && (e.Record.Kind != "checkpoint" || e.Record.Note != "the survey is done") {
			t.Errorf("summary %+v", e.Record)
		}
	}
	if found != "4r1 7pending 10r1 13refused 15pending " {
		t.Errorf("in the view: %s", found)
	}
}

// The parent of a subtask has its call. A parent that was deleted is worth a warning only.
func TestVerifyChecksThatASubtaskBelongsToACall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage string
		want   string
	}{
		"fine":                {"SELECT 1", `warning gone:sub:c1 subtask: is named as a subtask of the session "gone", which is not in the file: was it deleted?`},
		"another call":        {"UPDATE sessions SET id = 'order-1:sub:c9' WHERE id = 'order-1:sub:c1'", `finding order-1:sub:c9 subtask: is named as the subtask of the call "c9" of the session "order-1", which has no such call`},
		"the parent is there": {"UPDATE sessions SET id = 'gone' WHERE id = 'order-1'", `warning order-1:sub:c1 subtask: is named as a subtask of the session "order-1", which is not`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := family(t)
			run(t, path, c.damage)
			f := open(t, path)
			all, err := f.Sessions(t.Context(), audit.Narrow{})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			checked, err := f.Verify(t.Context(), all, 5, func(one audit.Finding) error {
				if one.Rule == audit.RuleSubtask {
					kind := "finding "
					if one.Warning {
						kind = "warning "
					}
					found = append(found, kind+one.Session+" "+one.Rule+": "+one.Text)
				}
				return nil
			}, func(*audit.Session) {})
			if got := strings.Join(found, "\n"); err != nil || !strings.Contains(got, c.want) {
				t.Errorf("%v, found\n%s", err, got)
			}
			if name == "fine" && (checked.Findings != 0 || checked.Warnings != 1) {
				t.Errorf("checked %+v", checked)
			}
		})
	}
}

// exportedFamily returns the export of a session and its subtasks.
func exportedFamily(t *testing.T, f *audit.File, id, format string, patterns ...string) string {
	t.Helper()
	r, err := redact.New(patterns, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	n, err := f.Export(t.Context(), find(t, f, id).Family(), format, r, &out)
	if err != nil || n != 15 {
		t.Fatalf("%d events, %v", n, err)
	}
	return out.String()
}

// The lines of a family are read back as conversations of their own.
func TestExportOfAFamilyKeepsItsSessionsApart(t *testing.T) {
	t.Parallel()
	f := open(t, family(t))
	in := conversation.NewReader(strings.NewReader(exportedFamily(t, f, "order-1", audit.JSONL)), "export")
	got := ""
	for {
		c, err := in.Next()
		if err != nil {
			break
		}
		got += fmt.Sprint(c.ID, " ", c.Messages(), "; ")
	}
	if got != "order-1 10; order-1:sub:c1 2; order-1:sub:c:sub:2 2; " {
		t.Error(got)
	}
	if text := exportedFamily(t, f, "order-1", audit.Markdown); strings.Count(text, "\n# Session `shop/ada/order-1:sub:c") != 2 {
		t.Error(text)
	}
}

// Redaction holds for the subtasks, and their names still fit the parent and its calls.
func TestExportOfAFamilyIsRedacted(t *testing.T) {
	t.Parallel()
	f := open(t, family(t))
	for _, format := range audit.Formats {
		text := exportedFamily(t, f, "order-1", format, "order-[0-9]+", "c1", "Seen", "Look")
		for _, secret := range []string{"order-1", "sub:c1", `"c1"`, "Seen", "Look"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %q:\n%.3000s", format, secret, text)
			}
		}
	}
	text := exportedFamily(t, f, "order-1", audit.JSONL, "order-[0-9]+", "c1")
	for _, want := range []string{`{"sessionId":"[redacted]",`, `{"sessionId":"[redacted]:sub:[redacted] 2",`, `"id":"[redacted] 2"`, `{"sessionId":"[redacted]:sub:c:sub:2",`} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%.3000s", want, text)
		}
	}
}

// A nested subtask belongs to a subtask, and a name that only looks like one is a session like others.
func TestNamesOfSubtasks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := writing(t, path)
	for _, id := range []string{"a", "a:sub:b", "a:sub:b:sub:c", ":sub:x", "a:sub:"} {
		create(t, s, user, id)
	}
	create(t, s, "eve", "a:sub:b")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	all, err := f.Sessions(t.Context(), audit.Narrow{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprintf("%s/%s<%s %v", s.User, s.ID, s.Parent, s.Orphan()))
	}
	if want := "ada/:sub:x< false, ada/a< false, ada/a:sub:<a false, ada/a:sub:b<a false, ada/a:sub:b:sub:c<a:sub:b false, eve/a:sub:b<a true"; strings.Join(got, ", ") != want {
		t.Errorf("got %s", strings.Join(got, ", "))
	}
}
