package integration_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/tokens"
)

// In the environment of a process that this test starts: a folder, and the number of agents that call their
// models at the same time.
const (
	victimFolder = "LONGSESSION_TEST_GUARD_FOLDER"
	victimAgents = "LONGSESSION_TEST_GUARD_AGENTS"
)

// victimCalls is the number of calls that the ceiling of a victim's session pays for.
const victimCalls = 60

func victimGuard(t *testing.T) *guard.Guard {
	t.Helper()
	return guardOf(t, guard.Config{Session: guard.Limits{USD: callPrice(t) * victimCalls}, Landing: guard.LandingHard})
}

// TestVictim is the process that TestAKilledProcess kills. It makes model calls until its session is refused,
// and notes each of them in a file: b when the provider has the request, e when it has answered.
func TestVictim(t *testing.T) {
	folder := os.Getenv(victimFolder)
	if folder == "" {
		t.Skip("it is started by TestAKilledProcess")
	}
	agents, err := strconv.Atoi(os.Getenv(victimAgents))
	if err != nil {
		t.Fatal(err)
	}
	service, err := persistence.NewSQLiteSessionService(filepath.Join(folder, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = service.Close() }()
	journal, err := os.OpenFile(filepath.Join(folder, "journal"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	note := func(mark string) {
		if _, err := journal.WriteString(mark); err != nil {
			t.Error(err)
		}
	}
	llm := &tireless{name: pricedModel, during: func(context.Context, int) error {
		note("b")
		return nil
	}}
	llm.usage = func(int) *genai.GenerateContentResponseUsageMetadata {
		note("e")
		return &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 1000, CandidatesTokenCount: 10, TotalTokenCount: 1010}
	}
	s := guardShapes()[0]
	if agents > 1 {
		s = guardShapes()[6]
	}
	r := guardedRunner(t, service, s, llm, victimGuard(t))
	note("s")
	p := guardedTurn(t, t.Context(), r, ref, agent.RunConfig{}, 0)
	if stop := stopOf(p); stop == nil || stop.Kind != guard.CostCeiling {
		t.Fatalf("the turn ends with %v", p.err())
	}
	note("r")
}

// victims is the journal of all processes of a folder.
type victims struct{ journal string }

func readVictims(t *testing.T, folder string) victims {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "journal"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return victims{string(data)}
}

// begun is the number of calls that a provider has received.
func (v victims) begun() int { return strings.Count(v.journal, "b") }

// A process is killed at any time, many times, and another one goes on with its session. What it has not
// counted are at most the calls that were in flight, and once the ceiling is reached, no call is made.
func TestAKilledProcess(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("left out with -short: it starts processes")
	}
	kills := 20
	if testkit.Whole() {
		kills = 200
	}
	for _, agents := range []int{1, 8} {
		t.Run(fmt.Sprintf("%d agents", agents), func(t *testing.T) {
			t.Parallel()
			var tally killTally
			for tally.kills < kills/2 {
				tally.killUntilRefused(t, t.TempDir(), agents, kills/2)
			}
			t.Logf("%d kills in %d sessions: %d calls were begun, %d counted, at most %d of one process were not", tally.kills, tally.sessions, tally.begun, tally.counted, tally.mostLost)
			if tally.begun == 0 || testkit.Whole() && tally.refused == 0 {
				t.Errorf("only %d calls in %d sessions, of which %d were refused in the end", tally.begun, tally.sessions, tally.refused)
			}
		})
	}
}

// killTally is what many kills have shown.
type killTally struct{ kills, sessions, refused, begun, counted, mostLost int }

// killUntilRefused kills processes that share a session until the session refuses them, or there were enough
// kills.
func (k *killTally) killUntilRefused(t *testing.T, folder string, agents, enough int) {
	t.Helper()
	k.sessions++
	counted, before := 0, victims{}
	for k.kills < enough {
		finished := runVictim(t, folder, agents, 1+k.kills*7%16, time.Duration(k.kills*37%53)*20*time.Microsecond)
		after := readVictims(t, folder)
		now := countedCalls(t, folder)
		begun := after.begun() - before.begun()
		lost := begun - (now - counted)
		if lost < 0 || lost > agents {
			t.Fatalf("after kill %d: %d calls were begun and %d counted, with %d agents:\n%s", k.kills, begun, now-counted, agents, after.journal)
		}
		if now > victimCalls || counted == victimCalls && begun > 0 {
			t.Fatalf("after kill %d: %d of %d calls were counted, and %d begun", k.kills, now, victimCalls, begun)
		}
		k.begun, k.counted, k.mostLost = k.begun+begun, k.counted+now-counted, max(k.mostLost, lost)
		counted, before = now, after
		if finished {
			k.refused++
			if !runVictim(t, folder, agents, 1000, 0) || readVictims(t, folder).begun() != after.begun() {
				t.Errorf("after its refusal the session makes calls:\n%s", readVictims(t, folder).journal)
			}
			return
		}
		k.kills++
	}
}

// runVictim starts a process, kills it some time after a number of marks in its journal, and reports whether it
// ended before that.
func runVictim(t *testing.T, folder string, agents, marks int, after time.Duration) (finished bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestVictim$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), victimFolder+"="+folder, victimAgents+"="+strconv.Itoa(agents))
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	enough := len(readVictims(t, folder).journal) + marks
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	for {
		wait, last := after, true
		if len(readVictims(t, folder).journal) < enough {
			wait, last = 200*time.Microsecond, false
		}
		select {
		case err := <-exited:
			if err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			return true
		case <-time.After(wait):
		}
		if last {
			break
		}
	}
	_ = cmd.Process.Kill() // SIGKILL; it may have ended by itself
	<-exited
	return strings.HasSuffix(readVictims(t, folder).journal, "r")
}

// countedCalls is what the session has in its ledger, as another process reads it.
func countedCalls(t *testing.T, folder string) int {
	t.Helper()
	service, err := persistence.NewSQLiteSessionService(filepath.Join(folder, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = service.Close() }()
	used, err := victimGuard(t).Usage(t.Context(), service, ref)
	if err != nil {
		return 0 // it has not been created
	}
	if want := callPrice(t); used.USD != want*tokens.Nano(used.ModelCalls) {
		t.Errorf("%d calls cost %v", used.ModelCalls, used.USD)
	}
	return used.ModelCalls
}
