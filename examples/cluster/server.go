package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// startTimeout is long enough for a busy machine.
const startTimeout = 2 * time.Minute

// findPrograms returns the paths of programs of PostgreSQL.
func findPrograms(names ...string) ([]string, error) {
	var paths []string
	for _, name := range names {
		found, err := exec.LookPath(name)
		// Debian keeps them out of PATH, one folder for each version.
		if installed, _ := filepath.Glob(filepath.Join("/usr/lib/postgresql/*/bin", name)); len(installed) > 0 {
			found, err = slices.Max(installed), nil
		}
		if err != nil {
			return nil, fmt.Errorf("PostgreSQL is not installed (Debian: apt-get install postgresql): %w", err)
		}
		paths = append(paths, found)
	}
	return paths, nil
}

// server is a PostgreSQL of our own. It is reached through a socket in its folder, so it takes no port, and nobody else
// reaches it.
type server struct {
	folder string
	cmd    *exec.Cmd
	log    *os.File
	ended  chan error
}

// startServer makes a database cluster in data, starts a server on it, and waits until it answers.
func startServer(ctx context.Context, programs []string, data, folder string) (*server, error) {
	s := &server{folder: folder, ended: make(chan error, 1)}
	// The files are thrown away at the end, so nothing waits for the disk: leave fsync on where they are not.
	initialize := s.command(programs[0], "--pgdata", data, "--username=app", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
	if err := asUser(initialize, folder); err != nil {
		return nil, err
	}
	if out, err := initialize.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	s.cmd = s.command(programs[1], "-D", data, "-c", "fsync=off", "-c", "listen_addresses=", "-c", "unix_socket_directories="+folder)
	if err := asUser(s.cmd, folder); err != nil {
		return nil, err
	}
	var err error
	if s.log, err = os.Create(filepath.Join(folder, "log")); err != nil {
		return nil, err
	}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, s.log.Close())
	}
	go func() { s.ended <- s.cmd.Wait() }()
	if err := s.await(ctx); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *server) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), "HOME="+s.folder, "LC_ALL=C")
	return cmd
}

// dsn has the folder in quotes, because the name of a folder for temporary files may have spaces.
func (s *server) dsn() string {
	return fmt.Sprintf("host='%s' user=app dbname=postgres", strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s.folder))
}

// await waits until the server answers.
func (s *server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	db, err := sql.Open("pgx", s.dsn())
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for err := db.PingContext(ctx); err != nil; err = db.PingContext(ctx) {
		select {
		case <-poll.C:
		case ended := <-s.ended:
			s.ended <- ended
			return fmt.Errorf("PostgreSQL ended: %w\n%s", ended, s.said())
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not answer: %w\n%s", err, s.said())
		}
	}
	return nil
}

// said returns the end of the server's output.
func (s *server) said() []byte {
	text, _ := os.ReadFile(s.log.Name())
	return bytes.TrimSpace(text[max(0, len(text)-2000):])
}

// stop ends the server at once: it closes the connections that are left.
func (s *server) stop() {
	if s.cmd.Process.Signal(os.Interrupt) != nil {
		_ = s.cmd.Process.Kill()
	}
	select {
	case <-s.ended:
	case <-time.After(30 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
	_ = s.log.Close()
}
