package persistence

import (
	"errors"
	"strings"
	"testing"
)

func TestAnOlderFileIsNotReadAsItIs(t *testing.T) {
	t.Parallel()
	if err := checkVersion(3, 3, 4); err != nil {
		t.Error(err)
	}
	if err := checkVersion(2, 3, 4); !errors.Is(err, ErrOlderSchema) || !strings.Contains(err.Error(), "user_version is 2, this program reads 3 to 4") {
		t.Errorf("older: %v", err)
	}
	if err := checkVersion(0, 3, 4); !errors.Is(err, ErrForeignFile) {
		t.Errorf("empty: %v", err)
	}
}
