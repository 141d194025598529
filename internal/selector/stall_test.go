package selector_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/selector"
)

// Compaction must go on in a session in which a call is never answered, tools answer late, or an
// event is too large for the summarizer.
func TestWhatCannotBeSummarizedDoesNotHoldUpTheRest(t *testing.T) {
	t.Parallel()
	// Each of the first eight turns starts a tool that answers in the tenth.
	var late strings.Builder
	for i := 1; i <= 8; i++ {
		fmt.Fprintf(&late, "%dq %dl:x%d %dr:x%d %da ", i, i, i, i, i, i)
	}
	late.WriteString(turns(9, 1) + "10u:x1,x2,x3,x4,x5,x6,x7,x8 10a " + turns(11, 12))
	// Each of the first eight turns is too large to be read in one call.
	var large strings.Builder
	for i := 1; i <= 8; i++ {
		fmt.Fprintf(&large, "%dq*200 %da*200 ", i, i)
	}
	large.WriteString(turns(9, 14))
	// Each of the first eight turns leaves a call open.
	var open strings.Builder
	for i := 1; i <= 8; i++ {
		fmt.Fprintf(&open, "%dl:x%d ", i, i)
	}
	open.WriteString(turns(9, 14))
	// The same, and each turn changes state.
	var states strings.Builder
	for i := 1; i <= 8; i++ {
		fmt.Fprintf(&states, "%dl:x%d %ds ", i, i, i)
	}
	states.WriteString(turns(9, 14))
	for _, row := range []struct{ name, script, left string }{
		{"a call without an answer at the head", "1q 1l:x " + turns(2, 8), "e2 e15-e18"},
		{"its answered sibling", "1q 1l:x,y 1u:x " + turns(2, 8), "e2 e3 e16-e19"},
		{"an interrupted call", "1q 1c:x,y 1r:x " + turns(2, 8), "e16-e19"},
		{"a call of no ID", "1q 1c: 1r: 1a " + turns(2, 8), "e17-e20"},
		{"calls without an answer", open.String(), "e1-e8 e33-e36"},
		{"calls without an answer beside changes of state", states.String(), "e1 e3 e5 e7 e9 e11 e13 e15 e41-e44"},
		{"late answers", late.String(), "e57-e60"},
		{"more than can be read", large.String(), "e1-e16 e41-e44"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := defaults()
			p.Cost, p.MaxTokens = sizeOf, 150
			tp := newTape(script(row.script))
			tp.drain(t, p, "")
			p.Threshold = 1
			tp.drain(t, p, "")
			check(t, row.script, listed(tp.left()), row.left)
		})
	}
}

func TestNoClockStallsTheTrigger(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, clock := range map[string]func(i int) time.Time{
		"zero":       func(int) time.Time { return time.Time{} },
		"tied":       func(int) time.Time { return start },
		"backwards":  func(i int) time.Time { return start.Add(-time.Duration(i) * time.Minute) },
		"set back":   func(i int) time.Time { return start.Add(time.Duration(i%30-i/30*100) * time.Minute) },
		"far future": func(i int) time.Time { return start.AddDate(10_000*(i%2), 0, i) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := script(turns(1, 100))
			for i, ev := range all {
				ev.Timestamp = clock(i)
			}
			tp := newTape(nil)
			for i := range 100 {
				tp.events = all[:2*i+2]
				tp.drain(t, defaults(), "")
				if left := len(tp.left()); left > 2*(5+2) {
					t.Fatalf("after %d turns %d events are raw", i+1, left)
				}
			}
		})
	}
}

// Parallel agents write their events alternately, so that each branch alone looks cut short.
func TestBranchesThatAlternateStallNoTrigger(t *testing.T) {
	t.Parallel()
	var words strings.Builder
	for i := 1; i <= 12; i++ {
		fmt.Fprintf(&words, "%dq p.a|%dc:x%d@a p.b|%dc:x%d@b p.a|%dr:x%d@a p.b|%dr:x%d@b p.a|%da@a p.b|%da@b ", i, i, i, i, i, i, i, i, i, i, i)
	}
	all := script(words.String())
	for _, row := range []struct {
		name string
		next func(selector.Input, string) selector.Selection
		left int
	}{
		{"invocations", func(h selector.Input, b string) selector.Selection { return selector.Invocations(h, defaults(), b) }, 7 * (5 + 2)},
		{"tokens", func(h selector.Input, b string) selector.Selection { return selector.Tokens(h, defaults(), b) }, 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			tp := newTape(all)
			for range all {
				for _, branch := range []string{"", "p.a", "p.b"} {
					sel := row.next(tp.history(), branch)
					for _, ev := range sel.Events {
						if adk.Lane(ev) != branch {
							t.Fatalf("%s of branch %q in a window of %q", ev.ID, adk.Lane(ev), branch)
						}
					}
					if !sel.Empty() {
						tp.cover(sel)
					}
				}
			}
			if left := tp.left(); len(left) > row.left {
				t.Errorf("left raw: %s", listed(left))
			}
		})
	}
}

func TestTenThousandOpenCallsAreFast(t *testing.T) {
	t.Parallel()
	const n = 10_000
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprint("x", i))
	}
	histories := map[string][]*session.Event{
		"in one event":    script("1q 1c:"+strings.Join(ids, ","), turns(2, 10)),
		"in many":         nil,
		"answered in one": script("1q 1c:"+strings.Join(ids, ",")+" 1r:"+strings.Join(ids, ","), turns(2, 10)),
		"one, many times": script("1q 1c:x "+strings.Repeat("1r:x ", n), turns(2, 10)),
	}
	var many strings.Builder
	for i := range n {
		fmt.Fprintf(&many, "%dc:x%d ", i+1, i)
	}
	histories["in many"] = script(many.String())
	for name, events := range histories {
		p := defaults()
		p.Cost, p.MaxTokens, p.Retain = sizeOf, 1000, 10
		h := newTape(events).history()
		began := time.Now()
		selector.Invocations(h, p, "")
		selector.Tokens(h, p, "")
		selector.Manual(h, p, "", 2)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}
