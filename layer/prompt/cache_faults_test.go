package prompt_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/layer/prompt"
)

// Each turn must end as if there were no cache, and the client must not be asked again and again.
func TestACreationThatFailsCostsNoTurn(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(context.Context, string) error{
		"429":     func(context.Context, string) error { return genai.APIError{Code: 429, Status: "RESOURCE_EXHAUSTED"} },
		"500":     func(context.Context, string) error { return genai.APIError{Code: 500} },
		"network": func(context.Context, string) error { return errBroken },
		"panics":  func(context.Context, string) error { panic("client") },
		"ends its goroutine": func(context.Context, string) error {
			runtime.Goexit()
			return nil
		},
		"answers when its context ends": func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.failing(fail)
				for range 5 {
					r.ask(asking("A"))
				}
				time.Sleep(time.Minute)
				r.ask(asking("A"))
				if s := r.cache.Stats(); s.Failed != 1 || r.count("create") != 1 {
					t.Errorf("%+v after %q", s, r.calls)
				}
				if kinds := r.kinds(); !slices.Equal(kinds, []prompt.CacheKind{prompt.CacheFailed}) {
					t.Errorf("reported %q", kinds)
				}
				r.failing(nil)
				time.Sleep(10 * time.Minute)
				r.warm("A") // the first of these two requests creates it: the key was seen often enough
				r.ask(asking("A"))
				if s := r.cache.Stats(); s.Created != 1 || s.Used != 2 {
					t.Errorf("it is not tried again: %+v", s)
				}
			})
		})
	}
}

func TestAClientThatNeverReturnsCostsNoTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		never := make(chan struct{})
		r.failing(func(context.Context, string) error { <-never; return nil })
		for i := range 20 { // more keys than calls that may run
			r.ask(asking(fmt.Sprint(i)))
			r.ask(asking(fmt.Sprint(i)))
		}
		time.Sleep(time.Minute)
		if s := r.cache.Stats(); s.Failed != 8 || r.count("create") != 8 || s.Requests != 40 {
			t.Errorf("%+v", s)
		}
		before := time.Now()
		err := r.cache.Close(t.Context())
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(before) != 10*time.Second {
			t.Errorf("Close: %v after %v", err, time.Since(before))
		}
		close(never) // what comes now is deleted
		synctest.Wait()
		if left := r.names(); len(left) > 0 || r.count("delete") != 8 {
			t.Errorf("%q are left, %d deleted", left, r.count("delete"))
		}
	})
}

func TestACacheThatIsTooSmallIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(cfg *prompt.CacheConfig) { cfg.MinTokens = 1_000 })
		r.failing(func(_ context.Context, call string) error {
			if strings.HasPrefix(call, "create") {
				return tooSmall // 896 of 4,096: ours is estimated at about 1,400
			}
			return nil
		})
		small := func(words_ int) *model.LLMRequest {
			req := asking("A")
			req.Config.SystemInstruction.Parts[0].Text = words(words_)
			return req
		}
		for range 3 {
			for _, n := range []int{500, 1_400, 1_400, 1_500, 3_000} {
				r.ask(small(n))
			}
		}
		// 500 is below our minimum; the provider refuses 1,400 and so teaches about 6,400.
		if s := r.cache.Stats(); r.count("create") != 1 || s.Refused != 1 || s.Small != 3 || s.Failed != 0 {
			t.Errorf("%+v after %q", s, r.calls)
		}
		r.failing(nil)
		r.ask(small(7_000))
		r.ask(small(7_000))
		if s := r.cache.Stats(); s.Created != 1 {
			t.Errorf("%+v: the learned minimum is too large", s)
		}
	})
}

// refusals are what the services say about a cache that they do not accept.
var refusals = map[string]error{
	"403":        notFound,
	"404":        genai.APIError{Code: 404, Status: "NOT_FOUND", Message: "Not found: cached content metadata for 123."},
	"400":        genai.APIError{Code: 400, Status: "INVALID_ARGUMENT", Message: "Cache content 123 is expired."},
	"both":       both,
	"by name":    genai.APIError{Code: 404, Message: "cachedContents/1 does not exist"},
	"wrapped":    fmt.Errorf("failed to call model: %w", notFound),
	"by pointer": &notFound,
}

