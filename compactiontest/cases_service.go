package compactiontest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/adk/session"
)

func serviceCases() []Case {
	return []Case{
		{
			Name: "nobody goes stale",
			Explain: "Guards that no compaction makes a handle stale. ADK's database service refuses to append through a handle that is older than storage: " +
				"if a record moves the session's update time, or is stored behind the back of the turn's handle, the turn ends in the middle with an error.",
			Check: playing(func(p *play) {
				p.chat(14)     // compactions in the midst of what one handle appends
				for range 14 { // each turn begins with a Get, as a runner's does
					if fresh := p.fresh(); fresh != nil {
						p.live = fresh
					}
					p.tools(1)
					p.checkUpdateTime()
				}
				p.checkCompacted()
				p.check()
			}),
		},
		{
			Name: "inner errors come through",
			Explain: "Guards that errors of the inner service are returned, and can be told apart. ADK's servers look for session.ErrNotFound to answer 404; " +
				"an error that is swallowed makes the agent go on with an event that is stored nowhere.",
			Check: checkErrors,
		},
		{
			Name: "a deleted session leaves nothing behind",
			Explain: "Guards that a session created anew under an ID begins empty. If a summary of the deleted one is remembered, the model tells a user what " +
				"was deleted at somebody's wish.",
			Check: playing(checkDeleted),
		},
		{
			Name: "sessions do not mix",
			Explain: "Guards that what is remembered of one session is not shown in another of the same name. If users share it, the model tells one user what " +
				"another one said.",
			Check: checkMixed,
		},
	}
}

// stray is a session that no service gave out.
type stray struct{ session.Session }

func (stray) ID() string                { return suiteSession }
func (stray) AppName() string           { return suiteApp }
func (stray) UserID() string            { return suiteUser }
func (stray) State() session.State      { return nil }
func (stray) Events() session.Events    { return eventList(nil) }
func (stray) LastUpdateTime() time.Time { return Epoch }

func checkErrors(ctx context.Context, service session.Service) error {
	var f findings
	if _, err := service.Get(ctx, suiteRequest()); !errors.Is(err, session.ErrNotFound) {
		f.add("get a session that does not exist: %v, want session.ErrNotFound", err)
	}
	p, err := begin(ctx, service)
	if err != nil {
		return err
	}
	if _, err := service.Create(ctx, &session.CreateRequest{AppName: suiteApp, UserID: suiteUser, SessionID: suiteSession}); err == nil {
		f.add("create a session that exists: no error")
	}
	p.chat(8)
	if err := service.AppendEvent(ctx, stray{}, p.said[0]); err == nil {
		f.add("append to a session that no service gave out: no error, and the event is nowhere")
	}
	if err := service.AppendEvent(ctx, p.live, nil); err == nil {
		f.add("append nil: no error")
	}
	if err := service.Delete(ctx, &session.DeleteRequest{AppName: suiteApp, UserID: suiteUser, SessionID: suiteSession}); err != nil {
		f.add("delete: %w", err)
	}
	p.ask(p.invocation())
	if err := service.AppendEvent(ctx, p.live, p.h.Last()); !errors.Is(err, session.ErrNotFound) {
		f.add("append to a session that was deleted: %v, want session.ErrNotFound", err)
	}
	if _, err := service.Get(ctx, suiteRequest()); !errors.Is(err, session.ErrNotFound) {
		f.add("get a session that was deleted: %v, want session.ErrNotFound", err)
	}
	return errors.Join(p.join(), f.join())
}

func checkDeleted(p *play) {
	p.chat(10)
	p.checkCompacted()
	if err := p.service.Delete(p.ctx, &session.DeleteRequest{AppName: suiteApp, UserID: suiteUser, SessionID: suiteSession}); err != nil {
		p.add("delete: %w", err)
		return
	}
	again, err := begin(p.ctx, p.service)
	if err != nil {
		p.add("create a session anew: %w", err)
		return
	}
	for who, sess := range map[string]session.Session{"the session created anew": again.live, "a new handle to it": again.fresh()} {
		if s := again.look(sess); len(s.events) > 0 {
			p.add("%s shows %d events of the deleted one", who, len(s.events))
		}
	}
	for range 12 { // other events than the first time
		inv := again.invocation()
		again.ask(inv)
		again.h.Agent(inv, "agent", fmt.Sprintf("In turn %d of the new session the agent answers something else, that is %s.", again.turns, again.fact()))
		again.say()
	}
	again.checkCompacted()
	again.check()
	if err := again.join(); err != nil {
		p.add("in the session created anew: %w", err)
	}
}

func checkMixed(ctx context.Context, service session.Service) error {
	p, err := begin(ctx, service)
	if err != nil {
		return err
	}
	p.chat(10)
	p.checkCompacted()
	for _, other := range []session.CreateRequest{
		{AppName: suiteApp, UserID: "another user", SessionID: suiteSession},
		{AppName: "another app", UserID: suiteUser, SessionID: suiteSession},
		{AppName: suiteApp, UserID: suiteUser, SessionID: "another session"},
	} {
		resp, err := service.Create(ctx, &other)
		if err != nil {
			p.add("create %+v: %w", other, err)
			continue
		}
		if n := resp.Session.Events().Len(); n > 0 {
			p.add("the new session %+v shows %d events of another one", other, n)
		}
	}
	p.chat(6)
	p.check()
	return p.join()
}
