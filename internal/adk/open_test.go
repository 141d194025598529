package adk_test

import (
	"slices"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
)

func TestOpenCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		history *ct.History
		want    []int
	}{
		"answered":                 {(&ct.History{}).Call("i", "bot", "look", "c").Response("i", "bot", "look", "r", "c"), nil},
		"one of two answered":      {(&ct.History{}).Call("i", "bot", "look", "c", "d").Response("i", "bot", "look", "r", "c"), []int{0}},
		"the nearest is answered":  {(&ct.History{}).Call("i", "bot", "look", "c").Call("i", "bot", "look", "c").Response("i", "bot", "look", "r", "c"), []int{0}},
		"of its branch first":      {(&ct.History{}).Branch("a").Call("i", "bot", "look", "c").Branch("b").Call("i", "bot", "look", "c").Branch("a").Response("i", "bot", "look", "r", "c"), []int{1}},
		"then of any":              {(&ct.History{}).Branch("a").Call("i", "bot", "look", "c").Branch("").Response("i", "bot", "look", "r", "c"), nil},
		"overtaken":                {(&ct.History{}).Call("i", "bot", "look", "c").User("j", "What now?"), nil},
		"a message of its own run": {(&ct.History{}).Call("i", "bot", "look", "c").User("i", "And this?"), []int{0}},
	} {
		if got := adk.OpenCalls(c.history.Events); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
