package subtask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// stateKey is the key under which the state of a subtask's session has its [Link], as JSON text. It is there
// from the creation of the session on.
const stateKey = "longsession:subtask"

// Link says whose subtask a session is. It is the only link in a store that refuses given IDs.
type Link struct {
	Parent string `json:"parent"` // the ID of the parent's session, of the same app and user
	Call   string `json:"call"`   // the ID of the function call
	Name   string `json:"name"`   // of the [Spec]
}

// LinkOf returns the link of a session, and false for a session that is not a subtask's. It reads the state
// only, so it serves sessions from List as well.
func LinkOf(s session.Session) (Link, bool) {
	if s == nil || s.State() == nil {
		return Link{}, false
	}
	value, err := s.State().Get(stateKey)
	if err != nil {
		return Link{}, false
	}
	text, _ := value.(string)
	var l Link
	if json.Unmarshal([]byte(text), &l) != nil || l.Parent == "" || l.Call == "" {
		return Link{}, false
	}
	return l, true
}

// SessionID is the ID of the session of a subtask, in stores that accept given IDs.
func SessionID(parent, call string) string { return parent + ":sub:" + call }

// maxPerCall is how many subtasks of one function call get an ID that tells them apart.
const maxPerCall = 64

// create creates the session of a subtask. A second subtask of one call, or a call that runs a second time,
// gets the number 2 at the end of its ID. A store that refuses given IDs chooses one.
func (r *Runner) create(ctx context.Context, parent compaction.SessionRef, link Link) (compaction.SessionRef, error) {
	text, err := json.Marshal(link)
	if err != nil {
		return compaction.SessionRef{}, err
	}
	req := func(id string) *session.CreateRequest {
		return &session.CreateRequest{AppName: parent.AppName, UserID: parent.UserID, SessionID: id, State: map[string]any{stateKey: string(text)}}
	}
	base := SessionID(link.Parent, link.Call)
	var refusal error
	for n := 1; n <= maxPerCall; n++ {
		id := base
		if n > 1 {
			id = fmt.Sprintf("%s:%d", base, n)
		}
		resp, err := r.cfg.Service.Create(ctx, req(id))
		if err == nil {
			return refOf(resp.Session), nil
		}
		refusal = err
		if ctx.Err() != nil {
			return compaction.SessionRef{}, err
		}
		if _, err := r.get(ctx, compaction.SessionRef{AppName: parent.AppName, UserID: parent.UserID, SessionID: id}); err != nil {
			break // it does not exist, so the store refuses the ID or cannot be reached
		}
	}
	resp, err := r.cfg.Service.Create(ctx, req(""))
	if err != nil {
		return compaction.SessionRef{}, errors.Join(refusal, err)
	}
	return refOf(resp.Session), nil
}

func (r *Runner) get(ctx context.Context, ref compaction.SessionRef) (session.Session, error) {
	resp, err := r.cfg.Service.Get(ctx, &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		return nil, err
	}
	return resp.Session, nil
}

func refOf(s session.Session) compaction.SessionRef {
	return adk.RefOf(s)
}

// waiting returns the session of a call that has asked for a confirmation in the place of a subtask, and the
// IDs of the questions that the subtask waits for. It finds none for a call whose own tool has asked.
func (r *Runner) waiting(ctx context.Context, parent compaction.SessionRef, link Link) (session.Session, []string, error) {
	base := SessionID(link.Parent, link.Call)
	for n := 1; n <= maxPerCall; n++ {
		ref := parent
		ref.SessionID = base
		if n > 1 {
			ref.SessionID = fmt.Sprintf("%s:%d", base, n)
		}
		s, err := r.get(ctx, ref)
		if err != nil {
			break // there are no more, or the store refuses the ID
		}
		if found, ok := LinkOf(s); ok && found == link {
			if ids := unanswered(s); len(ids) > 0 {
				return s, ids, nil
			}
		}
	}
	return r.waitingElsewhere(ctx, parent, link)
}

// waitingElsewhere looks through all sessions of the user, for stores that choose the IDs.
func (r *Runner) waitingElsewhere(ctx context.Context, parent compaction.SessionRef, link Link) (session.Session, []string, error) {
	resp, err := r.cfg.Service.List(ctx, &session.ListRequest{AppName: parent.AppName, UserID: parent.UserID})
	if err != nil {
		return nil, nil, err
	}
	for _, listed := range resp.Sessions {
		if found, ok := LinkOf(listed); !ok || found != link {
			continue
		}
		s, err := r.get(ctx, refOf(listed))
		if err != nil {
			return nil, nil, err
		}
		if ids := unanswered(s); len(ids) > 0 {
			return s, ids, nil
		}
	}
	return nil, nil, nil
}
