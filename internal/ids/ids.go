// Package ids makes the IDs that this module gives to events, records and sessions.
package ids

import (
	"context"

	"github.com/google/uuid"

	"google.golang.org/adk/platform"
)

// New returns an ID from the provider that the app has set with [platform.WithUUIDProvider].
// Without a provider, it returns a UUID of version 7 (RFC 9562). Later ones sort after earlier
// ones, within one process always, so an index over IDs grows at its end. A nil context is allowed.
func New(ctx context.Context) string {
	if ctx == nil {
		return newV7()
	}
	return platform.NewUUID(withDefault{ctx})
}

// withDefault makes newV7 the provider of a context without one. [platform.NewUUID] asks a context
// for its provider only.
type withDefault struct{ context.Context }

func (c withDefault) Value(key any) any {
	if provider, ok := c.Context.Value(key).(platform.UUIDProvider); ok && provider != nil {
		return provider
	}
	return platform.UUIDProvider(newV7)
}

func newV7() string { return uuid.Must(uuid.NewV7()).String() } // crypto/rand never fails
