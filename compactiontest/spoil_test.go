package compactiontest_test

import (
	"context"
	"iter"
	"slices"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

func throughFreshHandle(d *decorator) {
	d.store = func(ctx context.Context, sess session.Session, ev *session.Event) error {
		resp, err := d.Service.Get(ctx, &session.GetRequest{AppName: sess.AppName(), UserID: sess.UserID(), SessionID: sess.ID()})
		if err != nil {
			return err
		}
		return d.Service.AppendEvent(ctx, resp.Session, ev)
	}
}

// reshaped changes a view that begins with summaries and has more than two events after them. i is
// the index of the first event after the summaries.
func reshaped(change func(view []*session.Event, i int) []*session.Event) func(session.Session) session.Events {
	return func(sess session.Session) session.Events {
		view := listOf(sess)
		i := slices.IndexFunc(view, func(ev *session.Event) bool { return !isSummary(ev) })
		if i > 0 && i+2 < len(view) {
			view = change(view, i)
		}
		return showing(view)
	}
}

func shorten(events []*session.Event) {
	for _, ev := range events {
		if !isSummary(ev) && ev.Content.Parts[0].Text != "" {
			ev.Content.Parts[0].Text = strings.Join(histories.FactsIn(ev), " ")
		}
	}
}

// remember makes a new session show what the last session with the same key showed.
func remember(d *decorator, key func(session.Session) string) {
	last := map[string][]*session.Event{}
	d.show = func(sess session.Session) session.Events {
		events := listOf(sess)
		if len(events) == 0 {
			return showing(last[key(sess)])
		}
		last[key(sess)] = events
		return showing(events)
	}
}

// withoutUnit hides a call and its responses.
func withoutUnit(events []*session.Event, id string) []*session.Event {
	return slices.DeleteFunc(events, func(ev *session.Event) bool {
		part := ev.Content.Parts[0]
		return part.FunctionCall != nil && part.FunctionCall.ID == id || part.FunctionResponse != nil && part.FunctionResponse.ID == id
	})
}

// growing is a list that rereads the session on every call.
type growing struct{ session session.Session }

func (g *growing) Len() int                      { return g.session.Events().Len() }
func (g *growing) At(i int) *session.Event       { return g.session.Events().At(i) }
func (g *growing) All() iter.Seq[*session.Event] { return g.session.Events().All() }
