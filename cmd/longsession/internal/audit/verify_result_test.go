package audit_test

import (
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/persistence"
)

func TestAnIncompleteResultIsFound(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		damage string
		is     bool
	}{
		"as they were stored":    {"SELECT 1", false},
		"a lost row":             {"DELETE FROM tool_result_chunks WHERE number = 1", true},
		"the last row":           {"DELETE FROM tool_result_chunks WHERE number = 2", true},
		"a shorter row":          {"UPDATE tool_result_chunks SET content = x'00' WHERE number = 0", true},
		"a shifted border":       {"UPDATE tool_result_chunks SET content = CASE number WHEN 0 THEN substr(content, 2) WHEN 1 THEN x'00' || content ELSE content END WHERE length(content) = 65536", true},
		"another number":         {"UPDATE tool_result_chunks SET number = 7 WHERE number = 2", true},
		"the first row is last":  {"UPDATE tool_result_chunks SET number = 2 WHERE number = 0 AND blob = (SELECT key FROM tool_result_blobs WHERE byte_size = 131072)", true},
		"a row before the first": {"INSERT INTO tool_result_chunks SELECT blob, -1, x'' FROM tool_result_chunks WHERE number = 0", true},
		"a small one is shorter": {"UPDATE tool_result_blobs SET content = x'00' WHERE byte_size = 100", true},
		"a small one is gone":    {"UPDATE tool_result_blobs SET content = NULL WHERE byte_size = 100", true},
		"a large one is twice":   {"UPDATE tool_result_blobs SET content = x'00' WHERE byte_size > 65536", true},
		"another size":           {"UPDATE tool_result_blobs SET byte_size = byte_size + 1", true},
		"no reference":           {"UPDATE tool_result_blobs SET id = 'x' WHERE byte_size = 0", true},
		"a row without a result": {"PRAGMA foreign_keys = OFF; DELETE FROM tool_result_blobs WHERE byte_size > 65536", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := stored(t, func(t *testing.T, path string) {
				s := writing(t, path)
				create(t, s, user, "order-1", said(2)...)
				for _, size := range []int{0, 100, 65_536, 150_000, 131_072} {
					owner := store.Owner{AppName: app, UserID: user, SessionID: "order-1"}
					if err := persistence.Results(s).Put(t.Context(), owner, "cat", store.ResultOf(map[string]any{"output": strings.Repeat("x", size)})); err != nil {
						t.Fatal(err)
					}
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			})
			run(t, path, r.damage)
			found, texts, _ := verified(t, path, 4)
			if (len(found) > 0) != r.is {
				t.Errorf("%d findings\n%s", len(found), texts)
			}
			for _, one := range found {
				want := audit.RuleResult
				if name == "a row without a result" {
					want = audit.RuleForeignKey
				}
				if one != want+" 0" {
					t.Errorf("finding %s\n%s", one, texts)
				}
			}
		})
	}
}
