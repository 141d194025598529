package databases_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
	"github.com/adk-go-ext/longsession/summarizer"
)

// soakVariable turns this test binary into one of the processes of a soak. Its value is a soakSpec as JSON.
const soakVariable = "LONGSESSION_TEST_SOAK_CHILD"

// soakSpec describes a process of a soak.
type soakSpec struct {
	Engine, DSN, Way string
	// Model and Summarizer are how long each call takes.
	Model, Summarizer time.Duration
}

// soakOrder is a command to a process, as one line of JSON. The process obeys its orders at the same time.
type soakOrder struct {
	ID int
	// Do is "turn" or "flush".
	Do      string
	Session string
	Turn    int
}

// soakReply is a line from a process: the result of an order, or something that compaction did.
type soakReply struct {
	// ID is the order's. In a line about compaction it is 0, and Outcome is what happened in Session.
	ID      int
	Session string
	Err     string
	// Facts are the numbers of the facts in the turn's request to the model.
	Facts   []int
	Outcome compaction.Outcome
	Reason  string
}

// soakWay is a way to put compaction on ADK's service.
type soakWay struct {
	name string
	// over returns the inner service of compaction. Nil: ADK alone.
	over func(inner session.Service, db *sql.DB) (session.Service, error)
	// alone reports whether the way promises that no summary is written, and paid for, twice.
	alone bool
	// tables reports whether it needs the tables of adkdb.Install.
	tables bool
}

// soakConnections limits the connections of a process, as an app would.
const soakConnections = 6

// runSoakChild obeys orders until its input ends.
func runSoakChild(text string, in io.Reader, out io.Writer) error {
	var spec soakSpec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return err
	}
	c, err := newSoakChild(spec, out)
	if err != nil {
		return err
	}
	orders := json.NewDecoder(in)
	for {
		var o soakOrder
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return c.end()
		} else if err != nil {
			return err
		}
		go c.obey(o)
	}
}

// soakChild is an app in a process of its own.
type soakChild struct {
	db         *sql.DB
	compacting *compaction.CompactionSessionService // nil for ADK alone
	runner     *runner.Runner
	model      *soakModel

	mu  sync.Mutex
	out *json.Encoder
}

func newSoakChild(spec soakSpec, out io.Writer) (*soakChild, error) {
	e, err := engineNamed(spec.Engine)
	if err != nil {
		return nil, err
	}
	way, err := soakWayNamed(spec.Way)
	if err != nil {
		return nil, err
	}
	c := &soakChild{out: json.NewEncoder(out), model: &soakModel{takes: spec.Model}}
	sessions, err := c.open(e, spec.DSN)
	// A process may be started while the server is starting again.
	for deadline := time.Now().Add(2 * childTimeout); err != nil && isOutage(err.Error()) && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
		sessions, err = c.open(e, spec.DSN)
	}
	if err != nil {
		return nil, err
	}
	if way.over != nil {
		inner, err := way.over(sessions, c.db)
		if err != nil {
			return nil, err
		}
		cfg := compaction.DefaultConfig()
		cfg.ContextWindow, cfg.Observer, cfg.Summarizer = 128_000, c.Observe, soakSummarizer(spec.Summarizer)
		if c.compacting, err = compaction.NewCompactionService(inner, cfg); err != nil {
			return nil, err
		}
		sessions = c.compacting
	}
	root, err := llmagent.New(llmagent.Config{
		Name:  agentName,
		Model: c.model,
		BeforeModelCallbacks: []llmagent.BeforeModelCallback{
			func(ctx agent.CallbackContext, _ *model.LLMRequest) (*model.LLMResponse, error) {
				turn := newestTurn(ctx.UserContent())
				return nil, ctx.State().Set(answeredKey(turn), turn)
			},
		},
	})
	if err != nil {
		return nil, err
	}
	c.runner, err = runner.New(runner.Config{AppName: appName, Agent: root, SessionService: sessions})
	return c, err
}

// open returns ADK's service over connections of its own: if it cannot be made, gorm closes them.
func (c *soakChild) open(e *engine, dsn string) (session.Service, error) {
	var err error
	if c.db, err = sql.Open(e.driver, dsn); err != nil {
		return nil, err
	}
	c.db.SetMaxOpenConns(soakConnections)
	c.db.SetMaxIdleConns(soakConnections)
	return overDatabase(e.dialector(c.db))
}

