package ids_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"

	"google.golang.org/adk/platform"

	"github.com/adk-go-ext/longsession/internal/ids"
)

func TestIDsSortInTheOrderInWhichTheyAreMade(t *testing.T) {
	t.Parallel()
	var made []string
	for range 10_000 {
		made = append(made, ids.New(t.Context()))
	}
	if !slices.IsSorted(made) || len(slices.Compact(slices.Clone(made))) != len(made) {
		t.Error("IDs are not in order, or one was made twice")
	}
	if id, err := uuid.Parse(made[0]); err != nil || id.Version() != 7 {
		t.Errorf("%q is no UUID of version 7: %v", made[0], err)
	}
	var none context.Context
	if id, err := uuid.Parse(ids.New(none)); err != nil || id.Version() != 7 {
		t.Errorf("without a context: %v", err)
	}
}

// key is that of a value that an app keeps in its context.
type key struct{}

func TestTheAppsProviderIsUsed(t *testing.T) {
	t.Parallel()
	ctx := platform.WithUUIDProvider(t.Context(), func() string { return "mine" })
	ctx = context.WithValue(ctx, key{}, "another value")
	if got := ids.New(ctx); got != "mine" {
		t.Errorf("got %q", got)
	}
	if id, err := uuid.Parse(ids.New(platform.WithUUIDProvider(t.Context(), nil))); err != nil || id.Version() != 7 {
		t.Errorf("with a nil provider: %v", err)
	}
}
