package audit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// marks are what the column covered_by must hold, worked out from the records alone, in the order in which
// they were stored. docs/schema.md has the rules.
type marks struct {
	coveredBy map[int64]string // by seq
	anchor    map[int64]int64  // seq of what a record's summary stands behind, by seq
	// contested says that a record does not stand for exactly what is there and nothing else stands for.
	contested bool

	rows    []*persistence.Row
	events  map[string]int   // by ID, of the rows before the current one: positions
	records map[string][]int // by record ID
}

// marksOf works out the marks of a session whose rows can all be read.
func marksOf(rows []*persistence.Row) *marks {
	m := &marks{coveredBy: map[int64]string{}, anchor: map[int64]int64{}, rows: rows, events: map[string]int{}, records: map[string][]int{}}
	for i, row := range rows {
		if !record.Is(row.Event) {
			m.events[row.ID] = i
			continue
		}
		meta, err := record.From(row.Event)
		if err != nil {
			continue
		}
		if len(m.records[meta.RecordID]) > 0 {
			m.coveredBy[row.Seq] = meta.RecordID // a copy: the first record of an ID counts
		} else {
			m.store(row, meta)
		}
		m.records[meta.RecordID] = append(m.records[meta.RecordID], i)
	}
	return m
}

// store marks what a record stands for: where bytes are not UTF-8 less than the record says, as persistence does.
func (m *marks) store(row *persistence.Row, meta *record.Metadata) {
	clean := row.Event.Branch == meta.Branch
	may := func(ev *session.Event) bool {
		return ev.Branch == meta.Branch && (!meta.MidTurn() || meta.Agent == "" || ev.Author == meta.Agent)
	}
	for _, ref := range meta.Covered {
		i, found := m.events[ref.ID]
		if !known(ref.ID) || !m.mark(i, found && may(m.rows[i].Event), meta.RecordID) {
			clean = false
		}
	}
	for _, id := range meta.Absorbed {
		n := 0
		for _, i := range m.records[id] {
			if m.mark(i, m.rows[i].Event.Branch == meta.Branch, meta.RecordID) {
				n++
			}
		}
		if n != 1 {
			clean = false
		}
	}
	if meta.MidTurn() {
		i, found := m.events[meta.After.ID]
		if found {
			m.anchor[row.Seq] = m.rows[i].Seq
		}
		clean = clean && found && known(meta.After.ID)
	}
	m.contested = m.contested || !clean
}

// mark marks a row that may be, unless something stands for it already.
func (m *marks) mark(i int, may bool, by string) bool {
	if !may || m.coveredBy[m.rows[i].Seq] != "" {
		return false
	}
	m.coveredBy[m.rows[i].Seq] = by
	return true
}

// known reports whether an ID in a record can name one stored ID only: bytes that are not UTF-8 are U+FFFD
// in a record.
func known(id string) bool { return id != "" && !strings.ContainsRune(id, utf8.RuneError) }

// checkMarks compares the marks in the file with what the records say, and with the ties if all of them are
// known.
func (e *examination) checkMarks(t *ties, all bool) {
	want := marksOf(e.rows)
	for _, row := range e.rows {
		if by := want.coveredBy[row.Seq]; by != row.CoveredBy || row.Covered != (by != "") {
			e.find(row.Seq, row.ID, RuleCoveredBy, "is marked as covered by %s, and by the records %s: set the mark as the records have it", called(row.Covered, row.CoveredBy), coveredBy(by))
		}
		if at := want.anchor[row.Seq]; at != row.Anchor && all {
			e.find(row.Seq, row.ID, RuleTies, "the column anchor is %s, and must be %s: set it so", orNull(row.Anchor), orNull(at))
		}
	}
	switch contested := want.contested || t.contested; {
	case contested && !e.Contested:
		e.find(0, "", RuleContested, "the records stand for something that is not there, or twice for one thing, or a call came after its answer, and the session is not marked as contested: an app may load too little of it")
	case !contested && e.Contested && all:
		e.find(0, "", RuleContested, "is marked as contested, and nothing in it is: an app loads all of it at every turn for nothing")
	}
}

func called(marked bool, record string) string {
	if !marked {
		return "nothing"
	}
	return fmt.Sprintf("%q", record)
}

func coveredBy(record string) string {
	if record == "" {
		return "nothing stands for it"
	}
	return fmt.Sprintf("%q stands for it", record)
}
