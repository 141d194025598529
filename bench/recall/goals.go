package main

import "fmt"

// goal is a figure that was asked for.
type goal struct {
	what string
	got  float64
	// least or most is the bound. The other one is 0.
	least, most float64
	unit        string
	// timed is true for figures that depend on the machine and on what else it does.
	timed bool
}

func (g goal) met() bool { return g.got >= g.least && (g.most == 0 || g.got <= g.most) }

func (g goal) figure() string { return number(g.got) + g.unit }

func (g goal) bound() string {
	if g.most > 0 {
		return "at most " + number(g.most) + g.unit
	}
	return "at least " + number(g.least) + g.unit
}

func (g goal) verdict() string {
	if g.met() {
		return "met"
	}
	return "missed"
}

// number is a figure with as many digits as it has a meaning with.
func number(v float64) string {
	switch {
	case v == float64(int(v)) || v >= 1000:
		return count(int(v))
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// goals are those of the recorded conversations.
func (m measured) goals() []goal {
	goals := []goal{}
	for _, r := range []struct {
		found     found
		five, ten float64
	}{{m.scenarios, 93, 97}, {m.chats, 85, 95}} {
		for _, store := range []struct {
			name  string
			ranks ranks
		}{{"in memory", r.found.memory}, {"in the file", r.found.file}} {
			goals = append(goals,
				goal{what: fmt.Sprintf("%s, R@5, %s", r.found.name, store.name), got: store.ranks.at(1), least: r.five, unit: "%"},
				goal{what: fmt.Sprintf("%s, R@10, %s", r.found.name, store.name), got: store.ranks.at(2), least: r.ten, unit: "%"})
		}
	}
	for _, r := range []struct {
		found          found
		ledger, recall float64
		rich           bool
	}{{m.scenarios, 80, 97, false}, {m.chats, 82, 97, false}, {m.joined, 45, 95, true}} {
		a := r.found.answers
		prompt := goal{what: r.found.name + ", answers in the prompt", got: a.share(a.ledger), least: r.ledger, unit: "%"}
		if r.rich {
			prompt.what += fmt.Sprintf(" with a ledger of %s", count(richLedger))
			prompt.got = a.share(a.rich)
		}
		goals = append(goals, prompt, goal{what: r.found.name + ", in the prompt or one recall", got: a.share(a.recall), least: r.recall, unit: "%"})
	}
	joined := m.joined.answers
	same, questions := 0.0, 0
	for _, f := range m.all() {
		same += f.memory.sameFirst(f.file) * float64(f.memory.questions)
		questions += f.memory.questions
	}
	return append(goals,
		goal{what: "the nine as one session, tokens of that prompt", got: float64(joined.promptTokens(joined.rich)), most: 3_400},
		goal{what: "the nine as one session, that prompt, of all tokens", got: joined.shareOfRaw(joined.rich), most: 8, unit: "%"},
		goal{what: "both stores, the same first five for", got: same / float64(max(1, questions)), least: 95, unit: "%"})
}
