package chat_test

import (
	"bytes"
	"context"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// emergency is how long a test waits for what must come.
const emergency = 60 * time.Second

// screen is what a test reads of a chat, while it runs.
type screen struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func newScreen() *screen { return &screen{changed: make(chan struct{}, 1)} }

// Write implements [io.Writer].
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await waits until the text is there.
func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	end := time.After(emergency)
	for !strings.Contains(s.String(), text) {
		select {
		case <-s.changed:
		case <-end:
			t.Fatalf("%q never came:\n%s", text, s)
		}
	}
}

// person is somebody at a terminal: a reader that the test types into.
type person struct {
	typed    chan typed
	awaiting chan string // the prompt of a Read or an Ask, each time that one begins
}

type typed struct {
	text string
	err  error
}

func newPerson() *person { return &person{make(chan typed), make(chan string, 100)} }

func (p *person) Read(ctx context.Context, prompt string) (string, error) {
	p.awaiting <- prompt
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case what := <-p.typed:
		return what.text, what.err
	}
}

func (p *person) Ask(ctx context.Context, question string) (string, error) {
	return p.Read(ctx, question)
}

func (*person) Close() error { return nil }

// talk is a chat that runs.
type talk struct {
	t        *testing.T
	out, err *screen
	person   *person
	press    chan struct{}
	ended    chan error
	stack    *longsession.Stack
}

// setup is what a test has its chat made of. Zero fields have a default.
type setup struct {
	model    model.LLM
	tools    []tool.Tool
	sessions session.Service
	layers   longsession.Config
	change   func(*chat.Config)
}

// begin starts a chat with a person at a terminal.
func begin(t *testing.T, s setup) *talk {
	t.Helper()
	if s.sessions == nil {
		s.sessions = session.InMemoryService()
	}
	compactions, alerts := &chat.Compactions{}, &chat.Alerts{}
	s.layers.Model, s.layers.Compaction.Observer, s.layers.Guard.Observer = s.model, compactions.Observe, alerts.Observe
	if s.layers.Compaction.Summarizer == nil {
		s.layers.Compaction.Summarizer = &compactiontest.Oracle{}
	}
	stack, err := longsession.New(s.sessions, s.layers)
	if err != nil {
		t.Fatal(err)
	}
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Model: stack.Model(s.model), Tools: append(stack.Tools(), s.tools...)})
	if err != nil {
		t.Fatal(err)
	}
	k := &talk{t: t, out: newScreen(), err: newScreen(), person: newPerson(), press: make(chan struct{}), ended: make(chan error, 1), stack: stack}
	cfg := chat.Config{
		Agent: bot, Stack: stack, Session: ref, Compactions: compactions, Alerts: alerts,
		In: strings.NewReader(""), Out: k.out, Err: k.err, Interrupts: k.press,
	}
	if s.change != nil {
		s.change(&cfg)
	}
	c, err := chat.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.Attend(k.person)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { k.ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := stack.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return k
}

// prompted waits until the chat asks, and returns how.
func (k *talk) prompted() string {
	k.t.Helper()
	select {
	case prompt := <-k.person.awaiting:
		return prompt
	case err := <-k.ended:
		k.t.Fatalf("the chat has ended: %v\n%s", err, k.err)
	case <-time.After(emergency):
		k.t.Fatalf("the chat never asks:\n%s%s", k.out, k.err)
	}
	return ""
}

// types types a line once the chat asks for one.
func (k *talk) types(text string) {
	k.t.Helper()
	k.prompted()
	k.person.typed <- typed{text: text}
}

// fails has the next Read fail, as by Ctrl-C or Ctrl-D.
func (k *talk) fails(err error) {
	k.t.Helper()
	k.prompted()
	k.person.typed <- typed{err: err}
}

// interrupts presses Ctrl-C while something is under way.
func (k *talk) interrupts() {
	k.t.Helper()
	select {
	case k.press <- struct{}{}:
	case <-time.After(emergency):
		k.t.Fatal("nobody listens to Ctrl-C")
	}
}

// end waits for the end of the chat.
func (k *talk) end() error {
	k.t.Helper()
	select {
	case err := <-k.ended:
		return err
	case <-time.After(emergency):
		k.t.Fatalf("the chat does not end:\n%s%s", k.out, k.err)
		return nil
	}
}

// leaves ends the chat with Ctrl-D.
func (k *talk) leaves() {
	k.t.Helper()
	k.fails(io.EOF)
	if err := k.end(); err != nil {
		k.t.Errorf("the chat ended with %v", err)
	}
}

// stored are the texts of the session, each behind its author.
func (k *talk) stored() (texts []string) {
	k.t.Helper()
	got, err := k.stack.Sessions.Raw(context.Background(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		k.t.Fatal(err)
	}
	for ev := range got.Session.Events().All() {
		if ev.Content == nil {
			continue
		}
		for _, p := range ev.Content.Parts {
			switch {
			case p.Text != "":
				texts = append(texts, ev.Author+": "+p.Text)
			case p.FunctionCall != nil:
				texts = append(texts, ev.Author+" calls "+p.FunctionCall.Name)
			case p.FunctionResponse != nil:
				texts = append(texts, ev.Author+" has the response of "+p.FunctionResponse.Name)
			}
		}
	}
	return texts
}

// player is a model that a test plays.
type player func(ctx context.Context, n int, req *model.LLMRequest, yield func(*model.LLMResponse, error) bool)

type playing struct {
	player
	mu sync.Mutex
	n  int
	// last are the contents of the newest request.
	last []*genai.Content
}

func plays(p player) *playing { return &playing{player: p} }

func (*playing) Name() string { return "gemini-2.5-flash" }

func (p *playing) GenerateContent(ctx context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		p.mu.Lock()
		n := p.n
		p.n++
		p.last = req.Contents
		p.mu.Unlock()
		p.player(ctx, n, req, yield)
	}
}

func (p *playing) calls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n
}

// heard is all text of the newest request.
func (p *playing) heard() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for _, c := range p.last {
		for _, part := range c.Parts {
			b.WriteString(part.Text + "\n")
		}
	}
	return b.String()
}

// part is a piece of a streamed answer.
func part(text string) *model.LLMResponse {
	return &model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleModel), Partial: true}
}
