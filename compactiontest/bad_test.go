package compactiontest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// bad is a way to break a stack, and the case that must report it.
type bad struct {
	name  string
	over  string // "inmemory" or "strict"
	spoil func(d *decorator)
	// below breaks the backend instead of the stack.
	below func(inner session.Service) session.Service
	// instead replaces the whole stack.
	instead func(inner session.Service) session.Service
	want    string // name of the case
	says    string
}

func bads() []bad {
	return []bad{
		{name: "freezes its view at Get", over: "inmemory", want: "the view is live", says: "not at the end of what the same handle shows", spoil: func(d *decorator) {
			frozen := map[session.Session][]*session.Event{}
			d.opened = func(sess session.Session) { frozen[sess] = listOf(sess) }
			d.show = func(sess session.Session) session.Events { return showing(frozen[sess]) }
		}},
		{name: "freezes its summaries at Get", over: "inmemory", want: "the view is live", says: "nothing was compacted", spoil: func(d *decorator) {
			begun := map[session.Session]int{}
			d.opened = func(sess session.Session) { begun[sess] = len(rawOf(d, sess)) }
			d.show = func(sess session.Session) session.Events {
				raw := rawOf(d, sess)
				kept := slices.DeleteFunc(slices.Clone(raw[begun[sess]:]), record.Is)
				return showing(append(view.Project(raw[:begun[sess]]), kept...))
			}
		}},
		{name: "hides by time range", over: "strict", want: "every hidden event was summarized", says: "no summary has its fact", spoil: func(d *decorator) {
			d.show = func(sess session.Session) session.Events {
				view := listOf(sess)
				for _, ev := range rawOf(d, sess) {
					m, _ := record.From(ev)
					if m == nil {
						continue
					}
					view = slices.DeleteFunc(view, func(ev *session.Event) bool {
						return !isSummary(ev) && !ev.Timestamp.Before(m.StartTimestamp) && !ev.Timestamp.After(m.EndTimestamp)
					})
				}
				return showing(view)
			}
		}},
		{name: "splits a pair", over: "inmemory", want: "calls and responses stay together", says: "without its call", spoil: func(d *decorator) {
			d.show = func(sess session.Session) session.Events {
				view := listOf(sess)
				for i, ev := range view { // the first response loses its call
					if i > 0 && ev.Content.Parts[0].FunctionResponse != nil {
						return showing(slices.Delete(view, i-1, i))
					}
				}
				return showing(view)
			}
		}},
		{name: "appends through a fresh handle", over: "inmemory", want: "the view is live", says: "not at the end of what the same handle shows", spoil: throughFreshHandle},
		{name: "appends through a fresh handle over stale-checking storage", over: "strict", want: "the view is live", says: "not at the end of what the same handle shows", spoil: throughFreshHandle},
		{name: "leaks a branch", over: "inmemory", want: "branches do not leak", says: "it leaks", spoil: func(d *decorator) {
			d.show = func(sess session.Session) session.Events {
				view := listOf(sess)
				for i, ev := range view {
					if isSummary(ev) {
						common := *ev
						common.Branch = ""
						view[i] = &common
					}
				}
				return showing(view)
			}
		}},
		{name: "changes stored events", over: "inmemory", want: "storage keeps everything", says: "or not with this content", spoil: func(d *decorator) {
			d.opened = func(sess session.Session) { shorten(listOf(sess)) }
		}},
		{name: "marks stored events as summarized", over: "inmemory", want: "storage keeps everything", says: "was changed", spoil: func(d *decorator) {
			d.opened = func(sess session.Session) {
				view := ct.IDs(listOf(sess))
				for _, ev := range rawOf(d, sess) {
					if !slices.Contains(view, ev.ID) {
						ev.ErrorMessage = "summarized"
					}
				}
			}
		}},
		{name: "changes the caller's events", over: "strict", want: "events are never modified", says: "was changed after it was appended", spoil: func(d *decorator) {
			d.store = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				err := d.Service.AppendEvent(ctx, sess, ev)
				ev.Author += " (stored)"
				return err
			}
		}},
		{name: "rewrites events on their way to storage", over: "strict", want: "storage keeps everything", says: "was not appended", spoil: func(d *decorator) {
			d.store = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				other := *ev
				other.Content = genai.NewContentFromText("[redacted] "+strings.Join(histories.FactsIn(ev), " "), genai.RoleUser)
				return d.Service.AppendEvent(ctx, sess, &other)
			}
		}},
		{name: "stores events twice", over: "strict", want: "storage keeps everything", says: "2 times", spoil: func(d *decorator) {
			d.store = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				return errors.Join(d.Service.AppendEvent(ctx, sess, ev), d.Service.AppendEvent(ctx, sess, ev))
			}
		}},
		{name: "replaces errors", over: "strict", want: "inner errors are returned", says: "want compaction.ErrNotFound", spoil: func(d *decorator) {
			d.store = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				if err := d.Service.AppendEvent(ctx, sess, ev); err != nil {
					return errors.New("append failed")
				}
				return nil
			}
		}},
		{name: "swallows errors", over: "inmemory", want: "inner errors are returned", says: "the event is lost", spoil: func(d *decorator) {
			d.store = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				_ = d.Service.AppendEvent(ctx, sess, ev)
				return nil
			}
		}},
		{name: "panics on a nil event", over: "inmemory", want: "inner errors are returned", says: "the service panicked", spoil: func(d *decorator) {
			d.store = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				_ = ev.Author // panics
				return d.Service.AppendEvent(ctx, sess, ev)
			}
		}},
		{name: "stamps events by itself", over: "inmemory", want: "events are never modified", says: "stamps events by itself", spoil: func(d *decorator) {
			d.store = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				ev.Timestamp = ev.Timestamp.Add(time.Hour)
				return d.Service.AppendEvent(ctx, sess, ev)
			}
		}},
		{name: "counts one event too few", over: "inmemory", want: "a snapshot never changes", says: "Len is", spoil: func(d *decorator) {
			d.show = func(sess session.Session) session.Events {
				events := sess.Events()
				return &listed{max(0, events.Len()-1), events.At, listOf(sess)}
			}
		}},
		{name: "returns raw events by index", over: "inmemory", want: "a snapshot never changes", says: "At(0) is not the event that All yields", spoil: func(d *decorator) {
			d.show = func(sess session.Session) session.Events {
				return &listed{sess.Events().Len(), showing(rawOf(d, sess)).At, listOf(sess)}
			}
		}},
		{name: "returns events outside the list", over: "inmemory", want: "a snapshot never changes", says: "outside the list", spoil: func(d *decorator) {
			d.show = func(sess session.Session) session.Events {
				events := listOf(sess)
				return &listed{len(events), func(i int) *session.Event { return events[max(0, min(i, len(events)-1))] }, events}
			}
		}},
		{name: "returns a list that changes", over: "inmemory", want: "a snapshot never changes", says: "the list returned", spoil: func(d *decorator) {
			d.show = func(sess session.Session) session.Events { return &growing{sess} }
		}},
		{name: "shows an event twice", over: "strict", want: "the view is live", says: "the model reads it twice", spoil: func(d *decorator) {
			d.show = reshaped(func(view []*session.Event, i int) []*session.Event { return slices.Insert(view, i, view[i]) })
		}},
		{name: "shows events out of order", over: "strict", want: "the view is live", says: "behind later ones", spoil: func(d *decorator) {
			d.show = reshaped(func(view []*session.Event, i int) []*session.Event {
				view[i], view[i+1] = view[i+1], view[i]
				return view
			})
		}},
		{name: "shows its summary last", over: "inmemory", want: "the view is live", says: "ADK takes it for the message", spoil: func(d *decorator) {
			d.show = reshaped(func(view []*session.Event, i int) []*session.Event { return append(view[i:], view[:i]...) })
		}},
		{name: "hides the newest agent event", over: "inmemory", want: "the view is live", says: "ADK routes the next message by it", spoil: func(d *decorator) {
			d.show = reshaped(func(view []*session.Event, _ int) []*session.Event {
				return slices.DeleteFunc(view, func(ev *session.Event) bool { return ev.Author != genai.RoleUser })
			})
		}},
		{name: "begins with a model event", over: "inmemory", want: "the view is live", says: "begins with a summary of role model", spoil: func(d *decorator) {
			d.show = reshaped(func(view []*session.Event, _ int) []*session.Event {
				first := *view[0]
				first.Content = genai.NewContentFromText(first.Content.Parts[0].Text, genai.RoleModel)
				view[0] = &first
				return view
			})
		}},
		{name: "shows a summary of no record", over: "strict", want: "the view is live", says: "neither a stored event nor the summary of a readable record", spoil: func(d *decorator) {
			d.show = reshaped(func(view []*session.Event, _ int) []*session.Event {
				first := *view[0]
				first.ID = "made-up"
				view[0] = &first
				return view
			})
		}},
		{name: "never compacts", over: "strict", want: "the view is live", says: "nothing was compacted", instead: func(inner session.Service) session.Service { return inner }},
		{name: "never compacts, and shows everything", over: "inmemory", want: "the view stays short", says: "the prompt grows with the session", instead: func(inner session.Service) session.Service { return inner }},
		{name: "trusts every record", over: "inmemory", want: "forged records do nothing", says: "hides event", instead: func(inner session.Service) session.Service {
			return (&decorator{Service: inner, show: func(sess session.Session) session.Events {
				return view.NewSnapshot(view.Project(view.Collect(sess.Events())))
			}}).top()
		}},
		{name: "moves the update time by its records", over: "strict", want: "compaction makes no handle stale", says: "stale session", below: func(inner session.Service) session.Service {
			return (&decorator{Service: inner, store: func(ctx context.Context, sess session.Session, ev *session.Event) error {
				if record.Is(ev) {
					ev.Timestamp = ev.Timestamp.Add(time.Second / 2)
				}
				return inner.AppendEvent(ctx, sess, ev)
			}}).top()
		}},
		{name: "remembers deleted sessions", over: "inmemory", want: "a deleted session leaves nothing behind", says: "of the deleted one", spoil: func(d *decorator) {
			remember(d, keyed)
		}},
		{name: "remembers sessions by their ID alone", over: "inmemory", want: "sessions do not mix", says: "of another session", spoil: func(d *decorator) {
			remember(d, func(sess session.Session) string { return sess.ID() })
		}},
		{name: "ignores filters", over: "strict", want: "filters apply to the view", says: "newest of the view", spoil: func(d *decorator) {
			d.filter = func(req *session.GetRequest) { req.NumRecentEvents = 0 }
		}},
		{name: "hides open calls", over: "strict", want: "an open call waits for its answer", says: "an open call, event", spoil: func(d *decorator) {
			d.show = func(sess session.Session) session.Events { return showing(withoutUnit(listOf(sess), "long")) }
		}},
		{name: "shows interrupted calls as they are stored", over: "strict", want: "an interrupted call has a response", says: "without a response", spoil: func(d *decorator) {
			d.show = func(sess session.Session) session.Events {
				return showing(slices.DeleteFunc(listOf(sess), view.IsStandIn))
			}
		}},
		{name: "treats every call as interrupted", over: "inmemory", want: "an interrupted call has a response", says: "may yet get one", spoil: func(d *decorator) {
			d.show = func(sess session.Session) session.Events {
				var view []*session.Event
				for _, ev := range listOf(sess) {
					if view = append(view, ev); len(ev.Content.Parts) > 1 && ev.Content.Parts[0].FunctionCall != nil {
						made := (&ct.History{}).Response(ev.InvocationID, ev.Author, "look", "interrupted", ev.Content.Parts[0].FunctionCall.ID).Last()
						made.ID = "made-" + ev.ID
						view = append(view, made)
					}
				}
				return showing(view)
			}
		}},
		{name: "hides calls that wait for a confirmation", over: "strict", want: "a confirmation waits for its answer", says: "a call waiting for a confirmation, event", spoil: func(d *decorator) {
			d.show = func(sess session.Session) session.Events { return showing(withoutUnit(listOf(sess), "danger")) }
		}},
	}
}
