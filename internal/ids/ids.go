// Package ids makes the IDs that this module gives to events, records and sessions.
package ids

import (
	"context"

	"github.com/google/uuid"

	"google.golang.org/adk/platform"
)

// New returns an ID from the provider that the app has set with [platform.WithUUIDProvider]. Without
// one it is a UUID of version 7 (RFC 9562): later ones sort behind earlier ones, in this process
// strictly, so indexes over IDs grow at their end.
func New(ctx context.Context) string {
	if ctx == nil {
		return newV7()
	}
	return platform.NewUUID(withDefault{ctx})
}

// withDefault answers [platform.NewUUID], which asks a context for nothing but its provider.
type withDefault struct{ context.Context }

func (c withDefault) Value(key any) any {
	if provider, ok := c.Context.Value(key).(platform.UUIDProvider); ok && provider != nil {
		return provider
	}
	return platform.UUIDProvider(newV7)
}

func newV7() string {
	id, err := uuid.NewV7()
	if err != nil { // the system has no randomness: the other versions would panic
		return uuid.NewString()
	}
	return id.String()
}
