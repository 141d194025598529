package redis

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/achetronic/adk-utils-go/session/redis"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// startTimeout is an emergency stop.
const startTimeout = time.Minute

// startRedis starts a server on a port of its own and returns its address. Without redis-server the test is
// skipped, or fails on CI.
func startRedis(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("no test may be skipped with CI=true: %v (Debian: apt-get install redis-server)", err)
	}
	if err != nil {
		t.Skipf("%v (Debian: apt-get install redis-server)", err)
	}
	dir, err := os.MkdirTemp("", "redis") // short enough for the name of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	socket := filepath.Join(dir, "socket")
	server := exec.Command(program, "--port", "0", "--unixsocket", socket, "--databases", "256", "--save", "", "--dir", dir, "--daemonize", "no")
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	for deadline := time.Now().Add(startTimeout); ; {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("redis-server does not answer: %v\n%s", err, text)
		}
		time.Sleep(time.Millisecond)
	}
	return relay(t, socket)
}

// relay returns an address in the network that leads to a socket, because adk-utils-go knows no sockets and a
// server cannot choose a free port by itself.
func relay(t *testing.T, socket string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = in.Close() }()
				out, err := net.Dial("unix", socket)
				if err != nil {
					return
				}
				defer func() { _ = out.Close() }()
				go func() {
					_, _ = io.Copy(out, in)
					_ = out.(*net.UnixConn).CloseWrite()
				}()
				_, _ = io.Copy(in, out)
			}()
		}
	}()
	return l.Addr().String()
}

var databases atomic.Int64

func open(t *testing.T, addr string) session.Service {
	t.Helper()
	inner, err := redis.NewRedisSessionService(redis.RedisSessionServiceConfig{Addr: addr, DB: int(databases.Add(1))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inner.Close() })
	return inner
}

// faults are the cases of the suite that fail because of the backend, each with what the suite says. They are not
// mended from above: the service gives every event the time at which it is stored, and does not look at a nil event.
var faults = map[string]string{
	"filters apply to the view":        "filtered by the time",
	"events are never modified":        "the backend stamps events by itself",
	"compaction makes no handle stale": "was last updated at",
	"inner errors are returned":        "the service panicked",
}

// TestCompactionOverRedis runs every case of the suite, and goes on behind a fault of the backend.
func TestCompactionOverRedis(t *testing.T) {
	addr := startRedis(t)
	seen := map[string]bool{}
	for _, c := range compactiontest.Cases() {
		cfg := compaction.DefaultConfig()
		cfg.Summarizer, cfg.ContextWindow, cfg.Synchronous = &compactiontest.Oracle{}, 128_000, true
		svc, err := compaction.NewCompactionService(open(t, addr), cfg)
		if err != nil {
			t.Fatal(err)
		}
		err = c.Check(t.Context(), svc)
		want, faulty := faults[c.Name]
		seen[c.Name] = true
		switch {
		case errors.Is(err, compactiontest.ErrNotShown), errors.Is(err, compactiontest.ErrNotOffered):
		case faulty && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %q: if the backend was mended, take the case out of the faults", c.Name, err, want)
		case !faulty && err != nil:
			t.Errorf("%s: %v\n\n%s", c.Name, err, c.Explain)
		}
	}
	for name := range faults {
		if !seen[name] {
			t.Errorf("the suite has no case %q", name)
		}
	}
}
