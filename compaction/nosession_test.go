package compaction_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
)

// sessionless is an inner service that answers with a nil pointer where a session is asked for.
type sessionless struct{ session.Service }

func (sessionless) Get(context.Context, *session.GetRequest) (*session.GetResponse, error) {
	return &session.GetResponse{Session: (*opaqueSession)(nil)}, nil
}

func (sessionless) Create(context.Context, *session.CreateRequest) (*session.CreateResponse, error) {
	return &session.CreateResponse{Session: (*opaqueSession)(nil)}, nil
}

// An inner service with a bug may return a nil pointer as a session. That is an error, in words, and no panic.
func TestANilPointerInPlaceOfASessionIsAnError(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	svc := newService(t, sessionless{session.InMemoryService()}, cfg)
	for name, call := range map[string]func() error{
		"Load":            func() error { _, err := svc.Load(t.Context(), ref); return err },
		"Status":          func() error { _, err := svc.Status(t.Context(), ref); return err },
		"Compact":         func() error { _, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{}); return err },
		"Checkpoint":      func() error { _, err := svc.Checkpoint(t.Context(), ref, compaction.CheckpointOptions{}); return err },
		"CompactIfNeeded": func() error { _, err := svc.CompactIfNeeded(t.Context(), ref); return err },
		"Get":             func() error { _, err := svc.Get(t.Context(), getRequest()); return err },
		"Raw":             func() error { _, err := svc.Raw(t.Context(), getRequest()); return err },
		"Create":          func() error { _, err := svc.Create(t.Context(), &session.CreateRequest{}); return err },
	} {
		func() {
			defer func() {
				if cause := recover(); cause != nil {
					t.Errorf("%s panics: %v", name, cause)
				}
			}()
			if err := call(); err == nil || !strings.Contains(err.Error(), "no session") {
				t.Errorf("%s: %v", name, err)
			}
		}()
	}
	flush(t, svc)
}

// unlisted is an inner service whose list has that many sessions, and then none.
type unlisted struct {
	session.Service
	whole int
	none  session.Session
}

func (u unlisted) List(ctx context.Context, req *session.ListRequest) (*session.ListResponse, error) {
	resp, err := u.Service.List(ctx, req)
	resp.Sessions = append(resp.Sessions[:u.whole], u.none)
	return resp, err
}

// listless is an inner service that lists nothing, not even an empty list.
type listless struct{ session.Service }

func (listless) List(context.Context, *session.ListRequest) (*session.ListResponse, error) {
	return nil, nil
}

// Whoever reads a list asks each session for its ID. A nil in it is an error that names its place, and no panic there.
func TestANilPointerInAListOfSessionsIsAnError(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	create(t, inner)
	for name, row := range map[string]struct {
		inner session.Service
		says  string
	}{
		"a nil pointer": {unlisted{inner, 1, (*opaqueSession)(nil)}, "no session in place 2 of 2"},
		"nil":           {unlisted{inner, 0, nil}, "no session in place 1 of 1"},
		"no list":       {listless{inner}, "no list"},
	} {
		cfg, _ := oracleConfig()
		resp, err := newService(t, row.inner, cfg).List(t.Context(), &session.ListRequest{AppName: ref.AppName})
		if resp != nil || err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %+v, %v", name, resp, err)
		}
	}
}

// unnamed is a session of the app's own whose methods panic.
type unnamed struct{ session.Session }

// swallowing stores nothing, whatever it is given.
type swallowing struct{ session.Service }

func (swallowing) AppendEvent(context.Context, session.Session, *session.Event) error { return nil }

func TestAPanicOfASessionsNameLeavesATrace(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Logger = &weatherman{}, slog.New(slog.NewTextHandler(&log, nil))
	svc := newService(t, swallowing{session.InMemoryService()}, cfg)
	if err := svc.AppendEvent(t.Context(), unnamed{}, turns(1)[0]); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "the name of a session") {
		t.Errorf("the log has %q", log.String())
	}
}
