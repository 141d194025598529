package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/replay"
)

// play plays a conversation one way, through ADK's runner and over its in-memory service.
func play(ctx context.Context, p *planted, w way, window int) (seen figures, err error) {
	base, writer := session.InMemoryService(), &oracle{window: window}
	opened, err := w.open(base, writer, window)
	if err != nil {
		return figures{}, fmt.Errorf("%s: %w", w.name, err)
	}
	if opened.close != nil {
		defer func() { err = errors.Join(err, opened.close(ctx)) }()
	}
	ref := compaction.SessionRef{AppName: "peers", UserID: "user", SessionID: p.conversation.ID}
	watch := newWatch(p, writer, window)
	var looking time.Duration // time spent on measuring requests, which does not count for the way
	start := time.Now()
	played, err := replay.App{
		Service: opened.service,
		Plugins: opened.plugins,
		Model:   opened.model,
		Ref:     ref,
		Request: func(call, turn int, req *model.LLMRequest) int {
			begin := time.Now()
			defer func() { looking += time.Since(begin) }()
			return watch.request(call, turn, req)
		},
		Before: func(ctx context.Context, _, _ int) error {
			if opened.rest == nil {
				return nil
			}
			return opened.rest(ctx, ref)
		},
	}.Run(ctx, p.conversation)
	took := time.Since(start) - looking
	if err != nil {
		return figures{}, fmt.Errorf("%s: %w", w.name, err)
	}
	if played.Extra > 0 || played.Calls != len(p.said) {
		return figures{}, fmt.Errorf("%s: %s: the model was asked %d times where the recording has %d answers: what was measured cannot be compared", w.name, p.conversation.ID, played.Calls, len(p.said))
	}
	if err := watch.readBack(ctx, store.Events(base), ref); err != nil {
		return figures{}, fmt.Errorf("%s: %w", w.name, err)
	}
	seen = watch.seen
	seen.took = took
	if opened.rest != nil {
		if err := opened.rest(ctx, ref); err != nil {
			return figures{}, fmt.Errorf("%s: %w", w.name, err)
		}
	}
	seen.calls, seen.waited, seen.tokens, seen.writerOver, seen.rough = writer.calls, writer.waited, writer.tokens, writer.over, writer.rough
	seen.writerRead, seen.writerWrote = writer.readTokens, writer.wroteTokens
	return seen, stored(ctx, base, ref, &seen)
}
