package chat_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/summarizer"
)

// locks remembers what a chat locks.
type locks struct {
	mu   sync.Mutex
	held []string
	log  []string
	deny string // session that nobody gets
}

var errInUse = errors.New("in use")

func (l *locks) take(_ context.Context, ref compaction.SessionRef) (func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ref.SessionID == l.deny || slices.Contains(l.held, ref.SessionID) {
		return nil, errInUse
	}
	l.held = append(l.held, ref.SessionID)
	l.log = append(l.log, "take "+ref.SessionID)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.held = slices.DeleteFunc(l.held, func(id string) bool { return id == ref.SessionID })
		l.log = append(l.log, "give "+ref.SessionID)
	}, nil
}

func TestASessionIsLockedAsLongAsItIsTalkedIn(t *testing.T) {
	t.Parallel()
	l := &locks{deny: "theirs"}
	sessions := session.InMemoryService()
	for _, id := range []string{"other", "theirs"} {
		if _, err := sessions.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: id}); err != nil {
			t.Fatal(err)
		}
	}
	k := begin(t, setup{model: plays(sayYes), sessions: sessions, change: func(c *chat.Config) { c.Lock = l.take }})
	k.types("/resume theirs")
	k.err.await(t, "in use")
	k.types("Hello.") // into the old session, which is still locked
	k.types("/resume other")
	k.types("/resume other")
	k.err.await(t, "already")
	k.leaves()
	if want := []string{"take talk", "take other", "give talk", "give other"}; !slices.Equal(l.log, want) {
		t.Errorf("the chat did %q, want %q", l.log, want)
	}
	if got := k.stored(); !slices.Equal(got, []string{"user: Hello.", "bot: Yes."}) {
		t.Errorf("stored is %q", got)
	}
}

// damaged is a service with a session that cannot be read.
type damaged struct{ session.Service }

func (d damaged) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if req.SessionID == "damaged" {
		return nil, errors.New("row 7 is damaged")
	}
	return d.Service.Get(ctx, req)
}

func (d damaged) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	if req.SessionID == "damaged" {
		return nil, errors.New("it exists")
	}
	return d.Service.Create(ctx, req)
}

func (d damaged) List(ctx context.Context, req *session.ListRequest) (*session.ListResponse, error) {
	all, err := d.Service.List(ctx, req)
	if err == nil {
		made, err := session.InMemoryService().Create(ctx, &session.CreateRequest{AppName: req.AppName, UserID: req.UserID, SessionID: "damaged"})
		return &session.ListResponse{Sessions: append(all.Sessions, made.Session)}, err
	}
	return all, err
}

// Who cannot enter a session stays in the old one, and gives the lock of the new one back.
func TestADamagedSessionIsLeftAlone(t *testing.T) {
	t.Parallel()
	l := &locks{}
	k := begin(t, setup{model: plays(sayYes), sessions: damaged{session.InMemoryService()}, change: func(c *chat.Config) { c.Lock = l.take }})
	k.types("/resume damaged")
	k.err.await(t, "row 7 is damaged")
	k.types("Hello.")
	k.leaves()
	if want := []string{"take talk", "take damaged", "give damaged", "give talk"}; !slices.Equal(l.log, want) {
		t.Errorf("the chat did %q, want %q", l.log, want)
	}
	if got := k.stored(); !slices.Equal(got, []string{"user: Hello.", "bot: Yes."}) {
		t.Errorf("stored is %q", got)
	}
}

func sayYes(_ context.Context, _ int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
	yield(compactiontest.Say("Yes."), nil)
}

