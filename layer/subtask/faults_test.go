package subtask_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/tokens"
)

// observe collects the kinds of observations. The observer is called by one goroutine at a time.
func observe(kinds *[]subtask.Kind) func(context.Context, subtask.Observation) {
	return func(_ context.Context, o subtask.Observation) { *kinds = append(*kinds, o.Kind) }
}

func text(v any) string { return fmt.Sprint(v) }

// replies is one reply with a finish reason.
func replies(text string, reason genai.FinishReason) *model.LLMResponse {
	return &model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleModel), FinishReason: reason}
}

// Each way in which a subtask ends early is a result that says so first, with what was found so far.
func TestATruncatedResultSaysSoFirst(t *testing.T) {
	t.Parallel()
	silent := &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "hm", Thought: true}}}, FinishReason: genai.FinishReasonStop}
	noAnswer := "[Truncated: there is no answer.]"
	if adk.Major == 2 { // which asks a model once more that has only thought
		noAnswer = "[Truncated: the subtask has reached its limit of 5 model calls.]"
	}
	noted := call("look", map[string]any{"ask": "x"})
	noted.Content.Parts = append([]*genai.Part{{Text: "The key is in drawer four."}}, noted.Content.Parts...)
	for _, row := range []struct {
		name    string
		replies []*model.LLMResponse // nil is a failure
		stream  bool
		want    []string // in this order; the first at the beginning
	}{
		{name: "output limit", replies: []*model.LLMResponse{replies("half an ans", genai.FinishReasonMaxTokens)}, want: []string{"[Truncated: the reply was cut at the model's output limit.]", "half an ans"}},
		{name: "refused by the provider", replies: []*model.LLMResponse{replies("I", genai.FinishReasonSafety)}, want: []string{"[Truncated: the reply ended with SAFETY.]"}},
		{name: "cut stream", stream: true, replies: []*model.LLMResponse{replies("half an ans", "")}, want: []string{"[Truncated: the stream of the reply ended early.]", "half an ans"}},
		{name: "error code", replies: []*model.LLMResponse{{ErrorCode: "429", ErrorMessage: "too many"}}, want: []string{"[Truncated: the model failed with 429 too many.]"}},
		{name: "no answer", replies: []*model.LLMResponse{silent}, want: []string{noAnswer}},
		{name: "failure after a tool", replies: []*model.LLMResponse{noted, nil}, want: []string{"[Truncated: it failed: the provider is down", "The key is in drawer four.", "Tools called so far: look x1."}},
		{name: "too long", replies: []*model.LLMResponse{say(strings.Repeat("word ", 5_000))}, want: []string{"[Truncated: the answer has 4,9", "all of it is in session main:sub:", "word word"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			child := newLLM(small, func(n int, _ *model.LLMRequest) *model.LLMResponse { return row.replies[min(n, len(row.replies)-1)] })
			look := function(t, "look", func(agent.ToolContext, question) (map[string]any, error) { return map[string]any{"ok": true}, nil })
			p, a := delegating(t, session.InMemoryService(), child, subtask.Spec{Message: "?", Tools: []tool.Tool{look}}, func(cfg *subtask.Config) { cfg.Stream = row.stream })
			p.say("go")
			got := a.only(t)
			rest := got.Text
			for i, want := range row.want {
				before, after, found := strings.Cut(rest, want)
				if !found || i == 0 && before != "" {
					t.Fatalf("the text is %.300q, want %q in it, the first one at the beginning", got.Text, row.want)
				}
				rest = after
			}
			if !got.Truncated || !strings.Contains(got.Text, got.Reason) || tokens.Estimate(got.Text) > subtask.DefaultMaxReplyTokens {
				t.Errorf("truncated %v, reason %q, %d tokens", got.Truncated, got.Reason, tokens.Estimate(got.Text))
			}
		})
	}
}

// A reply without a finish reason is complete, unless it was streamed: some providers set none.
func TestACompleteReplyIsNotTruncated(t *testing.T) {
	t.Parallel()
	p, a := delegating(t, session.InMemoryService(), says(small, replies("all of it", "")), subtask.Spec{Message: "?"}, nil)
	p.say("go")
	if got := a.only(t); got.Truncated || got.Text != "all of it" {
		t.Errorf("the result is %+v", got)
	}
}

