package audit

import (
	"cmp"
	"slices"
)

// Causes sorts the findings about one session, as [File.Verify] reports them, by what caused them: one finding for each
// cause, with what else does not fit because of it in Also. sealed are the differences of the session from a seal, which
// come first, because they say best what happened.
//
// For example, the events 20 to 23 were deleted. That is one finding, "events 20 to 23 are missing"; also, the digest of
// event 24 does not follow, and a record covers four events that are not in the session. Nothing is left out, since a
// second change could hide behind the first one.
func Causes(found, sealed []Finding) []Finding {
	found = alike(found)
	bySeq := func(a, b Finding) int { return cmp.Compare(a.Seq, b.Seq) }
	causes := slices.Clone(sealed)
	slices.SortStableFunc(causes, bySeq)
	gaps := slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return !f.gap() })
	explained := func(f Finding) bool {
		return slices.ContainsFunc(gaps, func(gap Finding) bool { return gap.explains(f) })
	}
	var rows, rest []Finding // what happened to rows, and everything else
	for _, f := range found {
		switch at := slices.IndexFunc(causes, func(c Finding) bool { return c.explains(f) }); {
		case f.Rule != RuleChain && !f.gap():
			rest = append(rest, f)
		case at >= 0:
			causes[at].Also = append(causes[at].Also, f)
		case f.gap() || !explained(f):
			rows = append(rows, f)
		default:
			rest = append(rest, f) // the events in front of it are missing
		}
	}
	slices.SortStableFunc(rows, bySeq)
	causes = append(causes, rows...)
	nearest := nearestOf(causes)
	var others []Finding
	for _, f := range rest {
		if len(causes) == 0 || !follows[f.Rule] {
			others = append(others, f)
			continue
		}
		at := nearest(f.Seq)
		causes[at].Also = append(causes[at].Also, f)
	}
	return append(causes, marks(others)...)
}

// explains reports whether what happened to rows, by a seal or by the numbers that are missing, is why a digest does not
// follow, or why numbers are missing: the digest of an event depends on the event in front of it. Events of a
// session that was created anew are all explained.
func (f Finding) explains(of Finding) bool {
	was := of.Seq + of.shift
	return f.Seq == 0 || f.Seq <= was && was <= f.last()+1
}

// follows are the rules that rows which were changed, deleted or moved break besides: what depends on the rows of
// the session.
var follows = map[string]bool{
	RuleAppended: true, RuleChain: true, RuleRecord: true, RuleLinks: true, RuleCoveredBy: true, RuleConflicted: true, RuleTimes: true,
	RuleState: true, RuleHidden: true, RuleFormed: true, RuleRaw: true,
}

// gap reports whether the finding is about numbers that are missing.
func (f Finding) gap() bool { return f.Rule == RuleAppended && f.kind == missing }

// nearestOf returns a function for the position of the last cause that is not behind an event, 0 if all are.
func nearestOf(causes []Finding) func(seq int64) int {
	order := make([]int, len(causes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(causes[a].Seq, causes[b].Seq) })
	return func(seq int64) int {
		at, _ := slices.BinarySearchFunc(order, seq+1, func(i int, seq int64) int { return cmp.Compare(causes[i].Seq, seq) })
		if at == 0 {
			return 0
		}
		return order[at-1]
	}
}

// alike makes one finding of those that say the same of several events: of marks that name the same record, of events
// in a row whose digests do not follow, of one record, and of the links between events.
func alike(found []Finding) []Finding {
	var out []Finding
	known := map[group]int{} // positions in out
	for _, f := range found {
		of, joins := f.group(f.Seq - 1)
		i, has := known[of]
		if f.Warning || !joins || !has || f.Seq == 0 {
			f.seqs = append(f.seqs, f.Seq)
			out = append(out, f)
			i = len(out) - 1
		} else {
			out[i].add(f)
		}
		if next, joins := f.group(out[i].last()); joins && !f.Warning {
			known[next] = i
		}
	}
	return out
}

// group is what findings of one kind and of one cause have in common.
type group struct {
	rule, kind, text string
	seq              int64
}

// group returns the group of a finding, if it may join others. last is the number of the event behind which it follows.
func (f Finding) group(last int64) (of group, joins bool) {
	of = group{rule: f.Rule, kind: f.kind}
	switch f.Rule {
	case RuleRecord:
		of.seq = f.Seq
	case RuleChain, RuleEvent:
		of.seq = last
	case RuleLinks, RuleHidden, RuleFormed, RuleRaw:
	case RuleCoveredBy:
		of.text = f.Text
	default:
		return of, false
	}
	return of, true
}

// add takes another finding of the same group in.
func (f *Finding) add(other Finding) {
	f.seqs = append(f.seqs, other.Seq)
	if other.Seq == f.last() {
		f.More++
		return
	}
	f.Events = max(f.Events, 1) + 1
	f.Last = other.Seq
}

// last is the number of the last event that the finding is about.
func (f Finding) last() int64 { return max(f.Seq, f.Last) }

// marks puts what a view lacks below the mark that hides it, and the mark on the session below the records that conflict:
// the mark that an event is covered also hides the event.
func marks(found []Finding) []Finding {
	var out []Finding
	for _, f := range found {
		at := -1
		switch f.Rule {
		case RuleHidden, RuleFormed, RuleRaw:
			at = slices.IndexFunc(out, func(c Finding) bool { return c.Rule == RuleCoveredBy && c.has(f) })
		case RuleConflicted:
			at = slices.IndexFunc(out, func(c Finding) bool { return c.Rule == RuleRecord || c.Rule == RuleCoveredBy })
		}
		if at < 0 {
			out = append(out, f)
		} else {
			out[at].Also = append(out[at].Also, f)
		}
	}
	return out
}

// has reports whether the finding is about all events of another.
func (f Finding) has(other Finding) bool {
	own := map[int64]bool{}
	for _, seq := range f.seqs {
		own[seq] = true
	}
	return !slices.ContainsFunc(other.seqs, func(seq int64) bool { return !own[seq] })
}
