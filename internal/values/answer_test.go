package values_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/values"
)

// What answers a question for a secret may begin with a word that answers nothing.
func TestAnAnswerGoesOnBehindItsFirstWords(t *testing.T) {
	t.Parallel()
	for _, begins := range []string{"Sure. ", "OK! ", "Yes, of course.\n\n", "Here you go:\n", "Sure\n\n", "Of course. Here it is. "} {
		text := begins + "It is zebra77. My order is A-17."
		got := values.WithoutSecrets(text, true)
		if strings.Contains(got, "zebra77") || !strings.Contains(got, "My order is A-17.") {
			t.Errorf("%q leaves %q", text, got)
		}
		if again := values.WithoutSecrets(got, true); again != got {
			t.Errorf("%q becomes %q", got, again)
		}
		ev := said("user", text, 0)
		if list := texts(values.Of([]*session.Event{ev}, map[*session.Event]bool{ev: true}, nil)); !slices.Equal(list, []string{"order A-17"}) {
			t.Errorf("%q has the values %q", text, list)
		}
	}
}