// explosive is a tool without a function tool around it, and panics.
type explosive struct{ tool.Tool }

func (explosive) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: "explode"}
}
func (explosive) Name() string { return "explode" }
func (e explosive) ProcessRequest(_ agent.ToolContext, req *model.LLMRequest) error {
	if req.Tools == nil {
		req.Tools = map[string]any{}
	}
	req.Tools["explode"] = e
	req.Config.Tools = append(req.Config.Tools, &genai.Tool{FunctionDeclarations: []*genai.FunctionDeclaration{e.Declaration()}})
	return nil
}
func (explosive) Run(agent.ToolContext, any) (map[string]any, error) { panic("boom") }

func TestAPanicEndsNothingButTheStep(t *testing.T) {
	t.Parallel()
	paniced := "panic: "
	if adk.Major == 2 {
		paniced = `node "subtask" panicked: `
	}
	plain := function(t, "plain", func(agent.ToolContext, question) (map[string]any, error) { return nil, nil })
	for name, row := range map[string]struct {
		child *llm
		want  string
	}{
		"model": {newLLM(small, func(int, *model.LLMRequest) *model.LLMResponse { panic("boom") }), "[Truncated: it failed: " + paniced + "boom"},
		"tool":  {says(small, call("explode", map[string]any{}), say("I go on without it")), "I go on without it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, a := delegating(t, session.InMemoryService(), row.child, subtask.Spec{Message: "?", Tools: []tool.Tool{explosive{plain}}}, nil)
			p.say("go")
			if got := a.only(t); !strings.HasPrefix(got.Text, row.want) {
				t.Errorf("the text is %q, want %q", got.Text, row.want)
			}
			if name == "tool" && !strings.Contains(row.child.seen()[1], `panic in tool \"explode\": boom`) {
				t.Errorf("the subtask was not told: %s", row.child.seen()[1])
			}
		})
	}
}

// A tool that ignores its context holds up neither the subtask's time limit nor its parent's cancellation, and
// no model call follows once it returns.
func TestAToolThatIgnoresItsContextHoldsNothingUp(t *testing.T) {
	for _, row := range []struct {
		name   string
		cancel bool
		hangs  time.Duration
		want   string
	}{
		{name: "time limit", hangs: time.Hour, want: "[Truncated: the subtask has reached its limit of 1m0s.]"},
		{name: "canceled", cancel: true, hangs: 20 * time.Second, want: "[Truncated: the parent was canceled.]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				returned := make(chan struct{})
				hang := function(t, "hang", func(agent.ToolContext, question) (map[string]any, error) {
					time.Sleep(row.hangs)
					close(returned)
					return map[string]any{"late": true}, nil
				})
				child := says(small, call("hang", map[string]any{"ask": "x"}), say("too late"))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				p, a := delegating(t, session.InMemoryService(), child, subtask.Spec{Message: "?", Tools: []tool.Tool{hang}}, nil)
				if row.cancel {
					time.AfterFunc(10*time.Second, cancel)
				}
				began := time.Now()
				_, _ = p.send(ctx, genai.NewContentFromText("go", genai.RoleUser))
				if took := time.Since(began); took > 61*time.Second || row.cancel && took > 11*time.Second {
					t.Errorf("it took %v", took)
				}
				got := a.results[0]
				if !strings.HasPrefix(got.Text, row.want) || !got.Truncated {
					t.Errorf("the text is %q, want %q", got.Text, row.want)
				}
				if canceled := errors.Is(a.errs[0], context.Canceled); canceled != row.cancel {
					t.Errorf("the error is %v", a.errs[0])
				}
				if stop := got.Stopped; !row.cancel && (stop == nil || stop.Kind != guard.WallTime) {
					t.Errorf("stopped by %v, want the time", stop)
				}
				<-returned
				synctest.Wait()
				if n := len(child.seen()); n != 1 {
					t.Errorf("%d model calls, want none after the end", n)
				}
			})
		})
	}
}

