package budget

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
)

var ref = compaction.SessionRef{AppName: "app", UserID: "user", SessionID: "session"}

// sent is a request as a model received it.
type sent struct {
	Contents []*genai.Content
	Config   *genai.GenerateContentConfig
	Tools    []string
}

// photograph keeps a request as it is now.
func photograph(t testing.TB, req *model.LLMRequest) string {
	t.Helper()
	data, err := json.Marshal(sent{req.Contents, req.Config, slices.Sorted(maps.Keys(req.Tools))})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// script is a model that plays a plan. It is safe for concurrent use.
type script struct {
	t    testing.TB
	name string
	// inspect receives every request, if not nil.
	inspect func(ctx context.Context, req *model.LLMRequest, stream bool)
	// plan has the answer to each call. The last one is repeated.
	plan []func(*model.LLMRequest) iter.Seq2[*model.LLMResponse, error]

	mu       sync.Mutex
	requests []string
}

func (s *script) Name() string { return s.name }

func (s *script) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if s.inspect != nil {
			s.inspect(ctx, req, stream)
		}
		s.mu.Lock()
		n := len(s.requests)
		s.requests = append(s.requests, photograph(s.t, req))
		s.mu.Unlock()
		s.plan[min(n, len(s.plan)-1)](req)(yield)
	}
}

func (s *script) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

func (s *script) request(i int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[i]
}

// responses answers with responses.
func responses(all ...*model.LLMResponse) func(*model.LLMRequest) iter.Seq2[*model.LLMResponse, error] {
	return func(*model.LLMRequest) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			for _, resp := range all {
				again := *resp // ADK writes IDs into contents
				if resp.Content != nil {
					data, _ := json.Marshal(resp.Content)
					again.Content = new(genai.Content)
					_ = json.Unmarshal(data, again.Content)
				}
				if !yield(&again, nil) {
					return
				}
			}
		}
	}
}

func failing(err error) func(*model.LLMRequest) iter.Seq2[*model.LLMResponse, error] {
	return func(*model.LLMRequest) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) { yield(nil, err) }
	}
}

func says(text string) func(*model.LLMRequest) iter.Seq2[*model.LLMResponse, error] {
	return responses(&model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleModel), FinishReason: genai.FinishReasonStop})
}

// looksUp answers with n calls of the tool lookup.
func looksUp(n int) func(*model.LLMRequest) iter.Seq2[*model.LLMResponse, error] {
	args := make([]map[string]any, n)
	for i := range args {
		args[i] = map[string]any{"n": i}
	}
	return callsTool("lookup", args...)
}

func callsTool(name string, args ...map[string]any) func(*model.LLMRequest) iter.Seq2[*model.LLMResponse, error] {
	content := &genai.Content{Role: genai.RoleModel}
	for i, a := range args {
		content.Parts = append(content.Parts, &genai.Part{
			FunctionCall: &genai.FunctionCall{Name: name, Args: a}, ThoughtSignature: fmt.Appendf(nil, "signature %d", i),
		})
	}
	return responses(&model.LLMResponse{Content: content, FinishReason: genai.FinishReasonStop})
}

type lookupArgs struct {
	N int `json:"n"`
}

// lookup is a tool with results of about size tokens. ran counts its runs.
func lookup(t testing.TB, size int, ran func()) tool.Tool {
	t.Helper()
	made, err := functiontool.New(functiontool.Config{Name: "lookup", Description: "Looks an item up."},
		func(_ agent.ToolContext, args lookupArgs) (map[string]any, error) {
			if ran != nil {
				ran()
			}
			return map[string]any{"n": args.N, "text": strings.Repeat("word ", size)}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func newAgent(t testing.TB, cfg llmagent.Config) agent.Agent {
	t.Helper()
	a, err := llmagent.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// newMeter returns a meter, and lets journals that observe it wait for it.
func newMeter(t testing.TB, cfg Config, journals ...*journal) *Meter {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range journals {
		j.meter = m
	}
	return m
}

// journal is an observer that keeps observations. newMeter sets meter.
type journal struct {
	meter *Meter
	mu    sync.Mutex
	seen  []Observation
}

// flush waits for what has happened so far.
func (j *journal) flush() {
	if j.meter != nil {
		_ = j.meter.Flush(context.Background())
	}
}

func (j *journal) Observe(_ context.Context, o Observation) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen = append(j.seen, o)
}

func (j *journal) of(kind Kind) []Observation {
	j.flush()
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.seen), func(o Observation) bool { return o.Kind != kind })
}

func (j *journal) String() string {
	j.flush()
	j.mu.Lock()
	defer j.mu.Unlock()
	var b strings.Builder
	for _, o := range j.seen {
		fmt.Fprintf(&b, "%s %d of %d removed=%d %s %v\n", o.Kind, o.Budget.UsedTokens(), o.Budget.EffectiveWindow(), o.Removed, o.Reason, o.Err)
	}
	return b.String()
}

// chat is a runner over a session service.
type chat struct {
	t      testing.TB
	svc    session.Service
	runner *runner.Runner
	mode   agent.StreamingMode
}

func newChat(t testing.TB, svc session.Service, root agent.Agent, plugins ...*plugin.Plugin) *chat {
	t.Helper()
	r, err := runner.New(runner.Config{
		AppName: ref.AppName, Agent: root, SessionService: svc, AutoCreateSession: true,
		PluginConfig: runner.PluginConfig{Plugins: plugins},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &chat{t: t, svc: svc, runner: r}
}

// ask runs a turn.
func (c *chat) ask(text string) ([]*session.Event, error) {
	return c.send(genai.NewContentFromText(text, genai.RoleUser))
}

func (c *chat) send(msg *genai.Content) (events []*session.Event, failure error) {
	for ev, err := range c.runner.Run(c.t.Context(), ref.UserID, ref.SessionID, msg, agent.RunConfig{StreamingMode: c.mode}) {
		if err != nil {
			failure = err
			continue
		}
		events = append(events, ev)
	}
	return events, failure
}

// mustAsk runs a turn that must succeed.
func (c *chat) mustAsk(text string) []*session.Event {
	c.t.Helper()
	events, err := c.ask(text)
	if err != nil {
		c.t.Fatal(err)
	}
	return events
}
