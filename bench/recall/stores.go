package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
	"github.com/adk-go-ext/longsession/persistence"
)

// hitsAsked is how many hits each search asks for.
const hitsAsked = 10

// inMemory opens the index of any service.
func inMemory(_ context.Context, h *history) (finder, func() error, error) {
	return memoryFinder(wordsearch.NewMemory(0), h.name, h.stored()), nothing, nil
}

func memoryFinder(memory *wordsearch.Memory, id string, events []*session.Event) finder {
	key := adk.SessionRef{AppName: appName, UserID: userName, SessionID: id}
	return func(ctx context.Context, query string) ([]int, error) {
		hits, err := memory.Search(ctx, key, events, index.Query{Text: query, Limit: hitsAsked})
		return messagesOf(hits), err
	}
}

// stored are the events of a history.
func (h *history) stored() []*session.Event {
	var events []*session.Event
	for _, ev := range h.events() {
		events = append(events, ev)
	}
	return events
}

// inFile opens the index of a session file.
func inFile(ctx context.Context, h *history) (find finder, end func() error, err error) {
	folder, err := os.MkdirTemp("", "recall-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() error { return os.RemoveAll(folder) }
	file, err := persistence.NewSQLiteSessionService(filepath.Join(folder, "sessions.db"), persistence.WithSynchronousNormal())
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	end = func() error { return errors.Join(file.Close(), remove()) }
	if err := appendAll(ctx, file, h.name, h.stored()); err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return fileFinder(file, h.name), end, nil
}

func fileFinder(file index.Index, id string) finder {
	return func(ctx context.Context, query string) ([]int, error) {
		hits, err := file.SearchText(ctx, requestOf(id), index.Query{Text: query, Limit: hitsAsked})
		return messagesOf(hits), err
	}
}

// appendAll creates a session of these events.
func appendAll(ctx context.Context, svc session.Service, id string, events []*session.Event) error {
	created, err := svc.Create(ctx, &session.CreateRequest{AppName: appName, UserID: userName, SessionID: id})
	if err != nil {
		return err
	}
	for _, ev := range events {
		if err := svc.AppendEvent(ctx, created.Session, ev); err != nil {
			return err
		}
	}
	return nil
}

func messagesOf(hits []index.Hit) []int {
	var found []int
	for _, hit := range hits {
		found = append(found, messageOf(hit.Event.ID))
	}
	return found
}
