package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/replay"
)

// play plays a conversation through ADK's runner under one way, over ADK's in-memory service.
func play(ctx context.Context, p *planted, w way, window int) (seen figures, err error) {
	base, writer := session.InMemoryService(), &oracle{}
	opened, err := w.open(base, writer, window)
	if err != nil {
		return figures{}, fmt.Errorf("%s: %w", w.name, err)
	}
	if opened.close != nil {
		defer func() { err = errors.Join(err, opened.close(ctx)) }()
	}
	ref := compaction.SessionRef{AppName: "peers", UserID: "user", SessionID: p.conversation.ID}
	watch := newWatch(p, window)
	var looking time.Duration // at requests, which is no part of the way
	start := time.Now()
	played, err := replay.Play(ctx, p.conversation, replay.App{
		Service: opened.service,
		Plugins: opened.plugins,
		Ref:     ref,
		Request: func(call, _ int, req *model.LLMRequest) int {
			begin := time.Now()
			defer func() { looking += time.Since(begin) }()
			return watch.request(call, req)
		},
		Before: func(ctx context.Context, _, _ int) error {
			if opened.rest == nil {
				return nil
			}
			return opened.rest(ctx, ref)
		},
	})
	took := time.Since(start) - looking
	if err != nil {
		return figures{}, fmt.Errorf("%s: %w", w.name, err)
	}
	if played.Extra > 0 || played.Calls != len(p.said) {
		return figures{}, fmt.Errorf("%s: %s: the model was asked %d times where the recording has %d answers: what was measured cannot be compared", w.name, p.conversation.ID, played.Calls, len(p.said))
	}
	seen = watch.seen
	seen.took = took
	if opened.rest != nil {
		if err := opened.rest(ctx, ref); err != nil {
			return figures{}, fmt.Errorf("%s: %w", w.name, err)
		}
	}
	seen.calls, seen.waited, seen.tokens = writer.calls, writer.waited, writer.tokens
	seen.keys, seen.writes, err = stateOf(ctx, base, ref)
	return seen, err
}

// stateOf counts the keys of a session's state and how often one was written.
func stateOf(ctx context.Context, base session.Service, ref compaction.SessionRef) (keys, writes int, err error) {
	got, err := base.Get(ctx, &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		return 0, 0, err
	}
	for range got.Session.State().All() {
		keys++
	}
	for ev := range got.Session.Events().All() {
		writes += len(ev.Actions.StateDelta)
	}
	return keys, writes, nil
}
