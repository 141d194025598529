package audit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// marks are what the column covered_by must hold, worked out from the records alone, in the order in which
// they were stored. docs/schema.md has the rules.
type marks struct {
	coveredBy map[int64]string // by seq
	// contested says that a record does not stand for exactly what is there and nothing else stands for.
	contested bool

	rows    []*persistence.Row
	events  map[string]int   // by ID, of the rows before the current one: positions
	records map[string][]int // by record ID
}

// marksOf works out the marks of a session whose rows can all be read.
func marksOf(rows []*persistence.Row) *marks {
	m := &marks{coveredBy: map[int64]string{}, rows: rows, events: map[string]int{}, records: map[string][]int{}}
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

// store marks what a record stands for.
func (m *marks) store(row *persistence.Row, meta *record.Metadata) {
	clean := row.Event.Branch == meta.Branch
	for _, ref := range meta.Covered {
		i, found := m.events[ref.ID]
		if !known(ref.ID) || !m.mark(i, found && stands(meta, m.rows[i].Event), meta.RecordID) {
			clean = false
		}
	}
	for _, id := range meta.Absorbed {
		n := 0
		for _, i := range m.records[id] {
			if other, err := record.From(m.rows[i].Event); err == nil && m.mark(i, other.Branch == meta.Branch, meta.RecordID) {
				n++
			}
		}
		if n != 1 {
			clean = false
		}
	}
	if meta.Live() {
		_, found := m.events[meta.After.ID]
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

// checkMarks compares the marks in the file with what the records say.
func (e *examination) checkMarks() {
	want := marksOf(e.rows)
	for _, row := range e.rows {
		if by := want.coveredBy[row.Seq]; by != row.CoveredBy {
			e.find(row.Seq, row.ID, RuleCoveredBy, "is marked as covered by %s, and by the records %s: set the mark as the records have it", called(row.CoveredBy), coveredBy(by))
		}
	}
	if want.contested && !e.Contested {
		e.find(0, "", RuleContested, "the records stand for something that is not there, or twice for one thing, and the session is not marked as contested: an app may load too little of it")
	}
}

func called(record string) string {
	if record == "" {
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
