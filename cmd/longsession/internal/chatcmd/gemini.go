package chatcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/openai"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/internal/wrapper"
)

// The variables in which Google's library looks for another address of Gemini, and of Vertex AI.
const (
	geminiAddress = "GOOGLE_GEMINI_BASE_URL"
	vertexAddress = "GOOGLE_VERTEX_BASE_URL"
)

// refusal is an error of Gemini in words that say what to do. It wraps the library's, by which the layers tell an
// overflow from a failure.
type refusal struct {
	text string
	err  error
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Unwrap() error { return r.err }

// explaining returns a model of Gemini whose errors say what to do.
func (s source) explaining(llm model.LLM) model.LLM {
	return wrapper.New(llm, new(source), "chat", func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			lost := &loss{}
			for resp, err := range llm.GenerateContent(wrapper.WithValue(ctx, lossKey{}, lost), req, stream) {
				if err == nil && !resp.Partial {
					if err = lost.get(); err != nil {
						resp = nil // a part that looks like the whole
					}
				}
				if err != nil && ctx.Err() == nil {
					err = s.explain(llm.Name(), err)
				}
				if !yield(resp, err) {
					return
				}
			}
		}
	})
}

// loss is what cut a stream off. Google's library only logs it, and ends the stream as if it were complete.
type loss struct {
	mu  sync.Mutex
	err error
}

// lossKey is the key of a *loss in the context of a request.
type lossKey struct{}

func (l *loss) set(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

func (l *loss) get() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// errCut is in the error of a stream that was cut off.
var errCut = errors.New("the stream was cut off")

// explain says what an error of Gemini means.
func (s source) explain(name string, err error) error {
	var api genai.APIError
	var at *url.Error
	switch {
	case errors.Is(err, errPage):
		return &refusal{"Gemini answered with " + errPage.Error() + "; " + s.checkAddress(), err}
	case errors.Is(err, errSilent):
		return &refusal{fmt.Sprintf("Gemini has sent nothing for too long (%v): try again, or allow more by --server-timeout", s.idle()), err}
	case errors.As(err, &api):
		text := fmt.Sprintf("Gemini answered with status %d: %s", api.Code, terminal.Printable(cmp.Or(strings.TrimSpace(api.Message), api.Status, "no reason given")))
		if remedy := s.remedy(name, api); remedy != "" {
			text += "; " + remedy
		}
		return &refusal{text, err}
	case errors.Is(err, errCut):
		return &refusal{"Gemini's answer is not complete: " + err.Error(), err}
	case errors.Is(err, io.ErrUnexpectedEOF): // what later versions of Google's library return
		return &refusal{fmt.Sprintf("Gemini's answer is not complete: %v: %v", errCut, err), err}
	case errors.As(err, &at): // what the library says around it is for programmers
		return &refusal{fmt.Sprintf("Gemini cannot be reached: %v; %s", at.Err, s.checkAddress()), err}
	}
	return err
}

// remedy is what to do about an answer that is none, "" if that is not known.
func (s source) remedy(name string, api genai.APIError) string {
	switch {
	case api.Code == http.StatusUnauthorized, api.Code == http.StatusForbidden, strings.Contains(api.Message, "API key"):
		for _, variable := range geminiKeys {
			if s.env(variable) != "" && !s.vertex() {
				return "check the key in " + variable
			}
		}
		return "check the login"
	case api.Code == http.StatusNotFound:
		return fmt.Sprintf("check the name of the model, %s", terminal.Printable(name))
	case api.Code == http.StatusTooManyRequests:
		return "wait, then try again, or look at the quota of the key"
	case api.Code >= http.StatusInternalServerError:
		return "try again later"
	}
	return ""
}

func (s source) checkAddress() string {
	variable := geminiAddress
	if s.vertex() {
		variable = vertexAddress
	}
	if s.env(variable) != "" {
		return "check " + variable
	}
	return "check the network: it may need a login or a proxy"
}

func (s source) idle() time.Duration { return cmp.Or(s.patience, openai.DefaultIdle) }

var (
	errPage   = errors.New("a web page instead of JSON")
	errSilent = errors.New("the server has sent nothing for too long")
)

// patient ends a request when its server is silent for too long, and refuses pages for people.
type patient struct {
	base http.RoundTripper
	idle time.Duration
}

// RoundTrip implements [http.RoundTripper].
func (p patient) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(p.idle, func() { cancel(errSilent) })
	resp, err := p.base.RoundTrip(req.WithContext(ctx))
	timer.Stop()
	switch {
	case err != nil:
		if errors.Is(context.Cause(ctx), errSilent) {
			err = errSilent
		}
		cancel(nil)
		return nil, err
	case strings.Contains(resp.Header.Get("Content-Type"), "html"):
		cancel(nil)
		return nil, errors.Join(errPage, resp.Body.Close())
	}
	resp.Body = &listened{resp.Body, ctx, cancel, timer, p.idle}
	return resp, nil
}

// listened is the body of a response. Each byte is a sign of life, and the time between two reads is the reader's.
type listened struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
}

// Read reads as long as the server goes on.
func (l *listened) Read(p []byte) (int, error) {
	l.timer.Reset(l.idle)
	n, err := l.ReadCloser.Read(p)
	l.timer.Stop()
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	if errors.Is(context.Cause(l.ctx), errSilent) {
		err = errSilent
	}
	if lost, _ := l.ctx.Value(lossKey{}).(*loss); lost != nil {
		lost.set(fmt.Errorf("%w: %w", errCut, err))
	}
	return n, err
}

// Close ends the request.
func (l *listened) Close() error {
	l.timer.Stop()
	defer l.cancel(nil)
	return l.ReadCloser.Close()
}
