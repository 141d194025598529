package compactiontest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

func serviceCases() []Case {
	return []Case{
		{
			Name: "compaction makes no handle stale",
			Explain: "Checks that no compaction makes a handle stale. ADK's database service rejects appends through a handle that is older than storage. " +
				"If a record moves the session's update time, or is stored without updating the turn's handle, the turn fails halfway.",
			Check: playing(func(p *play) {
				p.chat(14)     // compactions run while one handle appends
				for range 14 { // each turn begins with a Get, like a runner's
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
			Name: "inner errors are returned",
			Explain: "Checks that errors of the inner service are returned and remain distinguishable. ADK's servers answer 404 if the error is session.ErrNotFound. " +
				"If an error is swallowed, the agent carries on with an event that is not stored.",
			Check: checkErrors,
		},
		{
			Name: "a deleted session leaves nothing behind",
			Explain: "Checks that a session re-created under the same ID starts empty. If a summary of the deleted session is still cached, the model reveals " +
				"what a user asked to have deleted.",
			Check: playing(checkDeleted),
		},
		{
			Name: "sessions do not mix",
			Explain: "Checks that cached data of one session never appears in another session with the same ID. Otherwise the model tells one user what " +
				"another one said.",
			Check: checkMixed,
		},
	}
}

// stray is a session that no service created.
type stray struct{ session.Session }

func (stray) ID() string                { return suiteSession }
func (stray) AppName() string           { return suiteApp }
func (stray) UserID() string            { return suiteUser }
func (stray) State() session.State      { return nil }
func (stray) Events() session.Events    { return eventList(nil) }
func (stray) LastUpdateTime() time.Time { return histories.Epoch }

func checkErrors(ctx context.Context, service session.Service) error {
	var f findings
	if _, err := service.Get(ctx, suiteRequest()); !adk.IsNotFound(err) {
		f.add("get a session that does not exist: %v, want compaction.ErrNotFound", err)
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
		f.add("append to a session that no service created: no error, and the event is lost")
	}
	if err := service.AppendEvent(ctx, p.live, nil); err == nil {
		f.add("append nil: no error")
	}
	if err := service.Delete(ctx, &session.DeleteRequest{AppName: suiteApp, UserID: suiteUser, SessionID: suiteSession}); err != nil {
		f.add("delete: %w", err)
	}
	p.ask(p.invocation())
	if err := service.AppendEvent(ctx, p.live, p.h.Last()); !adk.IsNotFound(err) {
		f.add("append to a session that was deleted: %v, want compaction.ErrNotFound", err)
	}
	if _, err := service.Get(ctx, suiteRequest()); !adk.IsNotFound(err) {
		f.add("get a session that was deleted: %v, want compaction.ErrNotFound", err)
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
		p.add("re-create a session: %w", err)
		return
	}
	for who, sess := range map[string]session.Session{"the re-created session": again.live, "a new handle to it": again.fresh()} {
		if s := again.look(sess); len(s.events) > 0 {
			p.add("%s shows %d events of the deleted one", who, len(s.events))
		}
	}
	for range 12 { // different events from those of the first session
		inv := again.invocation()
		again.ask(inv)
		again.h.Agent(inv, "agent", fmt.Sprintf("In turn %d of the new session the agent answers something else, that is %s.", again.turns, again.fact()))
		again.say()
	}
	again.checkCompacted()
	again.check()
	if err := again.join(); err != nil {
		p.add("in the re-created session: %w", err)
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
			p.add("the new session %+v shows %d events of another session", other, n)
		}
	}
	p.chat(6)
	p.check()
	return p.join()
}
