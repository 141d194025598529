// Package openai is a model of ADK behind any server that speaks OpenAI's Chat Completions protocol, so that local
// models work: Ollama, llama.cpp, LM Studio, vLLM and many services.
//
// It is written here because OpenAI's own module needs a later Go than this one promises, and would bring the modules
// of two clouds along for one request.
package openai

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/secrets"
)

// DefaultIdle is how long a server may be silent. A local model may read a long prompt for minutes before its first
// word.
const DefaultIdle = 5 * time.Minute

// Config says where a model is.
type Config struct {
	// Model is its name, as the server knows it. Required.
	Model string
	// BaseURL is the address that "/chat/completions" is appended to, normally ending in "/v1". Required.
	BaseURL string
	// Key is sent as a bearer token. "" sends none.
	Key string
	// Idle is how long the server may send nothing before a request fails. 0 means DefaultIdle.
	Idle time.Duration
	// Client sends the requests. If nil, it is one without a limit of time for a whole answer.
	Client *http.Client
}

// Model is a [model.LLM]. It is safe for concurrent use.
type Model struct {
	cfg      Config
	endpoint string
}

var _ model.LLM = (*Model)(nil)

// New returns a model. It sends nothing. The error names what is missing or wrong in the config.
func New(cfg Config) (*Model, error) {
	if strings.TrimSpace(cfg.Model) == "" {
		return nil, errors.New("the name of the model is missing: give the one that the server knows")
	}
	u, err := url.Parse(strings.TrimSpace(cfg.BaseURL))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("the base URL is %q: it must begin with http:// or https:// and name a host, as in http://localhost:11434/v1", secrets.Shown(cfg.BaseURL))
	}
	if u.User != nil {
		return nil, errors.New("the base URL has a name or a password in it: set the key in the environment")
	}
	if cfg.Idle <= 0 {
		cfg.Idle = DefaultIdle
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{}
	}
	u.RawQuery, u.Fragment = "", ""
	return &Model{cfg: cfg, endpoint: strings.TrimRight(u.String(), "/") + "/chat/completions"}, nil
}

// Name implements [model.LLM].
func (m *Model) Name() string { return m.cfg.Model }

// GenerateContent implements [model.LLM]. A streamed answer comes in parts as they arrive, and then once more as a
// whole. Errors of the server are an [*Error].
func (m *Model) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(taken func(*model.LLMResponse, error) bool) {
		yield := func(resp *model.LLMResponse, err error) bool { return taken(resp, m.discreet(err)) }
		body, err := encode(m.cfg.Model, req, stream)
		if err != nil {
			yield(nil, err)
			return
		}
		watched, cancel := newWatch(ctx, m.cfg.Idle)
		defer cancel()
		resp, err := m.send(watched, body)
		if err != nil {
			yield(nil, watched.explain(err))
			return
		}
		defer func() { _ = resp.Body.Close() }()
		if err := refusal(resp, m.endpoint); err != nil {
			yield(nil, watched.explain(err))
			return
		}
		read := bufio.NewReader(watched.reader(resp.Body))
		// Some servers answer with a whole response although they were asked to stream.
		if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") && !streams(read) {
			whole, err := decodeWhole(read)
			if err != nil {
				yield(nil, watched.explain(err))
				return
			}
			yield(whole, nil)
			return
		}
		for part, err := range decodeStream(read) {
			if err == nil && part.Partial && !stream {
				continue // others stream although nobody asked them to
			}
			if !yield(part, watched.explain(err)) || err != nil {
				return
			}
		}
	}
}

// shortestKey is the fewest bytes of a key that is a secret. Servers that need none are often given a word.
const shortestKey = 12

// discreet takes the key out of an error: some servers repeat it.
func (m *Model) discreet(err error) error {
	if err == nil || len(m.cfg.Key) < shortestKey || !strings.Contains(err.Error(), m.cfg.Key) {
		return err
	}
	hide := func(text string) string { return strings.ReplaceAll(text, m.cfg.Key, "(the key)") }
	if refused := (*Error)(nil); errors.As(err, &refused) {
		return &Error{refused.Status, hide(refused.Message), refused.Remedy}
	}
	return errors.New(hide(err.Error()))
}

// send posts a request. It is not repeated: the layers above decide that.
func (m *Model) send(ctx context.Context, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.endpoint, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if m.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.cfg.Key)
	}
	resp, err := m.cfg.Client.Do(req)
	if err != nil {
		if at := (*url.Error)(nil); errors.As(err, &at) {
			err = at.Err // without the address, which comes first
		}
		return nil, fmt.Errorf("the server at %s cannot be reached: %w", m.endpoint, err)
	}
	return resp, nil
}

// watch is a context that ends when a server is silent for too long.
type watch struct {
	context.Context
	idle  time.Duration
	timer *time.Timer
}

// ErrIdle is in the error of a call that was given up, because the server was silent for too long.
var ErrIdle = errors.New("the server has sent nothing for too long")

func newWatch(ctx context.Context, idle time.Duration) (*watch, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(idle, func() { cancel(ErrIdle) })
	return &watch{ctx, idle, timer}, func() { timer.Stop(); cancel(nil) }
}

// explain names the reason of an error that the end of the context has caused.
func (w *watch) explain(err error) error {
	if err == nil || w.Err() == nil {
		return err
	}
	if cause := context.Cause(w); errors.Is(cause, ErrIdle) {
		return fmt.Errorf("%w (%s): check whether it works; a server that needs longer gets it by --server-timeout", ErrIdle, w.idle)
	}
	return context.Cause(w)
}

// reader counts each byte as a sign of life. The time between two reads is the caller's, and not the server's.
func (w *watch) reader(r io.Reader) io.Reader { return &alive{w, r} }

type alive struct {
	w *watch
	r io.Reader
}

func (a *alive) Read(p []byte) (int, error) {
	a.w.timer.Reset(a.w.idle)
	defer a.w.timer.Stop()
	return a.r.Read(p)
}
