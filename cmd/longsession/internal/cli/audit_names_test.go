package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// clock is what the IDs of all records of a minute begin with.
const clock = "01a20dbc-4f00-7aaa-8bbb-"

// ofOneMinute is a history whose records have IDs that begin alike; the last two also end alike.
func ofOneMinute() (h *ct.History, ids []string) {
	h = (&ct.History{}).Turns(8, "bot")
	ids = []string{clock + "00003f9a0c11", clock + "0000d2e47b58", clock + "0000e0000001", clock + "0001e0000001"}
	for i, id := range ids {
		h.Compact(id, fmt.Sprintf("e%d", 2*i+1), fmt.Sprintf("e%d", 2*i+2))
	}
	return h, ids
}

func TestNoTwoRecordsHaveOneNameAndEveryNameIsAccepted(t *testing.T) {
	t.Parallel()
	h, ids := ofOneMinute()
	path := storeSession(t, h, "shop", "ada", "s1")
	want := []string{"3f9a0c11", "d2e47b58", "0e0000001", "1e0000001"}
	_, out, _ := called(t.Context(), "audit", "compactions", path)
	var names []string
	for _, found := range regexp.MustCompile(`(?m)^#\d+  (\S+)`).FindAllStringSubmatch(out, -1) {
		names = append(names, found[1])
	}
	if !slices.Equal(names, want) {
		t.Fatalf("the records are named %q, want %q", names, want)
	}
	for i, id := range ids {
		for _, given := range []string{want[i], id, id[3:]} {
			code, out, complaints := called(t.Context(), "audit", "diff", path, "--record", given, "--json")
			if code != exit.CodeOK || strings.Count(out, "\n") != 1 || !strings.Contains(out, `"record_id":"`+id+`"`) {
				t.Errorf("--record %s: exit code %d, %s%s", given, code, out, complaints)
			}
		}
	}
	for _, form := range [][]string{{"history", path}, {"context", path}, {"diff", path}, {path, "s1"}, {"export", path, "--format", "markdown"}} {
		if _, out, _ := called(t.Context(), append([]string{"audit"}, form...)...); strings.Contains(out, clock[:8]) || !strings.Contains(out, "1e0000001") {
			t.Errorf("%s does not name the record 1e0000001, or has IDs that are alike:\n%s", form, out)
		}
	}
}

func TestARecordThatIsNamedAmbiguouslyIsRefusedWithTheCandidates(t *testing.T) {
	t.Parallel()
	h, _ := ofOneMinute()
	path := storeSession(t, h, "shop", "ada", "s1")
	for given, want := range map[string]string{
		"01a20dbc": `4 records of session "shop/ada/s1" begin or end with "01a20dbc": name one of "3f9a0c11", "d2e47b58", "0e0000001", "1e0000001"`,
		"e0000001": `2 records of session "shop/ada/s1" begin or end with "e0000001": name one of "0e0000001", "1e0000001"`,
		"nothing":  `no readable record whose ID is "nothing" or begins or ends with that; it has "3f9a0c11", "d2e47b58"`,
	} {
		if code, _, complaints := called(t.Context(), "audit", "diff", path, "--record", given); code != exit.CodeUsage || !strings.Contains(complaints, want) {
			t.Errorf("--record %s: exit code %d, %s", given, code, complaints)
		}
	}
}

func TestARedactedIDOfARecordIsNotCutShort(t *testing.T) {
	t.Parallel()
	h, _ := ofOneMinute()
	path := storeSession(t, h, "shop", "ada", "s1")
	code, out, complaints := called(t.Context(), "audit", "export", path, "--format", "markdown", "--redact", "0000d2e4")
	if code != exit.CodeOK || !strings.Contains(out, clock+"[redacted]7b58") || !strings.Contains(out, "`3f9a0c11`") {
		t.Errorf("exit code %d, %s\n%s", code, complaints, out)
	}
}
