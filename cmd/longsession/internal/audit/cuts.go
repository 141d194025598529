package audit

import (
	"context"
	"iter"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// Cut is one tool result that the limits of an app shorten for the model.
type Cut struct {
	// Seq, Event, InvocationID, Author, CallID and Tool say where the result is and who asked for it.
	Seq          int64  `json:"seq"`
	Event        string `json:"id"`
	InvocationID string `json:"invocation_id,omitempty"`
	Author       string `json:"author,omitempty"`
	CallID       string `json:"call_id,omitempty"`
	Tool         string `json:"tool"`
	// Kind is cut, or stub for a result that is replaced by a short text.
	Kind string `json:"kind"`
	// Ref is the reference of the whole result; empty if the model cannot read it back.
	Ref          string `json:"ref_id,omitempty"`
	BytesBefore  int    `json:"bytes_before"`
	BytesAfter   int    `json:"bytes_after"`
	LinesBefore  int    `json:"lines_before"`
	LinesAfter   int    `json:"lines_after"`
	TokensBefore int    `json:"tokens_before"`
	TokensAfter  int    `json:"tokens_after"`
}

// Looked counts what [File.Cuts] has seen so far.
type Looked struct{ Results, Unreadable int }

// Cuts yields what a cutter shortens in a session, in order, and counts in looked. It passes over events
// that cannot be read.
func (f *File) Cuts(ctx context.Context, s *Session, cutter *toolresult.Cutter, looked *Looked) iter.Seq2[*Cut, error] {
	return func(yield func(*Cut, error) bool) {
		for row, err := range f.Rows(ctx, s, first, -1) {
			if err != nil {
				yield(nil, err)
				return
			}
			if row.Event == nil {
				looked.Unreadable++
				continue
			}
			if row.Event.Content == nil {
				continue
			}
			for _, part := range row.Event.Content.Parts {
				if part != nil && part.FunctionResponse != nil {
					looked.Results++
				}
			}
			for _, c := range cutter.Cuts([]*session.Event{row.Event}) {
				if !yield(cutOf(row.Seq, c), nil) {
					return
				}
			}
		}
	}
}

func cutOf(seq int64, c toolresult.Cut) *Cut {
	return &Cut{
		Seq: seq, Event: c.EventID, InvocationID: c.InvocationID, Author: c.Author, CallID: c.CallID, Tool: c.Tool, Kind: string(c.Kind), Ref: c.Ref,
		BytesBefore: c.BytesBefore, BytesAfter: c.BytesAfter, LinesBefore: c.LinesBefore, LinesAfter: c.LinesAfter, TokensBefore: c.TokensBefore, TokensAfter: c.TokensAfter,
	}
}