func TestARefusedCacheIsTriedWithoutOnceAndBanned(t *testing.T) {
	t.Parallel()
	for name, refusal := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.warm("A")
				r.answer = func(_ int, req *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
					if req.Config.CachedContent != "" {
						yield(nil, refusal)
						return
					}
					r.reply(req, yield)
				}
				for range 3 {
					r.ask(asking("A"))
				}
				if want := []string{"", "", "cachedContents/1", "", "", ""}; !slices.Equal(r.with(), want) {
					t.Errorf("%q, want %q", r.with(), want)
				}
				if s := r.cache.Stats(); s.Banned != 1 || s.Used != 0 || s.Live != 0 || s.Deleted != 1 {
					t.Errorf("%+v", s)
				}
				r.answer = nil
				time.Sleep(10 * time.Minute)
				r.ask(asking("A"))
				r.ask(asking("A"))
				r.ask(asking("A"))
				if last := r.with()[len(r.with())-1]; last != "cachedContents/2" {
					t.Errorf("after the ban, %q is used", last)
				}
			})
		})
	}
}

// askAndWait creates the cache of an instruction, and begins a request that uses it. The model answers when the
// result is called, which returns behind the last response.
func (r *rig) askAndWait(instruction string) (answerIt func()) {
	r.t.Helper()
	r.warm(instruction)
	hold, done := make(chan struct{}), make(chan struct{})
	r.answer = func(n int, req *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		if n == 2 { // the first one behind the two of warm
			<-hold
		}
		r.reply(req, yield)
	}
	go func() {
		defer close(done)
		if err := r.try(asking(instruction)); err != nil {
			r.t.Error(err)
		}
	}()
	synctest.Wait()
	return func() {
		close(hold)
		<-done
	}
}

// A request that began long ago fails with a cache that is replaced by now.
func TestALateRefusalLeavesTheNewCacheInUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		answerIt := r.askAndWait("A")
		r.revoke()
		r.ask(asking("A")) // banned
		time.Sleep(11 * time.Minute)
		r.warm("A")
		answerIt()
		r.ask(asking("A"))
		if last := r.with()[len(r.with())-1]; last != "cachedContents/2" {
			t.Errorf("%q is used", last)
		}
		if s := r.cache.Stats(); s.Banned != 2 || s.Created != 2 || s.Live != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestARevokedCacheIsNoProblem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.warm("A")
		r.revoke()
		r.ask(asking("A"))
		if s := r.cache.Stats(); s.Banned != 1 || s.Failed != 0 || s.Deleted != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// Overflows must reach the budget, quotas the app, and nothing is sent twice.
func TestOtherErrorsPassUnchanged(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]error{
		"overflow":              genai.APIError{Code: 400, Message: "The input token count (1048600) exceeds the maximum number of tokens allowed (1048576)."},
		"overflow with a cache": genai.APIError{Code: 400, Message: "The input token count, including cached content, exceeds the maximum number of tokens allowed (1048576)."},
		"permission":            genai.APIError{Code: 403, Message: "API key not valid."},
		"quota":                 genai.APIError{Code: 429, Message: "Quota exceeded for cached content."},
		"server":                genai.APIError{Code: 503, Message: "The model is overloaded."},
		"model":                 genai.APIError{Code: 404, Message: "models/x is not found."},
		"other":                 errBroken,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.warm("A")
				r.answer = func(_ int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) { yield(nil, want) }
				if err := r.try(asking("A")); fmt.Sprintf("%#v", err) != fmt.Sprintf("%#v", want) {
					t.Errorf("%v, want %v", err, want)
				}
				if s := r.cache.Stats(); len(r.sent) != 3 || s.Banned != 0 || s.Live != 1 || s.Used != 0 {
					t.Errorf("%d requests, %+v", len(r.sent), s)
				}
			})
		})
	}
}

// The error of the request without the cache is the one that counts.
func TestTheSecondErrorPasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.warm("A")
		r.answer = func(_ int, req *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
			if req.Config.CachedContent != "" {
				yield(nil, notFound)
				return
			}
			yield(nil, errBroken)
		}
		if err := r.try(asking("A")); !errors.Is(err, errBroken) || len(r.sent) != 4 {
			t.Errorf("%v after %d requests", err, len(r.sent))
		}
	})
}

// After the first chunk, the app has shown the answer: it must not begin again.
func TestNothingIsSentTwiceAfterTheFirstChunk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.warm("A")
		r.answer = func(_ int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
			if yield(&model.LLMResponse{Partial: true}, nil) {
				yield(nil, notFound)
			}
		}
		if err := r.try(asking("A")); !errors.Is(err, notFound) && err == nil || len(r.sent) != 3 {
			t.Errorf("%v after %d requests", err, len(r.sent))
		}
		if s := r.cache.Stats(); s.Banned != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// An app that stops reading a stream must not leave the cache in use for ever.
func TestAReaderThatStopsReleasesTheCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.warm("A")
		r.answer = func(_ int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
			for yield(&model.LLMResponse{Partial: true}, nil) {
			}
		}
		for range r.llm.GenerateContent(t.Context(), asking("A"), true) {
			break
		}
		func() {
			defer func() { _ = recover() }()
			for range r.llm.GenerateContent(t.Context(), asking("A"), true) {
				panic("the app")
			}
		}()
		r.answer = nil
		for i := range 300 { // push the key out
			r.ask(asking(fmt.Sprint(i)))
		}
		if left := r.names(); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
	})
}

