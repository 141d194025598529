package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/replay"
)

// sparesOtherApps refuses a session file in which another app keeps sessions or state: replays do not
// belong among the data that an app works with. It looks before the file is opened for writing. A file
// that does not exist, or that is no session file, is left to the one who opens it.
func sparesOtherApps(ctx context.Context, name string) error {
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	const remedy = `name a new file; --force adds this run's sessions, as app "` + replay.AppName + `", and changes none of what is there`
	stored, err := persistence.NewSQLiteSessionService(name, persistence.WithReadOnly())
	switch {
	case errors.Is(err, persistence.ErrForeignFile):
		return nil
	case errors.Is(err, persistence.ErrOlderSchema):
		return badInput("--db %s was written by an older version, and cannot be searched for data of other apps before it is brought up to date, which --force does: name a new file", name)
	case err != nil:
		return badInput("--db: %w", err)
	}
	others, err := otherApps(ctx, stored)
	if err := errors.Join(err, stored.Close()); err != nil {
		return failed("--db: %w", err)
	}
	if len(others) == 0 {
		return nil
	}
	return badInput("--db %s keeps data of %s: %s", name, others, remedy)
}

// appNames are apps other than that of replays, the first of them in alphabetical order.
type appNames []string

// String names up to three apps.
func (a appNames) String() string {
	const most = 3
	if len(a) == 1 {
		return fmt.Sprintf("another app (%q)", a[0])
	}
	var quoted []string
	for _, name := range a[:min(len(a), most)] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	if len(a) > most {
		quoted = append(quoted, "…")
	}
	return fmt.Sprintf("%s other apps (%s)", commas(len(a)), strings.Join(quoted, ", "))
}

// otherApps lists the apps that keep sessions or state in a file.
func otherApps(ctx context.Context, stored *persistence.SQLiteSessionService) (others appNames, err error) {
	err = stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		rows, err := snap.Query(ctx, `SELECT app FROM sessions UNION SELECT app FROM user_state UNION SELECT app FROM app_state ORDER BY app`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var app string
			if err := rows.Scan(&app); err != nil {
				return err
			}
			if app != replay.AppName {
				others = append(others, app)
			}
		}
		return rows.Err()
	})
	return others, err
}
