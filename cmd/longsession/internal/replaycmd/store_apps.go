package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/replay"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// refuseOtherApps refuses a session file that holds sessions or state of another app: replayed
// sessions do not belong in the working data of an app. It opens the file read-only. A file that
// does not exist or is not a session file is left to the caller.
func refuseOtherApps(ctx context.Context, name string) error {
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	const remedy = `name a new file; --force adds the sessions of this run, as app "` + replay.AppName + `", and changes no existing data`
	stored, err := persistence.NewSQLiteSessionService(name, persistence.WithReadOnly())
	switch {
	case errors.Is(err, persistence.ErrForeignFile):
		return nil
	case errors.Is(err, persistence.ErrOlderSchema):
		return exit.Usage("--db %s was written by an older version and must be upgraded before it can be searched for data of other apps, which --force does: name a new file", name)
	case err != nil:
		return exit.Usage("--db: %w", err)
	}
	others, err := otherApps(ctx, stored)
	if err := errors.Join(err, stored.Close()); err != nil {
		return exit.Failed("--db: %w", err)
	}
	if len(others) == 0 {
		return nil
	}
	return exit.Usage("--db %s holds data of %s: %s", name, others, remedy)
}

// appNames are the apps in a file other than that of replays, in alphabetical order.
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
	return fmt.Sprintf("%s other apps (%s)", terminal.Commas(len(a)), strings.Join(quoted, ", "))
}

// otherApps lists the apps with sessions or state in a file.
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
