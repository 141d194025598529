package databases_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/adk-go-ext/longsession/compaction"
)

// soakProcess is one of the processes of a soak. After a kill another process takes its place, with the same
// database account.
type soakProcess struct {
	soak *soak
	user string

	mu sync.Mutex
	// run is the process at work, nil while there is none.
	run *soakRun
}

// soakRun is a process from its start to its end.
type soakRun struct {
	cmd    *exec.Cmd
	log    bytes.Buffer // what it said on its standard error
	orders *json.Encoder
	in     io.Closer
	// ended is closed when the process has ended, with err, and gone when the server has ended all that it
	// asked for. asked is set before it is made to end.
	ended, gone chan struct{}
	err         error
	asked       atomic.Bool
	// cut is set before a connection of the process is ended. recovered is how often the server had recovered when
	// the process was started.
	cut       atomic.Bool
	recovered int64

	mu      sync.Mutex
	newest  int
	waiting map[int]chan soakReply
	// began has the sessions of the summaries that the process has begun and not stored or given up.
	began map[string]bool
}

func (p *soakProcess) start() error {
	spec, err := json.Marshal(soakSpec{
		Engine: p.soak.store.engine.name, DSN: p.soak.store.engine.dsn(p.soak.store.dir, p.soak.store.name, p.user),
		Way: p.soak.way.name, Model: soakModelTakes, Summarizer: soakSummarizerTakes,
	})
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r := &soakRun{
		cmd: exec.Command(self), waiting: map[int]chan soakReply{}, began: map[string]bool{}, ended: make(chan struct{}), gone: make(chan struct{}),
		recovered: p.soak.store.recovered.Load(),
	}
	r.cmd.Env = append(os.Environ(), soakVariable+"="+string(spec))
	r.cmd.Stderr = &r.log
	in, err := r.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	r.orders, r.in = json.NewEncoder(in), in
	p.mu.Lock()
	p.run = r
	p.mu.Unlock()
	go func() {
		r.read(out, p.soak)
		r.err = r.cmd.Wait()
		close(r.ended)
		if !r.asked.Load() {
			p.lost(r)
		}
	}()
	return nil
}

// read passes replies on until the process ends.
func (r *soakRun) read(out io.Reader, s *soak) {
	for lines := json.NewDecoder(out); ; {
		var reply soakReply
		if err := lines.Decode(&reply); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, os.ErrClosed) {
				s.note(fmt.Errorf("a reply that cannot be read: %w", err))
			}
			_ = r.cmd.Process.Kill() // it would wait for a reader
			return
		}
		if reply.ID == 0 {
			r.count(reply)
			s.observe(reply)
			continue
		}
		r.mu.Lock()
		answer := r.waiting[reply.ID]
		delete(r.waiting, reply.ID)
		r.mu.Unlock()
		answer <- reply
	}
}

func (r *soakRun) count(seen soakReply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch seen.Outcome {
	case compaction.Started:
		r.began[seen.Session] = true
	case compaction.Stored, compaction.Declined, compaction.Discarded, compaction.Failed:
		delete(r.began, seen.Session)
	}
}

// do sends an order and returns its result, or [errProcessEnded].
func (r *soakRun) do(o soakOrder) (soakReply, error) {
	answer := make(chan soakReply, 1)
	r.mu.Lock()
	r.newest++
	o.ID = r.newest
	r.waiting[o.ID] = answer
	err := r.orders.Encode(o)
	r.mu.Unlock()
	if err != nil {
		<-r.ended // the process is being killed
	}
	select {
	case reply := <-answer:
		return reply, nil
	case <-r.ended:
	case <-time.After(2 * childTimeout):
		// The process prints its goroutines and ends.
		_ = r.cmd.Process.Signal(syscall.SIGQUIT)
		return soakReply{}, fmt.Errorf("no reply to %q within %s", o.Do, 2*childTimeout)
	}
	select {
	case reply := <-answer:
		return reply, nil
	default:
		return soakReply{}, errProcessEnded
	}
}

// harmed reports whether anything was done to the process or to the server since the process was started. A turn of a process
// that is not harmed when the turn has failed has failed for another reason.
func (r *soakRun) harmed(s *server) bool {
	return r.asked.Load() || r.cut.Load() || s.crashes.Load() > r.recovered
}

// current returns the process at work, nil if there is none.
func (p *soakProcess) current() *soakRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

// kill ends the process with SIGKILL. It returns when the server has closed the process's connections.
func (p *soakProcess) kill() (*soakRun, error) {
	p.mu.Lock()
	r := p.run
	p.run = nil
	p.mu.Unlock()
	if r == nil {
		return nil, nil
	}
	defer close(r.gone)
	r.asked.Store(true)
	if err := r.cmd.Process.Kill(); err != nil {
		return r, err
	}
	<-r.ended
	return r, p.soak.store.awaitGone(p.user)
}

// lost notes that a process ended by itself, which no process may do.
func (p *soakProcess) lost(r *soakRun) {
	p.mu.Lock()
	mine := p.run == r
	if mine {
		p.run = nil
	}
	p.mu.Unlock()
	if !mine {
		return // it is being killed
	}
	p.soak.note(fmt.Errorf("a process ended by itself: %v\n%s", r.err, r.log.Bytes()))
	close(r.gone)
}

// finish lets the process end in order.
func (p *soakProcess) finish() error {
	p.mu.Lock()
	r := p.run
	p.run = nil
	p.mu.Unlock()
	if r == nil {
		return nil
	}
	defer close(r.gone)
	r.asked.Store(true)
	err := r.in.Close()
	<-r.ended
	if err := errors.Join(err, r.err); err != nil {
		return fmt.Errorf("%w\n%s", err, r.log.Bytes())
	}
	return nil
}

// awaitGone waits until an account has no connections, also while the server starts again.
func (s *store) awaitGone(user string) error {
	return s.awaitNone(fmt.Sprintf(s.engine.connections, s.name, user))
}

// awaitNone waits until a query counts nothing.
func (s *store) awaitNone(query string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*childTimeout)
	defer cancel()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for {
		n := -1
		err := s.admin.QueryRowContext(ctx, query).Scan(&n)
		if err == nil && n == 0 {
			return nil
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: still %d: %w", query, n, errors.Join(err, ctx.Err()))
		}
	}
}

// cut ends a connection of an account, if there is any, and returns when the server is done with it.
func (s *store) cut(user string) error {
	s.harm.Lock()
	defer s.harm.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), childTimeout)
	defer cancel()
	var id int64
	if err := s.admin.QueryRowContext(ctx, fmt.Sprintf(s.engine.connection, s.name, user)).Scan(&id); err != nil {
		return ctx.Err() // the process has just been started
	}
	if _, err := s.admin.ExecContext(ctx, fmt.Sprintf(s.engine.cut, id)); err != nil {
		return ctx.Err() // the connection has just ended
	}
	return s.awaitNone(fmt.Sprintf(s.engine.connected, id))
}
