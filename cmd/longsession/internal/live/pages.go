package live

import (
	"cmp"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
)

const (
	pageSize      = 100    // events of a page
	mostGrown     = 500    // events of the newest page, which grows while it is read
	mostListed    = 200    // sessions of a list
	mostShown     = 20_000 // bytes of a text; /event has all of it
	mostTurns     = 50     // turns of a table
	mostBeside    = 50     // events beside a summary
	mostSummaries = 20     // of a page
	mostMarks     = 300    // compactions on a curve
	mostRead      = 10_000 // events that a request adds to the curves: about a second
)

// frame is what every page has around its content.
type frame struct {
	Title, File string
	// Session and Tabs are set on the pages of a session.
	Session *audit.Session
	Tabs    []tab
	// Parent is the session that this one is a subtask of.
	ParentLink, Parent string
	// Problem is what could not be shown.
	Problem string
	// Live is the address that the script asks for news.
	Live string
}

type tab struct {
	Name, Link string
	Here       bool
}

// framed returns the frame of a page of a session.
func (h *Handler) framed(r *http.Request, s *audit.Session) frame {
	f := frame{Title: s.ID, File: filepath.Base(h.cfg.Path), Session: s, Live: r.URL.RequestURI()}
	for _, t := range []struct{ name, page string }{
		{"Overview", "/session"}, {"Conversation", "/conversation"}, {"What the model sees", "/context"}, {"Summaries", "/summaries"},
	} {
		f.Tabs = append(f.Tabs, tab{t.name, link(t.page, s), t.page == r.URL.Path})
	}
	if s.Parent != "" {
		parent := *s
		parent.ID = s.Parent
		f.Parent, f.ParentLink = s.Parent, link("/session", &parent)
	}
	return f
}

// listed is a session of the list.
type listed struct {
	*audit.Session
	Link  string
	Depth int
}

// list prepares the list of the sessions. It leads on to the session that the server was started for, or to the only one.
func (h *Handler) list(r *http.Request, f *audit.File) (*made, error) {
	ctx := r.Context()
	if h.cfg.Session != "" {
		if s, err := f.Find(ctx, h.cfg.Session, h.cfg.Narrow); err == nil {
			return &made{make: func() (*content, error) { return &content{redirect: link("/session", s)}, nil }}, nil
		}
	}
	state, err := audit.State(ctx, f)
	if err != nil {
		return nil, err
	}
	return &made{state, func() (*content, error) { return h.sessions(r, f) }}, nil
}

func (h *Handler) sessions(r *http.Request, f *audit.File) (*content, error) {
	all, err := f.Sessions(r.Context(), h.cfg.Narrow)
	if err != nil {
		return nil, err
	}
	heads := audit.Heads(all)
	if len(heads) == 1 && !r.URL.Query().Has("all") {
		return &content{redirect: link("/session", heads[0])}, nil
	}
	slices.SortStableFunc(heads, func(a, b *audit.Session) int { return cmp.Compare(b.Updated, a.Updated) })
	data := struct {
		frame
		Sessions []listed
		More     int
	}{frame: frame{Title: "Sessions", File: filepath.Base(h.cfg.Path), Live: r.URL.RequestURI()}, More: max(0, len(heads)-mostListed)}
	for _, s := range heads[:min(mostListed, len(heads))] {
		data.Sessions = append(data.Sessions, listed{Session: s, Link: link("/session", s)})
	}
	return &content{template: "sessions", data: data}, nil
}

// summaryOf returns the summary of a record, or why it cannot be read, with everything visible.
func summaryOf(e *audit.Entry) string {
	for _, b := range audit.ArticleOf(e).Blocks {
		if b.Kind == "summary" || b.Kind == "problem" {
			return clip(b.Text)
		}
	}
	return ""
}

func clip(text string) string {
	if len(text) <= mostShown {
		return text
	}
	return strings.ToValidUTF8(text[:mostShown], "") + "…"
}

// points is the data of the curves, from a call on.
type points struct {
	From    int       `json:"from"`
	Limit   int       `json:"limit"`
	Turns   []int     `json:"turns"`
	Seqs    []int64   `json:"seqs"`
	With    []int     `json:"with"`
	Without []int     `json:"without"`
	USD     []float64 `json:"usd"`
	Marks   []int     `json:"marks"`
}

