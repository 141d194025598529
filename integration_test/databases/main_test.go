// Package databases_test runs apps on ADK's database service over real databases: SQLite files with
// several connections, and PostgreSQL and MariaDB servers that two processes share. Every turn sets
// state keys of its own, because a check of events alone does not find a session row that was
// overwritten.
//
// The servers are Debian's packages postgresql and mariadb-server. The tests start servers of their
// own, in a temporary folder, and are skipped where a package is not installed; with CI=true in the
// environment they fail there. The long runs need LONGSESSION_SOAK or CI=true.
package databases_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Quiet()
	if spec := os.Getenv(childVariable); spec != "" {
		if err := runChild(spec, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	stopServers()
	os.Exit(code)
}

// onCI reports whether nothing may be skipped.
func onCI() bool { return os.Getenv("CI") == "true" }

// long returns how many turns a run takes: whole in soaks and on CI, short otherwise, and a third of
// that with the race detector.
func long(short, whole int) int {
	switch {
	case testkit.Race:
		return short / 3
	case testkit.Whole():
		return whole
	default:
		return short
	}
}
