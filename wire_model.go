package longsession

import (
	"context"
	"errors"

	"google.golang.org/adk/model"
)

// wrap puts every layer that is on around a model, from the one next to the provider to the outermost. The
// package comment says why in this order. Each layer recognizes itself, so wrapping twice changes nothing.
func (s *Stack) wrap(llm model.LLM) model.LLM {
	if s.cache != nil {
		llm = s.cache.Model(llm)
	}
	if s.Guard != nil {
		llm = s.Guard.Model(llm)
	}
	if s.search != nil {
		llm = s.search.Translate(llm)
	}
	if s.meter != nil {
		llm = s.meter.Model(llm)
	}
	if s.search != nil {
		llm = s.search.Select(llm)
	}
	if s.prompt != nil {
		llm = s.prompt.Model(llm)
	}
	return llm
}

// closeLayers ends the layers around models. It works on a stack that is only half made, too.
func (s *Stack) closeLayers(ctx context.Context) error {
	var problems []error
	if s.cache != nil {
		problems = append(problems, s.cache.Close(ctx))
	}
	if s.Guard != nil {
		problems = append(problems, s.Guard.Flush(ctx))
	}
	if s.meter != nil {
		problems = append(problems, s.meter.Flush(ctx))
	}
	if s.search != nil {
		problems = append(problems, s.search.Flush(ctx))
	}
	if s.prompt != nil {
		problems = append(problems, s.prompt.Flush(ctx))
	}
	if s.Recall != nil {
		problems = append(problems, s.Recall.Flush(ctx))
	}
	if s.cutter != nil {
		problems = append(problems, s.cutter.Flush(ctx))
	}
	return errors.Join(problems...)
}
