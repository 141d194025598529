package replay_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// weather is a summary that is true of chat, of what a model reports to have used.
func weather(usage *genai.GenerateContentResponseUsageMetadata) *model.LLMResponse {
	resp := compactiontest.Say("Language: English\nThe user asks for the weather in one town after the other. The tool weather said each time: sunny, then cloudy. The assistant answered: Sunny at first.")
	resp.UsageMetadata = usage
	return resp
}

var used = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 1000, CandidatesTokenCount: 40}

// writtenBy is a policy whose summaries a model writes.
func writtenBy(answer func(n int) *model.LLMResponse) replay.Policy {
	p := policy(100_000)
	p.Config.Summarizer = nil
	p.Config.Model = compactiontest.NewModel("gemini-2.5-flash", func(n int, _ *model.LLMRequest) *model.LLMResponse { return answer(n) })
	return p
}

// TestAReportSaysWhatAModelWrote: how many of the summaries, in how much time, and for how much.
func TestAReportSaysWhatAModelWrote(t *testing.T) {
	t.Parallel()
	r := compare(t, chat(20), writtenBy(func(int) *model.LLMResponse {
		time.Sleep(time.Millisecond)
		return weather(used)
	}))[0]
	s, n := r.Summarizer, len(r.Compactions)
	if n < 2 || s.Written != n || s.WithoutModel != 0 || s.Failed != 0 || s.Estimated != 0 || s.Seconds < .001*float64(n) {
		t.Errorf("%+v for %d compactions", s, n)
	}
	if one := 1000*.30e-6 + 40*2.50e-6; s.Dollars < float64(s.Calls)*one*.999 || s.Dollars > float64(s.Calls)*one*1.001 || s.PromptTokens != 1000*s.Calls {
		t.Errorf("%d calls cost %v of %v each: %+v", s.Calls, s.Dollars, one, s)
	}
	var total replay.Total
	total.Add(r)
	total.Add(r)
	if sum := total.Summarizer; sum.Written != 2*n || sum.Seconds != 2*s.Seconds {
		t.Errorf("the total is %+v", sum)
	}
}

// TestASecondTryIsACallOfItsOwn: a model that is asked again for what it invented is called twice for one summary.
func TestASecondTryIsACallOfItsOwn(t *testing.T) {
	t.Parallel()
	calls := 0
	r := compare(t, chat(20), writtenBy(func(n int) *model.LLMResponse {
		calls++
		resp := weather(used)
		if n == 0 {
			resp.Content.Parts[0].Text += " Order A-9999 was refunded."
		}
		return resp
	}))[0]
	if s := r.Summarizer; calls != len(r.Compactions)+1 || s.Calls != calls || s.PromptTokens != 1000*calls || s.Written != len(r.Compactions) {
		t.Errorf("%d calls for %d compactions are reported as %+v", calls, len(r.Compactions), s)
	}
}

// TestCallsWithoutAReportAreEstimated: many servers of local models say nothing of what was used.
func TestCallsWithoutAReportAreEstimated(t *testing.T) {
	t.Parallel()
	silent := writtenBy(func(int) *model.LLMResponse { return weather(nil) })
	priced, err := tokens.NewRegistry(tokens.Model{Name: "gemini-2.5-flash", InputPrice: 1, OutputPrice: 1})
	if err != nil {
		t.Fatal(err)
	}
	silent.Config.Registry = priced
	own := policy(100_000)
	if own.Config.Summarizer, err = summarizer.NewLLM(summarizer.LLMConfig{Model: silent.Config.Model}); err != nil {
		t.Fatal(err)
	}
	own.Config.Registry = priced
	for name, r := range map[string]*replay.Report{"Model": compare(t, chat(20), silent)[0], "Summarizer": compare(t, chat(20), own)[0]} {
		s, n := r.Summarizer, len(r.Compactions)
		if s.Calls != n || s.Estimated != 0 || s.Written != n || s.PromptTokens < 100*n || s.OutputTokens < 10*n {
			t.Errorf("%s: %+v for %d compactions", name, s, n)
		}
		if want := float64(s.PromptTokens+s.OutputTokens) * 1e-6; s.Dollars < want*.999 || s.Dollars > want*1.001 {
			t.Errorf("%s: %v dollars for %d tokens", name, s.Dollars, s.PromptTokens+s.OutputTokens)
		}
	}
}

// TestAModelThatFailsIsReported: how often, why, and how many summaries came about without it.
func TestAModelThatFailsIsReported(t *testing.T) {
	t.Parallel()
	failing := writtenBy(func(int) *model.LLMResponse {
		resp := weather(used)
		resp.FinishReason = genai.FinishReasonMaxTokens
		return resp
	})
	r := compare(t, chat(20), failing)[0]
	s := r.Summarizer
	if s.Written != 0 || s.Failed < 1 || s.Calls != s.Failed || s.Dollars == 0 || s.WithoutModel != len(r.Compactions) {
		t.Errorf("%+v for %d compactions", s, len(r.Compactions))
	}
	if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "summaries that could not be written: ") || !strings.Contains(notes, "the answer ended with MAX_TOKENS instead of STOP") {
		t.Errorf("notes %q", notes)
	}

	// In a small window it cannot wait for the model to recover.
	small := writtenBy(func(int) *model.LLMResponse { return &model.LLMResponse{ErrorCode: "429"} })
	small.Config.ContextWindow, small.Config.InvocationThreshold = 4_000, -1
	r = compare(t, chat(60), small)[0]
	if s := r.Summarizer; s.Written != 0 || s.Failed < 1 || s.WithoutModel != len(r.Compactions) || s.WithoutModel < 2 || len(r.Over) > 0 {
		t.Errorf("%+v for %d compactions, %d prompts over the limit", s, len(r.Compactions), len(r.Over))
	}
}
