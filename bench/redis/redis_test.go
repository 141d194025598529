package redis

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/achetronic/adk-utils-go/session/redis"
	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

// startTimeout is an emergency stop.
const startTimeout = time.Minute

// redisServer is a redis-server of a test's own.
type redisServer struct {
	addr string
	// databases counts the databases that the test has taken.
	databases int
}

// startRedis starts a server. Without redis-server the test is skipped, or fails on CI.
func startRedis(t *testing.T) *redisServer {
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
	return &redisServer{addr: relay(t, socket)}
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

// open returns a service over a database that is empty.
func (s *redisServer) open(t *testing.T) session.Service {
	t.Helper()
	inner, err := redis.NewRedisSessionService(redis.RedisSessionServiceConfig{Addr: s.addr, DB: s.databases})
	s.databases++
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inner.Close() })
	return inner
}

func compacting(t *testing.T, inner session.Service) *compaction.CompactionSessionService {
	t.Helper()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.ContextWindow, cfg.Synchronous = &compactiontest.Oracle{}, 128_000, true
	svc, err := compaction.NewCompactionService(inner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close(context.Background()) })
	return svc
}

// stamps says that the service gives every event the time at which it is stored. The release for ADK v2 keeps the time.
const stamps = adk.Major == 1

// faults are the cases of the suite that fail because of the backend, each with what the suite says. They are not
// mended from above: the times of events, and that the service does not look at a nil event.
var faults = func() map[string]string {
	found := map[string]string{"inner errors are returned": "the service panicked"}
	if stamps {
		found["filters apply to the view"] = "filtered by the time"
		found["events are never modified"] = "the backend stamps events by itself"
		found["compaction makes no handle stale"] = "was last updated at"
	}
	return found
}()

// TestCompactionOverRedis runs every case of the suite, and goes on behind a fault of the backend.
func TestCompactionOverRedis(t *testing.T) {
	server := startRedis(t)
	seen := map[string]bool{}
	for _, c := range compactiontest.Cases() {
		err := c.Check(t.Context(), compacting(t, server.open(t)))
		want, faulty := faults[c.Name]
		seen[c.Name] = true
		switch {
		case errors.Is(err, compactiontest.ErrNotShown):
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

// The service for ADK v1 gives every event the time of its append, whatever time it had.
func TestRedisStampsEventsWithItsOwnTime(t *testing.T) {
	inner, sess := created(t)
	ev := session.NewEventWithContext(t.Context(), "invocation")
	ev.Author, ev.Timestamp = "user", histories.Epoch
	if err := inner.AppendEvent(t.Context(), sess, ev); err != nil {
		t.Fatal(err)
	}
	if kept := ev.Timestamp.Equal(histories.Epoch); kept == stamps {
		t.Errorf("the time of an event was kept: %t: if the backend was mended, the suite's cases about time may pass now", kept)
	}
}

// The service panics when the event is nil.
func TestRedisPanicsOnNoEvent(t *testing.T) {
	inner, sess := created(t)
	defer func() {
		if recover() == nil {
			t.Error("no panic: the suite's case about errors may pass now")
		}
	}()
	_ = inner.AppendEvent(t.Context(), sess, nil)
}

func created(t *testing.T) (session.Service, session.Session) {
	t.Helper()
	inner := startRedis(t).open(t)
	resp, err := inner.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "user", SessionID: "session"})
	if err != nil {
		t.Fatal(err)
	}
	return inner, resp.Session
}

// The runner's prompts over Redis: short, and without a gap.
func TestARunnerOverRedisForgetsNothing(t *testing.T) {
	const turns = 60
	sessions := compacting(t, startRedis(t).open(t))
	llm := compactiontest.NewModel("model", func(n int, _ *model.LLMRequest) *model.LLMResponse {
		return compactiontest.Say("I have noted " + compactiontest.Fact(n) + " and will come back to it when you ask.")
	})
	root, err := llmagent.New(llmagent.Config{Name: "agent", Model: llm})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{AppName: "app", Agent: root, SessionService: sessions, AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	for n := range turns {
		text := genai.NewContentFromText("Please keep "+compactiontest.Fact(n)+" in mind for me, I shall ask for it.", genai.RoleUser)
		for _, err := range r.Run(t.Context(), "user", "session", text, agent.RunConfig{}) {
			if err != nil {
				t.Fatalf("turn %d: %v", n, err)
			}
		}
	}
	requests := llm.Requests()
	if len(requests) != turns {
		t.Fatalf("%d requests, want %d", len(requests), turns)
	}
	for n, contents := range requests {
		known := histories.FactsInContents(contents)
		for told := range n + 1 {
			if !slices.Contains(known, compactiontest.Fact(told)) {
				t.Errorf("the request of turn %d lacks %s", n, compactiontest.Fact(told))
			}
		}
	}
	// ADK alone sends two contents for each turn before the newest one.
	if last := len(requests[turns-1]); last > 30 {
		t.Errorf("the last request has %d contents, want at most 30 of %d", last, 2*turns-1)
	}
}
