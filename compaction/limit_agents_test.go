package compaction_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// team is a session in which agents with instructions of their own speak by turns. What each of them
// was sent is counted by its provider.
type team struct {
	t       *testing.T
	svc     *compaction.CompactionSessionService
	sess    session.Session
	history compactiontest.History
	largest int // prompt of root
}

// root is shown everything; so is the critic, who has few instructions. The formatter is shown no history.
var (
	root   = costly
	critic = provider{ratio: 1.5, overhead: 500}
)

const formatterPrompt = 400

func (m *team) say(turn int, author string, size, reported int) {
	ev := m.history.Add(fmt.Sprint("inv", turn), author, genai.NewContentFromText(words(size), genai.RoleModel)).Last()
	ev.Timestamp = time.Now()
	if reported > 0 {
		ev.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
			PromptTokenCount:     int32(reported),
			CandidatesTokenCount: int32(root.ratio * float64(estimateOf(ev))),
		}
	}
	appendAll(m.t, m.svc, m.sess, ev)
}

// root lets the root agent answer. It is the only one whose prompt may be near the window's end.
func (m *team) root(turn, size int) {
	prompt := root.prompt(eventsOf(m.sess))
	m.largest = max(m.largest, prompt)
	m.say(turn, "root", size, prompt)
}

func newTeam(t *testing.T, cfg compaction.Config) *team {
	m := &team{t: t, svc: newService(t, session.InMemoryService(), cfg)}
	m.sess = create(t, m.svc)
	return m
}

// TestAgentsOfOtherInstructionsDoNotSpoilTheMeasure: right after a compaction, too, when the latest report
// is of an agent that is shown little.
func TestAgentsOfOtherInstructionsDoNotSpoilTheMeasure(t *testing.T) {
	t.Parallel()
	seen := &notes{}
	cfg, _ := oracleConfig()
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.Observer = compaction.Off, 16_000, seen.Observe
	m := newTeam(t, cfg)
	sizes := rand.New(rand.NewPCG(5, 8))
	measured, compactions := 0, 0
	for turn := range 150 {
		m.say(turn, "user", 50+sizes.IntN(400), 0)
		m.root(turn, 100+sizes.IntN(500))
		m.say(turn, "critic", 50+sizes.IntN(200), critic.prompt(eventsOf(m.sess)))
		m.say(turn, "formatter", 50, formatterPrompt)
		stored := len(seen.of(compaction.Stored))
		if turn < 10 || stored == compactions {
			continue // what is tested is what was learned from prompts that are gone
		}
		compactions = stored
		measured++
		got, want := status(t, m.svc).PromptTokens, root.prompt(eventsOf(m.sess))
		if got < want*9/10 || got > want*11/10 {
			t.Errorf("turn %d: the prompt is taken for %d tokens, root's would have %d", turn, got, want)
		}
	}
	if measured < 5 {
		t.Fatalf("measured after %d compactions: the test shows nothing", measured)
	}
	if m.largest > cfg.ContextWindow {
		t.Errorf("a prompt of %d tokens went out, the window is %d", m.largest, cfg.ContextWindow)
	}
	checkView(t, m.svc)
}

// TestAfterACompactionTheReportOfAnAgentWithoutHistoryDoesNotHideThePrompt: nobody else has spoken since.
func TestAfterACompactionTheReportOfAnAgentWithoutHistoryDoesNotHideThePrompt(t *testing.T) {
	t.Parallel()
	seen := &notes{}
	cfg, _ := oracleConfig()
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.Observer = compaction.Off, 16_000, seen.Observe
	m := newTeam(t, cfg)
	turn := 0
	for ; len(seen.of(compaction.Stored)) == 0; turn++ {
		m.say(turn, "user", 5, 0)
		if len(seen.of(compaction.Stored)) > 0 {
			t.Fatal("summarized before root's answer: the test shows nothing")
		}
		m.root(turn, 300)
	}
	m.say(turn, "formatter", 50, formatterPrompt)
	if got, want := status(t, m.svc).PromptTokens, root.prompt(eventsOf(m.sess)); got < want*9/10 {
		t.Errorf("the prompt is taken for %d tokens, root's would have %d", got, want)
	}
	m.say(turn+1, "user", 7000, 0)
	m.root(turn+1, 100)
	if m.largest > cfg.ContextWindow {
		t.Errorf("a prompt of %d tokens went out, the window is %d", m.largest, cfg.ContextWindow)
	}
	checkView(t, m.svc)
}

// TestAnAgentThatHasGoneIsForgotten: its many tools would be counted in for ever.
func TestAnAgentThatHasGoneIsForgotten(t *testing.T) {
	t.Parallel()
	seen := &notes{}
	cfg, _ := oracleConfig()
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.Observer = compaction.Off, 16_000, seen.Observe
	m := newTeam(t, cfg)
	m.say(0, "user", 50, 0)
	m.say(0, "installer", 50, provider{ratio: 1, overhead: 8000}.prompt(eventsOf(m.sess)))
	turn, stored, got, want := 1, 0, 0, 0
	for ; stored < 16; turn++ {
		if turn > 500 {
			t.Fatalf("%d compactions in %d turns: the test shows nothing", stored, turn)
		}
		m.say(turn, "user", 300, 0)
		if now := len(seen.of(compaction.Stored)); now > stored { // nobody has reported since
			stored, got, want = now, status(t, m.svc).PromptTokens, root.prompt(eventsOf(m.sess))
			if stored < 3 && got < want+1000 {
				t.Errorf("compaction %d: the prompt is taken for %d tokens, root's would have %d: installer's would have more", stored, got, want)
			}
		}
		m.root(turn, 20)
	}
	if got < want*9/10 || got > want*11/10 {
		t.Errorf("after %d compactions the prompt is taken for %d tokens, root's would have %d", stored, got, want)
	}
}

// TestTheReportOfAStreamsFirstChunkDoesNotMakeThePromptSmaller: some adapters count the output of that one
// alone.
func TestTheReportOfAStreamsFirstChunkDoesNotMakeThePromptSmaller(t *testing.T) {
	t.Parallel()
	seen := &notes{}
	cfg, _ := oracleConfig()
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.Observer = compaction.Off, 16_000, seen.Observe
	m := newTeam(t, cfg)
	compacted := false
	for turn := range 20 {
		m.say(turn, "user", 50, 0)
		prompt := exact.prompt(eventsOf(m.sess))
		m.history.Agent(fmt.Sprint("inv", turn), "root", words(2000))
		m.history.Last().Timestamp = time.Now()
		m.history.Last().UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(prompt), CandidatesTokenCount: 1}
		appendAll(t, m.svc, m.sess, m.history.Last())
		view := eventsOf(m.sess)
		if got, want := status(t, m.svc).PromptTokens, exact.prompt(view); got < want {
			t.Errorf("turn %d: the prompt is taken for %d tokens, and has %d", turn, got, want)
		}
		compacted = compacted || len(seen.of(compaction.Stored)) > 0
	}
	if !compacted {
		t.Error("nothing was summarized: the test shows nothing")
	}
}
