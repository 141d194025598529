package chat_test

import (
	"bytes"
	"regexp"
	"testing"
)

// The window has one size, whether a request was sent or not: a share of another whole cannot be compared.
func TestTheWindowHasOneSizeBeforeAndAfterTheFirstRequest(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if err := run(t, config(t, "/tokens\nHello.\n/tokens\n", &out, &errs)); err != nil {
		t.Fatal(err)
	}
	seen := regexp.MustCompile(`Tokens: \d+ / (\d+) \(`).FindAllStringSubmatch(out.String(), -1)
	if len(seen) != 2 || seen[0][1] != seen[1][1] {
		t.Errorf("windows %v in:\n%s", seen, out.String())
	}
}
