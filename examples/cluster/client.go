package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
	"google.golang.org/adk/session/database"

	"github.com/adk-go-ext/longsession/persistence/adkdb"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// names are those of the processes. The last one is killed half-way.
var names = []string{"amber", "birch", "cedar"}

// client is all customers, the load balancer, and who keeps the processes running.
type client struct {
	dsn   string
	turns int
	out   io.Writer

	processes []*process // in the order of names
	ended     []*process // killed
	talks     []*talk    // in the order of customers
}

// talk is one customer's conversation.
type talk struct {
	customer
	random      *rand.Rand
	history     []*genai.Content
	turns       []turnTaken
	sent, whole int // tokens of the prompts, and of those with the whole history
}

// turnTaken is a turn that was answered, and the process that did it.
type turnTaken struct{ by, invocation string }

// play prepares the database, starts the processes, plays the conversations, and reports.
func (c *client) play(ctx context.Context) error {
	shared, db, err := c.prepare(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for _, name := range names {
		if err := c.start(name); err != nil {
			return err
		}
	}
	for i, customer := range customers {
		c.talks = append(c.talks, &talk{customer: customer, random: rand.New(rand.NewPCG(16, uint64(i)))})
	}
	if err := c.converse(ctx, c.turns/2); err != nil {
		return err
	}
	killed := len(names) - 1
	if err := c.processes[killed].kill(); err != nil {
		return err
	}
	c.ended, c.processes = append(c.ended, c.processes[killed]), c.processes[:killed]
	if err := c.start(names[killed]); err != nil {
		return err
	}
	if err := c.converse(ctx, c.turns); err != nil {
		return err
	}
	if err := c.finish(); err != nil {
		return err
	}
	return c.report(ctx, shared, db)
}

// prepare does what is done once, before the app: it creates ADK's tables and those of package adkdb.
func (c *client) prepare(ctx context.Context) (*adkdb.Service, *sql.DB, error) {
	inner, db, err := openSessions(c.dsn)
	if err != nil {
		return nil, nil, err
	}
	shared, err := adkdb.New(inner, db)
	if err := errors.Join(err, database.AutoMigrate(inner), adkdb.Install(ctx, db)); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	for _, customer := range customers {
		if _, err := shared.Create(ctx, &session.CreateRequest{AppName: appName, UserID: customer.name, SessionID: customer.name}); err != nil {
			return nil, nil, errors.Join(err, db.Close())
		}
	}
	return shared, db, nil
}

func (c *client) start(name string) error {
	p, err := startProcess(name, c.dsn)
	if err != nil {
		return err
	}
	c.processes = append(c.processes, p)
	return nil
}

// converse lets all customers talk at the same time, each up to a turn, and then waits until no summary is due.
func (c *client) converse(ctx context.Context, until int) error {
	errs := make([]error, len(c.talks))
	var all sync.WaitGroup
	for i, t := range c.talks {
		all.Go(func() { errs[i] = c.talk(ctx, t, until) })
	}
	all.Wait()
	for _, t := range c.talks {
		for _, p := range c.processes {
			errs = append(errs, p.flush(ctx, t.name))
		}
	}
	return errors.Join(errs...)
}

// talk takes the turns of one customer, one after another. Each goes to any process.
func (c *client) talk(ctx context.Context, t *talk, until int) error {
	for n := len(t.turns); n < until; n++ {
		text := t.says(n, c.turns)
		p := c.processes[t.random.IntN(len(c.processes))]
		reply, err := p.turn(ctx, turnRequest{User: t.name, Text: text})
		if err != nil {
			return fmt.Errorf("turn %d of %s, by %s: %w", n+1, t.name, p.name, err)
		}
		t.turns = append(t.turns, turnTaken{by: p.name, invocation: reply.Invocation})
		t.history = append(t.history, genai.NewContentFromText(text, genai.RoleUser))
		t.sent += reply.Tokens
		t.whole += tokens.OfContents(t.history)
		t.history = append(t.history, genai.NewContentFromText(reply.Answer, genai.RoleModel))
		if right := t.right(c.turns); n == c.turns-1 && reply.Answer != right {
			return fmt.Errorf("%s says to %s: %s\nwant: %s", p.name, t.name, reply.Answer, right)
		}
	}
	return nil
}

// finish ends all processes in order.
func (c *client) finish() error {
	var errs []error
	for _, p := range c.processes {
		errs = append(errs, p.finish())
	}
	c.ended, c.processes = append(c.ended, c.processes...), nil
	return errors.Join(errs...)
}

// stop ends the processes that are left after an error.
func (c *client) stop() {
	for _, p := range c.processes {
		_ = p.kill()
	}
}

// stored is what a session has in the database.
type stored struct{ events, records, loaded, twice int }

// look reads a session, and as a turn would read it.
func look(ctx context.Context, shared *adkdb.Service, name string) (s stored, err error) {
	req := &session.GetRequest{AppName: appName, UserID: name, SessionID: name}
	whole, err := shared.Get(ctx, req)
	if err != nil {
		return s, err
	}
	active, err := shared.GetActive(ctx, req)
	if err != nil {
		return s, err
	}
	s.events, s.loaded = whole.Session.Events().Len(), active.Session.Events().Len()
	covered := map[string]bool{}
	for ev := range whole.Session.Events().All() {
		m, err := record.From(ev)
		if err != nil {
			return s, err
		}
		if m == nil {
			continue
		}
		s.records++
		for _, id := range m.Absorbed {
			s.note(covered, "record "+id)
		}
		for _, ref := range m.Covered {
			s.note(covered, "event "+ref.ID)
		}
	}
	return s, nil
}

// note counts what two records stand for.
func (s *stored) note(covered map[string]bool, what string) {
	if covered[what] {
		s.twice++
	}
	covered[what] = true
}
