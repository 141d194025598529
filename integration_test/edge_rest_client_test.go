package integration_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/server/adkrest"
)

// client calls ADK's REST server over the wrapped service.
type client struct {
	a      *app
	server *httptest.Server
}

// restEvent and restSession are the server's JSON as a client reads it.
type (
	restEvent struct {
		ID      string         `json:"id"`
		Author  string         `json:"author"`
		Branch  string         `json:"branch"`
		Partial bool           `json:"partial"`
		Content *genai.Content `json:"content"`
	}
	restSession struct {
		ID     string         `json:"id"`
		Events []restEvent    `json:"events"`
		State  map[string]any `json:"state"`
	}
)

func (e restEvent) stored() stored { return stored{e.ID, e.Author, e.Branch, canonical(e.Content)} }

// serve starts ADK's REST server over a's service. The root agent must have the app's name.
func (a *app) serve() *client {
	a.t.Helper()
	handler, err := adkrest.NewServer(adkrest.ServerConfig{SessionService: a.svc, AgentLoader: agent.NewSingleLoader(a.root), SSEWriteTimeout: time.Minute, PluginConfig: a.pluginConfig()})
	if err != nil {
		a.t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	a.t.Cleanup(server.Close)
	return &client{a, server}
}

// call sends one request and returns the status and the body of the response.
func (c *client) call(method, path string, body any) (int, []byte) {
	c.a.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		c.a.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(c.a.t.Context(), method, c.server.URL+path, bytes.NewReader(data))
	if err != nil {
		c.a.t.Fatal(err)
	}
	resp, err := c.server.Client().Do(req)
	if err != nil {
		c.a.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err = io.ReadAll(resp.Body)
	if err != nil {
		c.a.t.Fatal(err)
	}
	return resp.StatusCode, data
}

// must sends a request and decodes its successful response into out, unless out is nil.
func (c *client) must(method, path string, body, out any) {
	c.a.t.Helper()
	status, data := c.call(method, path, body)
	if status != http.StatusOK {
		c.a.t.Fatalf("%s %s: %d %s", method, path, status, data)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(data, out); err != nil {
		c.a.t.Fatalf("%s %s: %v: %s", method, path, err, data)
	}
}

const (
	sessionsPath = "/apps/app/users/user/sessions"
	sessionPath  = sessionsPath + "/session"
)

// ask runs one turn with a new fact through /run or /run_sse. It returns the number of pieces
// before the complete answer.
func (c *client) ask(streamed bool) (pieces int) {
	c.a.t.Helper()
	a := c.a
	a.turns++
	a.ledger.nextTurn()
	a.question = "Please note that another code is " + a.tell("user") + "; we will come back to it in a while."
	msg := genai.NewContentFromText(a.question, genai.RoleUser)
	a.history = append(a.history, storedMessage(msg))
	body := map[string]any{"appName": ref.AppName, "userId": ref.UserID, "sessionId": ref.SessionID, "newMessage": msg, "streaming": streamed}
	var events []restEvent
	if streamed {
		events = c.stream(body)
	} else {
		c.must(http.MethodPost, "/run", body, &events)
	}
	for _, ev := range events {
		if ev.Partial {
			pieces++
			continue
		}
		a.history = append(a.history, ev.stored())
	}
	for _, x := range a.actors {
		if n := x.unplayed(); n > 0 {
			a.t.Fatalf("turn %d: %s was asked %d times less than its script expects", a.turns, x.name, n)
		}
	}
	if a.mode.flushed {
		a.flush()
	}
	return pieces
}

// stream posts to /run_sse and reads the events.
func (c *client) stream(body any) []restEvent {
	c.a.t.Helper()
	status, data := c.call(http.MethodPost, "/run_sse", body)
	if status != http.StatusOK {
		c.a.t.Fatalf("/run_sse: %d %s", status, data)
	}
	var events []restEvent
	for line := range strings.Lines(string(data)) {
		text, found := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !found {
			if strings.HasPrefix(line, "event: error") {
				c.a.t.Errorf("/run_sse: %s", data)
			}
			continue
		}
		var ev restEvent
		if err := json.Unmarshal([]byte(text), &ev); err != nil {
			c.a.t.Fatalf("/run_sse: %v: %s", err, text)
		}
		events = append(events, ev)
	}
	return events
}
