package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/mcptoolset"
)

// server is a server's plan, and the connections to its processes.
type server struct {
	t    *testing.T
	file string

	mu       sync.Mutex
	sessions []mcp.Connection
	newest   *exec.Cmd
}

var _ mcp.Transport = (*server)(nil)

// newServer returns a server that follows the plan. Its processes end with the test.
func newServer(t *testing.T, p plan) *server {
	t.Helper()
	s := &server{t: t, file: filepath.Join(t.TempDir(), "plan.json")}
	s.follow(p)
	t.Cleanup(s.close)
	return s
}

// follow changes the plan. The file is never half written: a server may read it at any time.
func (s *server) follow(p plan) {
	s.t.Helper()
	data, err := json.Marshal(p)
	if err == nil {
		err = os.WriteFile(s.file+".new", data, 0o600)
	}
	for range 100 { // Windows refuses to replace a file while a server reads it
		if err == nil {
			if err = os.Rename(s.file+".new", s.file); err == nil {
				return
			}
			err = nil
			time.Sleep(10 * time.Millisecond)
		}
	}
	s.t.Fatalf("cannot change the plan: %v", err)
}

// toolset returns ADK's toolset over the server.
func (s *server) toolset() tool.Toolset { return s.confirmed(nil) }

// confirmed returns ADK's toolset, whose calls must be confirmed where needed says so.
func (s *server) confirmed(needed tool.ConfirmationProvider) tool.Toolset {
	s.t.Helper()
	ts, err := mcptoolset.New(mcptoolset.Config{Transport: s, RequireConfirmationProvider: needed})
	if err != nil {
		s.t.Fatal(err)
	}
	return ts
}

// Connect starts a process. ADK connects again after a failure, and an exec.Cmd can be started only once.
func (s *server) Connect(ctx context.Context) (mcp.Connection, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.Command(self)
	command.Env = append(os.Environ(), serverVariable+"="+s.file)
	conn, err := (&mcp.CommandTransport{Command: command, TerminateDuration: time.Second}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions, s.newest = append(s.sessions, conn), command
	return conn, nil
}

// processes is how many were started.
func (s *server) processes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// kill ends the newest process without a word.
func (s *server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.newest.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
}

// close ends every process: ADK's toolset has no method for it.
func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.sessions {
		_ = conn.Close()
	}
}
