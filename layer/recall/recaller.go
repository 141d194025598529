package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/outbox"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
	"github.com/adk-go-ext/longsession/record"
)

// Recaller searches the sessions of one compaction service. It is safe for concurrent use.
type Recaller struct {
	svc *compaction.CompactionSessionService
	cfg Config
	// stored is the inner session service if it has an index of its own; memory is used if it has none.
	stored index.Index
	memory *wordsearch.Memory
	tools  []tool.Tool
	outbox outbox.Observations[Observation]
	// toIndex are sessions whose index in the file is to be brought up to date.
	toIndex outbox.Outbox[compaction.SessionRef]
	// steps run what calls the app's functions and the inner service, by session.
	steps steps
}

// New makes a Recaller for a service. If the inner service is an [index.Index], as the one of package
// persistence is, its index is used. For any other an index is kept in memory: it is made with the first
// search in a session, and kept up with what is appended.
//
// The error joins a [*compaction.ConfigError] for every value that is refused.
func New(svc *compaction.CompactionSessionService, cfg Config) (*Recaller, error) {
	if svc == nil {
		return nil, errors.New("recall: the compaction service is nil")
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	r := &Recaller{svc: svc, cfg: cfg.withDefaults()}
	r.steps.hanging.Most = mostHanging
	r.stored, _ = svc.Unwrap().(index.Index)
	r.memory = wordsearch.NewMemory(r.cfg.MaxIndexBytes)
	tools, err := r.makeTools()
	r.tools = tools
	svc.OnDelete(func(ref compaction.SessionRef) { r.memory.Forget(ref) })
	return r, err
}

// indexer is an index in a file that can be brought up to date ahead of the next search.
type indexer interface {
	IndexText(ctx context.Context, req *session.GetRequest, redact func(string) string) error
}

// Observe has the file's index take in what a new summary stands for, in the background, so that the next
// search need not. It only does something for a stored summary, and if the inner service has such an index. A
// stack of package longsession calls it. Without a stack, pass it the observations of the compaction service;
// without that, searches find the same, and each takes in first what is new.
func (r *Recaller) Observe(_ context.Context, o compaction.Observation) {
	if _, ok := r.stored.(indexer); ok && o.Outcome == compaction.Stored {
		r.toIndex.Add(o.Session, r.index)
	}
}

// index brings the index of a session up to date. Nothing waits for it, and a search does again what it
// leaves undone.
func (r *Recaller) index(ref compaction.SessionRef, _ int) {
	ctx, cancel := context.WithTimeout(context.Background(), r.svc.Settings().Timeout)
	defer cancel()
	err := r.steps.run(ctx, ref, func(ctx context.Context) error { return r.stored.(indexer).IndexText(ctx, request(ref), r.cfg.Redact) })
	if err != nil && !adk.IsNotFound(err) && r.cfg.Observer != nil {
		r.outbox.Send(ctx, Observation{Session: ref, Err: fmt.Errorf("recall: bring the index up to date: %w", err)}, r.deliver)
	}
}

// Query is what to look for in a session.
type Query struct {
	// Text is the question, in any language. Words are found by their stems; there is no syntax.
	Text string
	// From and To bound the time of events, both ends included. Zero means no bound.
	From, To time.Time
	// Limit is how many events to find at most. 0 means that of the config.
	Limit int
	// Branch is that of the agent that asks: it finds what its prompts may show. "" finds the events of all
	// branches, and on ADK v2 of all isolation scopes.
	Branch string
	// Shown also finds what the view shows already. A model that asks has that in its prompt.
	Shown bool
	// ofAgent means that an agent asks, whose lane is Branch even if that is "".
	ofAgent bool
}

// reads reports whether an event is in the lane that a query reads. An app that names no branch reads all lanes.
func (q Query) reads(ev *session.Event) bool {
	return !q.ofAgent && q.Branch == "" || adk.Visible(q.Branch, adk.Lane(ev))
}

// Search finds events of a session, and returns them with their neighbors as passages in the order of the
// session, as many of the best as have room in MaxTokens. It returns none for a query without words. Errors
// wrap [compaction.ErrNotFound] if there is no such session; others are the inner service's, or say that Redact
// or Filter has panicked. Search returns soon after its context has ended, whatever these do.
func (r *Recaller) Search(ctx context.Context, ref compaction.SessionRef, q Query) ([]Passage, error) {
	found, err := r.search(ctx, ref, q)
	return found.passages, err
}

// result is the outcome of a search.
type result struct {
	passages []Passage
	view     []*session.Event // that the session's prompts show
	hits     int
	tokens   int // of the passages
}

func (r *Recaller) search(ctx context.Context, ref compaction.SessionRef, q Query) (found result, err error) {
	ctx, done := r.begin(ctx, ref)
	defer func() {
		if adk.IsNotFound(err) {
			r.memory.Forget(ref)
		}
		done(found, err)
	}()
	switch {
	case !q.From.IsZero() && q.To.Before(q.From) && !q.To.IsZero():
		return found, fmt.Errorf("recall: from (%s) is after to (%s): swap them", q.From.Format(time.RFC3339), q.To.Format(time.RFC3339))
	case q.Limit < 0:
		return found, fmt.Errorf("recall: limit is %d: it must not be negative", q.Limit)
	case wordsearch.Ask(q.Text).Empty():
		return found, nil
	}
	step := make(chan result, 1) // nobody reads that of a step that was given up
	err = r.steps.run(ctx, ref, func(ctx context.Context) error {
		hits, view, err := r.hits(ctx, ref, q)
		if err != nil {
			return err
		}
		now := result{view: view, hits: len(hits)}
		now.passages, now.tokens = r.passages(ref, q.Text, hits)
		step <- now
		return nil
	})
	if err != nil {
		return found, err
	}
	return <-step, nil
}

// hits finds events of one session.
func (r *Recaller) hits(ctx context.Context, ref compaction.SessionRef, q Query) ([]index.Hit, []*session.Event, error) {
	loaded, err := r.svc.Load(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	iq := index.Query{
		Text: q.Text, From: q.From, To: q.To, Limit: min(mostLimit, cmp.Or(q.Limit, r.cfg.Limit)), Around: r.cfg.Around,
		Redact: r.cfg.Redact, May: r.may(q, loaded.View),
	}
	hits, err := r.lookUp(ctx, ref, loaded.Events, iq)
	return hits, loaded.View, err
}

// lookUp asks the index that is there.
func (r *Recaller) lookUp(ctx context.Context, ref compaction.SessionRef, events []*session.Event, q index.Query) ([]index.Hit, error) {
	req := request(ref)
	if r.stored != nil {
		return r.stored.SearchText(ctx, req, q)
	}
	if events == nil { // an inner service that loads sessions in part, and has no index
		resp, err := r.svc.Raw(ctx, req)
		if err != nil {
			return nil, err
		}
		events = slices.Collect(resp.Session.Events().All())
	}
	return r.memory.Search(ctx, ref, events, q)
}

// may returns which events a query may find.
func (r *Recaller) may(q Query, view []*session.Event) func(*session.Event) bool {
	shown := map[identity]*session.Event{}
	if !q.Shown {
		for _, ev := range view {
			shown[identityOf(ev)] = ev
		}
	}
	return func(ev *session.Event) bool {
		if !q.reads(ev) || r.cfg.Filter != nil && !r.cfg.Filter(ev) {
			return false
		}
		// A tool result that the view shows cut can be found: the words that were found may be in the rest.
		form, isShown := shown[identityOf(ev)]
		return !isShown || form != ev && wordsearch.Text(form) != wordsearch.Text(ev)
	}
}

// identity is what names an event: the view and the index may have different copies of it.
type identity struct {
	id, invocation, author string
	micros                 int64
}

func identityOf(ev *session.Event) identity {
	return identity{ev.ID, ev.InvocationID, ev.Author, record.RefTo(ev).AltKey().Micros}
}

func request(ref compaction.SessionRef) *session.GetRequest {
	return &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}
}
