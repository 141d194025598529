package guard_test

import (
	"context"
	"iter"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// teller is a model whose answers are the responses of a script.
type teller struct{ script []*model.LLMResponse }

func (teller) Name() string { return testModel }

func (t teller) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for _, resp := range t.script {
			out := *resp
			if !yield(&out, nil) {
				return
			}
		}
	}
}

// TestTheLargestReportOfACallIsCharged has models that report usage in different parts of an answer.
func TestTheLargestReportOfACallIsCharged(t *testing.T) {
	t.Parallel()
	report := func(prompt, cached, output int32) *genai.GenerateContentResponseUsageMetadata {
		return &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: prompt, CachedContentTokenCount: cached, CandidatesTokenCount: output}
	}
	chunk := func(u *genai.GenerateContentResponseUsageMetadata) *model.LLMResponse {
		return &model.LLMResponse{Content: said("part"), Partial: true, UsageMetadata: u}
	}
	whole := func(u *genai.GenerateContentResponseUsageMetadata) *model.LLMResponse {
		return &model.LLMResponse{Content: said("answer"), UsageMetadata: u}
	}
	usageOnly := func(partial bool) *model.LLMResponse {
		return &model.LLMResponse{Partial: partial, UsageMetadata: report(10_000, 0, 500)}
	}
	full := tokens.Usage{PromptTokens: 10_000, OutputTokens: 500}
	for name, row := range map[string]struct {
		script []*model.LLMResponse
		want   tokens.Usage
	}{
		"in chunks only":               {[]*model.LLMResponse{chunk(report(10_000, 0, 20)), chunk(report(10_000, 0, 500)), whole(nil)}, full},
		"in the first chunk only":      {[]*model.LLMResponse{chunk(report(10_000, 0, 500)), chunk(nil), whole(nil)}, full},
		"less in the last chunk":       {[]*model.LLMResponse{chunk(report(10_000, 0, 500)), chunk(report(0, 0, 30)), whole(nil)}, full},
		"in chunks without a whole":    {[]*model.LLMResponse{chunk(report(10_000, 0, 500)), chunk(nil)}, full},
		"less in the whole":            {[]*model.LLMResponse{chunk(report(10_000, 0, 500)), whole(report(0, 0, 500))}, full},
		"in the whole only":            {[]*model.LLMResponse{chunk(nil), whole(report(10_000, 0, 500))}, full},
		"cached in the whole":          {[]*model.LLMResponse{chunk(report(10_000, 0, 500)), whole(report(10_000, 8_000, 500))}, tokens.Usage{PromptTokens: 10_000, CachedTokens: 8_000, OutputTokens: 500}},
		"behind the whole":             {[]*model.LLMResponse{chunk(nil), whole(nil), usageOnly(true)}, full},
		"in a whole behind the whole":  {[]*model.LLMResponse{whole(nil), usageOnly(false)}, full},
		"more behind the whole":        {[]*model.LLMResponse{whole(report(9_000, 8_000, 100)), usageOnly(true)}, full},
		"a second and smaller whole":   {[]*model.LLMResponse{whole(report(10_000, 0, 500)), whole(report(9_000, 0, 400))}, full},
		"a second and cheaper whole":   {[]*model.LLMResponse{whole(report(10_000, 0, 500)), whole(report(10_000, 9_000, 500))}, tokens.Usage{PromptTokens: 10_000, CachedTokens: 9_000, OutputTokens: 500}},
		"smaller than it is estimated": {[]*model.LLMResponse{whole(nil), {UsageMetadata: report(1, 0, 1)}}, tokens.Usage{PromptTokens: 1, OutputTokens: 1}},
	} {
		for _, wrapped := range []bool{true, false} {
			for mode, streams := range modes {
				t.Run(name+", "+mode, func(t *testing.T) {
					t.Parallel()
					d := newDesk(t, guard.Config{}, newWorker(), func(d *desk, c *llmagent.Config) {
						c.Model, c.Tools = teller{row.script}, nil
						if wrapped {
							c.Model = d.guard.Model(c.Model)
						}
					})
					for range 2 {
						// ADK v2 ends a turn without a whole answer with an error, which is no reason not to charge it.
						if _, errs := d.say("hi", streams, 0); len(errs) > 0 && (adk.Major == 1 || name != "in chunks without a whole") {
							t.Fatal(errs)
						}
					}
					m, _ := registry(t).Lookup(testModel)
					u, twice := d.used(), row.want.Add(row.want)
					if u.Tokens != twice || u.USD != 2*m.Nanos(row.want) || u.ModelCalls != 2 || len(u.Models) != 1 || u.Models[0].USD != u.USD {
						t.Errorf("wrapped %v: %+v for %v, want %+v for %v", wrapped, u.Tokens, u.USD, twice, 2*m.Nanos(row.want))
					}
					if n := d.observed(guard.Unmetered); n != 0 {
						t.Errorf("the observer is told that the model reports no usage: %v", d.seen)
					}
					var told tokens.Usage
					var usd tokens.Nano
					for _, o := range d.seen {
						told, usd = told.Add(o.Tokens), usd+o.USD
					}
					if told != u.Tokens || usd != u.USD {
						t.Errorf("the observer was told of %+v for %v", told, usd)
					}
				})
			}
		}
	}
}
