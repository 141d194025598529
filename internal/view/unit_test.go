package view_test

import (
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
)

// after adds two turns, so that the newest events are not the ones in question.
func after(h *ct.History) *ct.History {
	return h.Turn("y", "bot", "q", "a").Turn("z", "bot", "q", "a")
}

func TestUnitIsShownAsAWhole(t *testing.T) {
	t.Parallel()
	pair := func() *ct.History {
		return after(h().User("i", "q").Call("i", "bot", "t", "c").Response("i", "bot", "t", "r", "c").Agent("i", "bot", "a"))
	}
	group := func() *ct.History {
		return after(h().User("i", "q").Call("i", "bot", "t", "a", "b").Response("i", "bot", "t", "r", "a").Response("i", "bot", "t", "r", "b").Agent("i", "bot", "a"))
	}
	run(t, []row{
		{"the pair covered", pair().Compact("s", "e1", "e2", "e3", "e4"), "s e5 e6 e7 e8"},
		{"the call alone covered", pair().Compact("s", "e1", "e2"), "s e2 e3 e4 e5 e6 e7 e8"},
		{"the response alone covered", pair().Compact("s", "e1", "e3"), "s e2 e3 e4 e5 e6 e7 e8"},
		{"the group covered", group().Compact("s", "e1", "e2", "e3", "e4", "e5"), "s e6 e7 e8 e9"},
		{"one answer of the group not covered", group().Compact("s", "e1", "e2", "e3", "e5"), "s e2 e3 e4 e6 e7 e8 e9"},
		{"a reused ID's other pair", after(h().User("i", "q").Call("i", "bot", "t", "1").Response("i", "bot", "t", "r", "1").Call("j", "bot", "t", "1").Response("j", "bot", "t", "r", "1")).
			Compact("s", "e1", "e2", "e3"), "s e4 e5 e6 e7 e8 e9"},
		{"the response comes after the record", h().Turn("h", "bot", "q", "a").User("i", "q").Call("i", "bot", "t", "c").Agent("i", "bot", "a").Compact("s", "e3", "e4").Response("i", "bot", "t", "r", "c"), "s e1 e2 e3 e4 e5 e7"},
		{"over two branches", after(h().User("i", "q").Branch("p.a").LongCall("i", "a", "t", "c").Branch("").Response("j", "user", "t", "r", "c")).
			Compact("s", "e2"), "s e1 e2 e3 e4 e5 e6 e7"},
	})
}

func TestLateAnswerBringsItsCallBackAndMovesNothing(t *testing.T) {
	t.Parallel()
	pending := func() *ct.History {
		return h().User("i", "q").LongCall("i", "bot", "t", "c").Response("i", "bot", "t", "pending", "c").Agent("i", "bot", "waiting")
	}
	between := func() *ct.History { return pending().Turn("j", "bot", "q", "a") }
	run(t, []row{
		{"pending", between(), "e1 e2 e3 e4 e5 e6"},
		{"answered by the user, nothing covered", between().Response("k", "user", "t", "r", "c"), "e1 e2 e3 e4 e5 e6 e7"},
		{"its call was covered", between().Compact("s", "e1", "e2", "e3", "e4").Response("k", "user", "t", "r", "c"), "s e2 e3 e5 e6 e8"},
		{"a turn after the answer", between().Compact("s", "e1", "e2", "e3", "e4").Response("k", "user", "t", "r", "c").Agent("k", "bot", "a"), "s e2 e3 e5 e6 e8 e9"},
		{"all of it covered", after(between().Response("k", "user", "t", "r", "c")).Compact("s", "e1", "e2", "e3", "e4", "e5", "e6", "e7"), "s e8 e9 e10 e11"},
		{"a second late answer", between().Response("k", "user", "t", "r", "c").Agent("k", "bot", "a").Response("l", "user", "t", "r2", "c"), "e1 e2 e3 e4 e5 e6 e7 e8 e9"},
		{"an answer again in the call's invocation", between().Response("k", "user", "t", "r", "c").Agent("k", "bot", "a").Response("i", "bot", "t", "r2", "c"), "e1 e2 e3 e4 e5 e6 e7 e8 e9"},
		{"a sibling comes along", h().User("i", "q").Call("i", "bot", "t", "c", "d").Long("c").Response("i", "bot", "t", "r", "c", "d").Turn("j", "bot", "q", "a").
			Compact("s", "e1", "e2", "e3").Response("k", "user", "t", "r", "c"), "s e2 e3 e4 e5 e7"},
		{"in one invocation nothing moves", pending().Response("i", "user", "t", "r", "c"), "e1 e2 e3 e4 e5"},
		{"a call that comes after its answer", h().User("i", "q").Response("i", "bot", "t", "r", "c").Agent("i", "bot", "a").Call("j", "bot", "t", "c").Agent("j", "bot", "a"), "e1 e2 e3 e4 e5"},
		{"two calls, one answer to both", h().User("i", "q").Call("i", "bot", "t", "c").Turn("j", "bot", "q", "a").Call("j", "bot", "t", "d").Response("j", "bot", "t", "r", "c", "d").
			Agent("j", "bot", "a").Response("j", "bot", "t", "r", "d"), "e1 e2 e3 e4 e5 e6 e7 e8"},
	})
}
