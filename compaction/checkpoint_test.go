package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

const done = "mark_task_done"

// marking is a config without automatic triggers whose checkpoint tool is [done], with no minimum.
func marking(change ...func(*compaction.Config)) (compaction.Config, *compactiontest.Oracle) {
	cfg, oracle := manualOnly()
	cfg.Synchronous, cfg.CheckpointTool, cfg.CheckpointTokens = false, done, compaction.Off
	for _, change := range change {
		change(&cfg)
	}
	return cfg, oracle
}

// marks adds a turn in which the agent reports a finished task once for each detail.
func marks(h *compactiontest.History, invocation string, details ...string) *compactiontest.History {
	h.User(invocation, "Go on, please.")
	for i, detail := range details {
		id := fmt.Sprint("c", i)
		h.Call(invocation, "agent", done, id)
		h.Last().Content.Parts[0].FunctionCall.Args = map[string]any{"detail": detail}
		h.Response(invocation, "agent", done, "Noted.", id)
	}
	return h.Agent(invocation, "agent", "All is done.")
}

// eachStorage runs f over every storage of the module.
func eachStorage(t *testing.T, f func(t *testing.T, inner session.Service)) {
	t.Helper()
	for _, b := range append(backends(t), storages.Persistence(t)) {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			f(t, b.Open(t))
		})
	}
}

// settled waits for background jobs and returns the records in storage.
func settled(t *testing.T, svc *compaction.CompactionSessionService) []*compaction.CompactionMetadata {
	t.Helper()
	flush(t, svc)
	return records(t, rawEvents(t, svc))
}

func TestAFinishedTaskIsWrittenOnceWithItsNotesInOrder(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, inner session.Service) {
		cfg, oracle := marking()
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		h := (&compactiontest.History{}).Turns(4, "agent")
		marks(h, "inv5", "surveyed the parser", "fixed the lexer", "surveyed the parser")
		appendAll(t, svc, sess, h.Events...)
		stored := settled(t, svc)
		if len(stored) != 1 {
			t.Fatalf("%d records, want 1", len(stored))
		}
		m := stored[0]
		if m.Kind != record.KindCheckpoint || m.Trigger != record.TriggerCheckpoint || m.Note != "surveyed the parser; fixed the lexer" || len(m.Covered) != 8 {
			t.Errorf("%s by %s, note %q, over %d events", m.Kind, m.Trigger, m.Note, len(m.Covered))
		}
		if req := oracle.Requests()[0]; req.Kind != record.KindCheckpoint || req.Note != m.Note {
			t.Errorf("the summarizer was asked for a %s with note %q", req.Kind, req.Note)
		}
		wantFacts(t, eventsOf(get(t, svc)), 4)
		checkView(t, svc)
		for i := range 3 {
			h.Turn(fmt.Sprint("later", i), "agent", "And now?", "Now this.")
			appendAll(t, svc, get(t, svc), h.Events[len(h.Events)-2:]...)
		}
		if again := settled(t, svc); len(again) != 1 {
			t.Errorf("%d records after three more turns: the checkpoint was written again", len(again))
		}
	})
}

// A new process finds the call in storage, even if its response was never stored, and writes the
// checkpoint after the first Get. What it keeps raw is the turn that was cut off.
func TestACallWhoseProcessEndedIsFoundAgain(t *testing.T) {
	t.Parallel()
	for _, cut := range []int{1, 2} { // without the answer, and without the response
		eachStorage(t, func(t *testing.T, inner session.Service) {
			cfg, _ := marking()
			h := (&compactiontest.History{}).Turns(4, "agent")
			marks(h, "inv5", "the survey")
			bare := newService(t, inner, compaction.Config{Summarizer: cfg.Summarizer, InvocationThreshold: compaction.Off, TokenThreshold: compaction.Off})
			appendAll(t, bare, create(t, bare), h.Events[:len(h.Events)-cut]...)
			svc := newService(t, inner, cfg)
			sess := get(t, svc)
			stored := settled(t, svc)
			if len(stored) != 1 || stored[0].Note != "the survey" || len(stored[0].Covered) != 8 {
				t.Fatalf("%d events cut off: records %+v", cut, stored)
			}
			h.Turn("inv6", "agent", "And now?", "Now this.")
			appendAll(t, svc, sess, h.Events[len(h.Events)-2:]...)
			if n := len(settled(t, svc)); n != 1 {
				t.Errorf("%d records after the next turn", n)
			}
			checkView(t, svc)
		})
	}
}

