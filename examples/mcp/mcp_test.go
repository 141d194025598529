package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/adk-go-ext/longsession/internal/catalog"
	"github.com/adk-go-ext/longsession/layer/budget"
)

// The test binary is the server, too: the example starts itself.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		if err := serve(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func TestToolSearchKeepsThePrefixAndSavesDeclarations(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), nil, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d, stderr %q:\n%s", code, stderr.String(), stdout.String())
	}
	if !strings.Contains(stdout.String(), "\nmcp ok: 30 turns, 0 prefix breaks,\n") {
		t.Errorf("the output is\n%s", stdout.String())
	}
	for line := range strings.Lines(stdout.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 60 {
			t.Errorf("a line has %d columns: %q", n, line)
		}
	}
}

// The checks of the example notice what they are there for.
func TestTheCheckFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	p := price{input: 3, cached: 0.3, output: 15}
	good := func() []*game {
		alone, bridge := &game{way: ways()[0], calls: 5, ran: 5}, &game{way: ways()[2], calls: 5, ran: 5}
		promote := &game{way: ways()[1], calls: 5, ran: 5}
		promote.provider = provider{requests: 10, sent: 8_000, cached: 4_000, declared: 2_500}
		alone.provider = provider{requests: 10, sent: 10_000, cached: 5_000, declared: 5_000}
		bridge.provider = provider{requests: 10, sent: 5_000, cached: 4_000, declared: 500}
		all := &game{way: ways()[3], calls: 5, ran: 5, causes: map[budget.Cause]int{budget.CauseCompacted: 2}}
		all.breaks = 2
		return []*game{alone, promote, bridge, all}
	}
	if err := check(good(), p); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(bridge *game){
		"a call that failed":       func(g *game) { g.ran-- },
		"a tool that is not found": func(g *game) { g.missed = []string{"git_log"} },
		"a missing call":           func(g *game) { g.calls, g.ran = 4, 4 },
		"a prefix break":           func(g *game) { g.breaks = 1 },
		"large declarations":       func(g *game) { g.declared = 1_001 },
		"a higher price":           func(g *game) { g.cached = 0; g.sent = 9_000 },
	} {
		games := good()
		spoil(games[2])
		if check(games, p) == nil {
			t.Errorf("%s is not found", name)
		}
	}
	games := good()
	games[3].breaks++
	if check(games, p) == nil {
		t.Error("a break without a cause is not found")
	}
}

func TestBadArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-turns", "1"}, {"-tasks", "31"}, {"-window", "1"}, {"-model", "none"}, {"-unknown"}, {"word"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != 2 || stderr.Len() == 0 || stdout.Len() > 0 {
			t.Errorf("%q: exit code %d, stderr %q", args, code, stderr.String())
		}
	}
}

// Each task names tools that there are.
func TestTheTasksNeedToolsOfTheCatalog(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, tool := range catalog.Tools() {
		known[tool.Name] = true
	}
	for _, task := range tasks {
		for _, use := range task.uses {
			if !known[use.tool] {
				t.Errorf("%q needs %s, which is not there", task.question, use.tool)
			}
		}
	}
}
