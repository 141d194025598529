package view

import (
	"slices"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/said"
	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/record"
)

// Options are what a view shows besides what is stored. The zero value shows nothing else.
type Options struct {
	// RecallTool is the name of a tool that searches earlier messages. One summary of each branch says so,
	// always in the same words: a frame that changed would change the prompt at its head. "" for none.
	RecallTool string
	// RecallOffered reports whether the agents have that tool by now. If nil, they have.
	RecallOffered func() bool
}

// One summary of each branch, its ledger's place, has an addition behind its prose, inside its frame: exact
// values that the records of the branch hold, and the sentence about the recall tool. For example,
//
//	r1   summary of e1-e9
//	r2   summary of e10-e19   Exact values from these messages: ... | ...
//	e20  user: ...
//
// The place is the last summary in front, because a change of it changes least of the prompt. If none is in
// front, as in a long first turn, it is the last one behind an anchor.
//
// The values follow from the current records of the branch alone. So they change when a record is stored, and at
// no other time; every backend shows the same; and a branch shows no value of another one. How many are shown
// follows from the record at the place, not from the configuration of the process that reads it.

// ledger is the list of values of a branch. It is kept until the branch's records change.
type ledger struct {
	place   *session.Event   // the event of the record at the place
	records []*session.Event // the events of the branch's records, in the order of the view
	text    string
}

// addLedgers gives the place of each branch its addition, and takes it from all other summaries. sorted are the
// current summaries in the order of the view, with their anchors.
func (l *layout) addLedgers(sorted []*summary) {
	p := l.projection
	known := p.ledgers
	p.ledgers = nil
	byBranch := map[string][]*summary{}
	for _, s := range sorted {
		s.addition = ""
		byBranch[s.meta.Branch] = append(byBranch[s.meta.Branch], s)
	}
	for branch, shown := range byBranch {
		place := placeOf(shown, func(s *summary) bool { return s.anchor < 0 })
		now := ledger{place: place.source}
		for _, s := range shown {
			now.records = append(now.records, s.source)
		}
		if old := known[branch]; old.place == now.place && slices.Equal(old.records, now.records) {
			now.text = old.text
		} else {
			now.text = ledgerText(place.meta, metasOf(shown))
		}
		put(&p.ledgers, branch, now)
		place.addition = p.options.addition(now.text)
	}
}

// placeOf returns the last in front, or the last if none is in front.
func placeOf[T any](sorted []T, inFront func(T) bool) T {
	for _, one := range slices.Backward(sorted) {
		if inFront(one) {
			return one
		}
	}
	return sorted[len(sorted)-1]
}

func metasOf(summaries []*summary) []*record.Metadata {
	out := make([]*record.Metadata, len(summaries))
	for i, s := range summaries {
		out[i] = s.meta
	}
	return out
}

// maxCandidates bounds the values that are compared for one list. Five records of the default size have some 500.
// The newest records count if there are more.
const maxCandidates = 1 << 15

// ledgerText returns what the user said and the values of a branch's records, as the record at the place has them shown,
// "" for none. Of the values it leaves out what the summaries and the user's words say. The records are in the order of the
// view.
func ledgerText(place *record.Metadata, records []*record.Metadata) string {
	words := saidText(place, records)
	list := valuesText(place, records, words)
	if words != "" && list != "" {
		words += "\n\n"
	}
	return words + list
}

// saidText returns what the user said, "" for nothing.
func saidText(place *record.Metadata, records []*record.Metadata) string {
	if place.SaidTokens <= 0 {
		return ""
	}
	var lists [][]record.Value
	for _, m := range records {
		if len(m.Said) > 0 {
			lists = append(lists, m.Said)
		}
	}
	return said.Block(place.SaidTokens, lists...)
}

// valuesText returns the values, "" for none.
func valuesText(place *record.Metadata, records []*record.Metadata, words string) string {
	if place.LedgerTokens <= 0 {
		return ""
	}
	var lists [][]record.Value
	candidates := 0
	for _, m := range slices.Backward(records) {
		if candidates += len(m.Values); candidates > maxCandidates {
			break
		}
		if len(m.Values) > 0 {
			lists = append(lists, m.Values)
		}
	}
	if len(lists) == 0 {
		return ""
	}
	slices.Reverse(lists)
	known := []string{words}
	for _, m := range records {
		if text, err := m.Text(); err == nil {
			known = append(known, text)
		}
	}
	return values.Block(place.LedgerTokens, known, lists...)
}

// addition returns what stands behind the prose at a ledger's place.
func (o Options) addition(ledger string) string {
	var text string
	if ledger != "" {
		text = "\n\n" + unframed(ledger)
	}
	if o.RecallTool != "" && (o.RecallOffered == nil || o.RecallOffered()) {
		text += offer(o.RecallTool)
	}
	return text
}

// offer is the sentence about a recall tool.
func offer(tool string) string {
	return "\n\nEarlier messages can be searched with the tool " + unframed(tool) + "."
}

// WithoutOffer returns the text of a summary without the sentence about a recall tool of that name, also where ADK shows
// the summary to another agent as quoted words. It returns any other text as it is.
func WithoutOffer(text, tool string) string {
	says := offer(tool) + closing
	at := strings.LastIndex(text, says)
	if at < 0 || !IsSummaryText(text) {
		return text
	}
	return text[:at] + closing + text[at+len(says):]
}

// Addition returns the text that a view shows behind the prose of one of a branch's summaries, "" for none. records
// are the current records of the branch, in any order. It is for code that needs the size of a view with a record
// that is not stored yet, so it takes each mid-turn record for anchored.
func (o Options) Addition(records []*record.Metadata) string {
	sorted := slices.Clone(records)
	slices.SortFunc(sorted, func(a, b *record.Metadata) int { return byStart(&summary{meta: a}, &summary{meta: b}) })
	if len(sorted) == 0 {
		return ""
	}
	place := placeOf(sorted, func(m *record.Metadata) bool { return !m.MidTurn() })
	return o.addition(ledgerText(place, sorted))
}
