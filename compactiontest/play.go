package compactiontest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// play is a conversation on a service under test. Every event has unique content with a fact, so
// that the play recognizes it under any ID that storage assigns.
type play struct {
	findings
	ctx     context.Context
	service session.Service
	// live is the handle used for appends.
	live session.Session
	h    History
	// said has copies of the events as they were appended.
	said []*session.Event
	// keys maps the key of an event to its position in said.
	keys map[string]int
	// turns counts the invocations.
	turns int
	// unsorted is true if times do not follow the order of appends, so that storage may reorder.
	unsorted bool
}

const suiteApp, suiteUser, suiteSession = "app", "user", "session"

func suiteRequest() *session.GetRequest {
	return &session.GetRequest{AppName: suiteApp, UserID: suiteUser, SessionID: suiteSession}
}

// begin creates the session of a play.
func begin(ctx context.Context, service session.Service) (*play, error) {
	p := &play{ctx: ctx, service: service, keys: map[string]int{}}
	resp, err := service.Create(ctx, &session.CreateRequest{AppName: suiteApp, UserID: suiteUser, SessionID: suiteSession})
	if err != nil {
		return nil, fmt.Errorf("create a session: %w", err)
	}
	p.live = resp.Session
	return p, nil
}

// playing turns a function that plays a conversation into the check of a case.
func playing(f func(p *play)) func(context.Context, session.Service) error {
	return func(ctx context.Context, service session.Service) error {
		p, err := begin(ctx, service)
		if err != nil {
			return err
		}
		f(p)
		return p.join()
	}
}

// fresh returns a new handle, nil if there is none.
func (p *play) fresh() session.Session {
	resp, err := p.service.Get(p.ctx, suiteRequest())
	if err != nil {
		p.add("get the session: %w", err)
		return nil
	}
	return resp.Session
}

// say appends the events that were added to the builder since the last call, and checks the end of
// the live view after each.
func (p *play) say() {
	for _, ev := range p.h.Events[len(p.said):] {
		p.keys[keyOf(ev)] = len(p.said)
		p.said = append(p.said, adk.DeepCopy(ev))
		if err := p.service.AppendEvent(p.ctx, p.live, ev); err != nil {
			p.add("append event %s through the handle that the turn began with: %w", ev.ID, err)
			continue
		}
		p.checkNewest(ev)
	}
}

// checkNewest checks that the handle shows the newest event last.
func (p *play) checkNewest(ev *session.Event) {
	events := p.live.Events()
	if n := events.Len(); n == 0 || events.At(n-1) == nil || keyOf(events.At(n-1)) != keyOf(ev) {
		p.add("event %s was appended, but is not at the end of what the same handle shows: the model does not see it", ev.ID)
	}
}

// checkUpdateTime checks that the newest event set the session's last update time. A record that
// moves this time makes the handles of other processes stale.
func (p *play) checkUpdateTime() {
	fresh := p.fresh()
	if fresh == nil || len(p.said) == 0 {
		return
	}
	newest := p.said[len(p.said)-1].Timestamp
	if updated := fresh.LastUpdateTime(); updated.Truncate(time.Microsecond).After(newest) {
		p.add("the session was last updated at %s and its newest event is of %s: a record has moved that time, and other handles end in a stale session error",
			updated.Format(time.RFC3339Nano), newest.Format(time.RFC3339Nano))
	}
}

// invocation starts a new turn and returns its invocation ID.
func (p *play) invocation() string {
	p.turns++
	return fmt.Sprintf("inv%d", p.turns)
}

// fact returns a fact for the next event of the builder.
func (p *play) fact() string { return Fact(len(p.h.Events) + 1) }

func (p *play) ask(invocation string) {
	p.h.User(invocation, fmt.Sprintf("In turn %d the user tells the agent about the thing called %s, and asks to keep it in mind.", p.turns, p.fact()))
}

func (p *play) answer(invocation, agent string) {
	p.h.Agent(invocation, agent, fmt.Sprintf("In turn %d the agent says that it has seen to it, and gives %s as the number of the case.", p.turns, p.fact()))
}

// chat plays n turns.
func (p *play) chat(n int) {
	for range n {
		inv := p.invocation()
		p.ask(inv)
		p.answer(inv, "agent")
		p.say()
	}
}

// tools plays n turns in which the agent makes two parallel calls and then a third.
func (p *play) tools(n int) {
	for range n {
		inv := p.invocation()
		p.ask(inv)
		a, b, c := inv+"a", inv+"b", inv+"c"
		p.call(inv, a, b)
		p.respond(inv, "agent", "both", a, b)
		p.call(inv, c)
		p.respond(inv, "agent", "one", c)
		p.answer(inv, "agent")
		p.say()
	}
}

func (p *play) call(invocation string, ids ...string) {
	content := &genai.Content{Role: genai.RoleModel}
	for _, id := range ids {
		args := map[string]any{"for": "the thing that the user asked about: " + p.fact()}
		content.Parts = append(content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: "look", Args: args}})
	}
	p.h.Add(invocation, "agent", content)
}

func (p *play) respond(invocation, author, result string, ids ...string) {
	p.h.Response(invocation, author, "look", result+" for the thing that was looked up: "+p.fact(), ids...)
}

// keyOf returns a key that identifies an event in any backend: its author and content.
func keyOf(ev *session.Event) string {
	if ev == nil {
		return ""
	}
	return ev.Author + " " + asJSON(ev.Content)
}

// asJSON returns JSON that does not depend on the order of keys or the types of numbers.
func asJSON(v any) string {
	var plain any
	if err := throughJSON(v, &plain); err != nil {
		return err.Error()
	}
	data, _ := json.Marshal(plain) // what was decoded can be encoded
	return string(data)
}

// roleOf returns the role of an event's content.
func roleOf(ev *session.Event) genai.Role {
	if ev == nil || ev.Content == nil {
		return ""
	}
	return genai.Role(ev.Content.Role)
}
