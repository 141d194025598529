package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard"
)

// stored counts what base stores of a session: state keys, writes of keys, and events.
func stored(ctx context.Context, base session.Service, ref compaction.SessionRef, seen *figures) error {
	got, err := base.Get(ctx, &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		return err
	}
	for key := range got.Session.State().All() {
		seen.keys++
		if key != guard.StateKey {
			seen.strayKeys++
		}
	}
	for ev := range got.Session.Events().All() {
		counted := *ev
		counted.Timestamp = time.Time{} // a time that ends in zeros has a shorter form
		data, err := json.Marshal(counted)
		if err != nil {
			return fmt.Errorf("event %s: %w", ev.ID, err)
		}
		seen.events++
		seen.bytes += len(data)
		seen.writes += len(ev.Actions.StateDelta)
	}
	return nil
}
