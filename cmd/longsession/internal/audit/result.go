package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/persistence"
)

// Result is a whole tool result of a session. It is in an event or, if the app stored the events with
// shortened results, in the table tool_result_blobs.
type Result struct {
	// Ref is the reference that the model sees as ref_id.
	Ref  string `json:"ref_id"`
	Tool string `json:"tool"`
	// Seq, Event and CallID name the event that has the result, and its call. They are empty if no
	// event has it.
	Seq    int64  `json:"seq,omitempty"`
	Event  string `json:"id,omitempty"`
	CallID string `json:"call_id,omitempty"`
	// Bytes is the length of its content.
	Bytes int64 `json:"bytes"`

	response map[string]any // nil if no event has it
	content  io.ReaderAt    // nil in lists
}

// Content returns a reader of the result, as read_result reads it: the text of a result of one text,
// else JSON.
func (r *Result) Content() io.Reader { return io.NewSectionReader(r.content, 0, r.Bytes) }

// Results returns the results of a session without their contents: those of its events in order, then
// those that no event has. A result that occurs several times is listed once. It passes over events that
// cannot be read, and returns their number.
func (f *File) Results(ctx context.Context, s *Session) (all []*Result, unreadable int, err error) {
	seen := map[string]bool{}
	unreadable, err = f.eachResult(ctx, s, func(r *Result) bool {
		if !seen[r.Ref] {
			r.response, r.content = nil, nil
			all, seen[r.Ref] = append(all, r), true
		}
		return true
	})
	if err != nil {
		return nil, 0, err
	}
	stored, err := storedResults(ctx, f, s)
	for _, r := range stored {
		if !seen[r.Ref] {
			all = append(all, r)
		}
	}
	return all, unreadable, err
}

// eachResult calls visit for the result of each function response of a session, until it returns
// false.
func (f *File) eachResult(ctx context.Context, s *Session, visit func(*Result) bool) (unreadable int, err error) {
	for row, err := range f.Rows(ctx, s, first, -1) {
		switch {
		case err != nil:
			return unreadable, err
		case row.Event == nil:
			unreadable++
			continue
		case row.Event.Content == nil:
			continue
		}
		for _, part := range row.Event.Content.Parts {
			if part != nil && part.FunctionResponse != nil && !visit(resultIn(row, part.FunctionResponse)) {
				return unreadable, nil
			}
		}
	}
	return unreadable, nil
}

// resultIn returns the result of a function response.
func resultIn(row *sessionfile.Row, answer *genai.FunctionResponse) *Result {
	whole := store.ResultOf(answer.Response)
	return &Result{
		Ref: whole.Ref, Tool: answer.Name, Seq: row.Seq, Event: row.ID, CallID: answer.ID,
		Bytes: int64(len(whole.Content)), response: answer.Response, content: strings.NewReader(whole.Content),
	}
}

// storedResults returns the results in the table tool_result_blobs, which an older file does not have.
func storedResults(ctx context.Context, f *File, s *Session) (all []*Result, err error) {
	err = f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		if has, err := hasResults(ctx, snap); !has || err != nil {
			return err
		}
		var r Result
		return answers(ctx, snap, "tool_result_blobs", "SELECT id, tool_name, byte_size FROM tool_result_blobs WHERE session = ? ORDER BY key", []any{s.key},
			[]any{&r.Ref, &r.Tool, &r.Bytes}, func() { one := r; all = append(all, &one) })
	})
	return all, err
}

// hasResults reports whether the file has the tables of tool results.
func hasResults(ctx context.Context, snap *persistence.Snapshot) (bool, error) {
	tables := 0
	err := answers(ctx, snap, "sqlite_schema", "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('tool_result_blobs', 'tool_result_chunks')", nil, []any{&tables}, func() {})
	return tables == 2, err
}

// ErrNoResult is the error of a reference that no result of the session has, or that is the beginning
// of several. If there is none, Refs has the references of the session.
type ErrNoResult struct {
	*ErrWhich
	Refs []string
}

// Unwrap returns the error as one about a name.
func (e *ErrNoResult) Unwrap() error { return e.ErrWhich }

