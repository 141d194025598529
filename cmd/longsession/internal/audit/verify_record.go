package audit

import (
	"cmp"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// maxOverhead is the most that an estimate adds for each event beyond its text, in tokens. Versions
// differ, and none added more.
const maxOverhead = 16

// leastCut is the smallest result, in tokens, that is taken for one that the view may have cut.
const leastCut = 256

// recordCheck compares one record with the events and the records it names.
type recordCheck struct {
	*examination
	row   *sessionfile.Row
	m     *record.Metadata
	index *record.Index
	whole bool // no rows are missing, so everything that the record names must exist
	// complete reports that everything the record names was found, so its numbers can be
	// recomputed.
	complete bool
}

// checkRecords recomputes what each readable record claims about the events and records that it
// covers. It skips the numbers of a record with references that cannot be resolved.
//
// For example, a record that covers e1 to e3 repeats the author, invocation and time of each, and
// claims 3 events, the times of e1 and e3, and the sum of three sizes. Somebody who adds e4 to the
// record, to hide it, must also know the author and time of e4 and correct the count, the end and
// the size.
func (e *examination) checkRecords(whole bool) {
	index := record.NewIndex(e.events)
	for _, row := range e.rows {
		m, err := record.From(row.Event)
		if err != nil || m == nil {
			continue
		}
		c := &recordCheck{examination: e, row: row, m: m, index: index, whole: whole, complete: true}
		if branch := record.Normalize(adk.Lane(row.Event)); branch != m.Branch {
			c.report("is stored in branch %q, but the record is about branch %q", branch, m.Branch)
		}
		c.checkCovered()
		c.checkAbsorbed()
		c.checkPoints()
		c.checkNumbers()
		c.checkValues()
		c.checkUncut()
	}
}

func (c *recordCheck) report(format string, args ...any) {
	c.find(c.row.Seq, c.row.ID, RuleRecord, format, args...)
}

// checkCovered compares each reference with the event that it names. A backend may store events
// without an ID; a reference to one is found by author, invocation and time instead, and the numbers
// of its record are not recomputed.
func (c *recordCheck) checkCovered() {
	seen := map[string]bool{}
	for _, ref := range c.m.Covered {
		if !known(ref.ID) {
			c.complete = false // in JSON, another event may have the same ID
			if _, found := c.index.Find(ref); !found && ref.ID == "" && c.whole {
				c.report("covers an event without an ID, but there is none by %q in invocation %q at %s: the reference was changed", ref.Author, ref.InvocationID, stamp(ref.Timestamp))
			}
			continue
		}
		if seen[ref.ID] {
			c.report("covers event %q twice: the reference was added", ref.ID)
		}
		seen[ref.ID] = true
		c.checkRef("covers", ref, c.isOf)
		if ev := c.byID[ref.ID]; ev != nil && c.m.MidTurn() && record.Normalize(ev.Author) != c.m.Agent {
			c.report("covers event %q by %q, but a summary of tool rounds covers only those of its agent, %q", ref.ID, ev.Author, c.m.Agent)
		}
	}
}

// checkRef compares a reference with the event of its ID: author, invocation, time, branch and
// order. relation is the verb of the finding, such as "covers", and may says which branches the event may be of. A record
// comes after everything that it names, so a reference to a later event cannot be genuine.
func (c *recordCheck) checkRef(relation string, ref record.Ref, may func(branch string) bool) {
	ev := c.byID[ref.ID]
	if ev == nil {
		c.complete = false
		if c.whole {
			c.report("%s event %q, which is not in the session: the reference was changed", relation, ref.ID)
		}
		return
	}
	if is := record.RefTo(ev).AltKey(); ref.AltKey() != is {
		c.report("%s event %q by %q in invocation %q at %s, but that event is by %q in invocation %q at %s: the reference was changed or added",
			relation, ref.ID, ref.Author, ref.InvocationID, stamp(ref.Timestamp), is.Author, is.InvocationID, stamp(ev.Timestamp))
	}
	if branch := record.Normalize(adk.Lane(ev)); !may(branch) {
		c.report("%s event %q of branch %q, but the record is about branch %q", relation, ref.ID, branch, c.m.Branch)
	}
	if seq := c.seq[ev]; seq >= c.row.Seq {
		c.report("%s event %q, which is number %d and was stored after the record", relation, ref.ID, seq)
	}
}

func (c *recordCheck) isOf(branch string) bool { return branch == c.m.Branch }

// isSeen reports whether the agents of the record's branch see a branch: a summary of what one of them did is shown behind
// the newest event of somebody else that it saw.
func (c *recordCheck) isSeen(branch string) bool { return adk.Visible(c.m.Branch, branch) }

// checkAbsorbed checks that the absorbed records exist, are earlier and of the record's branch, and
// that the level is one more than the highest of theirs: a record of level 0 and one of level 2
// merge into one of level 3, and a record that absorbs none has level 0.
func (c *recordCheck) checkAbsorbed() {
	seen, level, found := map[string]bool{}, 0, true
	for _, id := range c.m.Absorbed {
		a := c.records[id]
		switch {
		case seen[id]:
			c.report("absorbs record %q twice", id)
		case a == nil:
			found, c.complete = false, false
			if c.whole {
				c.report("absorbs record %q, which is not in the session or cannot be read", id)
			}
		case a.Branch != c.m.Branch:
			c.report("absorbs record %q of branch %q, but the record is about branch %q", id, a.Branch, c.m.Branch)
		case c.recordSeq[id] >= c.row.Seq:
			c.report("absorbs record %q, which is number %d and was not stored earlier", id, c.recordSeq[id])
		}
		if a != nil {
			level = max(level, a.Level+1)
		}
		seen[id] = true
	}
	if found && c.m.Level != level {
		c.report("is of level %d, but must be of level %d, because of the records that it absorbs", c.m.Level, level)
	}
}

// checkUncut compares the longer prose that a record keeps with what it was cut from: the summaries of the records that it
// absorbs, or what one of them keeps.
func (c *recordCheck) checkUncut() {
	if c.m.Uncut == "" {
		return
	}
	var whole []string
	for _, id := range c.m.Absorbed {
		a := c.records[id]
		if a == nil || a.Uncut == c.m.Uncut {
			return
		}
		text, _ := a.Whole() // a record that can be read has one
		whole = append(whole, text)
	}
	if strings.Join(whole, "\n") != c.m.Uncut {
		c.report("keeps a longer prose that no record it absorbs has: it was added or changed")
	}
}

// checkPoints compares the events that the record refers to without covering them: the newest event
// at the time of the compaction, and the event behind which a summary of tool rounds is shown.
func (c *recordCheck) checkPoints() {
	for _, point := range []struct {
		relation string
		ref      record.Ref
		may      func(branch string) bool
	}{{"was made when the newest event was", c.m.Through, c.isOf}, {"is shown behind", c.m.After, c.isSeen}} {
		if known(point.ref.ID) {
			complete := c.complete
			c.checkRef(point.relation, point.ref, point.may)
			c.complete = complete // no number depends on it
		}
	}
}

// checkNumbers recomputes counts, times and sizes from the events that the record names and from the
// records that it absorbs. For example, if r3 covers e7 and absorbs r1 (3 events) and r2 (3 events),
// it stands for 7 events, from the start of r1 to the time of e7. A count that is too low is wrong
// even if some reference was not found; any other number is checked only if all were.
func (c *recordCheck) checkNumbers() {
	m := c.m
	events, covered, results, absorbed, counted := len(m.Covered), 0, 0, 0, true
	var start, end time.Time
	widen := func(from, to time.Time) {
		if start.IsZero() || from.Before(start) {
			start = from
		}
		if end.IsZero() || to.After(end) {
			end = to
		}
	}
	for _, ref := range m.Covered {
		if ev := c.byID[ref.ID]; ev != nil {
			covered += tokens.OfEvent(ev)
			results += sizeOfResults(ev)
			widen(ev.Timestamp, ev.Timestamp)
		}
	}
	for _, id := range m.Absorbed {
		if a := c.records[id]; a != nil {
			events += a.EventCount
			absorbed += a.OriginalTokens
			counted = counted && a.OriginalTokens > 0
			widen(a.StartTimestamp, a.EndTimestamp)
		}
	}
	if m.EventCount < events || m.EventCount > events && c.complete {
		c.report("claims to cover %d events, but names %d: the record was changed", m.EventCount, events)
	}
	if c.complete && (micros(m.StartTimestamp) != micros(start) || micros(m.EndTimestamp) != micros(end)) {
		c.report("claims to cover %s to %s, but names events of %s to %s: the record was changed",
			stamp(m.StartTimestamp), stamp(m.EndTimestamp), stamp(start), stamp(end))
	}
	c.checkTokens(covered, results, absorbed, counted && c.complete)
}

// micros is a time as records keep it: within four-digit years, in microseconds.
func micros(t time.Time) int64 { return record.Ref{Timestamp: t}.AltKey().Micros }

// checkTokens recomputes the sizes in a record, if it has any. The overhead that an estimate adds
// to the text of an event differs between versions, so checkTokens accepts any overhead that is the
// same for each event. For example, three events of 100 tokens of text may be claimed as 300, 303 or
// 312 tokens, but not as 304.
//
// An app may show results shorter than they are stored (compaction.Config.Cut), and the record then has the
// size that was shown. So of the covered tokens, those of large results may be missing from the claim.
func (c *recordCheck) checkTokens(covered, results, absorbed int, counted bool) {
	m := c.m
	if m.OriginalTokens == 0 && m.CompactedTokens == 0 && m.CompressionRatio == 0 {
		return // its writer did not measure it
	}
	ratio := 0.0
	if m.CompactedTokens > 0 {
		ratio = float64(m.OriginalTokens) / float64(m.CompactedTokens)
	}
	if cmp.Compare(m.CompressionRatio, ratio) != 0 {
		c.report("claims that %d tokens became %d, which is a ratio of %g and not %g: the record was changed", m.OriginalTokens, m.CompactedTokens, ratio, m.CompressionRatio)
	}
	if counted {
		overhead, events := m.OriginalTokens-absorbed-covered, len(m.Covered)
		whole := overhead >= 0 && overhead <= events*maxOverhead && (events == 0 || overhead%events == 0)
		cut := results > 0 && overhead >= -results && overhead < events*maxOverhead
		if !whole && !cut {
			c.report("claims to cover %d tokens, but names events of %d: the record or an event was changed", m.OriginalTokens, absorbed+covered+events*promptsize.EventOverhead)
		}
	}
	// Some records count the summary without its frame.
	text, err := m.Text()
	early, size := tokens.Estimate(text)+promptsize.EventOverhead, promptsize.OfSummary(m)
	if err == nil && m.CompactedTokens != early && m.CompactedTokens != size {
		c.report("has a summary of %d tokens, but claims %d: the summary was changed", size, m.CompactedTokens)
	}
}

// sizeOfResults is how many of an event's tokens are those of tool results that the view may have cut.
func sizeOfResults(ev *session.Event) int {
	if ev.Content == nil {
		return 0
	}
	size := 0
	for _, part := range ev.Content.Parts {
		if part != nil && part.FunctionResponse != nil {
			if n := tokens.OfPart(&genai.Part{FunctionResponse: &genai.FunctionResponse{Response: part.FunctionResponse.Response}}); n >= leastCut {
				size += n
			}
		}
	}
	return size
}
