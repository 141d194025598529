package sessionfile

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// Difference is a table, view, index or trigger of a file that differs from what the migrations
// create.
type Difference struct {
	// Kind is table, view, index or trigger.
	Kind, Name string
	// SQL is the statement that creates it as it must be, "" for an object that must not exist.
	SQL string
	// Missing is true if the file does not have the object.
	Missing bool
}

// object is a row of sqlite_schema.
type object struct{ kind, name, sql string }

const selectSchema = `SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`

// Differences compares the schema of the file with the one that the migrations create for its version.
// Additional objects are differences too: a trigger or a unique index changes what is stored, and a table
// or a view can be mistaken for one of the schema. SQLite's own tables, such as those of ANALYZE, are
// ignored.
func Differences(ctx context.Context, file Querier) ([]Difference, error) {
	schemas, err := allSchemas()
	if err != nil {
		return nil, err
	}
	var version int
	if err := ScanOne(ctx, file, "SELECT user_version FROM pragma_user_version", nil, &version); err != nil {
		return nil, err
	}
	want := schemas[min(max(version, 0), len(schemas)-1)]
	rows, err := file.Query(ctx, selectSchema)
	is, err := objects(rows, err)
	if err != nil {
		return nil, err
	}
	var found []Difference
	for _, o := range want {
		i := slices.IndexFunc(is, func(other object) bool { return other.kind == o.kind && other.name == o.name })
		if i < 0 || normalized(is[i].sql) != normalized(o.sql) {
			found = append(found, Difference{Kind: o.kind, Name: o.name, SQL: o.sql, Missing: i < 0})
		}
	}
	for _, o := range is {
		if !slices.ContainsFunc(want, func(ours object) bool { return ours.kind == o.kind && ours.name == o.name }) {
			found = append(found, Difference{Kind: o.kind, Name: o.name})
		}
	}
	return found, nil
}

// normalized returns a statement with single spaces.
func normalized(statement string) string { return strings.Join(strings.Fields(statement), " ") }

// allSchemas returns the objects that a file of each version has, as the migrations create them in a
// database in memory. Version 0 is empty.
var allSchemas = sync.OnceValues(func() (_ [][]object, err error) {
	steps, err := Migrations()
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // each connection has a database of its own in memory
	schemas := make([][]object, 1, len(steps)+1)
	for _, step := range steps {
		if _, err := db.Exec(step); err != nil {
			return nil, err
		}
		schema, err := objects(db.Query(selectSchema))
		if err != nil {
			return nil, err
		}
		schemas = append(schemas, schema)
	}
	return schemas, nil
})

// objects returns the objects of rows of selectSchema.
func objects(rows *sql.Rows, err error) ([]object, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []object
	for rows.Next() {
		var o object
		if err := rows.Scan(&o.kind, &o.name, &o.sql); err != nil {
			return nil, err
		}
		found = append(found, o)
	}
	return found, rows.Err()
}

// migrations are numbered from 1. A released one is never edited, because files were created with
// it.
//
//go:embed migrations/*.sql
var migrations embed.FS

// Migrations returns the migrations in order. Their number is the newest version of the schema.
func Migrations() ([]string, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(files))
	for i, file := range files {
		text, err := migrations.ReadFile(file)
		if err != nil {
			return nil, err
		}
		texts[i] = string(text)
	}
	return texts, nil
}
