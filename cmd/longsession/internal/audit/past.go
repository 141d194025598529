package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// At is a place in a session: an event or a turn. The zero value is the next prompt.
type At struct {
	Seq  int64
	Turn int
}

// turnMark begins the name of a turn, as in turn12.
const turnMark = "turn"

// ParseAt reads a place: 47 is event 47, turn12 is turn 12, and an empty text is the next prompt.
func ParseAt(text string) (At, error) {
	number, turn := strings.CutPrefix(text, turnMark)
	n, err := strconv.ParseInt(number, 10, 64)
	switch {
	case text == "":
		return At{}, nil
	case err != nil || n < 1:
		return At{}, fmt.Errorf("%q is neither the number of an event, such as 47, nor that of a turn, such as turn12", text)
	case turn:
		return At{Turn: int(min(n, 1<<31))}, nil
	}
	return At{Seq: n}, nil
}

// Prompt is what went into the prompt of a model call, as far as the file has it.
type Prompt struct {
	// Answer is the number of the event by which the model answered, 0 if that is still to come, and Turn the number of its
	// turn.
	Answer int64 `json:"answer"`
	Turn   int   `json:"turn"`
	// Calls are the events by which the model answered in that turn, this one among them.
	Calls []int64 `json:"calls"`
	// Events and Tokens are the size of the view at that time. Tokens is an estimate.
	Events int `json:"events"`
	Tokens int `json:"tokens"`
	// Counted is the size of the whole prompt, with instructions and tools, as the provider counted it; 0 if it did not.
	Counted int `json:"counted"`
	// Late is the number of a compaction record that was stored right before the answer, 0 if there is none. If it was
	// written in the background, the prompt was made without it.
	Late int64 `json:"late,omitempty"`

	view    []*session.Event
	stored  int64 // the number of the last event in front of the prompt
	history *loaded
}

// NotStored says what a prompt had besides, for people.
const NotStored = "Not stored, and so not shown: instructions, tool declarations, tool results that were cut for the model, and what plugins and callbacks changed."

// ReadPrompt returns the prompt at a place: that of the call that answered with the event, of the next call behind any
// other event, and of the last call of a turn. Of the events of its view it returns at most limit from a position
// on, which counts from 0; a negative limit means all. It reads the whole session. A place that the
// session does not have is an [*ErrWhich].
func ReadPrompt(ctx context.Context, f *File, s *Session, at At, from, limit int) (p *Prompt, entries []Entry, err error) {
	var which *ErrWhich
	err = f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		l, err := wholeIn(ctx, snap, s)
		if err != nil {
			return err
		}
		if p, which = l.promptAt(at); which != nil {
			return nil
		}
		events := p.view[min(max(from, 0), len(p.view)):]
		if limit >= 0 {
			events = events[:min(limit, len(events))]
		}
		entries, err = p.entries(ctx, snap, events)
		return err
	})
	if which != nil {
		return nil, nil, which
	}
	return p, entries, err
}

// wholeIn reads a session without its view. An event that cannot be read is an error.
func wholeIn(ctx context.Context, snap *persistence.Snapshot, s *Session) (*loaded, error) {
	l, err := loadRows(ctx, snap, s)
	if err == nil {
		err = l.unreadable
	}
	return l, err
}

// promptAt finds the prompt at a place.
func (l *loaded) promptAt(at At) (*Prompt, *ErrWhich) {
	last := int64(0)
	if len(l.rows) > 0 {
		last = l.rows[len(l.rows)-1].Seq
	}
	if at.Seq > last {
		return nil, &ErrWhich{fmt.Sprintf("session %q has no event %d: its newest is %d", l.Name(), at.Seq, last)}
	}
	p := &Prompt{history: l, stored: last}
	turns, calls := map[string]int{}, map[int][]int64{}
	for _, row := range l.rows {
		ev := row.Event
		if record.Is(ev) {
			continue
		}
		if speaks(ev) && ev.InvocationID != "" && turns[ev.InvocationID] == 0 {
			turns[ev.InvocationID] = len(turns) + 1
		}
		if !answersAsModel(ev) {
			continue
		}
		turn := turns[ev.InvocationID]
		calls[turn] = append(calls[turn], row.Seq)
		if at.Turn > 0 && turn == at.Turn || at.Seq > 0 && p.Answer == 0 && row.Seq >= at.Seq {
			p.Answer, p.Turn, p.stored, p.Counted = row.Seq, turn, row.Seq-1, 0
			if ev.UsageMetadata != nil {
				p.Counted = billed(ev.UsageMetadata).PromptTokens
			}
		}
	}
	switch {
	case at.Turn > len(turns):
		return nil, &ErrWhich{fmt.Sprintf("session %q has no turn %d: it has %d", l.Name(), at.Turn, len(turns))}
	case at.Turn > 0 && p.Answer == 0:
		return nil, &ErrWhich{fmt.Sprintf("turn %d of session %q has no answer of a model", at.Turn, l.Name())}
	case p.Answer == 0:
		p.Turn = len(turns)
	}
	p.Calls = append([]int64{}, calls[p.Turn]...)
	l.show(p)
	return p, nil
}

