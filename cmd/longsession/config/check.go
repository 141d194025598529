package config

import (
	"context"
	"errors"
	"iter"
	"log/slog"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
)

// Check reports whether a stack can be made of the settings. It makes one in memory, and calls no model.
func (s *Settings) Check() error {
	cfg, err := s.Config(unused(s.Model.Value))
	if err != nil {
		return err
	}
	cfg.Compaction.Logger, cfg.Budget.Logger = slog.New(slog.DiscardHandler), slog.New(slog.DiscardHandler)
	stack, err := longsession.New(session.InMemoryService(), cfg)
	if err != nil {
		return err
	}
	return stack.Close(context.Background())
}

// unused is a model that is never called.
type unused string

// Name returns the name.
func (u unused) Name() string { return string(u) }

// GenerateContent fails.
func (u unused) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(nil, errors.New("config: this model only has a name"))
	}
}

// Problems returns each problem that an error of this package joins, so that each can have a line of its own.
func Problems(err error) []error {
	if err == nil {
		return nil
	}
	if joined, is := err.(interface{ Unwrap() []error }); is {
		var all []error
		for _, one := range joined.Unwrap() {
			all = append(all, Problems(one)...)
		}
		return all
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		if _, is := inner.(interface{ Unwrap() []error }); is {
			return Problems(inner)
		}
	}
	return []error{err}
}
