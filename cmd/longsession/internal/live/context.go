package live

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
)

// context shows the view of the model: now or, with a place in the address, as it was in a call.
func (h *Handler) context(r *http.Request, f *audit.File, s *audit.Session) (*content, error) {
	p := events{frame: h.framed(r, s)}
	place := r.URL.Query().Get("at")
	at, err := audit.ParseAt(place)
	if err != nil {
		return nil, &missing{"There is no such prompt: " + err.Error() + "."}
	}
	first := max(1, number(r, "from", 1))
	seen, err := h.seen(r.Context(), f, s, &p, at, first)
	if err == nil && len(seen) == 0 && p.All > 0 { // beyond the end is the last event
		first = p.All
		seen, err = h.seen(r.Context(), f, s, &p, at, first)
	}
	var which *audit.ErrWhich
	switch {
	case asWhich(err, &which):
		return nil, &missing{"There is no such prompt: " + which.Error() + "."}
	case err != nil && (r.Context().Err() != nil || reopens(err)):
		return nil, err
	case err != nil:
		p.Problem = "The view of the model cannot be made: " + err.Error()
		return &content{template: "context", data: p}, nil
	}
	left := int64(0)
	if p.Prompt != nil {
		p.Title, p.Live = "Prompt of event "+strconv.FormatInt(p.Prompt.Answer, 10), "" // it does not change any more
	} else {
		if left, err = h.costs.Read(r.Context(), f, s, mostRead); err != nil {
			return nil, err
		}
		if left == 0 {
			p.Whole = h.costs.Curve(s).History
		}
	}
	if err := h.show(r.Context(), f, s, &p, seen, first); err != nil {
		return nil, err
	}
	page := func(from int64) string {
		more := []string{"from", strconv.FormatInt(max(1, from), 10)}
		if place != "" {
			more = append(more, "at", place)
		}
		return link("/context", s, more...)
	}
	if first > 1 {
		p.Oldest, p.Older = page(1), page(first-pageSize)
	}
	if p.Last < p.All {
		p.Newer, p.Newest = page(first+pageSize), page(p.All-pageSize+1)
	}
	return &content{template: "context", data: p, unfinished: left > 0}, nil
}

// seen reads a page of the view, and how large all of it is.
func (h *Handler) seen(ctx context.Context, f *audit.File, s *audit.Session, p *events, at audit.At, first int64) ([]audit.Entry, error) {
	if at == (audit.At{}) {
		seen, err := f.View(ctx, s, int(first-1), pageSize)
		if err != nil {
			return nil, err
		}
		p.All, p.Tokens = int64(seen.Events), seen.Tokens
		return seen.Entries, nil
	}
	prompt, entries, err := audit.ReadPrompt(ctx, f, s, at, int(first-1), pageSize)
	if err != nil {
		return nil, err
	}
	p.All, p.Tokens = int64(prompt.Events), prompt.Tokens
	if p.Prompt = prompt; prompt.Answer == 0 {
		p.Prompt = nil
		return entries, nil
	}
	seq := strconv.FormatInt(prompt.Answer, 10)
	p.Answered = link("/conversation", s, "from", strconv.FormatInt(max(1, prompt.Answer-pageSize/2), 10)) + "#e" + seq
	p.Calls = nil
	for _, seq := range prompt.Calls {
		p.Calls = append(p.Calls, call{seq, link("/context", s, "at", strconv.FormatInt(seq, 10)), seq == prompt.Answer})
	}
	return entries, nil
}

// show puts the events of a view on the page.
func (h *Handler) show(ctx context.Context, f *audit.File, s *audit.Session, p *events, seen []audit.Entry, first int64) error {
	named, err := audit.ReadNames(ctx, f, s)
	if err != nil {
		return err
	}
	p.First, p.Last = first, first-1+int64(len(seen))
	for i := range seen {
		e := &seen[i]
		one := h.said(s, named, e, false)
		if e.Seq == 0 {
			one.ID = "v" + strconv.Itoa(int(first)+i)
		}
		if e.Record != nil { // the model sees its text, and nothing else of the record
			one.Link = link("/summaries", s, "record", e.Record.RecordID)
			one.Blocks = slices.DeleteFunc(one.Blocks, func(b block) bool { return b.Kind != "text" || b.Title != "" })
		}
		p.Events = append(p.Events, one)
	}
	return nil
}
