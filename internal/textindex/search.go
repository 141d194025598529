package textindex

import (
	"context"
	"errors"
	"slices"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/eventrow"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
)

// Search returns the events of a session that fit a query best, the best first. It takes in first what was appended
// since the session was indexed last. If the index cannot be used, it searches all events of the session in memory.
func (x *Index) Search(ctx context.Context, req *session.GetRequest, q index.Query) ([]index.Hit, error) {
	q.Limit = min(q.Limit, maxHits)
	of := &indexer{x, req, q.Redact}
	hits, err := of.searchIndex(ctx, q)
	if err != nil && ctx.Err() == nil && !adk.IsNotFound(err) && !errors.Is(err, errRedact) {
		return of.searchEvents(ctx, q)
	}
	return hits, err
}

// searchIndex searches by the index, which it brings up to date before.
func (s *indexer) searchIndex(ctx context.Context, q index.Query) (hits []index.Hit, err error) {
	for mended := false; ; mended = true {
		if s.file.Writes() {
			if err := s.catchUp(ctx, false); err != nil {
				return nil, err
			}
		}
		err = s.file.Read(ctx, func(r *Reader) (err error) {
			hits, err = r.searchSession(ctx, s.req, q, s.file.Writes())
			return err
		})
		if !IsDamage(err) && !errors.Is(err, errWordsMissing) || !s.file.Writes() || mended {
			return hits, err
		}
		if err := s.Empty(ctx); err != nil {
			return nil, err
		}
	}
}