// The turn of the call stays raw until another one has ended: then it may be what the checkpoint is
// about. Later turns are never part of it.
func TestATaskOfOneTurnIsWrittenAfterTheNext(t *testing.T) {
	t.Parallel()
	cfg, _ := marking(func(cfg *compaction.Config) { cfg.CheckpointTokens = 200 })
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := (&compactiontest.History{}).User("inv1", words(150)).Call("inv1", "agent", done, "c1").Response("inv1", "agent", done, "Noted.", "c1")
	h.Agent("inv1", "agent", words(150))
	appendAll(t, svc, sess, h.Events...)
	if n, got := len(settled(t, svc)), status(t, svc); n != 0 || got.WaitingCheckpoints != 1 {
		t.Fatalf("%d records and %d calls that wait after the turn", n, got.WaitingCheckpoints)
	}
	h.Turn("inv2", "agent", words(300), words(300))
	appendAll(t, svc, sess, h.Events[4:]...)
	stored := settled(t, svc)
	if len(stored) != 1 || len(stored[0].Covered) != 4 || stored[0].EndInvocationID != "inv1" {
		t.Fatalf("records %+v", stored)
	}
	if got := status(t, svc); got.WaitingCheckpoints != 0 {
		t.Errorf("%d calls still wait", got.WaitingCheckpoints)
	}
}

// A task under the minimum is a note. It stays one, however much is said about other things later.
func TestATaskUnderTheMinimumIsNeverWrittenByAccident(t *testing.T) {
	t.Parallel()
	cfg, oracle := marking(func(cfg *compaction.Config) { cfg.CheckpointTokens = 0 }) // 2,000
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := (&compactiontest.History{}).Turns(3, "agent")
	marks(h, "inv4", "something small")
	for i := range 6 {
		h.Turn(fmt.Sprint("later", i), "agent", words(500), words(500))
	}
	for i, ev := range h.Events {
		appendAll(t, svc, sess, ev)
		flush(t, svc)
		if i == 9 && status(t, svc).WaitingCheckpoints != 1 {
			t.Error("the call does not wait for the next turn")
		}
	}
	if got := status(t, svc); len(oracle.Requests()) != 0 || got.WaitingCheckpoints != 0 {
		t.Errorf("%d summaries, %d calls that wait", len(oracle.Requests()), got.WaitingCheckpoints)
	}
	result, err := svc.Checkpoint(t.Context(), ref, compaction.CheckpointOptions{Note: "by hand"})
	if err != nil || result.Skipped {
		t.Errorf("by hand: %+v, %v", result, err)
	}
}

func TestCallsThatAskForNoCheckpoint(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(h *compactiontest.History){
		"in a message of the user": func(h *compactiontest.History) {
			h.Add("inv5", "user", &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: "c0", Name: done}}}})
			h.Agent("inv5", "agent", "Well.")
		},
		"of a remote agent": func(h *compactiontest.History) {
			marks(h, "inv5", "elsewhere")
			for _, ev := range h.Events[9:] {
				ev.CustomMetadata = map[string]any{"a2a:task_id": "t1"}
			}
		},
		"refused": func(h *compactiontest.History) {
			marks(h, "inv5", "not run")
			h.Events[len(h.Events)-2].Content.Parts[0].FunctionResponse.Response = map[string]any{"error": "not run: the cost ceiling is reached"}
		},
		"of another tool": func(h *compactiontest.History) {
			h.User("inv5", "Go.").Call("inv5", "agent", "mark_task", "c0").Response("inv5", "agent", "mark_task", "Noted.", "c0").Agent("inv5", "agent", "Done.")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, oracle := marking()
			svc := newService(t, session.InMemoryService(), cfg)
			h := (&compactiontest.History{}).Turns(4, "agent")
			play(h)
			h.Turn("inv6", "agent", "And now?", "Now this.")
			appendAll(t, svc, create(t, svc), h.Events...)
			get(t, svc)
			if n := len(settled(t, svc)); n != 0 || len(oracle.Requests()) != 0 || status(t, svc).WaitingCheckpoints != 0 {
				t.Errorf("%d records, %d summaries", n, len(oracle.Requests()))
			}
		})
	}
}

