package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"google.golang.org/genai"
	gormpostgres "gorm.io/driver/postgres" // registers the driver "pgx", too
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/session/database"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

const appName = "removals"

// connections limits what a process asks of the server, which has 100 for all of them.
const connections = 10

// line is a line of a process's output: where it listens, or what its compaction did.
type line struct {
	Address string `json:",omitempty"`
	Seen    *seen  `json:",omitempty"`
}

// seen is what compaction did behind a turn.
type seen struct {
	User, Invocation    string
	Outcome             compaction.Outcome
	Reason              string
	Events, Before, Now int
}

// turnRequest is a message of a user, and turnReply the answer, with the size of the prompt that led to it.
type turnRequest struct{ User, Text string }

type turnReply struct {
	Answer, Invocation string
	Tokens             int
}

// openSessions returns ADK's session service, and the pool of connections below it.
func openSessions(dsn string) (session.Service, *sql.DB, error) {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	inner, err := database.NewSessionService(gormpostgres.New(gormpostgres.Config{Conn: db}), &gorm.Config{Logger: logger.Default.LogMode(logger.Silent)})
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return inner, db, nil
}

// app is one process.
type app struct {
	stack  *longsession.Stack
	runner *runner.Runner

	mu  sync.Mutex
	out *json.Encoder
}

// serve is an app in a process of its own. It listens on a port of its own, which it prints, and ends when its input does.
func serve(ctx context.Context, dsn string, in io.Reader, out io.Writer) (err error) {
	// An interrupt at a terminal reaches this process, too, but the one that started it decides when it ends.
	ctx = context.WithoutCancel(ctx)
	inner, db, err := openSessions(dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// This is what several processes need between ADK's service and the layers: leases on sessions, and records that are
	// inserted beside the turns of others.
	shared, err := adkdb.New(inner, db)
	if err != nil {
		return err
	}
	a := &app{out: json.NewEncoder(out)}
	llm := &scripted{}
	cfg := longsession.Config{Model: llm, Compaction: compaction.DefaultConfig()} // by turns: so short a session is cheaper without a summary
	cfg.Compaction.ContextWindow = 128_000                                        // needed because no table knows the scripted model
	cfg.Compaction.Summarizer = writer{}
	cfg.Compaction.Observer = a.Observe
	if a.stack, err = longsession.New(shared, cfg); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.stack.Close(ctx)) }() // before the database is closed

	clerk, err := llmagent.New(llmagent.Config{
		Name: "clerk", Model: a.stack.Model(llm), Instruction: "You make the list of boxes for a removal. Be brief and exact.",
	})
	if err != nil {
		return err
	}
	a.runner, err = runner.New(runner.Config{
		AppName: appName, Agent: clerk, SessionService: a.stack.Sessions, PluginConfig: a.stack.PluginConfig(),
	})
	if err != nil {
		return err
	}
	return a.listen(in)
}

// listen answers requests until the input ends.
func (a *app) listen(in io.Reader) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /turn", a.turn)
	mux.HandleFunc("POST /flush", a.flush)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	a.print(line{Address: "http://" + listener.Addr().String()})
	_, err = io.Copy(io.Discard, in)
	err = errors.Join(err, server.Close())
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

func (a *app) print(l line) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = a.out.Encode(l) // nobody reads it any more if this fails
}

// Observe tells what compaction did.
func (a *app) Observe(_ context.Context, o compaction.Observation) {
	s := &seen{
		User: o.Session.UserID, Invocation: o.InvocationID, Outcome: o.Outcome, Reason: o.Reason,
		Events: o.Events, Before: o.TokensBefore, Now: o.TokensAfter,
	}
	if o.Err != nil {
		s.Reason = o.Err.Error()
	}
	a.print(line{Seen: s})
}

// turn runs one turn. Each user has one session, with the same name.
func (a *app) turn(w http.ResponseWriter, r *http.Request) {
	var asked turnRequest
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var reply turnReply
	ctx := context.WithValue(r.Context(), sizeKey{}, &reply.Tokens)
	for ev, err := range a.runner.Run(ctx, asked.User, asked.User, genai.NewContentFromText(asked.Text, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		reply.read(ev)
	}
	_ = json.NewEncoder(w).Encode(reply) // the client sees a short answer
}

func (r *turnReply) read(ev *session.Event) {
	r.Invocation = ev.InvocationID
	if ev.Content == nil || ev.Partial {
		return
	}
	for _, part := range ev.Content.Parts {
		r.Answer += part.Text
	}
}

// flush waits until this process has nothing left to summarize in a user's session.
func (a *app) flush(w http.ResponseWriter, r *http.Request) {
	user := r.URL.Query().Get("user")
	err := a.stack.Sessions.Flush(r.Context(), compaction.SessionRef{AppName: appName, UserID: user, SessionID: user})
	if err != nil {
		http.Error(w, fmt.Sprintf("flush %s: %v", user, err), http.StatusInternalServerError)
	}
}