// Result returns the whole result with a reference, or with one that begins so. If there is none, or
// there are several, the error is an [*ErrNoResult].
func (f *File) Result(ctx context.Context, s *Session, ref string) (*Result, error) {
	ref = strings.ToLower(ref)
	if !store.IsRef(ref) {
		all, unreadable, err := f.Results(ctx, s)
		if err != nil {
			return nil, err
		}
		if ref, err = complete(s, all, unreadable, ref); err != nil {
			return nil, err
		}
	}
	var found *Result
	shortened := int64(0) // the event that has the result shortened
	unreadable, err := f.eachResult(ctx, s, func(r *Result) bool {
		if r.Ref == ref {
			found = r
		} else if whole, is := toolresult.IsShortened(r.Tool, r.response); is && whole == ref && shortened == 0 {
			shortened = r.Seq
		}
		return found == nil
	})
	if err != nil || found != nil {
		return found, err
	}
	owner := store.Owner{AppName: s.App, UserID: s.User, SessionID: s.ID}
	content, size, err := persistence.Results(f.stored).Open(ctx, owner, ref)
	if errors.Is(err, store.ErrUnknownRef) {
		all, _, err := f.Results(ctx, s)
		if err != nil {
			return nil, err
		}
		if shortened > 0 {
			return nil, &ErrNoResult{&ErrWhich{fmt.Sprintf("session %q has result %q only shortened, in event %d: the app keeps the whole result elsewhere", s.Name(), ref, shortened)}, nil}
		}
		return nil, noResult(s, all, unreadable, ref)
	}
	if err != nil {
		return nil, err
	}
	stored, err := storedResults(ctx, f, s)
	if err != nil {
		return nil, err
	}
	found = &Result{Ref: ref, Bytes: size, content: content}
	if i := slices.IndexFunc(stored, func(r *Result) bool { return r.Ref == ref }); i >= 0 {
		found.Tool = stored[i].Tool
	}
	return found, nil
}

// complete returns the only reference that begins with ref.
func complete(s *Session, all []*Result, unreadable int, ref string) (string, error) {
	var begun []string
	for _, r := range all {
		if strings.HasPrefix(r.Ref, ref) {
			begun = append(begun, r.Ref)
		}
	}
	switch len(begun) {
	case 1:
		return begun[0], nil
	case 0:
		return "", noResult(s, all, unreadable, ref)
	}
	return "", &ErrNoResult{&ErrWhich{fmt.Sprintf("session %q has %d results whose REF begins with %q: give more of it", s.Name(), len(begun), ref)}, nil}
}

// noResult returns the error for a reference that no result has.
func noResult(s *Session, all []*Result, unreadable int, ref string) error {
	refs := make([]string, len(all))
	for i, r := range all {
		refs[i] = r.Ref
	}
	text := fmt.Sprintf("session %q has no result %q", s.Name(), ref)
	if unreadable > 0 {
		text += fmt.Sprintf(" in the events that can be read (%d cannot: see 'longsession audit verify')", unreadable)
	}
	return &ErrNoResult{&ErrWhich{text}, refs}
}

// Redacted returns a result without the matches of r, in memory. A match may span the key and the
// value of a result of one text, although the content does not have the key. The reference stays,
// and an error wraps [ErrRedact] if a match cannot be redacted.
func (r *Result) Redacted(by *redact.Redactor) (*Result, error) {
	data, err := io.ReadAll(r.Content())
	if err != nil {
		return nil, err
	}
	x, out, text := newRedaction(by), *r, string(data)
	if r.response != nil {
		response, is := by.Value(r.response).(map[string]any)
		if !is {
			response = map[string]any{redact.Mark: redact.Mark}
		}
		text = store.ResultOf(response).Content
	}
	text = by.Text(text)
	if by.Matches(text) {
		return nil, fmt.Errorf("result %s: %w", r.Ref, ErrRedact)
	}
	out.Tool, out.Event, out.CallID = x.name(r.Tool), x.name(r.Event), x.name(r.CallID)
	out.Bytes, out.content, out.response = int64(len(text)), strings.NewReader(text), nil
	return &out, nil
}
