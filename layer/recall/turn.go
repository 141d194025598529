package recall

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/tokens"
)

const (
	// turnReach is how many events around the named one are looked at. A turn with more of them is cut anyway.
	turnReach = 100
	// turnTokens bounds the text of one event of a turn. The named one may take up all the room, and is read in parts if it
	// needs more.
	turnTokens = 400
	// fewestTokens is the least that tells something of an event.
	fewestTokens = 16
	// partTokens is what the number of a part takes up.
	partTokens = 8
)

// historian is an inner session service that reads a session in pages, such as that of package persistence.
type historian interface {
	History(ctx context.Context, req *session.GetRequest, from int64, limit int) (page []*session.Event, next int64, err error)
}

// turn is [Recaller.Turn].
func (r *Recaller) turn(ctx context.Context, ref compaction.SessionRef, q Query, line string) (Passage, error) {
	line, number := partOf(line)
	position, ok := positionOf(line)
	if !ok || number < 1 {
		return Passage{}, fmt.Errorf("%w: %.40q", ErrNoSuchRef, line)
	}
	step := make(chan Passage, 1) // nobody reads that of a step that was given up
	err := r.steps.run(ctx, ref, func(ctx context.Context) error {
		p, err := r.readTurn(ctx, ref, q, line, position, number)
		step <- p
		return err
	})
	if err != nil {
		return Passage{}, err
	}
	return <-step, nil
}

// readTurn reads the turn of the event at a position, which line names. If number is not 1, it reads that part of the event,
// and nothing else.
func (r *Recaller) readTurn(ctx context.Context, ref compaction.SessionRef, q Query, line string, position, number int) (Passage, error) {
	events, first, err := r.around(ctx, ref, position)
	if err != nil {
		return Passage{}, err
	}
	at := position - first
	may := func(ev *session.Event) bool {
		return ev != nil && q.reads(ev) && wordsearch.Text(ev) != "" && (r.cfg.Filter == nil || r.cfg.Filter(ev))
	}
	ok := at >= 0 && at < len(events) && may(events[at])
	if !ok {
		return Passage{}, fmt.Errorf("%w: %.40q", ErrNoSuchRef, line)
	}
	begin, end := at, at+1
	for begin > 0 && !opensTurn(events[begin]) {
		begin--
	}
	for end < len(events) && !opensTurn(events[end]) {
		end++
	}
	named := Line{Ref: refOf(position), At: events[at].Timestamp, Author: events[at].Author, Found: true}
	room := r.cfg.MaxTokens
	perPart := room - tokens.Estimate(named.String()) - partTokens // the same for every part, so that none is missing
	if number > 1 {
		named.Ref += partMark + strconv.Itoa(number)
	}
	whole := shown(wordsearch.Whole(events[at], r.cfg.Redact), r.cfg.Redact) // also what of it is not searched
	if named.Text, named.Cut, ok = part(whole, perPart, number); !ok {
		return Passage{}, fmt.Errorf("%w: %.40q", ErrNoSuchRef, named.Ref)
	}
	p := Passage{Session: ref, Lines: []Line{named}}
	if number > 1 {
		return p, nil
	}
	room -= tokens.Estimate(named.String()) + 1
	add := func(i int) {
		l := Line{Ref: refOf(first + i), At: events[i].Timestamp, Author: events[i].Author}
		left := room - tokens.Estimate(l.String()) - 1
		if left < fewestTokens || !may(events[i]) {
			return
		}
		l.Text, l.Cut = excerpt(r.text(events[i]), wordsearch.Question{}, min(turnTokens, left), false)
		room -= tokens.Estimate(l.String()) + 1
		p.Lines = append(p.Lines, l)
	}
	// The named event comes first to the room, then what is behind it, which is its answer, then what came before.
	for i := at + 1; i < end; i++ {
		add(i)
	}
	for i := at - 1; i >= begin; i-- {
		add(i)
	}
	slices.SortFunc(p.Lines, func(a, b Line) int {
		i, _ := positionOf(a.Ref)
		j, _ := positionOf(b.Ref)
		return i - j
	})
	return p, nil
}

// partMark stands in a reference in front of the number of a part: "m12/2" is the second part of an event that has no room in
// one answer.
const partMark = "/"

// partOf returns a reference without the number of a part, and the number: 1 if there is none, 0 if it is wrong.
func partOf(ref string) (event string, number int) {
	event, part, found := strings.Cut(ref, partMark)
	if !found {
		return event, 1
	}
	number, err := strconv.Atoi(strings.Trim(part, refMarks))
	if err != nil {
		return event, 0
	}
	return event, number
}

// part returns a part of a text, from 1, of at most so many tokens, and whether the text goes on behind it. It is not ok if
// the text has no such part.
func part(text string, room, number int) (one string, more, ok bool) {
	for ; number > 1; number-- {
		n := fitting(text, room)
		if text = text[n:]; text == "" {
			return "", false, false
		}
	}
	n := fitting(text, room)
	return text[:n], n < len(text), true
}

// fitting returns how many bytes at the beginning of a text have at most so many tokens: up to a blank, if one is near.
func fitting(text string, room int) int {
	room = max(room, fewestTokens)
	if tokens.Estimate(text[:min(len(text), 8*room)]) <= room && len(text) <= 8*room {
		return len(text)
	}
	n := min(len(text), 4*room) // a token has about four bytes
	for tokens.Estimate(text[:n]) > room && n > 16 {
		n = n * 9 / 10
	}
	if at := strings.LastIndexByte(text[:n], ' '); at > n*3/4 {
		return at + 1
	}
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
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