func TestASessionInUseKeepsTheChatOut(t *testing.T) {
	t.Parallel()
	l := &locks{deny: ref.SessionID}
	cfg, _, _ := piped(t, plays(sayYes), "Hello.\n")
	cfg.Lock = l.take
	if err := run(t, cfg); !errors.Is(err, errInUse) {
		t.Errorf("the chat ended with %v", err)
	}
	if _, err := cfg.Stack.Sessions.Get(t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err == nil {
		t.Error("the session was made without its lock")
	}
}

func TestResumeGoesOnWithTheNewestSession(t *testing.T) {
	t.Parallel()
	cfg, _, errs := piped(t, plays(sayYes), "")
	cfg.Session.SessionID = ""
	cfg.Resume = true
	if err := run(t, cfg); !errors.Is(err, chat.ErrNoSession) || !strings.Contains(err.Error(), "ada") {
		t.Fatalf("without a session, the chat ended with %v", err)
	}
	for _, id := range []string{"old", "new", "new:sub:call-1"} {
		c := cfg
		c.Resume, c.Session.SessionID, c.In = false, id, strings.NewReader("I am in "+id+".\n")
		if err := run(t, c); err != nil {
			t.Fatal(err)
		}
	}
	cfg.In = strings.NewReader("")
	if err := run(t, cfg); err != nil {
		t.Fatal(err)
	}
	_, resumed, _ := strings.Cut(errs.String(), "Session new")
	if !strings.Contains(resumed, "> I am in new.") || !strings.Contains(resumed, "Yes.") {
		t.Errorf("the chat shows:\n%s", errs)
	}
}

// A chat needs no stack. Commands that show a layer say what is missing.
func TestAnySessionServiceWillDo(t *testing.T) {
	t.Parallel()
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Model: plays(sayYes)})
	if err != nil {
		t.Fatal(err)
	}
	out, errs := newScreen(), newScreen()
	sessions := session.InMemoryService()
	cfg := chat.Config{Agent: bot, Sessions: sessions, Session: ref, In: strings.NewReader("Is it so?\n/history\n"), Out: out, Err: errs}
	if err := run(t, cfg); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "Yes.\n") || !strings.Contains(out.String(), "user: Is it so?") {
		t.Errorf("the chat wrote %q", out)
	}
	cfg.In = strings.NewReader("/compact\n")
	if err := run(t, cfg); err == nil || !strings.Contains(err.Error(), "stack") {
		t.Errorf("/compact failed with %v", err)
	}
}

// slow is a summarizer that waits until the test lets it go on.
type slow struct{ begun, goOn chan struct{} }

func (s slow) Summarize(ctx context.Context, _ summarizer.Request) (summarizer.Result, error) {
	close(s.begun)
	select {
	case <-s.goOn:
		return summarizer.Result{Content: genai.NewContentFromText("They have greeted each other several times.", genai.RoleModel)}, nil
	case <-ctx.Done():
		return summarizer.Result{}, ctx.Err()
	}
}

// inBackground begins a chat of five turns, after which a summary is being written.
func inBackground(t *testing.T) (*talk, slow) {
	t.Helper()
	return inBackgroundOver(t, nil)
}

// inBackgroundOver is the same over another session service.
func inBackgroundOver(t *testing.T, sessions session.Service) (*talk, slow) {
	t.Helper()
	s := slow{make(chan struct{}), make(chan struct{})}
	layers := longsession.Config{}
	layers.Compaction.Summarizer, layers.Compaction.InvocationThreshold = s, 5
	llm := plays(func(_ context.Context, n int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		yield(compactiontest.Say("Answer "+strings.Repeat("and so on ", 50)), nil)
	})
	k := begin(t, setup{model: llm, layers: layers, sessions: sessions})
	for range 5 {
		k.types("Message " + strings.Repeat("and so on ", 50))
	}
	<-s.begun
	return k, s
}

