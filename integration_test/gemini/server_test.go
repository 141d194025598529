package gemini_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/model/gemini"

	"github.com/adk-go-ext/longsession/compactiontest"
)

const (
	apiKey     = "fake"
	apiVersion = "v1beta"
)

// server imitates the Gemini API. It distinguishes agents by their model, and summarizers by their
// prompt.
type server struct {
	t    *testing.T
	http *httptest.Server
	// overhead is the server's count for instructions and tools, in tokens.
	overhead int
	// answersLate is true if calls are answered late; see problems.
	answersLate bool
	// inspect receives every valid request, if not nil.
	inspect func(*request)
	// implicit is the part of each prompt that the server reads from a cache of its own, in percent.
	implicit int
	// alike is true if requests for summaries are counted like those of agents.
	alike bool
	// onUsage receives all charged tokens, if not nil.
	onUsage func(r *request, prompt, output int)

	mu       sync.Mutex
	plans    map[string][]reply
	always   *reply // for an agent without a plan
	write    func(*request) reply
	requests []*request
	// waiting receives a value for every request that hangs.
	waiting chan struct{}
}

// request is a request as the server received it.
type request struct {
	wireRequest
	model   string
	stream  bool
	summary bool
	header  http.Header
	body    []byte
	// tokens is the prompt size that the server reported, 0 if it reported none, and cached the part of it that
	// came from a cache.
	tokens, cached int
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, plans: map[string][]reply{}, write: keepFacts, waiting: make(chan struct{}, 100)}
	s.http = httptest.NewServer(s)
	t.Cleanup(s.http.Close)
	return s
}

// client returns a real model client for the server.
func (s *server) client(name string) model.LLM {
	s.t.Helper()
	transport := &http.Transport{}
	s.t.Cleanup(transport.CloseIdleConnections)
	llm, err := gemini.NewModel(s.t.Context(), name, &genai.ClientConfig{
		APIKey:      apiKey,
		Backend:     genai.BackendGeminiAPI,
		HTTPClient:  &http.Client{Transport: transport},
		HTTPOptions: genai.HTTPOptions{BaseURL: s.http.URL, APIVersion: apiVersion},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return llm
}

// will appends answers to the plan of a model.
func (s *server) will(model string, replies ...reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans[model] = append(s.plans[model], replies...)
}

// unplayed drops the remaining answers of the plan and returns their number.
func (s *server) unplayed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, plan := range s.plans {
		n += len(plan)
	}
	clear(s.plans)
	return n
}

// summarize sets how requests for summaries are answered from now on.
func (s *server) summarize(write func(*request) reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write = write
}

// received returns the requests so far, either for summaries or of agents.
func (s *server) received(summaries bool) []*request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.requests), func(r *request) bool { return r.summary != summaries })
}

// keepFacts is a good summary.
func keepFacts(r *request) reply {
	return reply{
		parts:    []object{{"text": "I should keep all facts.", "thought": true}, {"text": "Facts: " + strings.Join(compactiontest.Facts(string(r.body)), " ")}},
		thoughts: 50,
	}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Errorf("read a request: %v", err)
		return
	}
	req, found := s.parse(r, body)
	if len(found) > 0 {
		s.t.Errorf("request of %s:\n%s\n%s", r.URL.Path, strings.Join(found, "\n"), outline(body))
		refuse(http.StatusBadRequest, "INVALID_ARGUMENT", strings.Join(found, "; ")).write(w, nil, req.stream)
		return
	}
	answer := s.next(req)
	if answer.hang {
		s.waiting <- struct{}{}
		<-r.Context().Done()
		return
	}
	if answer.until != nil {
		s.waiting <- struct{}{}
		select {
		case <-answer.until:
		case <-r.Context().Done():
			return
		}
	}
	answer.write(w, s.usage(req, answer), req.stream)
}

// parse reads and validates a request.
func (s *server) parse(r *http.Request, body []byte) (*request, []string) {
	req := &request{header: r.Header.Clone(), body: body}
	found := problems(body, s.answersLate)
	path, ok := strings.CutPrefix(r.URL.Path, "/"+apiVersion+"/models/")
	name, method, _ := strings.Cut(path, ":")
	req.model, req.stream = name, method == "streamGenerateContent"
	switch {
	case !ok, method != "generateContent" && !req.stream, r.Method != http.MethodPost:
		found = append(found, "no such method: "+r.Method+" "+r.URL.Path)
	case req.stream && r.URL.Query().Get("alt") != "sse":
		found = append(found, "a stream without alt=sse")
	case r.Header.Get("x-goog-api-key") != apiKey:
		found = append(found, "no API key")
	}
	if wire, err := decodeWire(body); err == nil {
		req.wireRequest, req.summary = *wire, wire.isSummary()
	}
	if req.summary && req.stream {
		found = append(found, "a summary is requested as a stream")
	}
	return req, found
}

// next records a request and takes its answer from the script.
func (s *server) next(req *request) reply {
	if s.inspect != nil {
		s.inspect(req)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	if req.summary {
		return s.write(req)
	}
	plan := s.plans[req.model]
	if len(plan) == 0 && s.always != nil {
		return *s.always
	}
	if len(plan) == 0 {
		s.t.Errorf("%s got more requests than its script expects:\n%s", req.model, outline(req.body))
		return answer()
	}
	s.plans[req.model] = plan[1:]
	return plan[0]
}

// usage counts the tokens of a prompt and its answer approximately. Agents and summarizers never
// get equal numbers.
func (s *server) usage(req *request, answer reply) object {
	if answer.noUsage {
		return nil
	}
	contents, _ := json.Marshal(req.Contents)
	said, _ := json.Marshal(answer.parts)
	s.mu.Lock()
	defer s.mu.Unlock()
	req.tokens = s.overhead + 100 + len(contents)/4
	if req.summary && !s.alike {
		req.tokens += summaryMark
	}
	req.cached = req.tokens * s.implicit / 100
	if s.onUsage != nil {
		s.onUsage(req, req.tokens, len(said)/4+answer.thoughts)
	}
	return object{
		"promptTokenCount": req.tokens, "cachedContentTokenCount": req.cached, "candidatesTokenCount": len(said) / 4, "thoughtsTokenCount": answer.thoughts,
		"totalTokenCount": req.tokens + len(said)/4 + answer.thoughts,
	}
}

// summaryMark is added to the counts of a summarizer's prompts, so that such a count is
// recognizable everywhere.
const summaryMark = 1_000_000

// outline summarizes the turns of a body for failure messages.
func outline(body []byte) string {
	req, err := decodeWire(body)
	if err != nil {
		return string(body[:min(len(body), 400)])
	}
	var b strings.Builder
	for _, c := range req.Contents {
		b.WriteString(c.Role + ":")
		for _, p := range c.Parts {
			switch {
			case p.Text != nil:
				b.WriteString(" " + string([]rune(*p.Text)[:min(60, len([]rune(*p.Text)))]))
			case p.FunctionCall != nil:
				b.WriteString(" CALL " + p.FunctionCall.Name)
			case p.FunctionResponse != nil:
				b.WriteString(" RESPONSE " + p.FunctionResponse.Name)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
