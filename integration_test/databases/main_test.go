// Package databases_test runs apps on ADK's database service over real databases: SQLite files with
// several connections, and PostgreSQL and MariaDB servers that two processes share. Every turn sets
// its own state keys, because events alone do not show that a session row was overwritten.
//
// The servers are Debian's packages postgresql, mariadb-server and pgbouncer. The tests start their own
// servers in a temporary folder. Without an installed package they are skipped, or fail if CI=true
// is in the environment. The long runs need LONGSESSION_SOAK, and so do most tests to play more than one engine.
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
	if spec := os.Getenv(soakVariable); spec != "" {
		if err := runSoakChild(spec, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	stopServers()
	_ = os.RemoveAll(commandDir) // RemoveAll ignores ""
	os.Exit(code)
}

// onCI reports whether skipping is forbidden.
func onCI() bool { return os.Getenv("CI") == "true" }

// long returns the number of turns of a run: whole in soaks and on CI, otherwise short, or a third
// of short with the race detector.
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