func (c *soakChild) reply(r soakReply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.out.Encode(r) // the parent has gone
}

// Observe reports what compaction did at once, so that it is known even if the process is killed next.
func (c *soakChild) Observe(_ context.Context, seen compaction.Observation) {
	r := soakReply{Session: seen.Session.SessionID, Outcome: seen.Outcome, Reason: seen.Reason}
	if seen.Err != nil {
		r.Err = seen.Err.Error()
	}
	c.reply(r)
}

func (c *soakChild) obey(o soakOrder) {
	ctx, cancel := context.WithTimeout(context.Background(), childTimeout)
	defer cancel()
	r := soakReply{ID: o.ID}
	var err error
	switch o.Do {
	case "turn":
		r.Facts, err = c.take(ctx, o.Session, o.Turn)
	case "flush":
		if c.compacting != nil {
			err = c.compacting.Flush(ctx, refTo(o.Session))
		}
	default:
		err = fmt.Errorf("unknown order %q", o.Do)
	}
	if err != nil {
		r.Err = err.Error()
	}
	c.reply(r)
}

// take runs one turn. It returns the facts in the request to the model.
func (c *soakChild) take(ctx context.Context, sessionID string, turn int) ([]int, error) {
	var facts []int
	ctx = context.WithValue(ctx, soakFacts{}, &facts)
	text := fmt.Sprintf("The code for item %d is %s. %s", turn, compactiontest.Fact(turn), strings.Repeat("Please keep it in mind. ", 4))
	delta := runner.WithStateDelta(map[string]any{askedKey(turn): turn})
	for _, err := range c.runner.Run(ctx, userID, sessionID, genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{}, delta) {
		if err != nil {
			return nil, err
		}
	}
	return facts, nil
}

func (c *soakChild) end() error {
	var err error
	if c.compacting != nil {
		ctx, cancel := context.WithTimeout(context.Background(), childTimeout)
		defer cancel()
		err = c.compacting.Close(ctx)
	}
	_ = c.db.Close() // connections may be broken
	return err
}

// soakFacts is the context key under which a turn keeps the facts of its request.
type soakFacts struct{}

// newestTurn returns the turn that a user's message is about, and -1 if it is about none.
func newestTurn(content *genai.Content) int {
	facts := numbers(histories.FactsInContents([]*genai.Content{content}))
	if len(facts) == 0 {
		return -1
	}
	return facts[len(facts)-1]
}

// numbers returns the numbers of facts.
func numbers(facts []string) []int {
	var out []int
	for _, fact := range facts {
		if n, err := strconv.Atoi(strings.TrimPrefix(fact, "FACT-")); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// soakModel answers with the fact of the newest message. It keeps nothing.
type soakModel struct{ takes time.Duration }

func (*soakModel) Name() string { return "model" }

func (m *soakModel) GenerateContent(ctx context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		facts := numbers(histories.FactsInContents(req.Contents))
		if into, ok := ctx.Value(soakFacts{}).(*[]int); ok {
			*into = facts
		}
		if err := pause(ctx, m.takes); err != nil {
			yield(nil, err)
			return
		}
		turn := newestTurn(req.Contents[len(req.Contents)-1])
		yield(compactiontest.Say("I have noted "+compactiontest.Fact(turn)+" and will come back to it when you ask."), nil)
	}
}

// soakSummarizer keeps every fact, like [compactiontest.Oracle], and no request. It is how long a call takes.
type soakSummarizer time.Duration

func (s soakSummarizer) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	if err := pause(ctx, time.Duration(s)); err != nil {
		return summarizer.Result{}, err
	}
	return new(compactiontest.Oracle).Summarize(ctx, req)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// soakWays are the ways that soaks compare, the first being ADK alone.
var soakWays = []soakWay{
	{name: "ADK alone"},
	{name: "plain", over: func(inner session.Service, _ *sql.DB) (session.Service, error) { return inner, nil }},
	{name: "postgres", alone: true, over: overPostgres},
	{name: "with tables", alone: true, tables: true, over: overPostgres},
}

func overPostgres(inner session.Service, db *sql.DB) (session.Service, error) {
	return adkdb.New(inner, db)
}

func soakWayNamed(name string) (soakWay, error) {
	at := slices.IndexFunc(soakWays, func(w soakWay) bool { return w.name == name })
	if at < 0 {
		return soakWay{}, fmt.Errorf("unknown way %q", name)
	}
	return soakWays[at], nil
}
