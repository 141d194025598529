package persistence

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/eventrow"
)

const (
	upsertSessionState = `INSERT INTO session_state (session, key, value) VALUES (?, ?, ?)
		ON CONFLICT (session, key) DO UPDATE SET value = excluded.value`
	upsertUserState = `INSERT INTO user_state (app, user, key, value) VALUES (?, ?, ?, ?)
		ON CONFLICT (app, user, key) DO UPDATE SET value = excluded.value`
	upsertAppState = `INSERT INTO app_state (app, key, value) VALUES (?, ?, ?)
		ON CONFLICT (app, key) DO UPDATE SET value = excluded.value`
	selectState = `SELECT key, value FROM session_state WHERE session = ?1
		UNION ALL SELECT 'user:' || key, value FROM user_state WHERE app = ?2 AND user = ?3
		UNION ALL SELECT 'app:' || key, value FROM app_state WHERE app = ?2`
)

// stateValue is one key of a state delta, as the file stores it. For example, the delta
//
//	{"app:theme": "dark", "user:name": "Ada", "cart": 2, "temp:draft": "..."}
//
// becomes "theme" in app_state, "name" in user_state and "cart" in session_state. The last key is
// not stored.
type stateValue struct {
	scope string // ADK's prefix, "" for state of the session
	key   string // without the prefix
	json  string
}

// stateValues returns the stored form of a state delta, without temporary keys.
func stateValues(delta map[string]any) ([]stateValue, error) {
	if len(delta) == 0 {
		return nil, nil
	}
	values := make([]stateValue, 0, len(delta))
	for key, value := range delta {
		if adk.IsTemp(key) {
			continue
		}
		v := stateValue{key: key}
		for _, scope := range []string{session.KeyPrefixApp, session.KeyPrefixUser} {
			if bare, ok := strings.CutPrefix(key, scope); ok {
				v.scope, v.key = scope, bare
			}
		}
		var err error
		if v.json, err = eventrow.JSON(fmt.Sprintf("state %q", key), value); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// setState merges values by key into the state of the session, its user and its app.
func (w *writer) setState(key int64, app, user string, values []stateValue) error {
	for _, v := range values {
		var err error
		switch v.scope {
		case session.KeyPrefixApp:
			err = w.do(w.setAppState, app, v.key, v.json)
		case session.KeyPrefixUser:
			err = w.do(w.setUserState, app, user, v.key, v.json)
		default:
			err = w.do(w.setSessionState, key, v.key, v.json)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readState returns the state of a session, merged with the state of its user and its app.
func readState(ctx context.Context, stmt *sql.Stmt, key int64, app, user string) (map[string]any, error) {
	rows, err := stmt.QueryContext(ctx, key, app, user)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	merged := map[string]any{}
	for rows.Next() {
		var name string
		var text []byte
		if err := rows.Scan(&name, &text); err != nil {
			return nil, err
		}
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			return nil, fmt.Errorf("state %q: %w", name, err)
		}
		merged[name] = value
	}
	return merged, rows.Err()
}
