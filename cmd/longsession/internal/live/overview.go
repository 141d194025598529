package live

import (
	"context"
	"net/http"
	"strconv"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
)

// turn is a row of the table that has the same numbers as the curves.
type turn struct {
	Number, Calls, Prompt, Whole int
	Seq                          int64
	USD                          float64
	Link                         string // of the prompt of its last call
}

func (h *Handler) overview(r *http.Request, f *audit.File, s *audit.Session) (*content, error) {
	ctx := r.Context()
	left, err := h.costs.Read(ctx, f, s, mostRead)
	if err != nil {
		return nil, err
	}
	curve, costs := h.costs.Curve(s), h.costs.Costs(s, 0)
	if left > 0 {
		costs.Difference = "" // it would compare with a part
	}
	records, err := recordsOf(ctx, f, s, curve.Records[max(0, len(curve.Records)-mostMarks):])
	if err != nil {
		return nil, err
	}
	data := struct {
		frame
		Costs          *audit.Costs
		Curve          *audit.Curve
		Newest         *audit.ModelCall
		Largest        int
		Turns          []turn
		Records        []compaction
		EarlierRecords int
		CurveLink      string
		PromptLink     string // without the number of the event
		Children       []listed
		Stopped        string
		Left           int64 // events that are not counted yet
	}{Left: left, frame: h.framed(r, s), Costs: costs, Curve: curve, Turns: turnsOf(s, curve.Calls), Records: records,
		EarlierRecords: len(curve.Records) - len(records), CurveLink: link("/curve", s), PromptLink: link("/context", s)}
	for _, c := range curve.Calls {
		data.Largest = max(data.Largest, c.Prompt)
	}
	if n := len(curve.Calls); n > 0 {
		data.Newest = &curve.Calls[n-1]
	}
	for _, child := range s.Children {
		data.Children = append(data.Children, listed{Session: child, Link: link("/session", child)})
	}
	if l := s.Ledger; l != nil && l.Stopped != nil {
		data.Stopped = l.Stopped.String()
	}
	return &content{template: "overview", data: data, unfinished: left > 0}, nil
}

// turnsOf sums up the newest turns.
func turnsOf(s *audit.Session, calls []audit.ModelCall) []turn {
	var out []turn
	for _, c := range calls {
		if len(out) == 0 || out[len(out)-1].Number != c.Turn {
			out = append(out, turn{Number: c.Turn, Seq: c.Seq})
		}
		t := &out[len(out)-1]
		t.Calls++
		t.Link = link("/context", s, "at", strconv.FormatInt(c.Seq, 10))
		t.Prompt, t.Whole, t.USD = max(t.Prompt, c.Prompt), max(t.Whole, c.Whole), c.USD.USD()
	}
	return out[max(0, len(out)-mostTurns):]
}

// compaction is a record as the pages show it.
type compaction struct {
	audit.Compaction
	Name    string
	Summary string
	Link    string
}

// recordsOf reads the records with some numbers.
func recordsOf(ctx context.Context, f *audit.File, s *audit.Session, seqs []int64) ([]compaction, error) {
	named, err := audit.ReadNames(ctx, f, s)
	if err != nil {
		return nil, err
	}
	var out []compaction
	for _, seq := range seqs {
		for row, err := range f.Rows(ctx, s, seq, 1) {
			if err != nil {
				return nil, err
			}
			e := audit.EntryOf(row)
			if e.Record == nil {
				continue
			}
			out = append(out, compaction{Compaction: *e.Record, Name: named.Of(e.Record.RecordID), Summary: summaryOf(&e), Link: link("/summaries", s, "record", e.Record.RecordID)})
		}
	}
	return out, nil
}
