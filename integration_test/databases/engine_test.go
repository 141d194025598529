package databases_test

import (
	"database/sql"
	"fmt"
	"os/exec"
	"path/filepath"

	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
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
	// setup creates the accounts of the processes.
	setup []string
	// connections counts the connections of an account to a database.
	connections string
}

// processUsers are the database accounts of the processes. They show whose connection each one is.
var processUsers = [2]string{"first", "second"}

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
		return []string{"-D", filepath.Join(dir, "data"), "-c", "fsync=off", "-c", "listen_addresses=", "-c", "unix_socket_directories=" + dir}
	},
	adminUser:     "admin",
	adminDatabase: "postgres",
	dsn: func(dir, database, user string) string {
		return fmt.Sprintf("host=%s user=%s dbname=%s", dir, user, database)
	},
	setup:       []string{"CREATE ROLE first SUPERUSER LOGIN", "CREATE ROLE second SUPERUSER LOGIN"},
	connections: "SELECT count(*) FROM pg_stat_activity WHERE datname = '%s' AND usename = '%s'",
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
			"--pid-file=" + filepath.Join(dir, "pid"), "--skip-networking", "--innodb-flush-log-at-trx-commit=0",
		}
	},
	adminUser:     "root",
	adminDatabase: "mysql",
	dsn: func(dir, database, user string) string {
		return fmt.Sprintf("%s@unix(%s)/%s?parseTime=true&charset=utf8mb4", user, filepath.Join(dir, "socket"), database)
	},
	setup: []string{
		"CREATE USER first@localhost", "GRANT ALL ON *.* TO first@localhost",
		"CREATE USER second@localhost", "GRANT ALL ON *.* TO second@localhost",
	},
	connections: "SELECT count(*) FROM information_schema.processlist WHERE db = '%s' AND user = '%s'",
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
