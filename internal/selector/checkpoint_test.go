package selector_test

import (
	"fmt"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/selector"
)

// A checkpoint of a long session looks at one window and at what is behind it, however many windows there
// will be: an app waits for the answer in Get.
func TestACheckpointLooksBehindOneWindowOnly(t *testing.T) {
	t.Parallel()
	const turns = 200
	var words []string
	for i := range turns {
		words = append(words, fmt.Sprintf("%dq*9", i+1), fmt.Sprintf("%dc:x%d@bot*9", i+1, i), fmt.Sprintf("%dr:x%d@bot*9", i+1, i), fmt.Sprintf("%da@bot*9", i+1))
	}
	events := script(words...)
	name := events[1].Content.Parts[0].FunctionCall.Name
	looks := 0
	h := selector.Input{Events: events, Covered: func(*session.Event) bool { looks++; return false }}
	asked := selector.Checkpoint(h, selector.Params{MaxTokens: 50, Cost: sizeOf, Size: sizeOf}, "", name, 0)
	if asked == nil || asked.Empty() || !asked.Part || len(asked.Calls) != turns {
		t.Fatalf("asked %+v", asked)
	}
	if most := 40 * len(events); looks > most {
		t.Errorf("%d looks at %d events, want at most %d", looks, len(events), most)
	}
}
