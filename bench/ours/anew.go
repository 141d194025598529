package main

import (
	"context"
	"errors"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/summarizer"
)

// anew reads through a new wrapper every time, like the first turn of a process, so that no cached
// view helps.
type anew struct {
	*persistence.SQLiteSessionService
}

func (a anew) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	cfg := compaction.DefaultConfig()
	cfg.Summarizer = summarizer.Extractive{}
	svc, err := compaction.NewCompactionService(a.SQLiteSessionService, cfg)
	if err != nil {
		return nil, err
	}
	resp, err := svc.Get(ctx, req)
	return resp, errors.Join(err, svc.Close(ctx))
}
