package databases_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/session"
)

// server is a running database server with its own files, reached through a socket. All tests share
// one server per engine.
type server struct {
	engine *engine
	// program is the path of the server's program.
	program string
	dir     string
	cmd     *exec.Cmd
	ended   chan error
	admin   *sql.DB

	mu        sync.Mutex
	databases int
	// harm is locked while a connection or the server is being ended, until all is settled.
	harm sync.RWMutex
	// crashes counts the ends of the server that have begun, and recovered those that are settled.
	crashes, recovered atomic.Int64
}

var running struct {
	mu      sync.Mutex
	servers map[*engine]*server
}

// serverOf returns the server of an engine and starts it if necessary. If the engine is not
// installed, the test is skipped, or fails on CI.
func serverOf(t testing.TB, e *engine) *server {
	t.Helper()
	running.mu.Lock()
	defer running.mu.Unlock()
	if s := running.servers[e]; s != nil {
		return s
	}
	s, err := startServer(e, programsOf(t, e))
	if err != nil {
		t.Fatal(err)
	}
	if running.servers == nil {
		running.servers = map[*engine]*server{}
	}
	running.servers[e] = s
	return s
}

// ownServer starts a server for one test, which may do to it what it likes.
func ownServer(t *testing.T, e *engine) *server {
	t.Helper()
	s, err := startServer(e, programsOf(t, e))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

// programsOf returns the programs of an engine. If it is not installed, the test is skipped, or fails on CI.
func programsOf(t testing.TB, e *engine) []string {
	t.Helper()
	programs, err := e.find()
	if err != nil && onCI() {
		t.Fatalf("no test may be skipped with CI=true: %v", err)
	}
	if err != nil {
		t.Skip(err)
	}
	return programs
}

func stopServers() {
	running.mu.Lock()
	defer running.mu.Unlock()
	for _, s := range running.servers {
		s.stop()
	}
}

// startTimeout and stopTimeout are long enough for a busy machine.
const (
	startTimeout = 90 * time.Second
	stopTimeout  = 20 * time.Second
)

// startServer makes a server in a folder of its own and starts it. A busy machine may fail to set up that folder, which
// says nothing about what is tested, so it is tried three times.
func startServer(e *engine, programs []string) (s *server, err error) {
	for range 3 {
		var failed error
		if s, failed = tryServer(e, programs); failed == nil {
			return s, nil
		}
		err = errors.Join(err, failed)
	}
	return nil, err
}

func tryServer(e *engine, programs []string) (_ *server, err error) {
	// t.TempDir is unsuitable: the server outlives the test, its account must reach the folder, and
	// a socket path has at most 107 bytes.
	dir, err := os.MkdirTemp("", "db")
	if err != nil {
		return nil, err
	}
	made := &server{engine: e, program: programs[1], dir: dir, ended: make(chan error, 1)}
	defer func() {
		if err != nil {
			made.stop()
		}
	}()
	make := made.command(programs[0], e.initialize(dir)...)
	if err := asUser(make, dir, e.users); err != nil {
		return nil, err
	}
	if out, err := make.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", e.programs[0], err, out)
	}
	if err := made.launch(); err != nil {
		return nil, err
	}
	return made, made.prepare()
}

// launch starts the server's program.
func (s *server) launch() error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	run := s.command(s.program, s.engine.start(s.dir)...)
	if err := asUser(run, s.dir, s.engine.users); err != nil {
		return err
	}
	run.Stdout, run.Stderr = log, log
	if err := run.Start(); err != nil {
		return err
	}
	s.cmd = run
	go func() { s.ended <- run.Wait() }()
	return nil
}

// crash ends the server at once, as a failure would, and starts it again.
func (s *server) crash() error {
	s.harm.Lock()
	defer s.harm.Unlock()
	s.crashes.Add(1)
	if err := s.end(); err != nil {
		return err
	}
	if err := s.restart(); err != nil {
		return err
	}
	s.recovered.Add(1)
	return nil
}

// end ends the server at once, as a failure would.
func (s *server) end() error {
	if err := s.cmd.Process.Signal(s.engine.crash); err != nil {
		return err
	}
	select {
	case <-s.ended:
	case <-time.After(stopTimeout):
		return fmt.Errorf("%s does not end\n%s", s.engine.name, s.log())
	}
	s.cmd = nil
	return nil
}

// restart starts a server again that has ended.
func (s *server) restart() error {
	if err := s.launch(); err != nil {
		return err
	}
	return s.await()
}

// settle waits until nothing is being ended.
func (s *server) settle() {
	s.harm.RLock()
	defer s.harm.RUnlock()
}

func (s *server) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "LC_ALL=C")
	return cmd
}

// prepare waits until the server answers, and creates the accounts of the processes.
func (s *server) prepare() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	var err error
	if s.admin, err = sql.Open(s.engine.driver, s.engine.dsn(s.dir, s.engine.adminDatabase, s.engine.adminUser)); err != nil {
		return err
	}
	if err := s.await(); err != nil {
		return err
	}
	for _, user := range processUsers {
		for _, format := range s.engine.setup {
			statement := fmt.Sprintf(format, user)
			if _, err := s.admin.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
	}
	return nil
}

// await waits until the server answers.
func (s *server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for s.admin.PingContext(ctx) != nil {
		select {
		case <-poll.C:
		case err := <-s.ended:
			s.ended <- err
			return fmt.Errorf("%s ended: %w\n%s", s.engine.name, err, s.log())
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w\n%s", s.engine.name, ctx.Err(), s.log())
		}
	}
	return nil
}

// log returns the end of the server's output.
func (s *server) log() []byte {
	text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return bytes.TrimSpace(text[max(0, len(text)-2000):])
}

// stop stops the server and removes its files.
func (s *server) stop() {
	if s.admin != nil {
		_ = s.admin.Close()
	}
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(os.Interrupt) // PostgreSQL: fast shutdown
		if s.engine == &mariaDB {
			_ = s.cmd.Process.Kill() // the server ignores the signal, and its files are removed anyway
		}
		select {
		case <-s.ended:
		case <-time.After(stopTimeout):
			_ = s.cmd.Process.Kill()
			<-s.ended
		}
	}
	_ = os.RemoveAll(s.dir)
}

// store is a database of a server, for one test.
type store struct {
	*server
	name string
	// sessions is ADK's service over it, in this process.
	sessions session.Service
}

// newStore creates a database with ADK's tables.
func newStore(t testing.TB, e *engine) *store {
	t.Helper()
	return newStoreOn(t, serverOf(t, e))
}

// newStoreOn is newStore on a server of the test's own.
func newStoreOn(t testing.TB, s *server) *store {
	t.Helper()
	e := s.engine
	s.mu.Lock()
	s.databases++
	name := fmt.Sprintf("test%d", s.databases)
	s.mu.Unlock()
	if _, err := s.admin.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	st := &store{server: s, name: name}
	st.sessions = migrated(t, e.dialector(openPool(t, e, st.dsn())))
	return st
}

// openPool opens connections to a database of an engine until the test ends.
func openPool(t testing.TB, e *engine, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(e.driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