// An agent in a parallel branch reports its own part: the checkpoint is of its branch alone.
func TestACheckpointIsOfTheBranchOfItsCall(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, inner session.Service) {
		cfg, _ := marking()
		svc := newService(t, inner, cfg)
		h := &compactiontest.History{}
		for i := range 3 {
			invocation := fmt.Sprint("inv", i)
			h.Branch("").User(invocation, "Both of you: "+compactiontest.Fact(i+1))
			for _, branch := range []string{"par.a", "par.b"} {
				h.Branch(branch).Agent(invocation, "agent_"+branch[4:], words(40))
			}
		}
		h.Branch("").User("inv3", "Finish it.")
		h.Branch("par.a").Call("inv3", "agent_a", done, "c1")
		h.Last().Content.Parts[0].FunctionCall.Args = map[string]any{"detail": "the part of a"}
		h.Response("inv3", "agent_a", done, "Noted.", "c1").Agent("inv3", "agent_a", "Done.")
		h.Branch("par.b").Agent("inv3", "agent_b", "Not done yet.")
		appendAll(t, svc, create(t, svc), h.Events...)
		stored := settled(t, svc)
		if len(stored) != 1 || stored[0].Branch != "par.a" || stored[0].Note != "the part of a" || len(stored[0].Covered) != 3 {
			t.Fatalf("records %+v", stored)
		}
		checkView(t, svc)
	})
}

// The checkpoint of a turn that was cut off is written at the beginning of the next one. It does not
// answer the calls of that next turn.
func TestTheNextTurnMayAskForACheckpointOfItsOwn(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, inner session.Service) {
		cfg, _ := marking(func(cfg *compaction.Config) { cfg.Synchronous = true })
		h := &compactiontest.History{}
		for i := range 4 {
			h.Turn(fmt.Sprint("inv", i), "agent", words(60), words(60))
		}
		h.User("inv5", words(300)).Call("inv5", "agent", done, "c1")
		h.Last().Content.Parts[0].FunctionCall.Args = map[string]any{"detail": "the first"}
		idleHistory(t, inner, h.Events)
		svc := newService(t, inner, cfg)
		sess := get(t, svc)
		at := len(h.Events)
		marks(h, "inv6", "the second")
		appendAll(t, svc, sess, h.Events[at])
		if got := records(t, rawEvents(t, svc)); len(got) != 1 || got[0].Note != "the first" || got[0].Through.InvocationID != "inv6" {
			t.Fatalf("%+v: the test shows nothing", got)
		}
		appendAll(t, svc, sess, h.Events[at+1:]...)
		got := records(t, rawEvents(t, svc))
		if len(got) != 2 || got[1].Kind != record.KindCheckpoint || got[1].Note != "the second" || len(got[1].Covered) != 2 {
			t.Errorf("records %+v", got)
		}
	})
}

// A second call behind the checkpoint of its turn, as by the second of two agents, asks for nothing more.
func TestOneTurnHasOneCheckpoint(t *testing.T) {
	t.Parallel()
	cfg, _ := marking()
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := (&compactiontest.History{}).Turns(4, "agent")
	marks(h, "inv5", "the first")
	appendAll(t, svc, sess, h.Events...)
	if n := len(settled(t, svc)); n != 1 {
		t.Fatalf("%d records", n)
	}
	at := len(h.Events)
	h.Call("inv5", "other", done, "c9").Response("inv5", "other", done, "Noted.", "c9").Agent("inv5", "other", words(200))
	h.Turn("inv6", "agent", words(200), words(200))
	appendAll(t, svc, sess, h.Events[at:]...)
	if n := len(settled(t, svc)); n != 1 {
		t.Errorf("%d records", n)
	}
}

