package wordsearch

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/recall/index"
)

const (
	defaultLimit, maxLimit = 8, 1_000
	// maxCandidates is how many events are ranked with everything that is known of them. With 100, R@5 was 68.7
	// instead of the 68.8 of ranking all of them.
	maxCandidates = 200
	// maxMatches is how many entries of lists are read before the more frequent terms are left out.
	maxMatches = 20_000
	// EnoughRare is how many terms that are not [Common] suffice to choose events.
	EnoughRare = 4
)

// Common reports whether a term that so many of all events have finds too much to choose events by it: more than a fifth
// of them.
func Common(have, events int) bool { return float64(have) > 0.2*float64(events) }

// Memory is an index in memory, for session services that have none of their own. It keeps terms, not events. It
// is safe for concurrent use.
type Memory struct {
	most int

	mu       sync.Mutex
	sessions *lru.Cache[adk.SessionRef, *postings]
	bytes    int
}

// NewMemory returns an empty index that takes up at most so many bytes, 64 MiB if maxBytes is 0. Beyond that, it
// forgets the sessions that were searched longest ago, though never the one that is searched.
func NewMemory(maxBytes int) *Memory {
	if maxBytes <= 0 {
		maxBytes = 64 << 20
	}
	cache, err := lru.New[adk.SessionRef, *postings](math.MaxInt32)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &Memory{most: maxBytes, sessions: cache}
}

// Search brings the index of a session up to date with its events, and returns those that fit a query best, the best
// first. events are all that the session has, in its order. Only what is new since the last search is read, unless
// older events have changed. Searches of one session run at the same time, except while new events are read. A search
// that was given fewer events than another one before finds none of the others. Events must not be changed while Search
// runs. The only error is that of the context. What was read before is kept, so the next search goes on from there.
func (m *Memory) Search(ctx context.Context, key adk.SessionRef, events []*session.Event, q index.Query) ([]index.Hit, error) {
	m.mu.Lock()
	p, found := m.sessions.Get(key)
	if !found {
		p = newPostings()
		m.sessions.Add(key, p)
	}
	m.mu.Unlock()

	p.mu.RLock()
	for !p.has(events) {
		p.mu.RUnlock()
		if err := m.read(ctx, key, p, events, q.Redact); err != nil {
			return nil, err
		}
		p.mu.RLock()
	}
	defer p.mu.RUnlock()
	return p.search(ctx, events, q)
}

// read brings the index of a session up to date with its events.
func (m *Memory) read(ctx context.Context, key adk.SessionRef, p *postings, events []*session.Event, redact func(string) string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.continues(events) {
		p.clear()
	}
	whole := false
	defer func() {
		if !whole { // redact has panicked: the event would count as read
			p.clear()
		}
		m.grown(key, p)
	}()
	for i := p.seen(); i < len(events); i++ {
		if err := ctx.Err(); err != nil {
			whole = true
			return err
		}
		p.add(events[i], redact)
	}
	whole = true
	return nil
}

// grown accounts for what a session takes up now, and forgets others if that is too much.
func (m *Memory) grown(key adk.SessionRef, p *postings) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, found := m.sessions.Peek(key); !found || known != p {
		return // it was forgotten meanwhile
	}
	bytes := p.size()
	m.bytes += bytes - p.counted
	p.counted = bytes
	for m.bytes > m.most && m.sessions.Len() > 1 {
		_, old, _ := m.sessions.RemoveOldest()
		m.bytes -= old.counted
	}
}

// Forget removes a session, such as one that was deleted.
func (m *Memory) Forget(key adk.SessionRef) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, found := m.sessions.Peek(key); found {
		m.bytes -= p.counted
		m.sessions.Remove(key)
	}
}

// Bytes is about how many bytes the index takes up.
func (m *Memory) Bytes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes
}

// postings is the index of one session. Documents are its events that have text.
type postings struct {
	mu      sync.RWMutex
	counted int // bytes that Memory knows of; guarded by its lock

	bytes int       // of terms and of the data of lists
	marks []uint32  // of all events, to notice another history
	ended time.Time // timestamp of the last document

	ids   map[string]uint32
	lists []list // by term
	docs  []document
	// sequence holds the terms of all documents, one behind the other, as varints.
	sequence []byte
	authors  []string
	dates    map[string]int // documents that have the term
	episodes []Episode
	length   int
	turn     int32
}

// list has the documents of a term: for each the distance to the one before it and how often it has the term.
type list struct {
	data []byte
	docs int32
	last int32 // document
}

type document struct {
	position int32
	turn     int32
	begin    uint32 // in sequence
	length   uint16 // in terms
	author   uint16
	day      int32 // of the Unix epoch; noDay for none
	asking   bool
}