func (h *Handler) curve(r *http.Request, f *audit.File, s *audit.Session) (*content, error) {
	left, err := h.costs.Read(r.Context(), f, s, mostRead)
	if err != nil {
		return nil, err
	}
	c := h.costs.Curve(s)
	from := int(min(max(number(r, "from", 0), 0), int64(len(c.Calls))))
	calls := c.Calls[from:]
	p := &points{From: from, Limit: c.Window, Turns: make([]int, len(calls)), Seqs: make([]int64, len(calls)), With: make([]int, len(calls)), Without: make([]int, len(calls)),
		USD: make([]float64, len(calls)), Marks: append([]int{}, c.Compactions[max(0, len(c.Compactions)-mostMarks):]...)}
	for i, call := range calls {
		p.Turns[i], p.Seqs[i], p.With[i], p.Without[i], p.USD[i] = call.Turn, call.Seq, call.Prompt, call.Whole, call.USD.USD()
	}
	return &content{json: p, unfinished: left > 0}, nil
}

// said is an event on a page.
type said struct {
	*audit.Article
	ID     string // of the element
	Kind   string // user, agent or record
	Link   string // of the whole event
	Saw    string // address of the prompt that it answered
	Blocks []block
}

type block struct {
	audit.Block
	Cut  bool
	Link string
}

func (h *Handler) said(s *audit.Session, named *audit.Names, e *audit.Entry, whole bool) said {
	shown := *e
	named.Entry(&shown)
	a := audit.ArticleOf(&shown)
	one := said{Article: a, Kind: "agent"}
	if a.Seq > 0 {
		one.ID, one.Link = "e"+strconv.FormatInt(a.Seq, 10), link("/event", s, "seq", strconv.FormatInt(a.Seq, 10))
	}
	if a.Seq > 0 && audit.IsAnswer(e) {
		one.Saw = link("/context", s, "at", strconv.FormatInt(a.Seq, 10))
	}
	switch {
	case a.Record != "":
		one.Kind = "record"
	case a.Author == "user":
		one.Kind = "user"
	}
	for _, b := range a.Blocks {
		shown := block{Block: b}
		if !whole && len(b.Text) > mostShown {
			shown.Text, shown.Cut = clip(b.Text), true
		}
		switch b.Kind {
		case "subtask":
			child := *s
			child.ID = b.Text
			shown.Link = link("/session", &child)
		case "summary":
			shown.Link = link("/summaries", s, "record", e.Record.RecordID)
		}
		one.Blocks = append(one.Blocks, shown)
	}
	return one
}

// events is a page of a conversation, or of a context.
type events struct {
	frame
	Events []said
	// First and Last are the numbers of the first and the last event of the page, All how many there are.
	First, Last, All int64
	// Older, Newer, Oldest and Newest are addresses, empty where there is nothing.
	Oldest, Older, Newer, Newest string
	// Grows reports whether the newest events are on the page.
	Grows  bool
	Tokens int
	Whole  int
	// Prompt is set on the page of a prompt as it was, and Calls are the other prompts of its turn.
	Prompt   *audit.Prompt
	Calls    []call
	Answered string
}

// call is a prompt of a turn: the number of the event that answered it.
type call struct {
	Seq  int64
	Link string
	Here bool
}

// annotated reads some events, what other events say about them, and the names of the records.
func annotated(r *http.Request, f *audit.File, s *audit.Session, from int64, limit int) (rows []*sessionfile.Row, notes *audit.Annotator, named *audit.Names, err error) {
	for row, err := range f.Rows(r.Context(), s, from, limit) {
		if err != nil {
			return nil, nil, nil, err
		}
		rows = append(rows, row)
	}
	if notes, err = audit.AnnotateRows(r.Context(), f, s, rows); err == nil {
		named, err = audit.ReadNames(r.Context(), f, s)
	}
	return rows, notes, named, err
}

