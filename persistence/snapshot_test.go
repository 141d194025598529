package persistence_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/persistence"
)

// changed runs SQL on a file that is not in use.
func changed(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// A long number keeps its digits: the column has them, but a float64 cannot represent them.
func TestALongNumberKeepsItsDigits(t *testing.T) {
	t.Parallel()
	const long, short = 9007199254740993, 12.5
	h := (&ct.History{}).User("i", "q").Call("i", "bot", "pay", "c").Response("i", "bot", "pay", "ok", "c")
	call, answer := h.Events[1], h.Events[2]
	call.Content.Parts[0].FunctionCall.Args = map[string]any{"account": int64(long), "price": short, "list": []any{int64(long)}}
	answer.Content.Parts[0].FunctionResponse.Response = map[string]any{"account": map[string]any{"no": int64(long)}}
	answer.Actions.StateDelta = map[string]any{"account": int64(long)}
	answer.CustomMetadata = map[string]any{"account": int64(long)}
	s := open(t, closed(t, h), persistence.WithReadOnly())
	seen := 0
	err := s.Snapshot(t.Context(), func(snap *persistence.Snapshot) error {
		for row, err := range sessionfile.Rows(t.Context(), snap, 1, 1, -1) {
			if err != nil || row.Err != nil {
				return fmt.Errorf("%w %w", err, row.Err)
			}
			switch row.Seq {
			case 2:
				args := row.Event.Content.Parts[0].FunctionCall.Args
				if fmt.Sprint(args) != "map[account:9007199254740993 list:[9007199254740993] price:12.5]" {
					t.Errorf("arguments %v", args)
				}
				if _, is := args["price"].(float64); !is {
					t.Errorf("a short number is a %T", args["price"])
				}
				seen++
			case 3:
				got := fmt.Sprint(row.Event.Content.Parts[0].FunctionResponse.Response, row.Event.Actions.StateDelta, row.Event.CustomMetadata)
				if got != "map[account:map[no:9007199254740993]] map[account:9007199254740993] map[account:9007199254740993]" {
					t.Errorf("response, state and metadata %s", got)
				}
				if _, is := row.Event.Actions.StateDelta["account"].(json.Number); !is {
					t.Errorf("a long number is a %T", row.Event.Actions.StateDelta["account"])
				}
				seen++
			}
		}
		return nil
	})
	if err != nil || seen != 2 {
		t.Errorf("%d events were read: %v", seen, err)
	}
}

// Rows returns rows with any number, including those inserted by hand.
func TestAnyNumberOfAnEventCanBeRead(t *testing.T) {
	t.Parallel()
	path := closed(t, (&ct.History{}).Turns(1, "bot"))
	changed(t, path, `UPDATE events SET seq = -5 WHERE seq = 1`, `UPDATE events SET seq = 9223372036854775807 WHERE seq = 2`)
	s := open(t, path, persistence.WithReadOnly())
	var got []int64
	err := s.Snapshot(t.Context(), func(snap *persistence.Snapshot) error {
		for row, err := range sessionfile.Rows(t.Context(), snap, 1, -1<<63, -1) {
			if err != nil {
				return err
			}
			got = append(got, row.Seq)
		}
		return nil
	})
	if err != nil || fmt.Sprint(got) != "[-5 9223372036854775807]" {
		t.Errorf("%v, %v", got, err)
	}
}

// A changed schema is reported, and the file can still be queried.
func TestADamagedSchemaIsTold(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ damage, want string }{
		{`SELECT 1`, "[]"},
		{`ANALYZE`, "[]"},
		{`CREATE INDEX mine ON events (author)`, "[{index mine  false}]"},
		{`CREATE TABLE notes (text)`, "[{table notes  false}]"},
		{`CREATE VIEW mine AS SELECT * FROM history`, "[{view mine  false}]"},
		{`DROP INDEX events_units`, "[{index events_units CREATE INDEX events_units ON events (session, unit) WHERE unit IS NOT NULL true}]"},
		{`DROP INDEX events_units; CREATE INDEX events_units ON events (unit)`, "[{index events_units CREATE INDEX events_units ON events (session, unit) WHERE unit IS NOT NULL false}]"},
		{`CREATE TRIGGER spy AFTER INSERT ON events BEGIN SELECT 1; END`, "[{trigger spy  false}]"},
	} {
		path := closed(t, (&ct.History{}).Turns(1, "bot"))
		changed(t, path, r.damage)
		s := open(t, path, persistence.WithReadOnly())
		err := s.Snapshot(t.Context(), func(snap *persistence.Snapshot) error {
			found, err := sessionfile.Differences(t.Context(), snap)
			if got := fmt.Sprint(found); got != r.want {
				t.Errorf("%s: %s, want %s", r.damage, got, r.want)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", r.damage, err)
		}
	}
}
