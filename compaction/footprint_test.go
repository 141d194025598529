package compaction_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
)

// heap is what is alive, in bytes, after everything that is not has been collected and cleaned up.
func heap() int {
	for range 3 {
		runtime.GC()
		time.Sleep(time.Millisecond) // cleanups run in a goroutine of their own
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// storeLong stores a session of n events of which all but the newest are summarized.
func storeLong(tb testing.TB, inner session.Service, sess session.Session, n int) {
	tb.Helper()
	const window = 50
	store := func(ev *session.Event) {
		if err := inner.AppendEvent(tb.Context(), sess, ev); err != nil {
			tb.Fatal(err)
		}
	}
	var last string // record that stands for all so far
	for i := 0; i < n; i += window {
		m := &record.Metadata{RecordID: fmt.Sprint("window-", i), Kind: record.KindSummary, CreatedAt: histories.Epoch.Add(time.Duration(i))}
		merge := &record.Metadata{RecordID: fmt.Sprint("merge-", i), Kind: record.KindSummary, CreatedAt: m.CreatedAt}
		for k, ev := range (&compactiontest.History{}).Turns(window/2, "agent").Events {
			ev.ID = fmt.Sprint("event-", i+k)
			m.Covered = append(m.Covered, record.RefTo(ev))
			store(ev)
		}
		merge.Absorbed = []string{m.RecordID, last}
		if last == "" {
			merge.Absorbed = merge.Absorbed[:1]
		}
		last = merge.RecordID
		for _, m := range []*record.Metadata{m, merge} {
			if err := m.SetText("What was said, in about as many words as a summary has."); err != nil {
				tb.Fatal(err)
			}
			store(histories.RecordEvent(m, histories.Epoch))
		}
	}
	for _, ev := range turns(3) {
		store(ev)
	}
}

// Not parallel: it counts what is alive in the whole process.
func TestALongSessionTakesSixteenBytesForEachEvent(t *testing.T) {
	const n = 100_000
	inner := session.InMemoryService()
	cfg, _ := manualOnly()
	svc := newService(t, inner, cfg)
	bare := create(t, inner)
	storeLong(t, inner, bare, n)
	held := func(service session.Service) int {
		before := heap()
		for range 3 { // the third starts from what the second left
			get(t, service).Events()
		}
		sess := get(t, service)
		if err := service.AppendEvent(t.Context(), sess, (&compactiontest.History{}).Agent("x", "agent", "So it is.").Last()); err != nil {
			t.Fatal(err)
		}
		shown := sess.Events().Len()
		bytes := heap() - before
		runtime.KeepAlive(sess)
		t.Logf("%T: %d of %d events shown, %d bytes held", service, shown, n, bytes)
		return bytes
	}
	bareBytes, wrappedBytes := held(inner), held(svc)
	if each := float64(wrappedBytes-bareBytes) / n; each > 16 {
		t.Errorf("the wrapper holds %.1f bytes for each event, want at most 16", each)
	}
}

// Not parallel, for the same reason.
func TestIdleSessionsTakeNothing(t *testing.T) {
	const n = 10_000
	inner := session.InMemoryService()
	cfg, _ := manualOnly()
	svc := newService(t, inner, cfg)
	request := func(i int) *session.GetRequest {
		return &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: fmt.Sprint(i)}
	}
	for i := range n {
		created, err := inner.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range turns(2) {
			if err := inner.AppendEvent(t.Context(), created.Session, ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := heap()
	for i := range n {
		for range 2 {
			if _, err := svc.Get(t.Context(), request(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	const most = 512 << 10
	held := heap() - before
	for try := 0; held > most && try < 100; try++ { // cleanups come one after the other
		held = heap() - before
	}
	if t.Logf("%d idle sessions hold %d bytes", n, held); held > most {
		t.Errorf("want at most %d", most)
	}
	runtime.KeepAlive(svc)
	runtime.KeepAlive(inner)
}
