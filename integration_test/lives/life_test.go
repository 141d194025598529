// Package lives_test plays sessions of messages, answers, results, thoughts and attachments of any size, with turns
// that fail, are canceled or are refused in between, and holds that no session dies of it.
package lives_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
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

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

func TestMain(m *testing.M) {
	testkit.Quiet()
	m.Run()
}

const appName, userID = "app", "user"

// step is one answer of the model. If result is not 0, the model calls a tool with a result of that size, and with
// arguments of that size if arguments is not 0. code and output are those of code that the provider runs.
type step struct{ thought, text, result, arguments, code, output int }

// turn is one message of the user, and what the model does with it. Sizes are in tokens.
type turn struct {
	text, attachment int
	steps            []step
	fails            bool // the model's last answer is an error of the server
	leaves           bool // the consumer goes away at the first event
}

// message is the size of what the user sends.
func (u turn) message() int { return u.text + u.attachment }

// life is sessions under ADK's runner, one after the other, with a model that refuses what is over its window.
type life struct {
	t      testing.TB
	window int
	run    *runner.Runner
	model  *picky
	stack  *longsession.Stack // nil for compaction alone
	svc    *compaction.CompactionSessionService
	id     string // of the present session
}

// picky is a model that refuses requests over its window, as a provider does.
type picky struct {
	window   int
	more     float64 // how many tokens it counts beyond each that is estimated
	plan     []step
	fails    bool
	called   int
	requests int
	refused  int
	largest  int // request that was taken
	last     *model.LLMRequest
}

func (p *picky) Name() string { return "picky" }

func sizeOf(req *model.LLMRequest) int {
	size := 0
	for _, content := range req.Contents {
		size += promptsize.OfContent(content)
	}
	if req.Config != nil {
		if req.Config.SystemInstruction != nil {
			size += tokens.OfContent(req.Config.SystemInstruction)
		}
		declarations, _ := promptsize.OfTools(req.Config.Tools)
		size += declarations
	}
	return size
}

func (p *picky) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		p.requests++
		size := int(float64(sizeOf(req)) * (1 + p.more))
		p.last = req
		if size > p.window {
			p.refused++
			yield(nil, genai.APIError{Code: 400, Message: fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", size, p.window)})
			return
		}
		p.largest = max(p.largest, size)
		var s step
		if p.called < len(p.plan) {
			s = p.plan[p.called]
		} else {
			s = step{text: 5}
		}
		p.called++
		if p.called >= len(p.plan) && p.fails {
			yield(nil, genai.APIError{Code: 503, Message: "unavailable"})
			return
		}
		content := &genai.Content{Role: genai.RoleModel}
		if s.thought > 0 {
			content.Parts = append(content.Parts, &genai.Part{Text: words(s.thought), Thought: true})
		}
		if s.code > 0 {
			content.Parts = append(content.Parts, genai.NewPartFromExecutableCode(words(s.code), genai.LanguagePython))
		}
		if s.output > 0 {
			content.Parts = append(content.Parts, genai.NewPartFromCodeExecutionResult(genai.OutcomeOK, words(s.output)))
		}
		if s.result > 0 {
			args := map[string]any{"size": s.result}
			if s.arguments > 0 {
				args["note"] = words(s.arguments)
			}
			content.Parts = append(content.Parts, genai.NewPartFromFunctionCall("work", args))
		} else {
			content.Parts = append(content.Parts, genai.NewPartFromText(words(max(1, s.text))))
		}
		yield(&model.LLMResponse{Content: content, FinishReason: genai.FinishReasonStop,
			UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(size)}}, nil)
	}
}

var filler = strings.Repeat("The order number is 4711 and the parcel left Bremen at noon.\n", 4000)
var perToken = float64(len(filler)) / float64(tokens.Estimate(filler))

// words is a text of about n tokens.
func words(n int) string { return filler[:max(1, min(len(filler), int(float64(n)*perToken)))] }

type workArgs struct {
	Size int    `json:"size"`
	Note string `json:"note,omitempty"`
}

// kind is a way to put a session together.
type kind string

const (
	stack      kind = "default stack"
	wholeTools kind = "without LayerToolResults"
	fitting    kind = "compaction and budget alone"
	alone      kind = "compaction alone"
	observed   kind = "compaction alone, with Fixed and ObserveRequest"
)

func newLife(t testing.TB, k kind, window int, background bool, change ...func(*compaction.Config)) *life {
	t.Helper()
	l := newProcess(t, k, window, background, session.InMemoryService(), &picky{window: window}, change...)
	l.begin("session")
	return l
}

