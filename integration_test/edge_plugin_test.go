package integration_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// meddler is a plugin that interferes with events, and counts how often it did.
type meddler struct {
	a    *app
	acts int
}

var errDropped = errors.New("the plugin drops this event")

// rewrite puts its own text with a fact into a copy of every answer.
func (p *meddler) rewrite(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
	if !isText(ev) {
		return nil, nil
	}
	p.acts++
	changed := *ev
	changed.Content = genai.NewContentFromText("As the plugin has it: "+p.fact(ev), genai.RoleModel)
	return &changed, nil
}

// rewriteInPlace does the same in the event itself.
func (p *meddler) rewriteInPlace(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
	if isText(ev) {
		p.acts++
		ev.Content = genai.NewContentFromText("As the plugin has it: "+p.fact(ev), genai.RoleModel)
	}
	return nil, nil
}

// replace creates a new event with another ID for every answer.
func (p *meddler) replace(ctx agent.InvocationContext, ev *session.Event) (*session.Event, error) {
	if !isText(ev) {
		return nil, nil
	}
	p.acts++
	other := session.NewEventWithContext(ctx, ev.InvocationID)
	other.Author, other.Branch = ev.Author, ev.Branch
	other.Content = genai.NewContentFromText("The plugin answers instead: "+p.fact(ev), genai.RoleModel)
	return other, nil
}

// dropAnswers keeps every second answer out of storage: the runner skips an event whose callback
// fails.
func (p *meddler) dropAnswers(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
	if isText(ev) && p.a.turns%2 == 0 {
		p.acts++
		return nil, errDropped
	}
	return nil, nil
}

// dropResponses keeps tool responses out of storage in every third turn, so that their calls are
// never answered.
func (p *meddler) dropResponses(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
	p.a.unchecked = false
	if len(requests.Responses(ev.Content)) > 0 && p.a.turns%3 == 0 {
		p.acts++
		p.a.unchecked = true // the plugin makes the next request end with the call
		for _, fact := range histories.FactsIn(ev) {
			p.a.ledger.forget(fact)
		}
		return nil, errDropped
	}
	return nil, nil
}

// add stores its own event before every answer, through the runner's handle. It is created after
// the answer that it precedes.
func (p *meddler) add(ctx agent.InvocationContext, ev *session.Event) (*session.Event, error) {
	if !isText(ev) {
		return nil, nil
	}
	p.acts++
	extra := session.NewEventWithContext(ctx, ev.InvocationID)
	extra.Author = ev.Author
	extra.Content = genai.NewContentFromText("The plugin adds "+p.fact(ev), genai.RoleModel)
	p.a.history = append(p.a.history, storedEvent(extra))
	return nil, p.a.svc.AppendEvent(ctx, ctx.Session(), extra)
}

func (p *meddler) fact(ev *session.Event) string {
	fact := compactiontest.Fact(p.a.ledger.number())
	p.a.ledger.tell(fact, ev.Branch, ev.Author)
	return fact
}

func isText(ev *session.Event) bool {
	return ev.Content != nil && len(ev.Content.Parts) > 0 && ev.Content.Parts[0].Text != ""
}

// The event that the plugin returns is stored, shown and summarized as if the agent had said it.
func TestPluginsMayChangeReplaceDropAndAddEvents(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]func(*meddler) plugin.OnEventCallback{
		"rewrites a copy":   func(p *meddler) plugin.OnEventCallback { return p.rewrite },
		"rewrites in place": func(p *meddler) plugin.OnEventCallback { return p.rewriteInPlace },
		"replaces":          func(p *meddler) plugin.OnEventCallback { return p.replace },
		"drops answers":     func(p *meddler) plugin.OnEventCallback { return p.dropAnswers },
		"drops responses":   func(p *meddler) plugin.OnEventCallback { return p.dropResponses },
		"adds":              func(p *meddler) plugin.OnEventCallback { return p.add },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
				a := newApp(t, store, m)
				p := &meddler{a: a}
				a.plugins = []*plugin.Plugin{witness(t, way(p))}
				a.tolerates = func(err error) bool { return errors.Is(err, errDropped) }
				a.requests = true            // otherwise a turn without an answer counts as running until its handle is collected
				a.unordered = name == "adds" // the database service sorts by creation time
				x := newActor(a, "assistant", "")
				a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
				for range 24 {
					x.will(a.lookups(1))
					a.chat(x, 1)
				}
				if p.acts < 6 {
					t.Errorf("the plugin acted %d times only", p.acts)
				}
				a.verify(3)
			})
		})
	}
}

// The runner then stores the user's message again instead of an answer. Such turns without agent
// events are summarized like others.
func TestAPluginMayEndTheRunItself(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		ended := 0
		early, err := plugin.New(plugin.Config{Name: "early", BeforeRunCallback: func(agent.InvocationContext) (*genai.Content, error) {
			if a.turns%3 != 0 {
				return nil, nil
			}
			ended++
			return genai.NewContentFromText("Not now.", genai.RoleModel), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		a.plugins = []*plugin.Plugin{early}
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, nil))
		for range 24 {
			if (a.turns+1)%3 != 0 {
				a.chat(x, 1)
				continue
			}
			a.ask()
			a.history[len(a.history)-1].ID = "" // the stored event is the user's
		}
		a.chat(x, 1)
		if ended != 8 {
			t.Errorf("%d runs were ended", ended)
		}
		a.verify(3)
	})
}

// The plugin's version of the message is the question that is kept.
func TestAPluginMayChangeTheUsersMessage(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		polite, err := plugin.New(plugin.Config{Name: "polite", OnUserMessageCallback: func(_ agent.InvocationContext, msg *genai.Content) (*genai.Content, error) {
			changed := genai.NewContentFromText(strings.Replace(msg.Parts[0].Text, "please note", "would you kindly note", 1), genai.RoleUser)
			a.question = changed.Parts[0].Text
			a.history[len(a.history)-1] = storedMessage(changed)
			return changed, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		a.plugins = []*plugin.Plugin{polite}
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, nil))
		a.chat(x, 20)
		if !strings.Contains(a.question, "kindly") {
			t.Errorf("the message was not changed: %q", a.question)
		}
		a.verify(3)
	})
}
