package live_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser is a headless Chromium that is driven over two pipes, by the DevTools protocol: each message is JSON and ends
// with a zero byte.
type browser struct {
	t    *testing.T
	to   io.Writer
	page string // the session of its only page

	mu      sync.Mutex
	next    int
	waiting map[int]chan message
	asked   []string // addresses that were requested
	wrong   []string // errors of scripts, and what the policy of a page refused
}

type message struct {
	ID        int             `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// emergency ends a wait for something that never comes. No test depends on how long anything takes.
const emergency = 120 * time.Second

// startBrowser skips the test without Chromium, unless CI is "true".
func startBrowser(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no chromium, which is required where CI is \"true\"")
		}
		t.Skip("there is no chromium")
	}
	folder, err := os.MkdirTemp("", "longsession-browser-")
	if err != nil {
		t.Fatal(err)
	}
	in, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-extensions", "--disable-sync",
		"--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--remote-debugging-pipe", "--user-data-dir="+folder, "about:blank")
	cmd.ExtraFiles = []*os.File{in, out} // 3 and 4 there
	cmd.Env = append(os.Environ(), "HOME="+folder, "XDG_CONFIG_HOME="+folder, "XDG_CACHE_HOME="+folder)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	b := &browser{t: t, to: to, waiting: map[int]chan message{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b.read(from)
	}()
	t.Cleanup(func() {
		to.Close() // ends the browser
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(emergency / 4):
			_ = cmd.Process.Kill()
			<-ended
		}
		from.Close()
		<-read
		_ = os.RemoveAll(folder) // its helpers may still be writing
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.page = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// read takes the messages of the browser until it ends.
func (b *browser) read(from io.Reader) {
	lines := bufio.NewReaderSize(from, 1<<20)
	for {
		text, err := lines.ReadBytes(0)
		if err != nil {
			b.mu.Lock()
			for id, c := range b.waiting {
				close(c)
				delete(b.waiting, id)
			}
			b.waiting = nil
			b.mu.Unlock()
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		switch m.Method {
		case "":
			if c := b.waiting[m.ID]; c != nil {
				c <- m
				delete(b.waiting, m.ID)
			}
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			_ = json.Unmarshal(m.Params, &p)
			b.asked = append(b.asked, p.Request.URL)
		case "Runtime.exceptionThrown":
			b.wrong = append(b.wrong, string(m.Params))
		case "Log.entryAdded":
			var p struct {
				Entry struct{ Level, Text, Source string }
			}
			_ = json.Unmarshal(m.Params, &p)
			if p.Entry.Level == "error" && p.Entry.Source != "network" {
				b.wrong = append(b.wrong, p.Entry.Text)
			}
		}
		b.mu.Unlock()
	}
}

func (b *browser) send(method string, params any) (message, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return message{}, err
	}
	b.mu.Lock()
	if b.waiting == nil {
		b.mu.Unlock()
		return message{}, errors.New("the browser has ended")
	}
	b.next++
	answer := make(chan message, 1)
	b.waiting[b.next] = answer
	m := message{ID: b.next, SessionID: b.page, Method: method}
	if params != nil {
		m.Params = raw
	}
	text, err := json.Marshal(m)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return message{}, err
	}
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return m, errors.New("the browser has ended")
		case m.Error != nil:
			return m, errors.New(m.Error.Message)
		}
		return m, nil
	case <-time.After(emergency):
		return message{}, errors.New("the browser does not answer")
	}
}

func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	m, err := b.send(method, params)
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
	}
}

// eval evaluates an expression of JavaScript on the page and decodes its value.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	value, err := tryEval[T](b, expression)
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func tryEval[T any](b *browser, expression string) (value T, err error) {
	m, err := b.send("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if err != nil {
		return value, err
	}
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		return value, err
	}
	if r.ExceptionDetails != nil {
		return value, fmt.Errorf("%s %s", r.ExceptionDetails.Text, r.ExceptionDetails.Exception.Description)
	}
	if len(r.Result.Value) == 0 {
		return value, nil
	}
	return value, json.Unmarshal(r.Result.Value, &value)
}

// until waits until an expression is true.
func (b *browser) until(expression string) {
	b.t.Helper()
	end := time.Now().Add(emergency)
	for {
		// An error may come from a page that is just being left.
		if is, err := tryEval[bool](b, "Boolean("+expression+")"); err == nil && is {
			return
		}
		if time.Now().After(end) {
			text, _ := tryEval[string](b, "document.body.innerText.slice(0, 2000)")
			b.t.Fatalf("this never came true: %s\n%s", expression, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// open loads a page and waits for its script.
func (b *browser) open(address string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": address}, nil)
	path, _ := json.Marshal(address)
	b.until("location.href === " + string(path) + " && document.readyState === 'complete'")
}

// look sets the size of the window, the color scheme and whether motion is reduced.
func (b *browser) look(width int, scheme string, still bool) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false}, nil)
	motion := "no-preference"
	if still {
		motion = "reduce"
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion}}}, nil)
}

// press presses a key.
func (b *browser) press(key string) {
	b.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27}
	text := ""
	if key == "Enter" {
		text = "\r"
	}
	for _, kind := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
		if kind == "keyDown" && text != "" {
			params["text"] = text
		}
		b.call("Input.dispatchKeyEvent", params, nil)
	}
}

// clean fails the test if a page asked for anything elsewhere, or if a script failed.
func (b *browser) clean(address string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.asked {
		if !strings.HasPrefix(a, address) && a != "about:blank" && !strings.HasPrefix(a, "data:") {
			b.t.Errorf("a page asked for %s", a)
		}
	}
	if len(b.asked) == 0 {
		b.t.Error("no request was seen")
	}
	for _, w := range b.wrong {
		b.t.Errorf("a script failed: %s", w)
	}
}