// searchEvents searches without the index of the file.
func (s *indexer) searchEvents(ctx context.Context, q index.Query) ([]index.Hit, error) {
	var events []*session.Event
	err := s.file.Read(ctx, func(r *Reader) error {
		key, count, err := find(ctx, r.Conn, s.req)
		if err != nil {
			return err
		}
		rows, err := r.Conn.QueryContext(ctx, selectEvents, key)
		events, err = eventrow.ScanSome(rows, err, int(count))
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.memory().Search(ctx, adk.SessionRef{AppName: s.req.AppName, UserID: s.req.UserID, SessionID: s.req.SessionID}, events, q)
}

const (
	selectEvents = `SELECT ` + eventrow.Columns + ` FROM events WHERE session = ? ORDER BY seq`
	selectPage   = `SELECT ` + eventrow.Columns + ` FROM events WHERE session = ? AND seq >= ? ORDER BY seq LIMIT ?`
)

var (
	// errBehind is the reason why the index cannot answer: it lacks events, and this service cannot add them.
	errBehind = errors.New("the index is not up to date")
	// errWordsMissing is the reason why the index cannot answer: it lacks words that it must have.
	errWordsMissing = errors.New("words are missing in the index")
)

// searchSession searches in one session by the index. If caughtUp, the index was brought up to date just now, and
// events that were appended meanwhile are left out.
func (r *Reader) searchSession(ctx context.Context, req *session.GetRequest, query index.Query, caughtUp bool) ([]index.Hit, error) {
	key, events, err := find(ctx, r.Conn, req)
	if err != nil {
		return nil, err
	}
	q := wordsearch.Ask(query.Text)
	if q.Empty() || events == 0 {
		return nil, nil
	}
	if err := r.prepareSearch(ctx); err != nil {
		return nil, err
	}
	x, found, err := readIndexed(r.search.indexed.QueryRowContext(ctx, key).Scan, key)
	switch {
	case err != nil:
		return nil, err
	case !found || !x.isCurrent():
		return nil, errBehind
	case x.to < events && !caughtUp:
		return nil, errBehind
	case x.documents == 0:
		return nil, nil
	}
	if err := r.checkWords(ctx, x); err != nil {
		return nil, err
	}
	f := &finding{Reader: r, indexed: x, q: q, query: query, known: map[int64]known{}, reading: newReading(x, q)}
	if err := f.lookUp(ctx); err != nil {
		return nil, err
	}
	ranked, err := f.rank(ctx)
	if err != nil {
		return nil, err
	}
	limit := query.Limit
	if limit <= 0 {
		limit = defaultHits
	}
	return f.hits(ctx, ranked, limit)
}

// hits returns the best ranked events. An event that cannot be decoded makes room for the next one.
func (f *finding) hits(ctx context.Context, ranked []wordsearch.Ranked, limit int) ([]index.Hit, error) {
	hits := make([]index.Hit, 0, min(limit, len(ranked)))
	for len(ranked) > 0 && len(hits) < limit {
		some := ranked[:min(limit-len(hits), len(ranked))]
		ranked = ranked[len(some):]
		positions := make([]int, len(some))
		for i, one := range some {
			positions[i] = one.Position
		}
		if err := f.load(ctx, positions); err != nil {
			return nil, err
		}
		for _, one := range some {
			if f.known[int64(one.Position)].event == nil {
				continue
			}
			hit, err := f.hit(ctx, one)
			if err != nil {
				return nil, err
			}
			hits = append(hits, hit)
		}
	}
	return hits, nil
}

// defaultHits is how many hits a query without a limit gets, and maxHits how many one gets at most.
const defaultHits, maxHits = 8, 1_000

// checkWords notices an index that somebody emptied, or that lost its newest rows.
func (r *Reader) checkWords(ctx context.Context, x indexed) error {
	var has bool
	if err := r.search.has.QueryRowContext(ctx, x.newest).Scan(&has); err != nil {
		return err
	}
	if !has {
		return errWordsMissing
	}
	return nil
}

// hit returns a ranked event with its neighbors.
func (f *finding) hit(ctx context.Context, one wordsearch.Ranked) (index.Hit, error) {
	seq := int64(one.Position)
	h := index.Hit{Event: f.known[seq].event, Position: int(seq) - 1, Score: one.Score}
	var err error
	if h.Turn, err = f.turn(ctx, seq); err != nil || f.query.Around <= 0 {
		return h, err
	}
	for reach := int64(min(f.query.Around, maxAround)) + 2; ; reach = maxAround {
		if err := f.neighbors(ctx, &h, seq, reach); err != nil {
			return h, err
		}
		if reach >= maxAround || len(h.Before) == f.query.Around && len(h.After) == f.query.Around {
			return h, nil
		}
	}
}

// maxAround is how far from a hit its neighbors are looked for. Events without words and those that may not be returned
// are passed over.
const maxAround = 64

// neighbors fills in the neighbors of a hit, as far as they are within reach.
func (f *finding) neighbors(ctx context.Context, h *index.Hit, seq, reach int64) error {
	h.Before, h.After = nil, nil
	from := max(1, seq-reach)
	rows, err := f.search.around.QueryContext(ctx, f.indexed.session, from, seq+reach-from+1)
	around, err := eventrow.ScanSome(rows, err, int(2*reach))
	if err != nil {
		return err
	}
	at := int(seq - from)
	for i := at - 1; i >= 0 && len(h.Before) < f.query.Around; i-- {
		if h.Before, err = f.neighbor(ctx, h.Before, around[i], from+int64(i)); err != nil {
			return err
		}
	}
	slices.Reverse(h.Before)
	for i := at + 1; i < len(around) && len(h.After) < f.query.Around; i++ {
		if h.After, err = f.neighbor(ctx, h.After, around[i], from+int64(i)); err != nil {
			return err
		}
	}
	return nil
}

// neighbor adds an event to the neighbors of a hit if it has words and may be returned.
func (f *finding) neighbor(ctx context.Context, to []index.Neighbor, ev *session.Event, seq int64) ([]index.Neighbor, error) {
	if seq > f.to || !f.may(ev) || !hasWords(ev, f.query.Redact) {
		return to, nil
	}
	turn, err := f.turn(ctx, seq)
	return append(to, index.Neighbor{Event: ev, Position: int(seq) - 1, Turn: turn}), err
}

// hasWords reports whether [wordsearch.Terms] has terms for an event.
func hasWords(ev *session.Event, redact func(string) string) bool {
	return strings.TrimSpace(wordsearch.Redacted(ev, redact)) != ""
}

// may reports whether an event may be returned.
func (f *finding) may(ev *session.Event) bool {
	switch {
	case !f.query.From.IsZero() && ev.Timestamp.Before(f.query.From), !f.query.To.IsZero() && ev.Timestamp.After(f.query.To):
		return false
	}
	return f.query.May == nil || f.query.May(ev)
}

// turn returns the number of the turn that an event belongs to.
func (f *finding) turn(ctx context.Context, seq int64) (turn int, err error) {
	err = f.search.turn.QueryRowContext(ctx, f.indexed.session, seq).Scan(&turn)
	return turn, err
}
