package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/bench/workload"
)

// statements is the minimum cost of an append on this schema and driver: the same two statements
// with the same bytes in a transaction, prepared once, on one connection and in one goroutine. It
// has no session state, no checks and no second writer.
type statements struct {
	session.Service // nil: only the methods below work

	job                           workload.Job
	begin, insert, update, commit *sql.Stmt
	seq                           int
}

func openByHand(ctx context.Context, job workload.Job) (session.Service, func() error, error) {
	if err := withService(job, func(session.Service) error { return nil }); err != nil { // creates the schema
		return nil, nil, err
	}
	db, err := sql.Open("sqlite", job.Path+"?_pragma=foreign_keys(1)&_pragma=synchronous("+job.Mode+")")
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	s := &statements{job: job}
	for text, stmt := range map[string]**sql.Stmt{
		"BEGIN IMMEDIATE": &s.begin,
		"COMMIT":          &s.commit,
		`INSERT INTO events (session, seq, id, time, invocation_id, author, branch, content, actions, usage_metadata)
			VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)`: &s.insert,
		`UPDATE sessions SET last_seq = ?, updated_at = ? WHERE key = 1`: &s.update,
	} {
		if *stmt, err = db.PrepareContext(ctx, text); err != nil {
			return nil, nil, errors.Join(err, db.Close())
		}
	}
	return s, db.Close, nil
}

// withService calls do with the real service on the same file.
func withService(job workload.Job, do func(session.Service) error) error {
	svc, err := openFile(job)
	if err != nil {
		return err
	}
	return errors.Join(do(svc), svc.Close())
}

func (s *statements) Create(ctx context.Context, req *session.CreateRequest) (resp *session.CreateResponse, err error) {
	err = withService(s.job, func(svc session.Service) (err error) {
		resp, err = svc.Create(ctx, req)
		return err
	})
	return resp, err
}

func (s *statements) Get(ctx context.Context, req *session.GetRequest) (resp *session.GetResponse, err error) {
	err = withService(s.job, func(svc session.Service) (err error) {
		resp, err = svc.Get(ctx, req)
		return err
	})
	return resp, err
}

func (s *statements) AppendEvent(ctx context.Context, _ session.Session, ev *session.Event) error {
	content, err := json.Marshal(ev.Content)
	if err != nil {
		return err
	}
	var usage any
	if ev.UsageMetadata != nil {
		text, err := json.Marshal(ev.UsageMetadata)
		if err != nil {
			return err
		}
		usage = string(text)
	}
	s.seq++
	at := ev.Timestamp.UTC().Format("2006-01-02T15:04:05.000000000Z")
	for _, step := range []struct {
		stmt *sql.Stmt
		args []any
	}{
		{s.begin, nil},
		{s.insert, []any{s.seq, ev.ID, at, ev.InvocationID, ev.Author, ev.Branch, string(content), `{"state_delta":{},"artifact_delta":{}}`, usage}},
		{s.update, []any{s.seq, at}},
		{s.commit, nil},
	} {
		if _, err := step.stmt.ExecContext(ctx, step.args...); err != nil {
			return err
		}
	}
	return nil
}