// newProcess returns a life without a session, over what others may share.
func newProcess(t testing.TB, k kind, window int, background bool, inner session.Service, llm *picky, change ...func(*compaction.Config)) *life {
	t.Helper()
	l := &life{t: t, window: window, model: llm}
	work, err := functiontool.New(functiontool.Config{Name: "work", Description: "Works."},
		func(_ agent.ToolContext, in workArgs) (map[string]any, error) {
			return map[string]any{"output": words(in.Size)}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	c := compaction.DefaultConfig()
	c.Summarizer, c.ContextWindow, c.Synchronous = summarizer.Extractive{}, window, !background
	c.AgentModel = "picky"
	for _, f := range change {
		f(&c)
	}
	var wrapped model.LLM = l.model
	cfg := runner.Config{AppName: appName}
	switch k {
	case alone, observed:
		if k == observed {
			c.Fixed = func(compaction.SessionRef, string, string) int { return 60 }
		}
		if l.svc, err = compaction.NewCompactionService(inner, c); err != nil {
			t.Fatal(err)
		}
		if k == observed {
			observe, err := plugin.New(plugin.Config{Name: "observe", BeforeModelCallback: l.svc.ObserveRequest})
			if err != nil {
				t.Fatal(err)
			}
			cfg.PluginConfig.Plugins = []*plugin.Plugin{observe}
		}
	default:
		sc := longsession.Config{Compaction: c}
		switch k {
		case wholeTools:
			sc.Disable = []longsession.Layer{longsession.LayerToolResults}
		case fitting:
			sc.Disable = []longsession.Layer{longsession.LayerToolResults, longsession.LayerPrompt, longsession.LayerToolSearch, longsession.LayerGuard}
			sc.Recall.Disabled = true
		}
		if l.stack, err = longsession.New(inner, sc); err != nil {
			t.Fatal(err)
		}
		l.svc, wrapped, cfg.PluginConfig = l.stack.Sessions, l.stack.Model(wrapped), l.stack.PluginConfig()
	}
	cfg.SessionService = l.svc
	if cfg.Agent, err = llmagent.New(llmagent.Config{Name: "desk", Model: wrapped, Instruction: "You answer questions.", Tools: []tool.Tool{work}}); err != nil {
		t.Fatal(err)
	}
	if l.run, err = runner.New(cfg); err != nil {
		t.Fatal(err)
	}
	return l
}

// begin begins a session.
func (l *life) begin(id string) {
	l.t.Helper()
	if _, err := l.svc.Create(context.Background(), &session.CreateRequest{AppName: appName, UserID: userID, SessionID: id}); err != nil {
		l.t.Fatal(err)
	}
	l.id = id
}

// end deletes the session.
func (l *life) end() {
	if err := l.svc.Delete(context.Background(), &session.DeleteRequest{AppName: appName, UserID: userID, SessionID: l.id}); err != nil {
		l.t.Error(err)
	}
}

func (l *life) close() {
	if l.stack != nil {
		_ = l.stack.Close(context.Background())
		return
	}
	_ = l.svc.Close(context.Background())
}

// say plays one turn and returns its error.
func (l *life) say(u turn) (err error) {
	l.model.plan, l.model.fails, l.model.called = u.steps, u.fails, 0
	content := &genai.Content{Role: genai.RoleUser}
	if u.text > 0 {
		content.Parts = append(content.Parts, genai.NewPartFromText(words(u.text)))
	}
	if u.attachment > 0 {
		content.Parts = append(content.Parts, genai.NewPartFromBytes([]byte(words(u.attachment)), "text/plain"))
	}
	for _, e := range l.run.Run(context.Background(), userID, l.id, content, agent.RunConfig{}) {
		err = errors.Join(err, e)
		if u.leaves {
			break
		}
	}
	return err
}

// hello is a turn that fits whatever was before it.
func (l *life) hello() error { return l.say(turn{text: 10, steps: []step{{text: 10}}}) }

// compact compacts the session by hand, as far as it can be.
func (l *life) compact() {
	l.t.Helper()
	ref := compaction.SessionRef{AppName: appName, UserID: userID, SessionID: l.id}
	if _, err := l.svc.Compact(context.Background(), ref, compaction.CompactOptions{}); err != nil {
		l.t.Errorf("session %s cannot be compacted by hand: %v", l.id, err)
	}
}

// isOverflow reports whether a turn has ended with the typed error.
func isOverflow(err error) bool {
	var overflow *budget.OverflowError
	return errors.As(err, &overflow)
}