// IsAnswer reports whether an entry is the answer of a model call, so that [ReadPrompt] finds the prompt that it answered.
func IsAnswer(e *Entry) bool {
	return e.Record == nil && e.Author != "user" && e.Author != "" && len(e.Responses) == 0 && (e.Text != "" || len(e.Calls) > 0)
}

// answersAsModel reports whether an event is the answer of a model call.
func answersAsModel(ev *session.Event) bool {
	if ev.Author == "user" || len(adk.FunctionResponses(ev)) > 0 {
		return false
	}
	return ev.UsageMetadata != nil || speaks(ev)
}

// show makes the view of the events in front of a prompt.
func (l *loaded) show(p *Prompt) {
	var events []*session.Event
	for _, row := range l.rows {
		if row.Seq > p.stored {
			break
		}
		events = append(events, row.Event)
		p.Late = 0
		if p.Answer > 0 && record.Is(row.Event) {
			p.Late = row.Seq
		}
	}
	p.view = view.Project(events)
	p.Events = len(p.view)
	for _, ev := range p.view {
		p.Tokens += size(ev)
	}
}

// entries returns events of the view for people to read, without what was stored later.
func (p *Prompt) entries(ctx context.Context, snap *persistence.Snapshot, events []*session.Event) ([]Entry, error) {
	out, err := entriesIn(ctx, snap, p.history.Session, events)
	for i := range out {
		e := &out[i]
		e.CoveredBy = ""
		if e.Record != nil {
			e.Record.AbsorbedBy = ""
		}
		for j := range e.Calls {
			if p.history.recordSeq[e.Calls[j].Checkpoint] > p.stored {
				e.Calls[j].Checkpoint = Pending
			}
		}
	}
	return out, err
}

// Change is how the view differs between two prompts.
type Change struct {
	From *Prompt `json:"from"`
	To   *Prompt `json:"to"`
	// Gone are the events and summaries that only the first prompt has, Come those that only the second one has, and Other
	// those of the second one whose text is another. Kept counts those that are in both as they were.
	Gone  []Entry `json:"gone"`
	Come  []Entry `json:"come"`
	Other []Entry `json:"other"`
	Kept  int     `json:"kept"`
}

// ReadChange compares the prompts at two places, as [ReadPrompt] finds them.
func ReadChange(ctx context.Context, f *File, s *Session, from, to At) (c *Change, err error) {
	var which *ErrWhich
	err = f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		l, err := wholeIn(ctx, snap, s)
		if err != nil {
			return err
		}
		c = &Change{}
		if c.From, which = l.promptAt(from); which != nil {
			return nil
		}
		if c.To, which = l.promptAt(to); which != nil {
			return nil
		}
		return c.compare(ctx, snap)
	})
	if which != nil {
		return nil, which
	}
	return c, err
}

func (c *Change) compare(ctx context.Context, snap *persistence.Snapshot) (err error) {
	before := map[string]string{}
	for _, ev := range c.From.view {
		before[ev.ID] = contentOf(ev)
	}
	var gone, come, other []*session.Event
	after := map[string]bool{}
	for _, ev := range c.To.view {
		after[ev.ID] = true
		switch text, had := before[ev.ID]; {
		case !had:
			come = append(come, ev)
		case text != contentOf(ev):
			other = append(other, ev)
		default:
			c.Kept++
		}
	}
	for _, ev := range c.From.view {
		if !after[ev.ID] {
			gone = append(gone, ev)
		}
	}
	if c.Gone, err = c.From.entries(ctx, snap, gone); err != nil {
		return err
	}
	if c.Come, err = c.To.entries(ctx, snap, come); err != nil {
		return err
	}
	c.Other, err = c.To.entries(ctx, snap, other)
	return err
}

func contentOf(ev *session.Event) string {
	text, _ := json.Marshal(ev.Content) // of stored JSON
	return string(text)
}