// Whoever types must not have a note written into their line.
func TestNotesWaitWhileSomebodyTypes(t *testing.T) {
	t.Parallel()
	k, s := inBackground(t)
	k.prompted()
	before := k.err.String()
	close(s.goOn)
	if err := k.stack.Sessions.Flush(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if after := k.err.String(); after != before {
		t.Errorf("while somebody types, %q is written", strings.TrimPrefix(after, before))
	}
	k.person.typed <- typed{text: "/tokens"}
	k.err.await(t, "Summarized ")
	k.leaves()
}

// An alert may come at any time.
func TestAlertsWaitWhileSomebodyTypes(t *testing.T) {
	t.Parallel()
	var alerts *chat.Alerts
	k := begin(t, setup{model: plays(sayYes), change: func(c *chat.Config) { alerts = c.Alerts }})
	k.prompted()
	before := k.err.String()
	alerts.Observe(t.Context(), guard.Observation{Kind: guard.Unpriced, Session: ref, Model: "mystery-1"})
	if after := k.err.String(); after != before {
		t.Errorf("while somebody types, %q is written", strings.TrimPrefix(after, before))
	}
	k.person.typed <- typed{text: "Hello."}
	k.err.await(t, "The prices of mystery-1 are not known")
	k.leaves()
}

func TestAChatThatLeavesWaitsForItsSummaries(t *testing.T) {
	t.Parallel()
	k, s := inBackground(t)
	k.prompted()
	k.person.typed <- typed{err: io.EOF}
	k.err.await(t, "A summary is being written.")
	close(s.goOn)
	if err := k.end(); err != nil {
		t.Error(err)
	}
	status, err := k.stack.Sessions.Status(t.Context(), ref)
	if err != nil || len(status.Summaries) != 1 || status.WaitingSummaries != 0 {
		t.Errorf("after the chat, %+v, %v; want one summary that is stored", status.Summaries, err)
	}
	if !strings.Contains(k.err.String(), "Summarized ") {
		t.Errorf("the person is not told:\n%s", k.err)
	}
}

// Over a service that only takes events, a summary that was written in the background waits for the next message.
// Whoever leaves instead has it stored.
func TestAChatThatLeavesStoresASummaryThatWaits(t *testing.T) {
	t.Parallel()
	k, s := inBackgroundOver(t, &watched{Service: session.InMemoryService()})
	k.prompted()
	close(s.goOn)
	for end := time.Now().Add(emergency); ; {
		status, err := k.stack.Sessions.Status(t.Context(), ref)
		if err != nil || time.Now().After(end) {
			t.Fatalf("no summary waits: %+v, %v", status, err)
		}
		if status.WaitingSummaries == 1 && !status.Running {
			break
		}
		select {
		case err := <-k.ended:
			t.Fatalf("the chat has ended: %v", err)
		case <-time.After(time.Millisecond): // the summary is being written
		}
	}
	k.person.typed <- typed{err: io.EOF}
	if err := k.end(); err != nil {
		t.Error(err)
	}
	status, err := k.stack.Sessions.Status(t.Context(), ref)
	if err != nil || len(status.Summaries) != 1 || status.WaitingSummaries != 0 {
		t.Errorf("after the chat, %+v, %v; want one summary that is stored", status.Summaries, err)
	}
}

// A summary that was stored while the person typed is told, also if what they typed is Ctrl-D.
func TestASummaryThatEndsAtThePromptIsToldToWhoLeaves(t *testing.T) {
	t.Parallel()
	k, s := inBackground(t)
	k.prompted()
	close(s.goOn)
	if err := k.stack.Sessions.Flush(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	k.person.typed <- typed{err: io.EOF}
	if err := k.end(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(k.err.String(), "Summarized ") {
		t.Errorf("the person is not told:\n%s", k.err)
	}
}

func TestCtrlCWhileLeavingGivesTheSummaryUp(t *testing.T) {
	t.Parallel()
	k, s := inBackground(t)
	defer close(s.goOn)
	k.prompted()
	k.person.typed <- typed{err: io.EOF}
	k.err.await(t, "Ctrl-C drops it.")
	k.interrupts()
	if err := k.end(); !errors.Is(err, chat.ErrInterrupted) {
		t.Errorf("the chat ended with %v, want ErrInterrupted", err)
	}
	if !strings.Contains(k.err.String(), "The summary was dropped.") {
		t.Errorf("the screen shows:\n%s", k.err)
	}
}

// The guard tells its observer in the background. What it has seen in a turn is on the screen before the turn is over,
// also where the chat ends with it.
func TestAlertsOfATurnAreShownWithIt(t *testing.T) {
	t.Parallel()
	llm := plays(func(_ context.Context, n int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		if n == 0 {
			yield(compactiontest.CallTool("look", nil), nil)
			return
		}
		yield(compactiontest.Say("That is all."), nil)
	})
	look := toolOf(t, "look", false, func(agent.ToolContext) (map[string]any, error) { return map[string]any{"result": "seen"}, nil })
	answered := make(chan struct{})
	k := begin(t, setup{
		model: llm, tools: []tool.Tool{look}, layers: longsession.Config{Guard: guard.Config{Turn: guard.Limits{ModelCalls: 2}}},
		change: func(c *chat.Config) {
			c.Prompt = "Look around."
			c.Alerts.Next = func(_ context.Context, o guard.Observation) { // slow with what comes first
				if o.Kind == guard.Charged {
					<-answered
				}
			}
		},
	})
	k.out.await(t, "That is all.")
	close(answered)
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	shown := k.err.String()
	if at := strings.Index(shown, "The turn is near a limit"); at < 0 || at > strings.Index(shown, "📊") {
		t.Errorf("the alert is missing, or behind the turn:\n%s", shown)
	}
}
