package persistence

import (
	"errors"
	"strings"
	"testing"
)

func TestAResultOverTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	const ref = "r-0123456789abcdef"
	if err := storable(ref, maxResult); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	err := storable(ref, maxResult+1)
	if !errors.Is(err, ErrResultTooLarge) || !strings.Contains(err.Error(), "1000000001 bytes, and the limit is 1000000000") {
		t.Errorf("over the limit: %v", err)
	}
}