// A checkpoint that a rolling summary or a merge has replaced still answers its call, although the call
// is visible and its turn would be enough for another one.
func TestAReplacedCheckpointStillAnswersItsCall(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 2} {
		eachStorage(t, func(t *testing.T, inner session.Service) {
			cfg, _ := marking(func(cfg *compaction.Config) { cfg.MaxSummaries = most })
			svc := newService(t, inner, cfg)
			sess := create(t, svc)
			h := &compactiontest.History{}
			for i := range 4 {
				h.Turn(fmt.Sprint("inv", i), "agent", words(100), words(100))
			}
			appendAll(t, svc, sess, h.Events...)
			if most == 2 {
				compact(t, svc, compaction.CompactOptions{KeepRecent: 3})
			}
			h.User("inv5", words(200)).Call("inv5", "agent", done, "c1").Response("inv5", "agent", done, "Noted.", "c1").Agent("inv5", "agent", words(200))
			appendAll(t, svc, sess, h.Events[8:]...)
			before := len(settled(t, svc))
			h.Turn("inv6", "agent", "And now?", "Now this.")
			appendAll(t, svc, sess, h.Events[12:]...)
			compact(t, svc, compaction.CompactOptions{KeepEvents: 5}) // takes the opening of the turn of the call
			h.Turn("inv7", "agent", "And now?", "Now this.")
			appendAll(t, svc, sess, h.Events[14:]...)
			checkpoints := 0
			for _, m := range settled(t, svc) {
				if m.Kind == record.KindCheckpoint {
					checkpoints++
				}
			}
			replaced := true
			for _, s := range status(t, svc).Summaries {
				replaced = replaced && s.Kind != record.KindCheckpoint
			}
			shown := slices.ContainsFunc(eventsOf(get(t, svc)), func(ev *session.Event) bool { return ev.ID == "e10" })
			if before != most || !replaced || !shown {
				t.Fatalf("%d records before, checkpoint replaced %t, call shown %t: the test shows nothing", before, replaced, shown)
			}
			if checkpoints != 1 {
				t.Errorf("%d checkpoints", checkpoints)
			}
		})
	}
}

// With everything on, the checkpoint goes before the window of the invocation trigger, and a
// compaction in the middle of the turn takes nothing of the request away.
func TestACheckpointGoesBeforeOtherTriggers(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	cfg.CheckpointTool, cfg.CheckpointTokens = done, compaction.Off
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := (&compactiontest.History{}).Turns(4, "agent")
	marks(h, "inv5", "the survey")
	at := len(h.Events) - 1
	appendAll(t, svc, sess, h.Events[:at]...)
	for i := range 8 { // tool rounds behind the call
		id := fmt.Sprint("r", i)
		h.Call("inv5", "agent", "look", id).Response("inv5", "agent", "look", words(100), id)
	}
	appendAll(t, svc, sess, h.Events[at+1:]...)
	if _, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepEvents: 2}); err != nil {
		t.Fatal(err)
	}
	appendAll(t, svc, sess, h.Agent("inv5", "agent", "All is done.").Last())
	appendAll(t, svc, sess, h.Turn("inv6", "agent", "And now?", "Now this.").Events[len(h.Events)-2:]...)
	kinds := map[record.Kind]int{}
	for _, m := range settled(t, svc) {
		kinds[m.Kind]++
	}
	if kinds[record.KindSummary] == 0 || kinds[record.KindCheckpoint] != 1 {
		t.Errorf("records %v", kinds)
	}
	checkView(t, svc)
}

