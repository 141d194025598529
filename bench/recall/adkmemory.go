package main

import (
	"context"

	"google.golang.org/adk/memory"
	"google.golang.org/adk/session"
)

// adkMemory is ADK's own memory of one history.
type adkMemory struct{ service memory.Service }

func newADKMemory(ctx context.Context, h *history) (adkMemory, error) {
	sessions := session.InMemoryService()
	if err := h.store(ctx, sessions, h.name); err != nil {
		return adkMemory{}, err
	}
	got, err := sessions.Get(ctx, requestOf(h.name))
	if err != nil {
		return adkMemory{}, err
	}
	m := adkMemory{memory.InMemoryService()}
	return m, m.service.AddSessionToMemory(ctx, got.Session)
}

// search returns the messages that were found, the best first, and what a model would read of them.
func (m adkMemory) search(ctx context.Context, query string) (found []int, read prompt, err error) {
	resp, err := m.service.SearchMemory(ctx, &memory.SearchRequest{AppName: appName, UserID: userName, Query: query})
	if err != nil {
		return nil, read, err
	}
	for _, entry := range resp.Memories {
		found = append(found, messageOf(entry.ID))
		read.add(entry.Content)
	}
	return found, read, nil
}
