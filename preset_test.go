package longsession_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// The models of these tests have a window of 20,000 tokens, of which a tenth is for the reply.
const (
	houseWindow    = 20_000
	houseEffective = 18_000
	fixedPart      = 330 // about what instruction and tools add to a prompt
)

func houseModels(t *testing.T) *tokens.Registry {
	t.Helper()
	registry, err := tokens.NewRegistry(
		tokens.Model{Name: "house-large", ContextWindow: houseWindow, MaxOutputTokens: houseWindow / 10, InputPrice: 10, OutputPrice: 10, Tier: tokens.TierFrontier},
		tokens.Model{Name: "house-middle", ContextWindow: houseWindow, MaxOutputTokens: houseWindow / 10, InputPrice: 10, OutputPrice: 10, Tier: tokens.TierMid},
		tokens.Model{Name: "house-little", ContextWindow: houseWindow, MaxOutputTokens: houseWindow / 10, InputPrice: 10, OutputPrice: 10, Tier: tokens.TierSmall},
		tokens.Model{Name: "house-plain", ContextWindow: houseWindow, MaxOutputTokens: houseWindow / 10, InputPrice: 10, OutputPrice: 10},
		tokens.Model{Name: "house-dear", ContextWindow: houseWindow, MaxOutputTokens: houseWindow / 10, InputPrice: 1000, OutputPrice: 1000, Tier: tokens.TierFrontier},
		tokens.Model{Name: "house-free", ContextWindow: houseWindow, MaxOutputTokens: houseWindow / 10, Tier: tokens.TierFrontier},
	)
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

// sources sets the same texts ("key=value") in one source each.
var settingSources = map[preset.Source]func(*preset.In) *preset.Values{
	preset.FromFlag:        func(in *preset.In) *preset.Values { return &in.Flag },
	preset.FromEnvironment: func(in *preset.In) *preset.Values { return &in.Environment },
	preset.FromFile:        func(in *preset.In) *preset.Values { return &in.File },
	preset.FromApp:         func(in *preset.In) *preset.Values { return &in.App },
}

func setTexts(t *testing.T, v *preset.Values, texts ...string) {
	t.Helper()
	for _, text := range texts {
		key, value, _ := strings.Cut(text, "=")
		if err := v.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
}

// settled resolves settings. The model is house-large unless a source names another.
func settled(t *testing.T, in preset.In) preset.Settings {
	t.Helper()
	in.Registry = houseModels(t)
	if in.App.Model == nil {
		setTexts(t, &in.App, "agent.model=house-large")
	}
	s, err := preset.Resolve(in)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// staged is a run of the real runner under settings.
type staged struct {
	t      *testing.T
	stack  *longsession.Stack
	runner *runner.Runner
	llm    *compactiontest.Model
	ref    compaction.SessionRef
	spent  []tokens.Nano          // by each call of the agent's model
	sent   []*model.LLMRequest    // as the model got them
	seen   chan guard.Observation // by the guard's observer
}

// stage makes one. answer is the agent's model; the usage of each answer is filled in from its request.
func stage(t *testing.T, s preset.Settings, answer func(n int, req *model.LLMRequest) *model.LLMResponse, change func(*longsession.Config), tools ...tool.Tool) *staged {
	t.Helper()
	run := &staged{t: t, ref: compaction.SessionRef{AppName: "app", UserID: "u", SessionID: "s"}, seen: make(chan guard.Observation, 10_000)}
	llm := compactiontest.NewModel(s.Model.Value, func(n int, req *model.LLMRequest) *model.LLMResponse {
		r := answer(n, req)
		prompt := int32(tokens.OfContents(req.Contents)) + fixedPart
		r.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: prompt, CandidatesTokenCount: 10, TotalTokenCount: prompt + 10}
		row, _ := houseModels(t).Lookup(s.Model.Value)
		run.spent = append(run.spent, row.Nanos(tokens.UsageOf(r.UsageMetadata)))
		run.sent = append(run.sent, req)
		return r
	})
	cfg, err := longsession.FromSettings(s, llm)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Registry = houseModels(t)
	cfg.Guard.Observer = func(_ context.Context, o guard.Observation) { run.seen <- o }
	cfg.Compaction.Summarizer, cfg.Compaction.Synchronous = summarizer.Extractive{}, true
	if change != nil {
		change(&cfg)
	}
	run.llm, run.stack = llm, newStack(t, cfg)
	root, err := llmagent.New(llmagent.Config{Name: "clerk", Model: run.stack.Model(llm), Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	run.runner, err = runner.New(runner.Config{AppName: "app", Agent: root, SessionService: run.stack.Sessions, PluginConfig: run.stack.PluginConfig(), AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// observed counts what the guard has reported so far.
func (s *staged) observed(kind guard.ObservationKind) (n int) {
	s.t.Helper()
	if err := s.stack.Guard.Flush(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	var all []guard.Observation
	for len(s.seen) > 0 {
		all = append(all, <-s.seen)
	}
	for _, o := range all {
		if o.Kind == kind {
			n++
		}
		s.seen <- o
	}
	return n
}

// say plays one turn and returns its events and its error.
func (s *staged) say(text string) ([]*session.Event, error) {
	s.t.Helper()
	var events []*session.Event
	for ev, err := range s.runner.Run(s.t.Context(), s.ref.UserID, s.ref.SessionID, genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
	return events, nil
}

// newestPrompt and largestPrompt are estimated sizes of requests, as shares of the effective window.
func (s *staged) newestPrompt() float64 {
	requests := s.llm.Requests()
	return usedBy(requests[len(requests)-1])
}

func (s *staged) largestPrompt() (largest float64) {
	for _, contents := range s.llm.Requests() {
		largest = max(largest, usedBy(contents))
	}
	return largest
}

func usedBy(contents []*genai.Content) float64 {
	return float64(tokens.OfContents(contents)+fixedPart) / houseEffective
}

func (s *staged) compacted() bool {
	s.t.Helper()
	status, err := s.stack.Sessions.Status(s.t.Context(), s.ref)
	if err != nil {
		s.t.Fatal(err)
	}
	return len(status.Summaries) > 0
}

// share is a text of about that share of the effective window.
func share(of float64) string {
	words := int(of * houseEffective)
	return strings.Repeat("stone ", words)
}

func say(int, *model.LLMRequest) *model.LLMResponse { return compactiontest.Say("Noted.") }

// compactsAt plays turns of 2% each until the session is compacted, and returns the share of the window that
// was used then.
func compactsAt(t *testing.T, s preset.Settings, change func(*longsession.Config)) float64 {
	t.Helper()
	run := stage(t, s, say, change)
	for range 60 {
		if _, err := run.say(share(0.02)); err != nil {
			t.Fatal(err)
		}
		if run.compacted() {
			return run.largestPrompt()
		}
	}
	t.Fatalf("the window is used to %v only", run.newestPrompt())
	return 0
}

// TestThresholdsOfSettingsTakeEffect: a session is compacted at the share that each source sets, by each rule.
func TestThresholdsOfSettingsTakeEffect(t *testing.T) {
	t.Parallel()
	type row struct {
		in   preset.In
		want float64
	}
	rows := map[string]row{}
	add := func(name string, want float64, set func(in *preset.In)) {
		var in preset.In
		setTexts(t, &in.App, "compaction.invocation_threshold=0") // size alone decides
		set(&in)
		rows[name] = row{in, want}
	}
	for source, values := range settingSources {
		for text, want := range map[string]float64{
			"compaction.threshold=0.5": 0.5, "compaction.threshold=0": 0.95 /* the hard limit alone */, "compaction.threshold_by_tier.frontier=0.3": 0.3, "compaction.thresholds=standard": 0.7,
			"session.task_class=debug": 0.65, "session.task_class=review": 0.75,
		} {
			add(fmt.Sprintf("%s by %s", text, source), want, func(in *preset.In) { setTexts(t, values(in), text) })
		}
	}
	for model, want := range map[string]float64{"house-large": 0.85, "house-middle": 0.65, "house-little": 0.35, "house-plain": 0.85} {
		add("the tier of "+model, want, func(in *preset.In) { setTexts(t, &in.File, "agent.model="+model) })
	}
	add("the late pair", 0.95, func(in *preset.In) { setTexts(t, &in.File, "compaction.thresholds=late") })
	add("a flag over a tier's entry in a file", 0.5, func(in *preset.In) {
		setTexts(t, &in.Flag, "compaction.threshold=0.5")
		setTexts(t, &in.File, "compaction.threshold_by_tier.frontier=0.3")
	})
	add("a tier's entry over a plain one of the same file", 0.3, func(in *preset.In) {
		setTexts(t, &in.File, "compaction.threshold=0.5", "compaction.threshold_by_tier.frontier=0.3")
	})
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := compactsAt(t, settled(t, r.in), nil)
			if got < r.want-0.03 || got > r.want+0.03 {
				t.Errorf("compacted at %.3f, want %.3f", got, r.want)
			}
		})
	}
}

// TestTurnsOfSettingsTakeEffect: a session is compacted after as many turns as are set, and not at all with
// compaction off.
func TestTurnsOfSettingsTakeEffect(t *testing.T) {
	t.Parallel()
	for source, values := range settingSources {
		for text, want := range map[string]int{
			"session.ask=auto":                  0, // prices decide, and so short a session is not worth a summary
			"compaction.invocation_threshold=3": 3, "compaction.invocation_threshold=0": 0, "compaction.enabled=false": 0,
		} {
			t.Run(fmt.Sprintf("%s by %s", text, source), func(t *testing.T) {
				t.Parallel()
				var in preset.In
				setTexts(t, values(&in), text)
				run, got := stage(t, settled(t, in), say, nil), 0
				for turn := 1; turn <= 8 && got == 0; turn++ {
					if _, err := run.say(share(0.03)); err != nil {
						t.Fatal(err)
					}
					if run.compacted() {
						got = turn
					}
				}
				if got != want {
					t.Errorf("compacted after turn %d, want %d", got, want)
				}
			})
		}
	}
}

// TestTheHardLimitOfSettingsTakesEffect: a message that would exceed it is sent in a smaller request.
func TestTheHardLimitOfSettingsTakesEffect(t *testing.T) {
	t.Parallel()
	for source, values := range settingSources {
		for text, shrinks := range map[string]bool{"compaction.block_threshold=0.5": true, "compaction.block_threshold=0.9": false} {
			t.Run(fmt.Sprintf("%s by %s", text, source), func(t *testing.T) {
				t.Parallel()
				var in preset.In
				setTexts(t, &in.App, "compaction.invocation_threshold=0", "compaction.threshold=0.45")
				setTexts(t, values(&in), text)
				// In the background, so that only the hard limit has a turn wait. Otherwise no summary is ready before the
				// request is sent.
				sent := make(chan struct{})
				defer close(sent)
				run := stage(t, settled(t, in), say, func(cfg *longsession.Config) {
					cfg.Compaction.Synchronous = false
					cfg.Compaction.Summarizer = summarizer.Func(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
						if !shrinks {
							<-sent
						}
						return summarizer.Extractive{}.Summarize(ctx, req)
					})
				})
				for range 20 {
					if _, err := run.say(share(0.02)); err != nil {
						t.Fatal(err)
					}
				}
				if before := run.newestPrompt(); run.compacted() || before < 0.35 {
					t.Fatalf("%.3f of the window are used, and it was compacted: %v", before, run.compacted())
				}
				if _, err := run.say(share(0.2)); err != nil {
					t.Fatal(err)
				}
				if got := run.newestPrompt(); got <= 0.5 != shrinks {
					t.Errorf("the request takes up %.3f of the window, at most 0.5: want %v", got, shrinks)
				}
			})
		}
	}
}

// TestThresholdsOfSettingsHoldWithoutTheBudget: compaction has them by itself.
func TestThresholdsOfSettingsHoldWithoutTheBudget(t *testing.T) {
	t.Parallel()
	var in preset.In
	setTexts(t, &in.Flag, "compaction.invocation_threshold=0", "compaction.threshold=0.45", "compaction.block_threshold=0.5")
	bare := func(cfg *longsession.Config) { cfg.Disable = []longsession.Layer{longsession.LayerBudget} }
	if got := compactsAt(t, settled(t, in), bare); got < 0.42 || got > 0.48 {
		t.Errorf("compacted at %.3f, want 0.45", got)
	}
	run := stage(t, settled(t, in), say, func(cfg *longsession.Config) {
		bare(cfg)
		cfg.Compaction.Synchronous = false
	})
	for range 20 {
		if _, err := run.say(share(0.02)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := run.say(share(0.2)); err != nil {
		t.Fatal(err)
	}
	if got := run.newestPrompt(); got > 0.5 {
		t.Errorf("the request takes up %.3f of the window, with a hard limit of 0.5", got)
	}
}

func TestSettingsForAnotherModelAreRefused(t *testing.T) {
	t.Parallel()
	s := settled(t, preset.In{})
	for name, row := range map[string]struct {
		settings preset.Settings
		llm      model.LLM
		want     string
	}{
		"another model":      {s, speaker("house-little"), "Model is \"house-little\": the settings are for house-large (app agent.model)"},
		"no model":           {s, nil, "Model is nil: give the model that the settings name: house-large"},
		"a nil model":        {s, (*compactiontest.Model)(nil), "Model is nil"},
		"settings of no use": {preset.Settings{}, speaker("house-large"), "preset.Resolve"},
	} {
		if _, err := longsession.FromSettings(row.settings, row.llm); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, row.want)
		}
	}
	if _, err := longsession.FromSettings(s, speaker("publishers/house/models/House-Large")); err != nil {
		t.Errorf("a name with a publisher: %v", err)
	}
}