// A summarizer that fails costs no turn and not the checkpoint: it is written once the summarizer works.
func TestACheckpointSurvivesAFailingSummarizer(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, inner session.Service) {
		oracle := &compactiontest.Oracle{}
		fails := true
		cfg, _ := marking(func(cfg *compaction.Config) {
			cfg.Summarizer = summarizer.Func(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
				if fails {
					return summarizer.Result{}, errors.New("down")
				}
				return oracle.Summarize(ctx, req)
			})
		})
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		h := (&compactiontest.History{}).Turns(4, "agent")
		marks(h, "inv5", "the survey")
		appendAll(t, svc, sess, h.Events...)
		if n, got := len(settled(t, svc)), status(t, svc); n != 0 || got.Failures == 0 || got.WaitingCheckpoints != 1 {
			t.Fatalf("%d records, %d failures, %d calls that wait", n, got.Failures, got.WaitingCheckpoints)
		}
		fails = false
		h.Turn("inv6", "agent", "And now?", "Now this.")
		appendAll(t, svc, sess, h.Events[len(h.Events)-2:]...)
		stored := settled(t, svc)
		if len(stored) != 1 || stored[0].Note != "the survey" {
			t.Errorf("records %+v", stored)
		}
	})
}

// A backlog that the summarizer cannot read at once becomes plain summaries and one checkpoint.
func TestALongTaskIsOneCheckpoint(t *testing.T) {
	t.Parallel()
	cfg, oracle := marking(func(cfg *compaction.Config) { cfg.CheckpointTokens = 300 })
	cfg.Summarizer = small{oracle}
	svc := newService(t, session.InMemoryService(), cfg)
	h := &compactiontest.History{}
	for i := range 40 {
		h.Turn(fmt.Sprint("inv", i), "agent", words(100), words(100))
	}
	marks(h, "last", "the long one")
	appendAll(t, svc, create(t, svc), h.Events...)
	stored := settled(t, svc)
	covered, checkpoints := 0, 0
	for _, m := range stored {
		covered += len(m.Covered)
		if m.Kind == record.KindCheckpoint {
			checkpoints++
			if m.Note != "the long one" {
				t.Errorf("note %q", m.Note)
			}
		} else if m.Note != "" {
			t.Errorf("a part has the note %q", m.Note)
		}
	}
	if checkpoints != 1 || len(stored) < 3 || covered != 80 {
		t.Errorf("%d checkpoints in %d records over %d of 80 events", checkpoints, len(stored), covered)
	}
}

// small is a summarizer that reads little at a time.
type small struct{ *compactiontest.Oracle }

func (small) MaxInputTokens() int { return 1000 }

func TestNotesAreCleanAndBounded(t *testing.T) {
	t.Parallel()
	cfg, _ := marking()
	svc := newService(t, session.InMemoryService(), cfg)
	h := (&compactiontest.History{}).Turns(4, "agent")
	marks(h, "inv5", "a\x00b\x1b[31m", strings.Repeat("é", 1500), strings.Repeat("x", 1500), strings.Repeat("y", 1500), strings.Repeat("z", 1500), strings.Repeat("w", 1500))
	appendAll(t, svc, create(t, svc), h.Events...)
	stored := settled(t, svc)
	if len(stored) != 1 {
		t.Fatalf("%d records", len(stored))
	}
	if note := stored[0].Note; !strings.HasPrefix(note, "ab[31m; é") || len([]rune(note)) != 4000 || !strings.HasSuffix(note, "…") {
		t.Errorf("%d characters: %.20q", len([]rune(note)), note)
	}
}

func TestCheckpointSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*compaction.Config){
		"CheckpointTokens is -2":  func(cfg *compaction.Config) { cfg.CheckpointTool, cfg.CheckpointTokens = done, -2 },
		"CheckpointTokens is 500": func(cfg *compaction.Config) { cfg.CheckpointTokens = 500 },
		`CheckpointTool is " x"`:  func(cfg *compaction.Config) { cfg.CheckpointTool = " x" },
	} {
		cfg, _ := oracleConfig()
		change(&cfg)
		if _, err := compaction.NewCompactionService(session.InMemoryService(), cfg); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
