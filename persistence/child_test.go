package persistence_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// childEnv turns the test binary into a child process that appends.
const childEnv = "LONGSESSION_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		if err := child(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testkit.Quiet()
	goleak.VerifyTestMain(m)
}

// lanes is the number of goroutines per child that append concurrently.
const lanes = 3

// child appends events "<name>/<lane>/<n>" to session "s" and prints the ID of each acknowledged
// event. Every fifth event is a compaction record. It runs forever if count is 0.
func child(job string) error {
	var path, name string
	fields := strings.Split(job, "\n")
	path, name = fields[0], fields[1]
	if name == opener {
		return openAndCreate(path)
	}
	if strings.HasPrefix(name, racer) {
		return race(path, name)
	}
	if name == putter {
		return putResults(path, fields[2])
	}
	if name == indexing {
		return indexAndSearch(path, fields[2])
	}
	count, err := strconv.Atoi(fields[2])
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		return err
	}
	resp, err := s.Get(ctx, &session.GetRequest{AppName: app, UserID: user, SessionID: "s"})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	var wg sync.WaitGroup
	failures := make(chan error, lanes)
	for lane := range lanes {
		wg.Go(func() {
			for n := 0; count == 0 || n < count; n++ {
				ev := text(fmt.Sprintf("%s/%d/%d", name, lane, n), strings.Repeat("word ", 50))
				ev.Actions.StateDelta = map[string]any{fmt.Sprintf("%s/%d", name, lane): float64(n)}
				if n%5 == 4 {
					ev.Content = nil
					m := &record.Metadata{RecordID: "r-" + ev.ID, Kind: record.KindSummary, Covered: []record.Ref{{ID: fmt.Sprintf("%s/%d/%d", name, lane, n-1)}}}
					if err := m.SetText("a summary"); err != nil {
						failures <- err
						return
					}
					record.Set(ev, m)
				}
				if err := s.AppendEvent(ctx, resp.Session, ev); err != nil {
					failures <- err
					return
				}
				fmt.Println(ev.ID)
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failures:
		return err
	default:
		return s.Close()
	}
}

// process is a running child.
type process struct {
	cmd    *exec.Cmd
	out    *bufio.Scanner
	stderr *strings.Builder
}

func startChild(t *testing.T, path, name string, count int) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+fmt.Sprintf("%s\n%s\n%d", path, name, count))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, out: bufio.NewScanner(out), stderr: &strings.Builder{}}
	cmd.Stderr = p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !p.out.Scan() || p.out.Text() != "ready" {
		_, _ = io.Copy(io.Discard, out)
		t.Fatalf("child %s: %v: %s", name, cmd.Wait(), p.stderr)
	}
	return p
}

// acknowledged reads up to limit IDs, or all IDs until the process ends if limit is 0.
func (p *process) acknowledged(limit int) (ids []string) {
	for (limit == 0 || len(ids) < limit) && p.out.Scan() {
		ids = append(ids, p.out.Text())
	}
	return ids
}

// opener is the name of a child that creates a session, in a file that may not exist yet.
const opener = "opener"

func openAndCreate(path string) error {
	s, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		return err
	}
	_, err = s.Create(context.Background(), &session.CreateRequest{AppName: app, UserID: user})
	return errors.Join(err, s.Close())
}
