package setting_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
)

func TestWalkFindsEveryWrappedErrorInOrder(t *testing.T) {
	t.Parallel()
	a, b, below := errors.New("a"), errors.New("b"), errors.New("below")
	c := fmt.Errorf("c: %w", below)
	var found []error
	setting.Walk(fmt.Errorf("outer: %w", errors.Join(a, errors.Join(b, c))), func(err error) bool {
		if err == a || err == b || err == c || err == below {
			found = append(found, err)
		}
		return err != c
	})
	if want := []error{a, b, c}; !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
	setting.Walk(nil, func(error) bool { t.Error("visited nil"); return true })
}
