package chatlauncher_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/cmd/launcher"
	"google.golang.org/adk/cmd/launcher/console"
	"google.golang.org/adk/cmd/launcher/universal"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat/chatlauncher"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// echo is a model that repeats what it is told.
func echo() model.LLM {
	return compactiontest.NewModel("gemini-2.5-flash", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		return compactiontest.Say("You said: " + req.Contents[len(req.Contents)-1].Parts[0].Text)
	})
}

func loader(t *testing.T, llm model.LLM) agent.Loader {
	t.Helper()
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Model: llm})
	if err != nil {
		t.Fatal(err)
	}
	return agent.NewSingleLoader(bot)
}

func stackOver(t *testing.T, sessions session.Service) *longsession.Stack {
	t.Helper()
	stack, err := longsession.New(sessions, longsession.Config{Model: echo(), Compaction: compaction.Config{Summarizer: &compactiontest.Oracle{}, InvocationThreshold: 5}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stack.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return stack
}

// An app has the chat beside ADK's console, over whatever session service it has.
func TestAnAppHasTheChatBesideTheConsole(t *testing.T) {
	t.Parallel()
	sessions := session.InMemoryService()
	app := &launcher.Config{AgentLoader: loader(t, echo()), SessionService: sessions}
	var out, errs bytes.Buffer
	l := universal.NewLauncher(console.NewLauncher(), chatlauncher.New(chat.Config{In: strings.NewReader("Hello.\n"), Out: &out, Err: &errs}))
	if err := l.Execute(t.Context(), app, []string{"chat", "-session", "talk", "-user", "ada"}); err != nil {
		t.Fatal(err)
	}
	if want := "You said: Hello.\n"; out.String() != want {
		t.Errorf("the chat wrote %q, want %q", out.String(), want)
	}
	got, err := sessions.Get(t.Context(), &session.GetRequest{AppName: "bot", UserID: "ada", SessionID: "talk"})
	if err != nil || got.Session.Events().Len() != 2 {
		t.Errorf("the session is not in the app's service: %v", err)
	}
	if !strings.Contains(l.CommandLineSyntax(), "-resume") {
		t.Error("the help of the app does not name the flags")
	}
}

// An app may give the launchers its own plugins, or all of those of the stack.
func TestThePluginsOfTheStackRunOnce(t *testing.T) {
	t.Parallel()
	for name, plugins := range map[string]func(*longsession.Stack) launcher.Config{
		"own":   func(*longsession.Stack) launcher.Config { return launcher.Config{} },
		"stack": func(s *longsession.Stack) launcher.Config { return launcher.Config{PluginConfig: s.PluginConfig()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stack := stackOver(t, session.InMemoryService())
			app := plugins(stack)
			app.AgentLoader, app.SessionService = loader(t, stack.Model(echo())), stack.Sessions
			var out, errs bytes.Buffer
			l := chatlauncher.New(chat.Config{Stack: stack, In: strings.NewReader("Hello.\n/guard\n"), Out: &out, Err: &errs})
			if rest, err := l.Parse(nil); err != nil || len(rest) > 0 {
				t.Fatal(rest, err)
			}
			if err := l.Run(t.Context(), &app); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(out.String(), "You said: Hello.\n") || !strings.Contains(errs.String(), "📊") {
				t.Errorf("out %q, err %q", out.String(), errs.String())
			}
		})
	}
}

func TestOneMessageAndTheNewestSession(t *testing.T) {
	t.Parallel()
	app := &launcher.Config{AgentLoader: loader(t, echo()), SessionService: session.InMemoryService()}
	execute := func(args ...string) (string, error) {
		var out, errs bytes.Buffer
		l := universal.NewLauncher(chatlauncher.New(chat.Config{In: strings.NewReader(""), Out: &out, Err: &errs}))
		err := l.Execute(t.Context(), app, append([]string{"chat"}, args...))
		return out.String() + errs.String(), err
	}
	if _, err := execute("-resume"); !errors.Is(err, chat.ErrNoSession) {
		t.Errorf("without a session, -resume ended with %v", err)
	}
	if shown, err := execute("-p", "Remember the mill."); err != nil || !strings.Contains(shown, "You said: Remember the mill.") {
		t.Errorf("%v:\n%s", err, shown)
	}
	if shown, err := execute("-resume"); err != nil || !strings.Contains(shown, "> Remember the mill.") {
		t.Errorf("%v:\n%s", err, shown)
	}
}

func TestMistakesAreNamed(t *testing.T) {
	t.Parallel()
	stack := stackOver(t, session.InMemoryService())
	for name, c := range map[string]struct {
		cfg  chat.Config
		app  launcher.Config
		args []string
		want string
	}{
		"flag":     {args: []string{"-sesion", "x"}, want: "-sesion"},
		"argument": {args: []string{"hello"}, want: "[hello]"},
		"no agent": {app: launcher.Config{}, want: "set AgentLoader"},
		"both":     {app: launcher.Config{AgentLoader: loader(t, echo())}, args: []string{"-resume", "-session", "x"}, want: "Resume"},
		"service": {
			cfg: chat.Config{Stack: stack}, app: launcher.Config{AgentLoader: loader(t, echo()), SessionService: session.InMemoryService()},
			want: "set it to Stack.Sessions",
		},
	} {
		var out bytes.Buffer
		c.cfg.In, c.cfg.Out, c.cfg.Err = strings.NewReader(""), &out, &out
		err := universal.NewLauncher(chatlauncher.New(c.cfg)).Execute(t.Context(), &c.app, append([]string{"chat"}, c.args...))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}
