package adkdb

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// eventColumns are the columns of ADK's table events, under the alias e and in the order of [storedEvent.fields]. The three
// that name the session are left out.
var eventColumns = func() string {
	all := columnsOfAll + ", " + scope("e.")
	for _, c := range adk.FurtherColumns {
		all += ", e." + c.Column
	}
	return all
}()

// scope is the isolation scope of an event, as SQL: the table of ADK v1 has none. of is the name of the row, with a point.
func scope(of string) string {
	if adk.Major == 1 {
		return "''"
	}
	return "coalesce(" + of + "isolation_scope, '')"
}

// ofNode reports whether an event comes from a node of a workflow, as SQL. of is the name of the row, with a point.
func ofNode(of string) string {
	if adk.Major == 1 {
		return "false"
	}
	return of + "node_info_json IS NOT NULL"
}

// columnsOfAll are those of every major.
const columnsOfAll = `e.id, e.invocation_id, e.author, e.actions, e.long_running_tool_ids_json, e.branch, e.timestamp,
	e.content, e.grounding_metadata, e.custom_metadata, e.usage_metadata, e.citation_metadata,
	e.partial, e.turn_complete, e.error_code, e.error_message, e.interrupted`

// storedEvent is a row of ADK's table events, see storageEvent in session/database/storage_session.go.
type storedEvent struct {
	id                         string
	invocation, author         sql.NullString
	actions, longRunning       []byte
	branch                     sql.NullString
	time                       time.Time
	content, grounding, custom []byte
	usage, citation            []byte
	partial, turnComplete      sql.NullBool
	errorCode, errorMessage    sql.NullString
	interrupted                sql.NullBool
	scope                      string
	further                    [][]byte // in the order of adk.FurtherColumns
}

// fields are the destinations of a scan of eventColumns.
func (r *storedEvent) fields() []any {
	fields := []any{
		&r.id, &r.invocation, &r.author, &r.actions, &r.longRunning, &r.branch, &r.time,
		&r.content, &r.grounding, &r.custom, &r.usage, &r.citation,
		&r.partial, &r.turnComplete, &r.errorCode, &r.errorMessage, &r.interrupted, &r.scope,
	}
	r.further = make([][]byte, len(adk.FurtherColumns))
	for i := range r.further {
		fields = append(fields, &r.further[i])
	}
	return fields
}

// event returns the event of a row, equal to what ADK's service makes of it.
func (r *storedEvent) event() (*session.Event, error) {
	ev := &session.Event{
		ID: r.id, InvocationID: r.invocation.String, Author: r.author.String, Timestamp: r.time, Branch: r.branch.String,
		LLMResponse: model.LLMResponse{
			Partial: r.partial.Bool, TurnComplete: r.turnComplete.Bool, Interrupted: r.interrupted.Bool,
			ErrorCode: r.errorCode.String, ErrorMessage: r.errorMessage.String,
		},
	}
	adk.SetScope(ev, r.scope)
	type column struct {
		name string
		data []byte
		into any
	}
	columns := []column{
		{"actions", r.actions, &ev.Actions},
		{"long_running_tool_ids_json", r.longRunning, &ev.LongRunningToolIDs},
		{"content", r.content, &ev.Content},
		{"grounding_metadata", r.grounding, &ev.GroundingMetadata},
		{"custom_metadata", r.custom, &ev.CustomMetadata},
		{"usage_metadata", r.usage, &ev.UsageMetadata},
		{"citation_metadata", r.citation, &ev.CitationMetadata},
	}
	for i, c := range adk.FurtherColumns {
		columns = append(columns, column{c.Column, r.further[i], c.Of(ev).Addr().Interface()})
	}
	for _, column := range columns {
		if len(column.data) == 0 {
			continue
		}
		if err := json.Unmarshal(column.data, column.into); err != nil {
			return nil, fmt.Errorf("event %q, column %s: %w", r.id, column.name, err)
		}
	}
	return ev, nil
}

// scanEvents reads events, and closes rows.
func scanEvents(rows *sql.Rows, err error) ([]*session.Event, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []*session.Event
	for rows.Next() {
		var row storedEvent
		if err := rows.Scan(row.fields()...); err != nil {
			return nil, err
		}
		ev, err := row.event()
		if err != nil {
			return nil, err
		}
		out = append(out, ev)
	}
	return out, rows.Err()
}
