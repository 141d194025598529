package values_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/record"
)

// A value that two lists took from one event is counted once, also its uses.
func TestOneMentionInTwoListsIsCountedOnce(t *testing.T) {
	t.Parallel()
	one := record.Value{Text: "ORD-17", Kind: "identifier", Event: "e1", At: day, Uses: 2, Score: 1}
	other := one
	other.Event, other.Uses = "e2", 1
	if got := values.Merge(100, []record.Value{one}, []record.Value{one}); len(got) != 1 || got[0].Uses != 2 {
		t.Errorf("twice from one event: %+v", got)
	}
	if got := values.Merge(100, []record.Value{one}, []record.Value{other}); len(got) != 1 || got[0].Uses != 4 {
		t.Errorf("from two events: %+v", got)
	}
}

// Values that are corrected have only the room that all others leave, also those of tools.
func TestACorrectedValueComesLast(t *testing.T) {
	t.Parallel()
	later := day.Add(time.Hour)
	list := []record.Value{
		{Text: "budget $500", Kind: "money+is", Author: "user", Event: "e1", At: day, Score: 9},
		{Text: "budget $650", Kind: "money+is", Author: "user", Event: "e2", At: later, Score: 8},
		{Text: "src/main.go", Kind: "path+tool", Author: "bot", Event: "e3", At: later, Score: 2},
		{Text: "src/next.go", Kind: "path+tool", Author: "bot", Event: "e4", At: later, Score: 1},
	}
	last := ""
	for n := range 40 {
		got := strings.Join(texts(values.Merge(n, list)), " ")
		if strings.Contains(got, "$500") && (!strings.Contains(got, "$650") || !strings.Contains(got, "next.go")) {
			t.Errorf("%d tokens: %q", n, got)
		}
		last = got
	}
	if last != "budget $650 src/main.go src/next.go budget $500" {
		t.Errorf("with room for all: %q", last)
	}
}

// Two values of one message are both meant, and a tool corrects nobody.
func TestWhatIsNoCorrection(t *testing.T) {
	t.Parallel()
	both := values.Block(600, nil, values.Of([]*session.Event{said("user", "The budget is $500. The budget is $650.", 0)}, nil, nil))
	if !strings.Contains(both, "$500") || !strings.Contains(both, "$650") {
		t.Errorf("of one message: %q", both)
	}
	for _, kinds := range [][2]string{{"number+is", "number+is+tool"}, {"number+is+tool", "number+is"}} {
		list := []record.Value{
			{Text: "seats 40", Kind: kinds[0], Author: "user", Event: "e1", At: day, Score: 1},
			{Text: "seats 50", Kind: kinds[1], Author: "user", Event: "e2", At: day.Add(time.Hour), Score: 1},
		}
		if got := values.Block(600, nil, list); !strings.Contains(got, "seats 40") || !strings.Contains(got, "seats 50") {
			t.Errorf("%v: %q", kinds, got)
		}
	}
}
