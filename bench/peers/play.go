package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/runnerconfig"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/replay"
)

// play plays a conversation one way, through ADK's runner and over its in-memory service.
func play(ctx context.Context, p *planted, w way, window int, how course) (seen figures, err error) {
	ref := compaction.SessionRef{AppName: "peers", UserID: "user", SessionID: p.conversation.ID}
	s, err := begin(ctx, w, window, how, ref)
	if err != nil {
		return figures{}, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	watch := newWatch(p, s.writer, window)
	calls := 0
	for _, part := range how.stretches(p.conversation) {
		opened, err := s.process(part.process)
		if err != nil {
			return figures{}, err
		}
		start := time.Now()
		var looking time.Duration // time spent on measuring requests, which does not count for the way
		played, err := replay.App{
			Service: existing{opened.service},
			Plugins: opened.plugins,
			Model:   opened.model,
			Ref:     ref,
			Request: func(call, turn int, req *model.LLMRequest) int {
				begin := time.Now()
				defer func() { looking += time.Since(begin) }()
				return watch.request(calls+call, part.turn+turn, req)
			},
			Before: func(ctx context.Context, _, _ int) error { return opened.settle(ctx, ref) },
		}.Run(runnerconfig.With(ctx, opened.runner), part.c)
		watch.seen.took += time.Since(start) - looking
		calls += played.Calls
		if err != nil {
			return figures{}, fmt.Errorf("%s: %w", w.name, err)
		}
		if played.Extra > 0 {
			return figures{}, fmt.Errorf("%s: %s: the model was asked %d times more than the recording has answers: what was measured cannot be compared", w.name, p.conversation.ID, played.Extra)
		}
	}
	if calls != len(p.said) {
		return figures{}, fmt.Errorf("%s: %s: the model was asked %d times where the recording has %d answers: what was measured cannot be compared", w.name, p.conversation.ID, calls, len(p.said))
	}
	return s.end(ctx, watch)
}

// sitting is one session, played one way.
type sitting struct {
	way    way
	window int
	ref    compaction.SessionRef
	base   session.Service
	writer *oracle
	opened map[int]app
}

// begin creates the session, and stores what is to be adopted.
func begin(ctx context.Context, w way, window int, how course, ref compaction.SessionRef) (*sitting, error) {
	s := &sitting{w, window, ref, session.InMemoryService(), &oracle{window: window, instead: how.instead}, map[int]app{}}
	if err := adopt(ctx, s.base, ref, how.adopted); err != nil {
		return nil, fmt.Errorf("%s: %w", w.name, err)
	}
	return s, nil
}

// process returns the way as a process has it.
func (s *sitting) process(number int) (app, error) {
	opened, ok := s.opened[number]
	if !ok {
		var err error
		if opened, err = s.way.open(s.base, s.writer, s.window); err != nil {
			return app{}, fmt.Errorf("%s: %w", s.way.name, err)
		}
		s.opened[number] = opened
	}
	return opened, nil
}

// settle waits for background work.
func (a app) settle(ctx context.Context, ref compaction.SessionRef) error {
	if a.rest == nil {
		return nil
	}
	return a.rest(ctx, ref)
}

// end adds up what the watches have seen, and what is stored.
func (s *sitting) end(ctx context.Context, watches ...*watch) (seen figures, err error) {
	for _, w := range watches {
		source := store.Events(s.base)
		if w.aside != nil {
			source = w.aside
		}
		if err := w.readBack(ctx, source, s.ref); err != nil {
			return figures{}, fmt.Errorf("%s: %w", s.way.name, err)
		}
		seen = seen.add(w.seen)
	}
	for _, opened := range s.opened {
		if err := opened.settle(ctx, s.ref); err != nil {
			return figures{}, fmt.Errorf("%s: %w", s.way.name, err)
		}
	}
	writer := s.writer
	seen.calls, seen.waited, seen.tokens, seen.writerOver, seen.rough = writer.calls, writer.waited, writer.tokens, writer.over, writer.rough
	seen.writerRead, seen.writerWrote = writer.readTokens, writer.wroteTokens
	return seen, stored(ctx, s.base, s.ref, &seen)
}

func (s *sitting) close(ctx context.Context) (err error) {
	for _, opened := range s.opened {
		if opened.close != nil {
			err = errors.Join(err, opened.close(ctx))
		}
	}
	return err
}
