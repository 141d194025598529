package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
)

// stored counts what base holds of a session: keys of its state, how often one was written, events.
func stored(ctx context.Context, base session.Service, ref compaction.SessionRef, seen *figures) error {
	got, err := base.Get(ctx, &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		return err
	}
	for range got.Session.State().All() {
		seen.keys++
	}
	for ev := range got.Session.Events().All() {
		counted := *ev
		counted.Timestamp = time.Time{} // one that ends in zeros is shorter
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
