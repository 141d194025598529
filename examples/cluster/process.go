package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"sync"
)

// process is a process of the app, as the client sees it.
type process struct {
	name    string
	cmd     *exec.Cmd
	in      io.Closer
	said    bytes.Buffer // on its standard error
	address string
	// read is closed when all output was read.
	read chan struct{}

	mu   sync.Mutex
	seen []seen
}

// startProcess starts a process of the app, and waits until it listens.
func startProcess(name, dsn string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{name: name, cmd: exec.Command(self, "serve", dsn), read: make(chan struct{})}
	p.cmd.Stderr = &p.said
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.in = in
	lines := json.NewDecoder(out)
	var first line
	if err := lines.Decode(&first); err != nil {
		close(p.read)
		return nil, fmt.Errorf("%s does not start: %w", name, errors.Join(err, p.kill(), errors.New(p.said.String())))
	}
	p.address = first.Address
	go p.listen(lines)
	return p, nil
}

// listen notes what compaction does in the process, until it ends.
func (p *process) listen(lines *json.Decoder) {
	defer close(p.read)
	for {
		var l line
		if lines.Decode(&l) != nil || l.Seen == nil {
			return
		}
		p.mu.Lock()
		p.seen = append(p.seen, *l.Seen)
		p.mu.Unlock()
	}
}

// turn has the process run a turn.
func (p *process) turn(ctx context.Context, asked turnRequest) (reply turnReply, err error) {
	body, err := json.Marshal(asked)
	if err != nil {
		return reply, err
	}
	text, err := p.post(ctx, "/turn", body)
	if err != nil {
		return reply, err
	}
	return reply, json.Unmarshal(text, &reply)
}

func (p *process) flush(ctx context.Context, user string) error {
	_, err := p.post(ctx, "/flush?user="+url.QueryEscape(user), nil)
	return err
}

func (p *process) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.address+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, bytes.TrimSpace(text))
	}
	return text, err
}

// kill ends the process as a failure would, with no time to finish anything.
func (p *process) kill() error {
	err := p.cmd.Process.Kill()
	<-p.read
	_ = p.cmd.Wait() // it ended by a signal
	return err
}

// finish lets the process end in order.
func (p *process) finish() error {
	err := p.in.Close()
	<-p.read
	if ended := p.cmd.Wait(); ended != nil {
		err = errors.Join(err, fmt.Errorf("%s: %w\n%s", p.name, ended, &p.said))
	}
	return err
}
