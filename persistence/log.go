package persistence

import (
	"context"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
)

// markLog sets the mark. It ignores failures: without the mark, a missing log is not noticed.
func (w *writer) markLog() {
	ctx := context.Background()
	w.unmarked = 0
	if _, err := w.Conn.ExecContext(ctx, sessionfile.SetLogMark); err == nil {
		_ = sessionfile.Pragmas(ctx, w.Conn, "wal_checkpoint(PASSIVE)")
	}
	_ = w.unmarkLog()
}

// unmarkLog clears the mark, so that a closed file has none. It takes no lock if there is no mark.
func (w *writer) unmarkLog() error {
	ctx, marked := context.Background(), false
	if err := w.Conn.QueryRowContext(ctx, sessionfile.SelectMark).Scan(&marked); err != nil || !marked {
		return err
	}
	_, err := w.Conn.ExecContext(ctx, sessionfile.UnsetLogMark)
	return err
}

// countWrites renews the mark after enough writes. It runs after the callers of the writes have
// their answers.
func (w *writer) countWrites(n int) {
	if w.unmarked += n; w.keepsLog && w.unmarked >= sessionfile.MarkEvery {
		w.markLog()
	}
}