func (h *Handler) conversation(r *http.Request, f *audit.File, s *audit.Session) (*content, error) {
	p := events{frame: h.framed(r, s), All: s.Events}
	newest := max(1, s.Events-pageSize+1)
	first, limit := newest, mostGrown
	switch q := r.URL.Query(); {
	case q.Has("since"): // the newest page, which began there when it was opened
		first = min(max(number(r, "since", newest), s.Events-mostGrown+1, 1), newest)
	case q.Has("from"):
		if first = min(max(number(r, "from", newest), 1), max(1, s.Events)); first+pageSize <= s.Events {
			limit = pageSize
		}
	}
	rows, notes, named, err := annotated(r, f, s, first, limit)
	if err != nil {
		return nil, err
	}
	p.First, p.Last = first, first-1
	for _, row := range rows {
		e := notes.Entry(row)
		p.Events = append(p.Events, h.said(s, named, &e, false))
		p.Last = row.Seq
	}
	p.All = max(p.All, p.Last)
	p.Grows = limit == mostGrown
	p.Live = link("/conversation", s, "since", strconv.FormatInt(first, 10))
	if !p.Grows {
		p.Live = ""
	}
	at := func(from int64) string { return link("/conversation", s, "from", strconv.FormatInt(max(1, from), 10)) }
	if first > 1 {
		p.Oldest, p.Older = at(1), at(first-pageSize)
	}
	if !p.Grows {
		p.Newer, p.Newest = at(first+pageSize), link("/conversation", s)
	}
	return &content{template: "conversation", data: p}, nil
}

// event shows one event in full.
func (h *Handler) event(r *http.Request, f *audit.File, s *audit.Session) (*content, error) {
	seq := number(r, "seq", -1)
	rows, notes, named, err := annotated(r, f, s, max(seq, 1), 1)
	if err != nil {
		return nil, err
	}
	p := events{frame: h.framed(r, s)}
	p.Live = ""
	for _, row := range rows {
		if e := notes.Entry(row); row.Seq == seq {
			p.Events = append(p.Events, h.said(s, named, &e, true))
			p.Older = link("/conversation", s, "from", strconv.FormatInt(max(1, seq-pageSize/2), 10)) + "#e" + strconv.FormatInt(seq, 10)
		}
	}
	if len(p.Events) == 0 {
		return nil, &missing{"The session has no event " + strconv.FormatInt(seq, 10) + "."}
	}
	return &content{template: "event", data: p}, nil
}

// replaced is a summary and the events next to it.
type replaced struct {
	compaction
	Events      []said
	More        int
	Rest        string // address of the last event that is shown, behind which the others are
	Through     int    // absorbed records
	Focus, Note string
}

func (h *Handler) summaries(r *http.Request, f *audit.File, s *audit.Session) (*content, error) {
	data := struct {
		frame
		Summaries []replaced
		Only, All bool
		AllLink   string
		Hidden    int // older summaries that are not shown
	}{frame: h.framed(r, s), AllLink: link("/summaries", s, "all", "1"), Only: r.URL.Query().Has("record"), All: r.URL.Query().Has("all")}
	found, older, err := audit.ReadBeside(r.Context(), f, s, r.URL.Query().Get("record"), data.All, mostSummaries, mostBeside)
	var which *audit.ErrWhich
	switch {
	case asWhich(err, &which):
		return nil, &missing{"This session has no such summary: " + which.Error() + "."}
	case err != nil && (r.Context().Err() != nil || reopens(err)):
		return nil, err
	case err != nil:
		data.Problem = "The summaries cannot be read: " + err.Error()
	}
	named, err := audit.ReadNames(r.Context(), f, s)
	if err != nil {
		return nil, err
	}
	data.Hidden = older
	for i := range found {
		data.Summaries = append(data.Summaries, h.replaced(s, named, &found[i]))
	}
	return &content{template: "summaries", data: data}, nil
}

func (h *Handler) replaced(s *audit.Session, named *audit.Names, of *audit.Beside) replaced {
	e := audit.Entry{Record: &of.Compaction}
	a := replaced{compaction: compaction{Compaction: of.Compaction, Name: named.Of(of.RecordID), Summary: summaryOf(&e), Link: link("/event", s, "seq", strconv.FormatInt(of.Seq, 10))},
		Through: len(of.Through) - 1}
	for _, b := range audit.ArticleOf(&e).Blocks {
		switch b.Title {
		case "focus":
			a.Focus = b.Text
		case "note":
			a.Note = b.Text
		}
	}
	for i := range of.Replaced {
		a.Events = append(a.Events, h.said(s, named, &of.Replaced[i], false))
	}
	if a.More = of.All - len(a.Events); a.More > 0 {
		last := of.Replaced[len(of.Replaced)-1].Seq
		a.Rest = link("/conversation", s, "from", strconv.FormatInt(last, 10)) + "#e" + strconv.FormatInt(last, 10)
	}
	return a
}

// shortTime is a stored time to the second.
func shortTime(at string) string {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return at
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}
