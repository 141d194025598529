package audit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/record"
)

// wantCoverage is the content that the column covered_by must have, worked out from the records
// alone, in the order in which they were stored. docs/schema.md has the rules.
//
// For example, if record r1 covers events 1 and 2, and record r2 covers event 3 and absorbs r1,
// then events 1 and 2 are marked with r1, and event 3 and the record r1 with r2. An app loads only
// rows without a mark, and so it finds r2 alone.
type wantCoverage struct {
	coveredBy map[int64]string // by seq
	anchor    map[int64]int64  // by seq of a record, the seq of the event behind which its summary is shown
	// conflicted reports that a record names something that is missing or covered already.
	conflicted bool

	rows    []*sessionfile.Row
	events  map[string]int   // by ID, the positions of the rows before the current one
	records map[string][]int // by record ID, their positions
}

// wantCoverageOf works out the coverage in a session whose rows can all be read.
func wantCoverageOf(rows []*sessionfile.Row) *wantCoverage {
	c := &wantCoverage{coveredBy: map[int64]string{}, anchor: map[int64]int64{}, rows: rows, events: map[string]int{}, records: map[string][]int{}}
	for i, row := range rows {
		if !record.Is(row.Event) {
			c.events[row.ID] = i
			continue
		}
		meta, err := record.From(row.Event)
		if err != nil {
			continue
		}
		if len(c.records[meta.RecordID]) > 0 {
			c.coveredBy[row.Seq] = meta.RecordID // a copy: the first record of an ID counts
		} else {
			c.store(row, meta)
		}
		c.records[meta.RecordID] = append(c.records[meta.RecordID], i)
	}
	return c
}

// store marks what a record covers: its events, and the records that it absorbs. A record must not
// cover events of another branch, and one of tool rounds only events of its own agent. If it names
// anything that is missing, not permitted or marked already, the records conflict. For example, if
// r1 covers events 1 and 2 and then r2 covers events 2 and 3, event 2 keeps the mark of r1, event 3
// gets that of r2, and the session is contested: no set of marks expresses both records.
//
// Like persistence, it skips references whose bytes are not UTF-8.
func (c *wantCoverage) store(row *sessionfile.Row, meta *record.Metadata) {
	clean := adk.Lane(row.Event) == meta.Branch
	may := func(ev *session.Event) bool {
		return adk.Lane(ev) == meta.Branch && (!meta.MidTurn() || meta.Agent == "" || ev.Author == meta.Agent)
	}
	for _, ref := range meta.Covered {
		i, found := c.events[ref.ID]
		if !known(ref.ID) || !c.mark(i, found && may(c.rows[i].Event), meta.RecordID) {
			clean = false
		}
	}
	for _, id := range meta.Absorbed {
		n := 0
		for _, i := range c.records[id] {
			if c.mark(i, adk.Lane(c.rows[i].Event) == meta.Branch, meta.RecordID) {
				n++
			}
		}
		if n != 1 {
			clean = false
		}
	}
	if meta.MidTurn() {
		i, found := c.events[meta.After.ID]
		if found {
			c.anchor[row.Seq] = c.rows[i].Seq
		}
		clean = clean && found && known(meta.After.ID)
	}
	c.conflicted = c.conflicted || !clean
}

// mark marks a row, if it may be covered and is not yet.
func (c *wantCoverage) mark(i int, may bool, by string) bool {
	if !may || c.coveredBy[c.rows[i].Seq] != "" {
		return false
	}
	c.coveredBy[c.rows[i].Seq] = by
	return true
}

// known reports whether an ID in a record can name only one stored ID. In a record, bytes that are
// not UTF-8 become U+FFFD, so the stored IDs "a\xff" and "a\xfe" look the same in it.
func known(id string) bool { return id != "" && !strings.ContainsRune(id, utf8.RuneError) }

// checkCoverage compares the marks in the file with the records and, if whole, with the links. A
// missing mark makes apps load an event that a summary already tells; a wrong one hides an event
// that no summary tells. A session is contested if its records conflict, or if a call was stored
// after its answer, which the links cannot express either. A missing mark for that is always a
// finding. A needless one is reported only if no rows are missing: a record that names a deleted
// event conflicts for that reason alone.
func (e *examination) checkCoverage(links *wantLinks, whole bool) {
	want := wantCoverageOf(e.rows)
	for _, row := range e.rows {
		if by := want.coveredBy[row.Seq]; by != row.CoveredBy || row.Covered != (by != "") {
			e.find(row.Seq, row.ID, RuleCoveredBy, "is marked as covered by %s, but according to the records %s: the mark or a record was changed", quoteOr(row.Covered, row.CoveredBy), coveredBy(by))
		}
		if at := want.anchor[row.Seq]; at != row.Anchor && whole {
			e.find(row.Seq, row.ID, RuleLinks, "the column anchor is %s, but must be %s: it was changed", orNull(row.Anchor), orNull(at))
		}
	}
	switch conflicted := want.conflicted || links.conflicted; {
	case conflicted && !e.Contested:
		e.find(0, "", RuleConflicted, "the records name something that is missing, or cover an event twice, or a call came after its answer, but the session is not marked as contested: an app may load too little of it")
	case !conflicted && e.Contested && whole:
		e.find(0, "", RuleConflicted, "is marked as contested, but its records do not conflict: an app loads all of it at every turn for nothing")
	}
}

// quoteOr quotes the record in a mark, or returns "nothing" if there is no mark.
func quoteOr(marked bool, record string) string {
	if !marked {
		return "nothing"
	}
	return fmt.Sprintf("%q", record)
}

func coveredBy(record string) string {
	if record == "" {
		return "nothing covers it"
	}
	return fmt.Sprintf("%q covers it", record)
}