// A cache that is replaced while a request uses it must not be deleted under it.
func TestACacheInUseIsNotDeleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		answerIt := r.askAndWait("A")
		for i := range 300 {
			r.ask(asking(fmt.Sprint(i)))
		}
		if len(r.names()) != 1 {
			t.Errorf("%q while a request uses cachedContents/1", r.names())
		}
		answerIt()
		synctest.Wait()
		if s := r.cache.Stats(); len(r.names()) != 0 || s.Deleted != 1 || s.Used != 1 {
			t.Errorf("%q are left, %+v", r.names(), s)
		}
	})
}

// Its request then goes on without.
func TestCloseDeletesACacheInUseToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		answerIt := r.askAndWait("A")
		for i := range 300 { // the key is forgotten, and its cache waits for the request
			r.ask(asking(fmt.Sprint(i)))
		}
		if err := r.cache.Close(t.Context()); err != nil || len(r.names()) != 0 {
			t.Errorf("%q are left, %v", r.names(), err)
		}
		answerIt()
		before := r.cache.Stats()
		time.Sleep(time.Hour)
		if after := r.cache.Stats(); after != before || after.Deleted != 1 || after.Banned != 1 {
			t.Errorf("%+v, and an hour later %+v", before, after)
		}
	})
}

func TestProlongingThatFailsLeavesTheCacheInUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.warm("A")
		r.failing(func(_ context.Context, call string) error {
			if strings.HasPrefix(call, "update") {
				return errBroken
			}
			return nil
		})
		for range 9 {
			time.Sleep(time.Minute)
			r.ask(asking("A"))
		}
		// Tried at half of what is left, and not with every request: at 5:00, 7:30 (8:00) and 9:00.
		if s := r.cache.Stats(); s.Used != 9 || s.Failed != 3 || s.Banned != 0 {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Minute)
		r.ask(asking("A")) // it has expired, and is created again at once
		r.ask(asking("A"))
		if s := r.cache.Stats(); s.Created != 2 || s.Used != 10 || s.Expired != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestCloseReportsWhatItCannotDelete(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		fail    func(context.Context, string) error
		problem string
	}{
		"fails":  {func(context.Context, string) error { return errBroken }, "broken"},
		"panics": {func(context.Context, string) error { panic("client") }, "panic: client"},
		"gone":   {func(context.Context, string) error { return notFound }, ""},
		"denied": {func(context.Context, string) error { return denied }, "denied on resource"},
		"hangs":  {func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }, "deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newRig(t, nil)
				b.warm("A")
				b.failing(r.fail)
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				err := b.cache.Close(ctx)
				if (err != nil) != (r.problem != "") || err != nil && (!strings.Contains(err.Error(), r.problem) || !strings.Contains(err.Error(), "cachedContents/1")) {
					t.Errorf("%v", err)
				}
				if err := b.cache.Close(ctx); err != nil {
					t.Errorf("the second Close: %v", err)
				}
			})
		})
	}
}

// An observer that hangs or panics harms nothing, and neither does a schema without a JSON form.
func TestWhatTheAppBreaksCostsNoTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		defer close(hold)
		r := newRig(t, func(cfg *prompt.CacheConfig) {
			cfg.Observer = prompt.CacheObserverFunc(func(context.Context, prompt.CacheObservation) {
				<-hold
				panic("observer")
			})
		})
		r.warm("A")
		r.ask(asking("A"))
		for _, schema := range []any{make(chan int), badSchema{}, &badSchema{panics: true}} {
			for range 3 {
				req := asking("A")
				req.Config.Tools[0].FunctionDeclarations[0].ParametersJsonSchema = schema
				r.ask(req)
			}
		}
		for _, req := range []*model.LLMRequest{
			{Config: &genai.GenerateContentConfig{}},
			{Config: &genai.GenerateContentConfig{Tools: []*genai.Tool{nil, {FunctionDeclarations: []*genai.FunctionDeclaration{nil}}}}},
			{Config: &genai.GenerateContentConfig{SystemInstruction: &genai.Content{Parts: []*genai.Part{nil}}}},
		} {
			for range 3 {
				r.ask(req)
			}
		}
		if s := r.cache.Stats(); s.Created != 1 || s.Used != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// badSchema has no JSON form.
type badSchema struct{ panics bool }

func (b badSchema) MarshalJSON() ([]byte, error) {
	if b.panics {
		panic("schema")
	}
	return nil, errBroken
}