// The sessions of parallel subtasks never meet, and no more run at a time than are allowed.
func TestParallelSubtasksDoNotCollide(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			running, most := 0, 0
			child := newLLM(small, func(_ int, req *model.LLMRequest) *model.LLMResponse {
				return say("echo " + req.Contents[0].Parts[0].Text)
			})
			slow := slowed{child, func() {
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				time.Sleep(2 * time.Millisecond)
				mu.Lock()
				running--
				mu.Unlock()
			}}
			p, a := delegating(t, store.Open(t), slow, subtask.Spec{Name: "echo"}, func(cfg *subtask.Config) { cfg.Parallel = 2 })
			const n = 8
			args := make([]map[string]any, n)
			for i := range args {
				args[i] = map[string]any{"ask": fmt.Sprintf("question %d", i)}
			}
			p.llm = once("delegate", args...)
			p.say("go")
			if len(p.children()) != n {
				t.Errorf("the sessions are %q, want %d", p.children(), n)
			}
			seen := map[string]bool{}
			for i, got := range a.results {
				if a.errs[i] != nil || !strings.HasPrefix(got.Text, "echo question ") {
					t.Errorf("result %+v, %v", got, a.errs[i])
				}
				seen[got.Text] = true
			}
			if len(seen) != n || most > 2 {
				t.Errorf("%d different answers, want %d; %d at a time, want at most 2", len(seen), n, most)
			}
			for _, req := range child.seen() {
				if strings.Count(req, "question ") != 1 {
					t.Errorf("a request has the question of another subtask: %s", req)
				}
			}
		})
	}
}

// slowed does something before each call.
type slowed struct {
	model.LLM
	before func()
}

func (s slowed) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	s.before()
	return s.LLM.GenerateContent(ctx, req, stream)
}

// While all slots are taken, cancellation ends the wait.
func TestAWaitingSubtaskCanBeCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kinds []subtask.Kind
		slow := slowed{says(small, say("slept")), func() { time.Sleep(30 * time.Second) }}
		p, a := delegating(t, session.InMemoryService(), slow, subtask.Spec{}, func(cfg *subtask.Config) {
			cfg.Parallel, cfg.Observer = 1, observe(&kinds)
		})
		p.llm = once("delegate", map[string]any{"ask": "one"}, map[string]any{"ask": "two"})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, _ = p.send(ctx, genai.NewContentFromText("go", genai.RoleUser))
		time.Sleep(time.Minute)
		must(t, a.r.Flush(t.Context()))
		if len(a.errs) != 2 || len(p.children()) != 1 || text(kinds) != "[started refused ended]" {
			t.Errorf("errors %v, sessions %q, observed %v", a.errs, p.children(), kinds)
		}
	})
}

// A subtask gets no tool that starts subtasks, and one that slips through is refused when it runs.
func TestASubtaskThatAsksForASubtaskIsRefused(t *testing.T) {
	t.Parallel()
	svc := session.InMemoryService()
	deep := &asker{spec: subtask.Spec{Message: "deeper"}}
	child := newLLM(small, func(n int, req *model.LLMRequest) *model.LLMResponse {
		if len(req.Contents) == 1 {
			return call("delegate", map[string]any{"ask": "deeper"})
		}
		return say("I did it myself")
	})
	p, a := delegating(t, svc, child, subtask.Spec{Message: "deep", Tools: []tool.Tool{deep.tool(t)}}, nil)
	deep.r = a.r
	p.say("go")
	if got := a.only(t); got.Text != "I did it myself" || len(p.children()) != 1 || len(child.seen()) != 2 {
		t.Errorf("the result is %+v, in %d model calls", got, len(child.seen()))
	}
	if !errors.Is(deep.errs[0], subtask.ErrDepth) || !strings.Contains(child.seen()[1], "do the work with the tools that are here") {
		t.Errorf("refused with %v", deep.errs[0])
	}

	wrapped, err := a.r.Wrappers(readFile(t, nil))
	must(t, err)
	q, b := delegating(t, svc, child, subtask.Spec{Message: "deep", Tools: wrapped}, nil)
	q.say("go")
	var refused *compaction.ConfigError
	if !errors.As(b.errs[0], &refused) || refused.Field != "Spec.Tools" {
		t.Errorf("refused with %v", b.errs[0])
	}
}

