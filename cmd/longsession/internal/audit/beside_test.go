package audit_test

import (
	"reflect"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
)

// TestBesideIsTheBeginningOfWhatWasReplaced: it goes by the marks and says the same as the records, whatever was asked
// for, also where records conflict and the marks do not tell everything.
func TestBesideIsTheBeginningOfWhatWasReplaced(t *testing.T) {
	t.Parallel()
	merged := (&ct.History{}).Turns(12, "bot").Compact("r1", "e1", "e2").Compact("r2", "e3", "e4", "e5", "e6").
		Merge("r3", "r1", "r2").Compact("r4", "e7", "e8", "e9", "e10")
	copied := (&ct.History{}).Turns(6, "bot").Compact("r1", "e1", "e2")
	again := *copied.Last()
	again.ID = "again"
	copied.AddEvent(&again).Compact("r12", "e3", "e4")
	for name, path := range map[string]string{
		"a long chat": made(t, 40),
		"merged":      built(t, merged),
		"copied":      built(t, copied),
		"contested":   built(t, (&ct.History{}).Turns(6, "bot").Compact("r1", "e1", "e2").Compact("r2", "e2", "e3", "e4")),
		"nothing":     built(t, (&ct.History{}).Turns(3, "bot")),
	} {
		f := open(t, path)
		s := find(t, f, "")
		for _, all := range []bool{false, true} {
			sameBeside(t, name, f, s, "", all)
		}
		whole, err := f.Replacements(t.Context(), s, "", true)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range whole {
			sameBeside(t, name, f, s, r.RecordID, false)
		}
		sameBeside(t, name, f, s, "r", false)
		sameBeside(t, name, f, s, "none", false)
	}
}

// sameBeside compares two ways to ask for the same.
func sameBeside(t *testing.T, name string, f *audit.File, s *audit.Session, id string, all bool) {
	t.Helper()
	whole, wantErr := f.Replacements(t.Context(), s, id, all)
	const summaries, events = 3, 2
	got, older, err := audit.ReadBeside(t.Context(), f, s, id, all, summaries, events)
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Fatalf("%s, record %q: error %v, want %v", name, id, err, wantErr)
	}
	if want := max(0, len(whole)-summaries); older != want {
		t.Errorf("%s, record %q, all %v: %d older ones, want %d", name, id, all, older, want)
	}
	if len(got) != len(whole)-older {
		t.Fatalf("%s, record %q, all %v: %d summaries, want %d", name, id, all, len(got), len(whole)-older)
	}
	for i, b := range got {
		want := whole[len(whole)-1-i]
		if b.All != len(want.Replaced) || !reflect.DeepEqual(b.Replaced, want.Replaced[:min(events, len(want.Replaced))]) {
			t.Errorf("%s, record %q: %d events, %+v; want %d, %+v", name, b.RecordID, b.All, b.Replaced, len(want.Replaced), want.Replaced)
		}
		if !reflect.DeepEqual(b.Compaction, want.Compaction) || len(b.Through) != len(want.Through) {
			t.Errorf("%s: the record is %+v through %q, want %+v through %q", name, b.Compaction, b.Through, want.Compaction, want.Through)
		}
	}
}
