package contexttool_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/agenttool"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/record"
)

func detail(text string) map[string]any { return map[string]any{"detail": text} }

func TestMarkTaskDoneSaysWhatFollows(t *testing.T) {
	t.Parallel()
	mark := one(contexttool.MarkTaskDoneName, detail("the survey"))
	for name, row := range map[string]struct {
		turns  int
		tokens int
		want   string
		// written is after how many more turns the checkpoint is there; -1: never.
		written int
	}{
		"enough":              {4, 1000, "will be written when this turn has ended", 0},
		"only with this turn": {0, compaction.Off, "once the next turn has ended", 1},
		"too little":          {1, 50_000, "No checkpoint will be written", -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, contexttool.Config{CheckpointTokens: row.tokens}, nil, talk(map[string]*model.LLMResponse{"Finish": mark}), nil)
			for range row.turns {
				a.ask("Go on. " + long)
			}
			a.ask("Finish it. " + long)
			if answers := a.answers(contexttool.MarkTaskDoneName); len(answers) != 1 || !strings.Contains(answers[0]["result"].(string), row.want) || answers[0]["no_op"] != nil {
				t.Fatalf("answers %v", answers)
			}
			for i := range 3 {
				got, want := a.records(), 0
				if row.written >= 0 && i >= row.written {
					want = 1
				}
				if len(got) != want || want == 1 && (got[0].Kind != record.KindCheckpoint || got[0].Note != "the survey") {
					t.Errorf("%d turns later: %d records, want %d", i, len(got), want)
				}
				a.ask("And now? " + long)
			}
		})
	}
}

// A model that loves the tool calls it 16 times in a turn, in one round and in several. There is one
// checkpoint, and all but the first call are told to stop.
func TestMarkTaskDoneSixteenTimes(t *testing.T) {
	t.Parallel()
	calls := 0
	a := newApp(t, contexttool.Config{CheckpointTokens: compaction.Off}, nil, func(n int, _ *model.LLMRequest) *model.LLMResponse {
		if n >= 4 && calls < 16 {
			calls += 4
			return compactiontest.CallTool(contexttool.MarkTaskDoneName, detail("a"), detail("b"), detail("a"), detail("c"))
		}
		return compactiontest.Say(long)
	}, nil)
	for range 6 {
		a.ask("Go on. " + long)
	}
	answers := a.answers(contexttool.MarkTaskDoneName)
	noOps := 0
	for i, answer := range answers {
		if answer["no_op"] == true {
			noOps++
			if !strings.Contains(answer["result"].(string), "Already noted in this turn") {
				t.Errorf("answer %d: %v", i, answer)
			}
		}
	}
	if len(answers) != 16 || noOps != 15 || answers[0]["no_op"] != nil {
		t.Errorf("%d answers, %d of them no-ops", len(answers), noOps)
	}
	if got := a.records(); len(got) != 1 || got[0].Note != "a; b; c" {
		t.Errorf("%d records", len(got))
	}
}

func TestMarkTaskDoneNeedsADetail(t *testing.T) {
	t.Parallel()
	a := newApp(t, contexttool.Config{CheckpointTokens: compaction.Off}, nil, talk(map[string]*model.LLMResponse{
		"Empty": one(contexttool.MarkTaskDoneName, detail("  ")), "None": one(contexttool.MarkTaskDoneName, nil),
	}), nil)
	for _, text := range []string{"Hello. " + long, "Empty. " + long, "None. " + long, "Well? " + long} {
		a.ask(text)
	}
	answers := a.answers(contexttool.MarkTaskDoneName)
	if len(answers) != 2 || answers[0]["error"] == nil || answers[1]["error"] == nil {
		t.Errorf("answers %v", answers)
	}
	if n := len(a.records()); n != 0 {
		t.Errorf("%d records for calls that were refused", n)
	}
}

// An agent that runs as a tool has a session of its own, which nobody keeps.
func TestAnAgentThatRunsAsAToolIsToldSo(t *testing.T) {
	t.Parallel()
	for _, name := range []string{contexttool.MarkTaskDoneName, contexttool.CompactContextName} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []map[string]any
			inner := compactiontest.NewModel("inner", func(n int, req *model.LLMRequest) *model.LLMResponse {
				for _, part := range req.Contents[len(req.Contents)-1].Parts {
					if part.FunctionResponse != nil {
						told = append(told, part.FunctionResponse.Response)
						return compactiontest.Say("done")
					}
				}
				args := map[string]any{}
				if name == contexttool.MarkTaskDoneName {
					args = detail("inner work")
				}
				return one(name, args)
			})
			a := newApp(t, contexttool.Config{CheckpointTokens: compaction.Off}, nil, talk(map[string]*model.LLMResponse{
				"Delegate": one("expert", map[string]any{"request": "work"}),
			}), func(a *app) agent.Agent {
				made, err := llmagent.New(llmagent.Config{Name: "bot", Model: a.model, Tools: []tool.Tool{agenttool.New(a.agent("expert", inner), nil)}})
				if err != nil {
					t.Fatal(err)
				}
				return made
			})
			for _, text := range []string{"Hello. " + long, "Delegate it. " + long, "Well? " + long} {
				a.ask(text)
			}
			if len(told) != 1 || told[0]["no_op"] != true || !strings.Contains(told[0]["result"].(string), "not kept") {
				t.Errorf("told %v", told)
			}
			if n := len(a.records()); n != 0 {
				t.Errorf("%d records", n)
			}
		})
	}
}