// With a depth of 2, a subtask of a subtask runs, and needs no free slot.
func TestDepthAllowsSubtasksInsideOfSubtasks(t *testing.T) {
	t.Parallel()
	deep := &asker{spec: subtask.Spec{Message: "deeper"}}
	child := newLLM(small, func(_ int, req *model.LLMRequest) *model.LLMResponse {
		if req.Contents[0].Parts[0].Text == "deeper" {
			return say("bottom")
		}
		if len(req.Contents) == 1 {
			return call("delegate", map[string]any{"ask": "deeper"})
		}
		return say("top")
	})
	p, a := delegating(t, session.InMemoryService(), child, subtask.Spec{Message: "deep", Tools: []tool.Tool{deep.tool(t)}}, func(cfg *subtask.Config) {
		cfg.Depth, cfg.Parallel = 2, 1
	})
	deep.r = a.r
	p.say("go")
	if a.only(t).Text != "top" || deep.only(t).Text != "bottom" || strings.Count(deep.only(t).SessionID, ":sub:") != 2 {
		t.Errorf("results %+v and %+v", a.results, deep.results)
	}
}

// picky is a store that chooses the IDs of sessions by itself.
type picky struct{ session.Service }

func (p picky) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	if strings.Contains(req.SessionID, ":") {
		return nil, errors.New("user-provided session IDs are not supported")
	}
	return p.Service.Create(ctx, req)
}

func TestAStoreMayChooseTheID(t *testing.T) {
	t.Parallel()
	svc := picky{session.InMemoryService()}
	p, a := delegating(t, svc, says(small, say("fine")), subtask.Spec{Message: "?"}, nil)
	p.say("go")
	got := a.only(t)
	if link, ok := subtask.LinkOf(p.get(got.SessionID)); !ok || link.Parent != "main" || strings.Contains(got.SessionID, "sub") {
		t.Errorf("the session %s has the link %+v", got.SessionID, link)
	}
	down := &asker{r: newRunner(t, broken{svc}, says(small, say("fine")), nil), spec: subtask.Spec{Message: "?"}}
	p.tools = []tool.Tool{down.tool(t)}
	p.say("go")
	if down.errs[0] == nil || !strings.Contains(down.errs[0].Error(), "disk full") {
		t.Errorf("a session that cannot be created: %v", down.errs[0])
	}
}

// broken creates no sessions.
type broken struct{ session.Service }

func (broken) Create(context.Context, *session.CreateRequest) (*session.CreateResponse, error) {
	return nil, errors.New("disk full")
}

// Two subtasks of one call have sessions of their own.
func TestACallMayRunSeveralSubtasks(t *testing.T) {
	t.Parallel()
	svc := session.InMemoryService()
	r := newRunner(t, svc, says(small, say("fine")), nil)
	var ids []string
	both := function(t, "both", func(ctx agent.ToolContext, _ question) (map[string]any, error) {
		for range 2 {
			result, err := r.RunSubtask(ctx, subtask.Spec{Message: "?"})
			must(t, err)
			ids = append(ids, result.SessionID)
		}
		return nil, nil
	})
	p := &parent{t: t, svc: svc, tools: []tool.Tool{both}, llm: once("both", map[string]any{"ask": ""})}
	p.say("go")
	if len(ids) != 2 || ids[1] != ids[0]+":2" {
		t.Errorf("the sessions are %q", ids)
	}
}

// stalling streams half of a reply, and then hangs until its context ends.
type stalling struct{}

func (stalling) Name() string { return small }

func (stalling) GenerateContent(ctx context.Context, _ *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		half := say("the first half")
		half.Partial = true
		if yield(half, nil) {
			<-ctx.Done()
			yield(nil, ctx.Err())
		}
	}
}
