package transfer

import (
	"bytes"
	"testing"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// A database that ADK Go v2.3 wrote to has records of its own compaction in the column actions. A copy of the session has
// them too, in the metadata.
func TestACopyHasTheRecordsOfADKsCompaction(t *testing.T) {
	t.Parallel()
	r := &row{id: "e", author: "user", actions: []byte(`{"stateDelta":{},"compaction":{"startTimestamp":"2026-01-01T00:00:00Z","endTimestamp":"2026-01-01T00:00:00Z","compactedContent":{"role":"model"}}}`)}
	ev, err := r.event()
	if err != nil || !adk.IsCompaction(ev) || r.unknown {
		t.Fatalf("%v: %+v, unknown %v", err, ev, r.unknown)
	}
	more := &row{id: "e", author: "user", actions: bytes.Replace(r.actions, []byte("{"), []byte(`{"later":1,`), 1)}
	if _, err := more.event(); err != nil || !more.unknown {
		t.Errorf("%v: another field that is not known is not counted", err)
	}
	written, err := rowOf(ev)
	if err != nil {
		t.Fatal(err)
	}
	again, err := written.event()
	if err != nil || !adk.IsCompaction(again) {
		t.Errorf("%v: a second copy loses it: %+v", err, again)
	}
}