const noDay = math.MinInt32

func newPostings() *postings {
	p := &postings{}
	p.clear()
	return p
}

func (p *postings) clear() {
	p.bytes, p.marks, p.ended = 0, nil, time.Time{}
	p.ids, p.lists, p.docs, p.sequence = map[string]uint32{}, nil, nil, nil
	p.authors, p.dates, p.episodes, p.length, p.turn = nil, map[string]int{}, nil, 0, 0
}

// seen is how many events were read.
func (p *postings) seen() int { return len(p.marks) }

// has reports whether all events were read.
func (p *postings) has(events []*session.Event) bool {
	return len(events) <= p.seen() && p.continues(events)
}

// continues reports whether the events begin with those that were read, or these with the events.
func (p *postings) continues(events []*session.Event) bool {
	n := min(len(events), p.seen())
	return n == 0 || p.marks[0] == markOf(events[0]) && p.marks[n-1] == markOf(events[n-1])
}

// markOf returns a hash of what tells an event from others.
func markOf(ev *session.Event) uint32 {
	if ev == nil {
		return 0
	}
	h := fnv.New32a()
	_, _ = io.WriteString(h, ev.ID) // never fails
	_ = binary.Write(h, binary.LittleEndian, ev.Timestamp.UnixNano())
	return h.Sum32()
}

// size is about how many bytes the index takes up in memory.
func (p *postings) size() int {
	const ofMark, ofList, ofDocument, ofEpisode = 4, 32, 28, 24
	return p.bytes + cap(p.sequence) + cap(p.marks)*ofMark + cap(p.lists)*ofList + cap(p.docs)*ofDocument + cap(p.episodes)*ofEpisode
}

func (p *postings) add(ev *session.Event, redact func(string) string) {
	position := p.seen()
	p.marks = append(p.marks, markOf(ev))
	if ev == nil {
		return
	}
	if c := adk.Classify(ev); c.Is(adk.Message) && !c.Is(adk.Responds) {
		p.turn++
	}
	terms := Terms(ev, redact)
	if terms == nil {
		return
	}
	d := document{position: int32(position), turn: p.turn, begin: uint32(len(p.sequence)), author: p.author(ev.Author), day: noDay}
	counts := map[uint32]int{}
	n := 0
	for _, term := range terms {
		if strings.HasPrefix(term, dateMark) {
			p.dates[term]++
			continue
		}
		id := p.id(term)
		counts[id]++
		p.sequence = binary.AppendUvarint(p.sequence, uint64(id))
		n++
	}
	d.length = uint16(min(n, math.MaxUint16))
	if !ev.Timestamp.IsZero() {
		d.day = int32(ev.Timestamp.UTC().Unix() / 86400)
	}
	d.asking = n <= shortQuestion && Asks(Text(ev))
	doc := len(p.docs)
	for id, count := range counts {
		l := &p.lists[id]
		before := cap(l.data)
		l.data = binary.AppendUvarint(l.data, uint64(doc-int(l.last)))
		l.data = binary.AppendUvarint(l.data, uint64(count))
		l.docs, l.last = l.docs+1, int32(doc)
		p.bytes += cap(l.data) - before
	}
	p.docs = append(p.docs, d)
	p.length += n
	p.episodes = Extend(p.episodes, position, n, p.ended, ev.Timestamp)
	p.ended = ev.Timestamp
}

// termBytes is about how much memory a new term takes up beside its letters and its list: an entry of a map.
const termBytes = 56

// id returns the number of a term, a new one for a new term.
func (p *postings) id(term string) uint32 {
	id, found := p.ids[term]
	if !found {
		id = uint32(len(p.lists))
		p.ids[term] = id
		p.lists = append(p.lists, list{})
		p.bytes += len(term) + termBytes
	}
	return id
}

// author returns the number of an author. Beyond 65,535 they share the last one.
func (p *postings) author(name string) uint16 {
	i := slices.Index(p.authors, name)
	if i < 0 {
		if i = len(p.authors); i > math.MaxUint16 {
			return math.MaxUint16
		}
		p.authors = append(p.authors, name)
	}
	return uint16(i)
}

// Extend adds an event of so many terms to the last episode, or begins one if there is none, or if it comes
// [EpisodeGap] or more after the event before it.
func Extend(episodes []Episode, position, length int, before, at time.Time) []Episode {
	if k := len(episodes); k > 0 && at.Sub(before) < EpisodeGap {
		episodes[k-1].Last, episodes[k-1].Length = position, episodes[k-1].Length+length
		return episodes
	}
	return append(episodes, Episode{First: position, Last: position, Length: length})
}
