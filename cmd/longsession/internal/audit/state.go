package audit

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/persistence"
)

// checkState checks that each key of the session's own state has the value that the newest event
// set. It skips keys that no event set, since the session may have been created with them, and the
// state of the app and the user, since other sessions set it too.
func (e *examination) checkState(ctx context.Context, snap *persistence.Snapshot) error {
	type set struct {
		seq   int64
		value string
	}
	want := map[string]set{}
	err := answers(ctx, snap, "SELECT seq, actions FROM events WHERE session = ? AND actions IS NOT NULL ORDER BY seq", func(rows *sql.Rows) error {
		var seq int64
		var actions []byte
		if err := rows.Scan(&seq, &actions); err != nil {
			return err
		}
		var of struct {
			StateDelta map[string]json.RawMessage `json:"state_delta"`
		}
		if err := json.Unmarshal(actions, &of); err != nil {
			return fmt.Errorf("event %d: %w", seq, err)
		}
		for key, value := range of.StateDelta {
			// JSON cannot hold bytes that are not UTF-8, so it cannot name a key that has some.
			shared := strings.HasPrefix(key, session.KeyPrefixApp) || strings.HasPrefix(key, session.KeyPrefixUser) || adk.IsTemp(key)
			if !shared && !strings.ContainsRune(key, utf8.RuneError) {
				want[key] = set{seq, string(value)}
			}
		}
		return nil
	}, e.key)
	if err != nil || len(want) == 0 {
		return err
	}
	is := map[string]string{}
	err = answers(ctx, snap, "SELECT key, value FROM session_state WHERE session = ?", func(rows *sql.Rows) error {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return err
		}
		is[key] = value
		return nil
	}, e.key)
	if err != nil {
		return fmt.Errorf("table session_state: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, found := is[key]
		switch {
		case !found:
			e.find(want[key].seq, "", RuleState, "sets %q, but the session's state does not have that key: it was deleted", key)
		case value != want[key].value:
			e.find(want[key].seq, "", RuleState, "is the newest event that sets %q, but the session's state has another value: one of the two was changed", key)
		}
	}
	return nil
}
