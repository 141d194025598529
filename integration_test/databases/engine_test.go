package databases_test

import (
	"database/sql"
	"fmt"
	"hash/fnv"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

// engine is a kind of database server.
type engine struct {
	name, debianPackage string
	// driver is the name that gorm's driver package registers with database/sql.
	driver    string
	dialector func(*sql.DB) gorm.Dialector
	// programs are the server's programs, in the order init, start.
	programs []string
	folders  []string // where they are installed, in addition to PATH
	// users are system accounts that may run the server, because some servers refuse root.
	users []string
	// initialize and start return the programs' arguments for a server with its files in dir.
	initialize, start func(dir string) []string
	dsn               func(dir, database, user string) string
	// adminUser and adminDatabase exist from the beginning.
	adminUser, adminDatabase string
	// setup creates the account of a process.
	setup []string
	// connections counts the connections of an account to a database.
	connections string
	// connection names one of these, if there is any. connected counts the connections of a name, 0 or 1, and
	// cut ends it.
	connection, connected, cut string
	// crash makes the server end at once, without an orderly shutdown.
	crash syscall.Signal
}

// processUsers are the database accounts of the processes. They show whose connection each one is.
var processUsers = [4]string{"first", "second", "third", "fourth"}

// engines are those over which a test runs: both, or unless [testkit.Whole] the one that follows from its name.
func engines(t testing.TB) []*engine {
	both := []*engine{&postgreSQL, &mariaDB}
	if testkit.Whole() {
		return both
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.Name()))
	return both[h.Sum32()>>8%2:][:1]
}

func engineNamed(name string) (*engine, error) {
	for _, e := range []*engine{&postgreSQL, &mariaDB} {
		if e.name == name {
			return e, nil
		}
	}
	return nil, fmt.Errorf("unknown engine %q", name)
}

var postgreSQL = engine{
	name:          "PostgreSQL",
	debianPackage: "postgresql",
	driver:        "pgx",
	dialector:     func(db *sql.DB) gorm.Dialector { return postgres.New(postgres.Config{Conn: db}) },
	programs:      []string{"initdb", "postgres"},
	folders:       []string{"/usr/lib/postgresql/*/bin"},
	users:         []string{"postgres", "nobody"},
	initialize: func(dir string) []string {
		return []string{"--pgdata", filepath.Join(dir, "data"), "--username=admin", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"}
	},
	start: func(dir string) []string {
		return []string{
			"-D", filepath.Join(dir, "data"), "-c", "fsync=off", "-c", "listen_addresses=", "-c", "unix_socket_directories=" + dir,
			"-c", "max_connections=200", // a soak needs more than the usual 100
		}
	},
	adminUser:     "admin",
	adminDatabase: "postgres",
	dsn: func(dir, database, user string) string {
		return fmt.Sprintf("host=%s user=%s dbname=%s", dir, user, database)
	},
	setup:       []string{"CREATE ROLE %s SUPERUSER LOGIN"},
	connections: "SELECT count(*) FROM pg_stat_activity WHERE datname = '%s' AND usename = '%s'",
	connection:  "SELECT pid FROM pg_stat_activity WHERE datname = '%s' AND usename = '%s' ORDER BY random() LIMIT 1",
	connected:   "SELECT count(*) FROM pg_stat_activity WHERE pid = %d",
	cut:         "SELECT pg_terminate_backend(%d)",
	crash:       syscall.SIGQUIT, // as "pg_ctl stop -m immediate": the next start recovers from the log
}

var mariaDB = engine{
	name:          "MariaDB",
	debianPackage: "mariadb-server",
	driver:        "mysql",
	dialector:     func(db *sql.DB) gorm.Dialector { return mysql.New(mysql.Config{Conn: db}) },
	programs:      []string{"mariadb-install-db", "mariadbd"},
	folders:       []string{"/usr/sbin"},
	users:         []string{"mysql", "nobody"},
	initialize: func(dir string) []string {
		return []string{"--no-defaults", "--datadir=" + filepath.Join(dir, "data"), "--auth-root-authentication-method=normal", "--skip-test-db"}
	},
	start: func(dir string) []string {
		return []string{
			"--no-defaults", "--datadir=" + filepath.Join(dir, "data"), "--socket=" + filepath.Join(dir, "socket"),
			"--pid-file=" + filepath.Join(dir, "pid"), "--skip-networking", "--innodb-flush-log-at-trx-commit=2",
		}
	},
	adminUser:     "root",
	adminDatabase: "mysql",
	dsn: func(dir, database, user string) string {
		return fmt.Sprintf("%s@unix(%s)/%s?parseTime=true&charset=utf8mb4", user, filepath.Join(dir, "socket"), database)
	},
	setup:       []string{"CREATE USER %s@localhost", "GRANT ALL ON *.* TO %s@localhost"},
	connections: "SELECT count(*) FROM information_schema.processlist WHERE db = '%s' AND user = '%s'",
	connection:  "SELECT id FROM information_schema.processlist WHERE db = '%s' AND user = '%s' ORDER BY rand() LIMIT 1",
	connected:   "SELECT count(*) FROM information_schema.processlist WHERE id = %d",
	cut:         "KILL %d",
	crash:       syscall.SIGKILL,
}

// find returns the paths of the engine's programs, or an error that names the missing one.
func (e *engine) find() ([]string, error) {
	var paths []string
	for _, program := range e.programs {
		found, err := exec.LookPath(program)
		for _, folder := range e.folders {
			matches, _ := filepath.Glob(filepath.Join(folder, program))
			if len(matches) > 0 {
				found, err = matches[len(matches)-1], nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s is not installed (Debian: apt-get install %s): %w", e.name, e.debianPackage, err)
		}
		paths = append(paths, found)
	}
	return paths, nil
}
