package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// deleted are the statements that delete events of a session and close the gap.
func deleted(seqs, by string) []string {
	return []string{"DELETE FROM events WHERE seq IN (" + seqs + ")",
		"UPDATE events SET seq = -seq + " + by + " WHERE seq > 6", "UPDATE events SET seq = -seq WHERE seq < 0",
		"UPDATE sessions SET last_seq = last_seq - " + by}
}

func TestDeletedEventsAreOneFindingThatSaysSo(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(12, "bot").Compact("r1", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8")
	for name, c := range map[string]struct {
		damage      []string
		alone, seal string
	}{
		"with a gap":  {deleted("3, 4, 5, 6", "0")[:1], "event 3: I2: events 3 to 6 are missing", "event 3: seal: events 3 to 6 were deleted"},
		"without one": {deleted("3, 4, 5, 6", "4"), "event 3 (e7): chain: 4 events were deleted in front of it", "event 3: seal: events 3 to 6 were deleted"},
	} {
		path := storeSession(t, h, "shop", "ada", "s1")
		seal := filepath.Join(t.TempDir(), "s.seal")
		if code, _, complaints := called(t.Context(), "audit", "seal", path, "-o", seal); code != exit.CodeOK {
			t.Fatal(complaints)
		}
		damage(t, path, c.damage...)
		code, out, complaints := called(t.Context(), "audit", "verify", path)
		if first, _, _ := strings.Cut(out, "\n"); code != exit.CodeFindings || complaints != "longsession: 1 finding\n" || !strings.HasPrefix(first, "shop/ada/s1 "+c.alone) {
			t.Errorf("%s: exit code %d, %s\n%s", name, code, complaints, out)
		}
		code, out, complaints = called(t.Context(), "audit", "verify", path, "--against", seal)
		if code != exit.CodeFindings || complaints != "longsession: 1 finding\n" || !strings.HasPrefix(out, "shop/ada/s1 "+c.seal+"\n    also ") ||
			!strings.Contains(out, "chain: ") || !strings.Contains(out, "1 difference from the seal") {
			t.Errorf("%s, with a seal: exit code %d, %s\n%s", name, code, complaints, out)
		}
		if strings.Contains(out, "set it so") || strings.Contains(out, "set them so") {
			t.Errorf("%s: verify says how to repair what it is there to find:\n%s", name, out)
		}
	}
}

// TestASecondChangeDoesNotHideBehindTheFirst: each change of a row is a finding of its own, and a mark that was changed
// besides is still named.
func TestASecondChangeDoesNotHideBehindTheFirst(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(12, "bot").Compact("r1", "e1", "e2")
	path := storeSession(t, h, "shop", "ada", "s1", "UPDATE events SET content = replace(content, 'FACT', 'FICT') WHERE seq IN (3, 9)",
		"UPDATE events SET covered_by = 'r1' WHERE seq = 15")
	code, out, complaints := called(t.Context(), "audit", "verify", path, "--json")
	var found []string
	for line := range strings.SplitSeq(strings.TrimSpace(out), "\n") {
		var one struct {
			Rule string
			Seq  int
			Also []struct {
				Rule string
				Seq  int
			}
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		for _, also := range one.Also {
			if also.Rule == "covered_by" && also.Seq == 15 {
				found = append(found, "mark")
			}
		}
		if one.Rule == "chain" {
			found = append(found, "chain")
		}
	}
	if code != exit.CodeFindings || complaints != "longsession: 2 findings\n" || strings.Join(found, " ") != "chain mark chain" && strings.Join(found, " ") != "chain chain mark" && strings.Join(found, " ") != "mark chain chain" {
		t.Errorf("exit code %d, %s: %q\n%s", code, complaints, found, out)
	}
}

func TestWhatWasCheckedNamesTheChain(t *testing.T) {
	t.Parallel()
	path := storeSession(t, (&ct.History{}).Turns(2, "bot"), "shop", "ada", "s1")
	if _, out, _ := called(t.Context(), "audit", "verify", path); !strings.Contains(out, "checked the chain of digests, the marks") {
		t.Error(out)
	}
}