// Two agents in parallel branches report their own parts, each in a checkpoint of its branch.
func TestParallelAgentsHaveCheckpointsOfTheirOwn(t *testing.T) {
	t.Parallel()
	a := newApp(t, contexttool.Config{CheckpointTokens: compaction.Off}, nil, nil, func(a *app) agent.Agent {
		var subs []agent.Agent
		for _, name := range []string{"left", "right"} {
			turn := 0
			subs = append(subs, a.agent(name, compactiontest.NewModel(name, func(n int, req *model.LLMRequest) *model.LLMResponse {
				turn++
				if turn == 3 {
					return one(contexttool.MarkTaskDoneName, detail("the part of "+name))
				}
				return compactiontest.Say(name + ": " + long)
			})))
		}
		made, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "both", SubAgents: subs}})
		if err != nil {
			t.Fatal(err)
		}
		return made
	})
	for range 4 {
		a.ask("Go on. " + long)
	}
	notes := map[string]string{}
	for _, m := range a.records() {
		notes[m.Branch] = m.Note
	}
	if len(a.records()) != 2 || notes["both.left"] != "the part of left" || notes["both.right"] != "the part of right" {
		t.Errorf("%d records: %v", len(a.records()), notes)
	}
}

func TestModesOfferWhatTheySay(t *testing.T) {
	t.Parallel()
	svc := func(cfg contexttool.Config) *compaction.CompactionSessionService {
		made, err := compaction.NewCompactionService(session.InMemoryService(), cfg.Compaction(compaction.Config{Summarizer: &compactiontest.Oracle{}}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = made.Close(t.Context()) })
		return made
	}
	for _, row := range []struct {
		cfg   contexttool.Config
		tools string
		tool  string
		mode  contexttool.Mode
	}{
		{contexttool.Config{}, "", "", contexttool.NoCheckpoints},
		{contexttool.Config{Enabled: true}, "mark_task_done compact_context", "mark_task_done", contexttool.ByModel},
		{contexttool.Config{Enabled: true, Checkpoint: contexttool.ByOperator}, "compact_context", "", contexttool.ByOperator},
		{contexttool.Config{Enabled: true, Checkpoint: contexttool.NoCheckpoints}, "compact_context", "", contexttool.NoCheckpoints},
		{contexttool.Config{Enabled: true, OmitCompactContext: true}, "mark_task_done", "mark_task_done", contexttool.ByModel},
		{contexttool.Config{Enabled: true, Checkpoint: contexttool.NoCheckpoints, OmitCompactContext: true}, "", "", contexttool.NoCheckpoints},
	} {
		s := svc(row.cfg)
		got, err := contexttool.New(s, row.cfg)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, offered := range got.Tools() {
			names = append(names, offered.Name())
		}
		if strings.Join(names, " ") != row.tools || s.Settings().CheckpointTool != row.tool || got.Checkpoint() != row.mode {
			t.Errorf("%+v: offers %q, checkpoint tool %q, mode %s", row.cfg, names, s.Settings().CheckpointTool, got.Checkpoint())
		}
	}
}

func TestBadSettingsAreRefusedByName(t *testing.T) {
	t.Parallel()
	svc, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{Summarizer: &compactiontest.Oracle{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close(t.Context()) })
	for want, try := range map[string]func() error{
		`Checkpoint is "both"`: func() error {
			_, err := contexttool.New(svc, contexttool.Config{Checkpoint: "both"})
			return err
		},
		"CheckpointTokens is -5": func() error {
			_, err := contexttool.New(svc, contexttool.Config{CheckpointTokens: -5})
			return err
		},
		"CompactEvery is -3": func() error {
			_, err := contexttool.New(svc, contexttool.Config{CompactEvery: -3})
			return err
		},
		`compaction.Config.CheckpointTool is ""`: func() error {
			_, err := contexttool.New(svc, contexttool.Config{Enabled: true})
			return err
		},
		"Every is -2": func() error {
			_, err := contexttool.CompactContext(svc, contexttool.Options{Every: -2})
			return err
		},
	} {
		var refused *compaction.ConfigError
		if err := try(); err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &refused) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := contexttool.MarkTaskDone(nil, contexttool.Options{}); err == nil {
		t.Error("a nil service is accepted")
	}
}
