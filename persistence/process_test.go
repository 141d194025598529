package persistence_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/record"
)

// The child is killed with SIGKILL at random points. A soak run kills it LONGSESSION_SOAK times
// twenty.
func TestAKilledProcessLosesNothingItAcknowledged(t *testing.T) {
	t.Parallel()
	runs := 5
	if n := testkit.Soak(t); n > 1 {
		runs = 20 * n
	}
	path := newPath(t)
	s := open(t, path)
	create(t, s, "s")
	random := rand.New(rand.NewPCG(1, 2))
	var acknowledged []string
	for run := range runs {
		p := startChild(t, path, fmt.Sprint("run", run), 0)
		acknowledged = append(acknowledged, p.acknowledged(1+random.IntN(60))...)
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		acknowledged = append(acknowledged, p.acknowledged(0)...) // still in the pipe
		if err := p.cmd.Wait(); err == nil {
			t.Fatal("the child ended on its own")
		}
		verify(t, path, acknowledged)
	}
	if len(acknowledged) < runs {
		t.Errorf("%d events acknowledged in %d runs", len(acknowledged), runs)
	}
}

// No process fails, and the events of each are in its own order.
func TestProcessesShareAFileWithoutLoss(t *testing.T) {
	t.Parallel()
	for _, processes := range []int{2, 4} {
		t.Run(fmt.Sprint(processes), func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := open(t, path)
			create(t, s, "s")
			const each = 20
			var children []*process
			for i := range processes {
				children = append(children, startChild(t, path, fmt.Sprint("child", i), each))
			}
			acknowledged := make([][]string, processes)
			var wg sync.WaitGroup
			for i, p := range children {
				wg.Go(func() { acknowledged[i] = p.acknowledged(0) })
			}
			wg.Wait()
			var all []string
			for i, p := range children {
				if err := p.cmd.Wait(); err != nil {
					t.Errorf("child %d: %v: %s", i, err, p.stderr)
				}
				all = append(all, acknowledged[i]...)
			}
			if want := processes * lanes * each; len(all) != want {
				t.Errorf("%d events acknowledged, want %d", len(all), want)
			}
			if n := verify(t, path, all); n != len(all) {
				t.Errorf("%d events stored, %d acknowledged", n, len(all))
			}
		})
	}
}

// verify checks a file that is not being written to, and returns the number of events of session
// "s".
func verify(t *testing.T, path string, acknowledged []string) int {
	t.Helper()
	for query, want := range map[string]int{
		"SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'":                                                                            0,
		"SELECT count(*) FROM pragma_foreign_key_check":                                                                                                        0,
		"SELECT count(*) <> max(seq) OR min(seq) <> 1 FROM events":                                                                                             0,
		"SELECT (SELECT last_seq FROM sessions) <> (SELECT count(*) FROM events)":                                                                              0,
		"SELECT count(*) FROM events WHERE (record_id IS NULL) <> (content IS NOT NULL)":                                                                       0,
		"SELECT count(*) FROM events WHERE custom_metadata IS NOT NULL AND record_id IS NULL":                                                                  0,
		"SELECT count(*) FROM compactions WHERE covers <> 1 OR covered <> 1":                                                                                   0,
		"SELECT count(*) FROM events WHERE covered_by NOT IN (SELECT record_id FROM events)":                                                                   0,
		"SELECT count(*) FROM events e FULL JOIN invocations i ON i.session = e.session AND i.began = e.seq WHERE (e.record_id IS NULL) <> (i.id IS NOT NULL)": 0,
		"SELECT contested FROM sessions":                                                                                                                       0,
	} {
		if got := number(t, path, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	s := open(t, path)
	sess := get(t, s, "s")
	last := map[string]int{}
	stored := map[string]bool{}
	for ev := range sess.Events().All() {
		lane, number, _ := cutLast(ev.ID)
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		if was, ok := last[lane]; ok && n != was+1 || !ok && n != 0 {
			t.Errorf("event %s comes after number %d", ev.ID, was)
		}
		last[lane], stored[ev.ID] = n, true
		if m, err := record.From(ev); err != nil || (m != nil) != (n%5 == 4) {
			t.Errorf("event %s: record %v, %v", ev.ID, m, err)
		}
	}
	for _, id := range acknowledged {
		if !stored[id] {
			t.Errorf("event %s was acknowledged and is lost", id)
		}
	}
	for lane, n := range last {
		if value, err := sess.State().Get(lane); value != float64(n) {
			t.Errorf("state of %s is %v (%v), its last event is %d", lane, value, err, n)
		}
	}
	if records := number(t, path, "SELECT count(*) FROM compactions"); sameView(t, s, "s") != (records > 0) {
		t.Errorf("a session with %d records was loaded whole, or one without records was not", records)
	}
	return sess.Events().Len()
}

func cutLast(id string) (lane, number string, found bool) {
	i := strings.LastIndex(id, "/")
	if i < 0 {
		return id, "", false
	}
	return id[:i], id[i+1:], true
}

// Several goroutines or processes open a new file at once. One creates the tables, and the others
// find them.
func TestANewFileIsOpenedByManyAtTheSameTime(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(path string) error{
		"goroutines": openAndCreate,
		"processes": func(path string) error {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"="+fmt.Sprintf("%s\n%s\n0", path, opener))
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			var wg sync.WaitGroup
			errs := make([]error, 4)
			for i := range errs {
				wg.Go(func() { errs[i] = open(path) })
			}
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Error(err)
			}
			if n := number(t, path, "SELECT count(*) FROM sessions"); n != len(errs) {
				t.Errorf("%d sessions, want %d", n, len(errs))
			}
		})
	}
}
