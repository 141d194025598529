package audit

import (
	"context"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/persistence"
)

// selectResults counts what there is of each stored result: the bytes in its own row, and its other
// rows, which are numbered from 0 and have 65,536 bytes each but the last.
const selectResults = `SELECT CAST(id AS TEXT), byte_size, content IS NULL, coalesce(length(CAST(content AS BLOB)), 0),
	coalesce((SELECT sum(length(CAST(content AS BLOB))) FROM tool_result_chunks WHERE blob = b.key), 0),
	(SELECT count(*) FROM tool_result_chunks c WHERE blob = b.key
		AND (number < 0 OR number > (b.byte_size - 1) / 65536 OR number < (b.byte_size - 1) / 65536 AND length(CAST(content AS BLOB)) <> 65536))
	FROM tool_result_blobs b WHERE session = ? ORDER BY key`

// checkResults checks that stored tool results are complete. A file of an older version has none.
func (e *examination) checkResults(ctx context.Context, snap *persistence.Snapshot) error {
	if has, err := hasResults(ctx, snap); !has || err != nil {
		return err
	}
	const chunk = 65_536
	var ref string
	var size, own, others, wrong int64
	var null bool
	return answers(ctx, snap, "tool_result_blobs", selectResults, []any{e.key}, []any{&ref, &size, &null, &own, &others, &wrong}, func() {
		switch {
		case !store.IsRef(ref):
			e.find(0, "", RuleResult, "a tool result has the reference %q, which no result can have", ref)
		case own+others != size || null != (size > chunk) || (others > 0) != (size > chunk) || wrong > 0:
			e.find(0, "", RuleResult, "tool result %s has %d bytes of %d, or they are not in the rows where they belong: the model cannot read it; restore a backup", ref, own+others, size)
		}
	})
}
