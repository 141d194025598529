package databases_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// process is a child that obeys orders. It uses its own database account.
type process struct {
	t     *testing.T
	store *store
	bare  bool
	user  string

	cmd     *exec.Cmd
	orders  io.WriteCloser
	replies chan reply // closed when the process ends
	// earlier and calls count the summarizer calls of the killed processes before this one, and of
	// this one.
	earlier, calls int
}

// startProcesses starts the two processes of an app.
func startProcesses(t *testing.T, s *store, bare bool) []*process {
	t.Helper()
	var both []*process
	for _, user := range processUsers[:2] {
		p := &process{t: t, store: s, bare: bare, user: user}
		p.start()
		t.Cleanup(p.kill)
		both = append(both, p)
	}
	return both
}

func (p *process) start() {
	p.t.Helper()
	spec, err := json.Marshal(childSpec{p.store.engine.name, p.store.engine.dsn(p.store.dir, p.store.name, p.user), p.bare})
	if err != nil {
		p.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVariable+"="+string(spec))
	cmd.Stderr = os.Stderr
	orders, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	replies := make(chan reply, 4)
	go func() {
		defer close(replies)
		decoder := json.NewDecoder(out)
		for {
			var r reply
			if decoder.Decode(&r) != nil {
				return
			}
			replies <- r
		}
	}()
	p.cmd, p.orders, p.replies = cmd, orders, replies
}

var errProcessEnded = errors.New("the process has ended")

// tell sends an order without waiting for its result.
func (p *process) tell(o order) {
	p.t.Helper()
	if err := json.NewEncoder(p.orders).Encode(o); err != nil {
		p.t.Fatalf("tell %s: %v", p.user, err)
	}
}

// next returns the next reply.
func (p *process) next() (reply, error) {
	select {
	case r, ok := <-p.replies:
		if !ok {
			return r, errProcessEnded
		}
		p.calls = max(p.calls, r.Calls)
		return r, nil
	case <-time.After(2 * childTimeout):
		return reply{}, fmt.Errorf("no reply within %s", 2*childTimeout)
	}
}

// do sends an order and returns its result.
func (p *process) do(o order) reply {
	p.t.Helper()
	p.tell(o)
	r, err := p.next()
	if err != nil {
		p.t.Fatalf("%s: %+v: %v", p.user, o, err)
	}
	for _, failure := range r.Failures {
		p.t.Logf("%s: %+v: %s", p.user, o, failure)
	}
	return r
}

// kill ends the process with SIGKILL and waits until the server has closed its connections. Until
// then, the server may still execute a statement of the dead process.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	_ = p.orders.Close()
	for range p.replies { // to its end
	}
	_ = p.cmd.Wait()
	p.cmd = nil
	p.earlier, p.calls = p.earlier+p.calls, 0
	p.store.awaitNoConnection(p.t, p.user)
}

// restart starts another process to replace a killed one.
func (p *process) restart() {
	p.t.Helper()
	p.kill()
	p.start()
}

// awaitNoConnection waits until an account has no connections.
func (s *store) awaitNoConnection(t *testing.T, user string) {
	t.Helper()
	query := fmt.Sprintf(s.engine.connections, s.name, user)
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for deadline := time.Now().Add(childTimeout); ; <-poll.C {
		var n int
		if err := s.admin.QueryRow(query).Scan(&n); err != nil {
			t.Errorf("%s: %v", query, err)
			return
		}
		if n == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%d connections of %s are still there", n, user)
			return
		}
	}
}

// takeTo runs a turn with the given fate, and starts another process if this one is killed. It
// reports whether the turn was acknowledged.
func (p *process) takeTo(f fate, o order) (r reply, acknowledged bool) {
	p.t.Helper()
	o.Announce = f == diesAsking || f == diesAnswering
	o.Hang = f == diesAsking
	// The delay covers the duration of an append.
	delay := time.Duration(o.Turn%8) * time.Millisecond
	switch f {
	case diesSomewhere:
		p.tell(o)
		time.Sleep(delay)
	case diesAsking, diesAnswering:
		p.tell(o)
		if _, err := p.next(); err != nil {
			p.t.Fatalf("%s: %v", p.user, err)
		}
		if f == diesAnswering {
			time.Sleep(delay)
		}
	default:
		r, acknowledged = p.do(o), true
		if f == lives {
			return r, true
		}
		time.Sleep(delay)
	}
	p.restart()
	return r, acknowledged
}
