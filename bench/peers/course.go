package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// course is how a conversation is played. The zero value is one process that plays it from its beginning to its end,
// with a good writer of summaries.
type course struct {
	// adopted is stored before a way is there.
	adopted *conversation.Conversation
	// process is the number of the process that plays a turn. Each process opens the way anew, over the same storage,
	// and none ends in an orderly way before the conversation does. nil: one process.
	process func(turn int) int
	// instead is what the writer answers instead of a summary; nil: it writes one.
	instead func(ctx context.Context) (string, error)
}

// stretches splits the turns of c at each change of the process.
func (o course) stretches(c *conversation.Conversation) (all []stretch) {
	for turn := range c.Turns {
		process := 0
		if o.process != nil {
			process = o.process(turn)
		}
		if last := len(all) - 1; last >= 0 && all[last].process == process {
			all[last].c.Turns = c.Turns[all[last].turn : turn+1]
			continue
		}
		part := *c
		part.Turns = c.Turns[turn : turn+1]
		all = append(all, stretch{process, turn, &part})
	}
	return all
}

// stretch is what one process plays in one go: c from the given turn of the whole conversation on.
type stretch struct {
	process, turn int
	c             *conversation.Conversation
}

// adopt stores a conversation as an app without any way does.
func adopt(ctx context.Context, base session.Service, ref compaction.SessionRef, c *conversation.Conversation) error {
	got, err := base.Create(ctx, &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil || c == nil {
		return err
	}
	for _, ev := range eventsOf(c) {
		if err := base.AppendEvent(ctx, got.Session, ev); err != nil {
			return err
		}
	}
	return nil
}

// eventsOf returns a conversation as events: each message, each answer and the results of each answer.
func eventsOf(c *conversation.Conversation) []*session.Event {
	var events []*session.Event
	for turn := range c.Turns {
		add := func(author string, content *genai.Content) {
			ev := session.NewEventWithContext(context.Background(), fmt.Sprint("stored-", turn))
			ev.ID, ev.Author, ev.Content = fmt.Sprint("e", len(events)), author, content
			events = append(events, ev)
		}
		add("user", c.Turns[turn].User)
		for _, step := range c.Turns[turn].Steps {
			add("agent", step.Answer)
			if len(step.Responses) > 0 {
				results := &genai.Content{Role: genai.RoleUser}
				for _, resp := range step.Responses {
					results.Parts = append(results.Parts, &genai.Part{FunctionResponse: resp})
				}
				add("agent", results)
			}
		}
	}
	return events
}

// existing is a service whose session exists: package replay creates it anew in each stretch.
type existing struct{ session.Service }

// Create implements [session.Service].
func (s existing) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	got, err := s.Get(ctx, &session.GetRequest{AppName: req.AppName, UserID: req.UserID, SessionID: req.SessionID})
	if err != nil {
		return nil, err
	}
	return &session.CreateResponse{Session: got.Session}, nil
}

// What a writer of summaries may do instead.

func fails(context.Context) (string, error) { return "", errors.New("the writer is overloaded") }

// patience is how long an app's client waits for a writer that does not answer.
const patience = 50 * time.Millisecond

func hangs(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	<-ctx.Done()
	return "", ctx.Err()
}

func dot(context.Context) (string, error) { return ".", nil }
