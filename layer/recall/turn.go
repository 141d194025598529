package recall

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/tokens"
)

const (
	// turnReach is how many events around the named one are looked at. A turn with more of them is cut anyway.
	turnReach = 100
	// turnTokens bounds the text of one event of a turn. The named one may take up all the room.
	turnTokens = 400
)

// historian is an inner session service that reads a session in pages, such as that of package persistence.
type historian interface {
	History(ctx context.Context, req *session.GetRequest, from int64, limit int) (page []*session.Event, next int64, err error)
}

// turn is [Recaller.Turn].
func (r *Recaller) turn(ctx context.Context, ref compaction.SessionRef, q Query, line string) (Passage, error) {
	position, ok := positionOf(line)
	if !ok {
		return Passage{}, fmt.Errorf("%w: %.40q", ErrNoSuchRef, line)
	}
	step := make(chan Passage, 1) // nobody reads that of a step that was given up
	err := r.steps.run(ctx, ref, func(ctx context.Context) error {
		p, err := r.readTurn(ctx, ref, q, line, position)
		step <- p
		return err
	})
	if err != nil {
		return Passage{}, err
	}
	return <-step, nil
}

// readTurn reads the turn of the event at a position, which line names.
func (r *Recaller) readTurn(ctx context.Context, ref compaction.SessionRef, q Query, line string, position int) (Passage, error) {
	events, first, err := r.around(ctx, ref, position)
	if err != nil {
		return Passage{}, err
	}
	at := position - first
	may := func(ev *session.Event) bool {
		return ev != nil && q.reads(ev) && wordsearch.Text(ev) != "" && (r.cfg.Filter == nil || r.cfg.Filter(ev))
	}
	if at < 0 || at >= len(events) || !may(events[at]) {
		return Passage{}, fmt.Errorf("%w: %.40q", ErrNoSuchRef, line)
	}
	begin, end := at, at+1
	for begin > 0 && !opensTurn(events[begin]) {
		begin--
	}
	for end < len(events) && !opensTurn(events[end]) {
		end++
	}
	p := Passage{Session: ref}
	room := r.cfg.MaxTokens
	add := func(i, most int) {
		if room <= 0 || !may(events[i]) {
			return
		}
		text, cut := excerpt(r.text(events[i]), wordsearch.Question{}, min(most, room), false)
		l := Line{Ref: refOf(first + i), At: events[i].Timestamp, Author: events[i].Author, Text: text, Cut: cut, Found: i == at}
		room -= tokens.Estimate(l.String()) + 1
		p.Lines = append(p.Lines, l)
	}
	// The named event comes first to the room, then what is behind it, which is its answer, then what came before.
	add(at, room)
	for i := at + 1; i < end; i++ {
		add(i, turnTokens)
	}
	for i := at - 1; i >= begin; i-- {
		add(i, turnTokens)
	}
	slices.SortFunc(p.Lines, func(a, b Line) int {
		i, _ := positionOf(a.Ref)
		j, _ := positionOf(b.Ref)
		return i - j
	})
	return p, nil
}

// opensTurn reports whether an event is a message by which the user begins a turn.
func opensTurn(ev *session.Event) bool {
	c := adk.Classify(ev)
	return c.Is(adk.Message) && !c.Is(adk.Responds)
}

// around reads the stored events near a position, and returns the position of the first of them.
func (r *Recaller) around(ctx context.Context, ref compaction.SessionRef, position int) (events []*session.Event, first int, err error) {
	first = max(0, position-turnReach)
	if pages, ok := r.svc.Unwrap().(historian); ok {
		events, _, err = pages.History(ctx, request(ref), int64(first)+1, 2*turnReach)
		return events, first, err
	}
	loaded, err := r.svc.Load(ctx, ref)
	if err != nil {
		return nil, 0, err
	}
	events = loaded.Events
	if events == nil {
		resp, err := r.svc.Raw(ctx, request(ref))
		if err != nil {
			return nil, 0, err
		}
		events = slices.Collect(resp.Session.Events().All())
	}
	first = min(first, len(events))
	return events[first:min(len(events), first+2*turnReach)], first, nil
}
