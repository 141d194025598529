package gemini_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// cachedContents imitates the service of the Gemini API that keeps explicit caches. The zero value accepts
// all that the API accepts.
type cachedContents struct {
	// tokens is how many tokens each cache holds, and minimum how many it must hold.
	tokens, minimum int
	// refuse answers a call in place of the service, if it returns a status or hangs. The method is
	// "create", "get", "patch", "delete" or "list".
	refuse func(method string) reply

	mu    sync.Mutex
	made  []*cachedContent
	calls []string // such as "create", "patch cachedContents/1"
}

// cachedContent is one cache.
type cachedContent struct {
	wireCache
	name             string
	created, expires time.Time
	stored           time.Duration // until it was deleted or expired
	deleted          bool
}

// wireCache is the body of a create call. The API rejects a body with any other field.
type wireCache struct {
	Model             string          `json:"model"`
	DisplayName       string          `json:"displayName"`
	TTL               string          `json:"ttl"`
	Contents          json.RawMessage `json:"contents"`
	SystemInstruction json.RawMessage `json:"systemInstruction"`
	Tools             json.RawMessage `json:"tools"`
	ToolConfig        json.RawMessage `json:"toolConfig"`
}

// serve answers a call for the caches. It reports false for any other call.
func (s *cachedContents) serve(w http.ResponseWriter, r *http.Request, body []byte) bool {
	path, ok := strings.CutPrefix(r.URL.Path, "/"+apiVersion+"/")
	if !ok || !strings.HasPrefix(path, "cachedContents") {
		return false
	}
	method := strings.ToLower(r.Method)
	switch {
	case r.Method == http.MethodPost:
		method = "create"
	case path == "cachedContents":
		method = "list"
	}
	s.mu.Lock()
	s.calls = append(s.calls, strings.TrimSuffix(method+" "+path, " cachedContents"))
	refuse := s.refuse
	s.mu.Unlock()
	if refuse != nil {
		answer := refuse(method)
		if answer.hang {
			<-r.Context().Done()
			return true
		}
		if answer.status != 0 {
			answer.write(w, nil, false)
			return true
		}
	}
	answer, refused := s.answer(method, path, body)
	if refused != nil {
		refused.write(w, nil, false)
		return true
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(answer)
	return true
}

func (s *cachedContents) answer(method, path string, body []byte) (object, *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch method {
	case "create":
		return s.create(body)
	case "list":
		var all []object
		for _, c := range s.made {
			if c.exists() {
				all = append(all, c.render(s.tokens))
			}
		}
		return object{"cachedContents": all}, nil
	}
	c := s.find(path)
	if c == nil {
		return nil, noSuchCache()
	}
	switch method {
	case "patch":
		var change struct{ TTL string }
		ttl, err := time.Duration(0), json.Unmarshal(body, &change)
		if err == nil {
			ttl, err = time.ParseDuration(change.TTL)
		}
		if err != nil {
			return nil, refused(http.StatusBadRequest, "INVALID_ARGUMENT", err.Error())
		}
		c.expires = time.Now().Add(ttl)
		return c.render(s.tokens), nil
	case "delete":
		c.deleted, c.stored = true, time.Since(c.created)
		return object{}, nil
	case "get":
		return c.render(s.tokens), nil
	}
	return nil, refused(http.StatusNotFound, "NOT_FOUND", "no such method")
}

func refused(status int, name, message string) *reply {
	r := refuse(status, name, message)
	return &r
}

func noSuchCache() *reply {
	return refused(http.StatusForbidden, "PERMISSION_DENIED", "CachedContent not found (or permission denied)")
}

func (s *cachedContents) create(body []byte) (object, *reply) {
	invalid := func(format string, args ...any) (object, *reply) {
		return nil, refused(http.StatusBadRequest, "INVALID_ARGUMENT", fmt.Sprintf(format, args...))
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	var wire wireCache
	if err := decoder.Decode(&wire); err != nil {
		return invalid("invalid JSON payload received: %v", err)
	}
	ttl, err := time.ParseDuration(wire.TTL)
	switch {
	case err != nil:
		return invalid("invalid ttl %q", wire.TTL)
	case string(wire.Contents) == "[]":
		return invalid("contents is not specified")
	case !strings.HasPrefix(wire.Model, "models/"):
		return invalid("invalid model %q", wire.Model)
	case s.tokens < s.minimum:
		return invalid("Cached content is too small. total_token_count=%d, min_total_token_count=%d", s.tokens, s.minimum)
	}
	c := &cachedContent{wireCache: wire, name: fmt.Sprintf("cachedContents/%d", len(s.made)+1), created: time.Now(), expires: time.Now().Add(ttl)}
	s.made = append(s.made, c)
	return c.render(s.tokens), nil
}

func (c *cachedContent) render(tokens int) object {
	return object{
		"name": c.name, "model": c.Model, "displayName": c.DisplayName,
		"createTime": c.created.Format(time.RFC3339Nano), "updateTime": time.Now().Format(time.RFC3339Nano), "expireTime": c.expires.Format(time.RFC3339Nano),
		"usageMetadata": object{"totalTokenCount": tokens},
	}
}

func (c *cachedContent) exists() bool { return !c.deleted && time.Now().Before(c.expires) }

// find returns a cache that exists. The caller holds s.mu.
func (s *cachedContents) find(name string) *cachedContent {
	at := slices.IndexFunc(s.made, func(c *cachedContent) bool { return c.name == name && c.exists() })
	if at < 0 {
		return nil
	}
	return s.made[at]
}

// missing returns the refusal of a request whose cache does not exist, or is for another model.
func (s *cachedContents) missing(req *request) *reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if req.CachedContent == "" {
		return nil
	}
	c := s.find(req.CachedContent)
	if c == nil {
		return noSuchCache()
	}
	if c.Model != "models/"+req.model {
		return refused(http.StatusBadRequest, "INVALID_ARGUMENT", fmt.Sprintf("Model used by GenerateContent request (models/%s) and CachedContent (%s) has to be the same.", req.model, c.Model))
	}
	return nil
}

// tokensOf returns what is read from a cache.
func (s *cachedContents) tokensOf(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.find(name) == nil {
		return 0
	}
	return s.tokens
}

// revoke deletes all caches.
func (s *cachedContents) revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.made {
		c.deleted = true
	}
}

// left returns the caches that exist.
func (s *cachedContents) left() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.made {
		if c.exists() {
			names = append(names, c.name)
		}
	}
	return names
}

// called returns how often each method was called.
func (s *cachedContents) called() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := map[string]int{}
	for _, call := range s.calls {
		method, _, _ := strings.Cut(call, " ")
		n[method]++
	}
	return maps.Clone(n)
}

// inProcess carries requests to a server without a network, so that a test can run with the time of a
// bubble.
type inProcess struct{ to http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	defer func() {
		if recover() != nil {
			resp, err = nil, io.ErrUnexpectedEOF // the server has closed the connection
		}
	}()
	body := []byte(nil)
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	in := r.Clone(r.Context())
	in.Body = io.NopCloser(bytes.NewReader(body))
	recorder := httptest.NewRecorder()
	p.to.ServeHTTP(recorder, in)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	resp = recorder.Result()
	resp.Request = r
	return resp, nil
}

// newServerInProcess returns a server for use in a bubble.
func newServerInProcess(t *testing.T) *server {
	t.Helper()
	return &server{t: t, plans: map[string][]reply{}, write: keepFacts, waiting: make(chan struct{}, 100)}
}
