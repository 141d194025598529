package summarizer_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/summarizer"
)

// No test may leave a goroutine behind once its model has returned.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soon is generous: it separates waiting for the model from not waiting, and does not measure
// speed.
const soon = 5 * time.Second

func TestHangingModelDoesNotHoldUpTheCaller(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	returned := make(chan struct{})
	m := acting(func(context.Context, yielder) { // ignores its context
		defer close(returned)
		<-release
	})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := newLLM(t, summarizer.LLMConfig{Model: m}).Summarize(ctx, window())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if d := time.Since(start); d > soon {
		t.Errorf("returned after %v", d)
	}
	close(release)
	select { // the model's own goroutine is left; goleak checks that it ends
	case <-returned:
	case <-time.After(soon):
		t.Error("the model's goroutine did not end")
	}
}

func TestEndlessStreamEndsWithTheContext(t *testing.T) {
	t.Parallel()
	partial := says("x")
	partial.Partial = true
	stopped := make(chan struct{})
	m := acting(func(_ context.Context, yield yielder) {
		defer close(stopped)
		for yield(partial, nil) {
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := newLLM(t, summarizer.LLMConfig{Model: m}).Summarize(ctx, window()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	select {
	case <-stopped:
	case <-time.After(soon):
		t.Error("the stream is still being read")
	}
}

// A model that stops when its context ends leaves half a sentence and no error.
func TestAnswerCutByTheContextIsNotASummary(t *testing.T) {
	t.Parallel()
	half := says("The user wants to")
	half.FinishReason = ""
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m := acting(func(_ context.Context, yield yielder) {
		cancel()
		yield(half, nil)
	})
	if res, err := newLLM(t, summarizer.LLMConfig{Model: m}).Summarize(ctx, window()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v", res.Content, err)
	}
}

func TestDoneContextCostsNoCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := answering(only(says("A fine summary.")))
	if _, err := newLLM(t, summarizer.LLMConfig{Model: m}).Summarize(ctx, window()); !errors.Is(err, context.Canceled) || m.calls() != 0 {
		t.Errorf("error %v after %d calls", err, m.calls())
	}
}

// The summary exists and is paid for, so a shortening call that hangs must not lose it.
func TestHangingRetryKeepsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m := answering(only(says(longText)))
	m.answers = append(m.answers, func(context.Context, yielder) {
		cancel() // the time for the retry is over
		<-release
	})
	req := window()
	req.MaxTokens = 10
	res, err := newLLM(t, summarizer.LLMConfig{Model: m}).Summarize(ctx, req)
	if text, _ := summarizer.Prose(res.Content); err != nil || text != longText || m.calls() != 2 {
		t.Errorf("%q, %v after %d calls", text, err, m.calls())
	}
}

// A model may modify its request's config, so two calls must not share one.
func TestConcurrentCallsShareNothing(t *testing.T) {
	t.Parallel()
	cfg := &genai.GenerateContentConfig{
		Labels:      map[string]string{"team": "a"},
		HTTPOptions: &genai.HTTPOptions{Headers: map[string][]string{"X": {"1"}}, ExtraBody: map[string]any{"a": map[string]any{}}},
	}
	l := newLLM(t, summarizer.LLMConfig{Model: writer{}, GenerateConfig: cfg})
	done := make(chan error)
	for range 8 {
		go func() {
			_, err := l.Summarize(context.Background(), window())
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if len(cfg.Labels) != 1 || len(cfg.HTTPOptions.Headers) != 1 || len(cfg.HTTPOptions.ExtraBody["a"].(map[string]any)) != 0 {
		t.Errorf("the caller's config was written to: %+v", cfg)
	}
}

// writer modifies every part of its request that it can reach.
type writer struct{}

func (writer) Name() string { return "writer" }

func (writer) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	req.Config.Labels["seen"] = "yes"
	req.Config.HTTPOptions.Headers.Set("Y", "2")
	req.Config.HTTPOptions.ExtraBody["a"].(map[string]any)["b"] = 1
	req.Contents[0].Parts[0].Text = "rewritten"
	return func(yield func(*model.LLMResponse, error) bool) { yield(says("A fine summary."), nil) }
}
