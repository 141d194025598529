package transfer

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// What only ADK v2's tables have columns for is in a row, in its digest and in the event of the row.
func TestFieldsOfLaterTablesAreCopied(t *testing.T) {
	t.Parallel()
	if adk.Major == 1 {
		t.Skip("the tables of ADK v1 have no such columns")
	}
	ev := &session.Event{ID: "e1", InvocationID: "i1", Author: "worker", Branch: "b", Timestamp: time.Unix(1, 0).UTC()}
	digests := map[digest]bool{}
	check := func(name string) {
		t.Helper()
		r, err := rowOf(ev)
		if err != nil {
			t.Fatal(err)
		}
		d, err := r.digest()
		if err != nil {
			t.Fatal(err)
		}
		back, err := r.event()
		if err != nil {
			t.Fatal(err)
		}
		if digests[d] || r.unknown || !reflect.DeepEqual(back, ev) {
			t.Errorf("with %s: the digest is one of before: %t; unknown: %t; the event comes back as\n%+v, want\n%+v", name, digests[d], r.unknown, back, ev)
		}
		digests[d] = true
		if lane := adk.Lane(skeleton(ev, func(s string) string { return s })); lane != adk.Lane(ev) {
			t.Errorf("a skeleton is in lane %q", lane)
		}
	}
	check("none of them")
	adk.SetScope(ev, "call-1")
	check("a scope")
	for _, c := range adk.FurtherColumns {
		text, known := map[string]string{"Routes": `["yes"]`, "Output": `{"answer":"42"}`, "NodeInfo": `{"path":"flow/ask@1"}`, "RequestedInput": `{"interruptId":"i"}`}[c.Name]
		if !known {
			t.Fatalf("%s is new", c.Name)
		}
		if err := json.Unmarshal([]byte(text), c.Of(ev).Addr().Interface()); err != nil {
			t.Fatal(err)
		}
		check(c.Name)
	}
}
