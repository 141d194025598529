package config_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/config"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// template is a prompt for summaries.
const template = "Summarize briefly: {{history}}"

// result is what comes of settings.
type result struct {
	s config.Settings
	c longsession.Config
}

// effects has a row for each key: a value, where it takes effect, and what is there then. A value is never the default.
var effects = []struct {
	key   string
	value string // in TOML
	with  string // other lines of the file
	at    func(r result) any
	want  any
}{
	{"session.preset", `"longrun"`, "", func(r result) any { return r.c.Guard.Turn.ModelCalls }, 26},
	{"session.task_class", `"chat"`, "", func(r result) any { return r.c.Compaction.SafetyRatio }, 0.85},
	{"session.unattended", "true", "agent.max_session_cost_usd = 5", func(r result) any { return r.c.Guard.Watchdog.Mode }, watchdog.Stop},
	{"agent.provider", `"anthropic"`, "", func(r result) any { return r.c.Model.Name() }, "claude-sonnet-4-6"},
	{"agent.model", `"claude-opus-4-7"`, "", func(r result) any { return r.c.Model.Name() }, "claude-opus-4-7"},
	{"agent.agentic_small_model", `"gemini-2.5-flash-lite"`, "agent.agentic_tools = true", func(r result) any { return r.s.SmallModel.Value }, "gemini-2.5-flash-lite"},
	{"agent.agentic_tools", "true", "", func(r result) any { return r.s.AgenticTools.Value }, true},
	{"session.ask", `"always"`, "", func(r result) any { return r.s.Ask.Value }, preset.AskAlways},
	{"compaction.enabled", "false", "", func(r result) any {
		return [2]any{r.c.Compaction.SafetyRatio, r.c.Compaction.InvocationThreshold}
	}, [2]any{float64(compaction.Off), compaction.Off}},
	{"compaction.thresholds", `"late"`, "", func(r result) any { return r.c.Budget.Thresholds.Compact }, 0.95},
	{"compaction.threshold", "0.5", "", func(r result) any { return r.c.Compaction.SafetyRatio }, 0.5},
	{"compaction.threshold_by_tier.frontier", "0.51", "agent.model = 'claude-opus-4-7'", func(r result) any { return r.c.Compaction.SafetyRatio }, 0.51},
	{"compaction.threshold_by_tier.mid", "0.52", "agent.model = 'claude-sonnet-4-6'", func(r result) any { return r.c.Compaction.SafetyRatio }, 0.52},
	{"compaction.threshold_by_tier.small", "0.3", "agent.model = 'claude-haiku-4-5'", func(r result) any { return r.c.Compaction.SafetyRatio }, 0.3},
	{"compaction.block_threshold", "0.9", "", func(r result) any { return r.c.Compaction.BlockRatio }, 0.9},
	{"compaction.invocation_threshold", "7", "", func(r result) any { return r.c.Compaction.InvocationThreshold }, 7},
	{"compaction.invocation_threshold", "0", "", func(r result) any { return r.c.Compaction.InvocationThreshold }, compaction.Off},
	{"compaction.overlap_size", "3", "", func(r result) any { return r.c.Compaction.OverlapSize }, 3},
	{"compaction.token_threshold", "60000", "", func(r result) any { return r.c.Compaction.TokenThreshold }, 60_000},
	{"compaction.prompt_template", `"` + template + `"`, "", func(r result) any { return r.c.Compaction.PromptTemplate }, template},
	{"compaction.prompt_pack", `"handover"`, "", func(r result) any { return r.c.Compaction.Pack }, summarizer.PackHandover},
	{"safety.watchdog_calls_alone", "true", "", func(r result) any { return r.c.Guard.Watchdog.CallsAlone }, true},
	{"session.checkpoint", `"model"`, "", func(r result) any { return r.c.ContextTools.Checkpoint }, contexttool.ByModel},
	{"session.compact_context", "true", "", func(r result) any { return r.c.ContextTools.Enabled && !r.c.ContextTools.OmitCompactContext }, true},
	{"agent.max_turn_cost_usd", "0.25", "", func(r result) any { return r.c.Guard.Turn.USD }, 25 * tokens.Cent},
	{"agent.max_session_cost_usd", "3.5", "", func(r result) any { return r.c.Guard.Session.USD }, 350 * tokens.Cent},
	{"agent.no_ceiling", "true", "session.unattended = true", func(r result) any { return r.s.Unattended.Value && r.c.Guard.Session.USD == 0 }, true},
	{"agent.max_tool_iterations", "25", "", func(r result) any { return r.c.Guard.Turn.ModelCalls }, 26},
	{"agent.landing", `"hard"`, "", func(r result) any { return r.c.Guard.Landing }, guard.LandingHard},
	{"agent.unpriced", `"refuse"`, "", func(r result) any { return r.c.Guard.Unpriced }, guard.UnpricedRefuse},
	{"agent.context_budget", "100000", "", func(r result) any {
		return [3]int{r.c.Compaction.ContextWindow, r.c.Budget.ContextWindow, r.c.ToolSearch.ContextWindow}
	}, [3]int{100_000, 100_000, 100_000}},
	{"agent.max_output_tokens", "4096", "", func(r result) any {
		return [3]int{r.c.Compaction.MaxOutputTokens, r.c.Budget.MaxOutputTokens, r.c.ToolSearch.MaxOutputTokens}
	}, [3]int{4096, 4096, 4096}},
	{"agent.result_offload_threshold", "2048", "", func(r result) any { return r.c.ToolResults.StubAbove }, 2048},
	{"agent.tool_deferral_threshold", "0.2", "", func(r result) any { return r.c.ToolSearch.Threshold }, 0.2},
	{"agent.server_timeout", "20", "", func(r result) any { return r.s.ServerTimeout() }, 20 * time.Second},
	{"agent.base_url", `"http://localhost:11434/v1"`, "", func(r result) any { return r.s.BaseURL() }, "http://localhost:11434/v1"},
	{"session.context.max_tool_result_tokens", "500", "", func(r result) any {
		return [4]int{r.c.ToolResults.MaxTokens, r.c.ToolResults.StubAbove, r.c.ToolResults.MaxBytes, r.c.ToolResults.MaxLines}
	}, [4]int{500, compaction.Off, compaction.Off, compaction.Off}},
	{"session.context.tool_result_truncation", `"both"`, "", func(r result) any {
		return [2]any{r.c.ToolResults.Strategy, r.c.ToolResults.StubAbove}
	}, [2]any{toolresult.Both, toolresult.Off}},
	{"session.context.tool_result_max_bytes", "9000", "", func(r result) any { return r.c.ToolResults.MaxBytes }, 9000},
	{"session.context.tool_result_max_lines", "300", "", func(r result) any { return r.c.ToolResults.MaxLines }, 300},
	{"session.context.tool_result_head_lines", "100", "", func(r result) any { return r.c.ToolResults.HeadLines }, 100},
	{"session.context.tool_result_tail_lines", "50", "", func(r result) any { return r.c.ToolResults.TailLines }, 50},
	{"session.context.tool_result_keep_first", "1", "", func(r result) any { return r.c.Masking.KeepFirst }, 1},
	{"session.context.tool_result_keep_last", "3", "", func(r result) any { return r.c.Masking.KeepLast }, 3},
	{"session.on_disconnect", `"pause"`, "", func(r result) any { return originOf(r.s, "session.on_disconnect") != "" }, true},
	{"session.recall", "false", "", func(r result) any { return r.c.Recall.Disabled }, true},
	{"safety.watchdog", `"note"`, "", func(r result) any { return r.c.Guard.Watchdog.Mode }, watchdog.Note},
	{"safety.small_tier_parent", `"allow"`, "agent.model = 'claude-haiku-4-5'", func(r result) any { return len(r.s.Notes) }, 0},
	{"compaction.safety_ratio", "0.6", "", func(r result) any { return r.c.Compaction.SafetyRatio }, 0.6},
	{"agent.compact_trigger", "0.95", "", func(r result) any { return r.c.Budget.Thresholds.Compact }, 0.95},
	{"agent.hard_block", "0.97", "", func(r result) any { return r.c.Budget.Thresholds.Block }, 0.97},
	{"session.context.max_history_tokens", "20000", "", func(r result) any { return r.c.Compaction.TokenThreshold }, 20_000},
	{"session.max_tool_iterations", "25", "", func(r result) any { return r.c.Guard.Turn.ModelCalls }, 26},
}

func originOf(s config.Settings, key string) string {
	for _, l := range s.Lines() {
		if l.Key == key {
			return l.Origin
		}
	}
	return ""
}

// configOf makes a config of settings, with a model of the name that they have.
func configOf(t *testing.T, s config.Settings) longsession.Config {
	t.Helper()
	c, err := s.Config(compactiontest.NewModel(s.Model.Value, nil))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func resolve(t *testing.T, in config.In) result {
	t.Helper()
	s, err := config.Resolve(in)
	if err != nil {
		t.Fatal(err)
	}
	return result{s, configOf(t, s)}
}

func parse(t *testing.T, text string) config.Values {
	t.Helper()
	v, err := config.Parse("s.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEveryKeyTakesEffectFromEverySource(t *testing.T) {
	rows := map[string]bool{}
	for _, row := range effects {
		rows[row.key] = true
	}
	for _, key := range config.Keys() {
		if !rows[key.Name] {
			t.Errorf("%s has no row in this table", key.Name)
		}
		if key.Kind == "" || key.Help == "" || key.SameAs == "" && (key.Default == "" || key.Effect == "" || key.Flag == "") {
			t.Errorf("%s has no kind, help, default, effect or flag: %+v", key.Name, key)
		}
	}
	for _, row := range effects {
		t.Run(row.key, func(t *testing.T) {
			if s, err := config.Resolve(config.In{File: parse(t, row.with)}); err == nil { // it needs agent.no_ceiling
				if got := row.at(result{s, configOf(t, s)}); got == row.want {
					t.Errorf("without the key it is %v, too: choose another value", got)
				}
			}
			inFile := resolve(t, config.In{File: parse(t, row.key+" = "+row.value+"\n"+row.with)})
			if got := row.at(inFile); got != row.want {
				t.Errorf("in a file: %v, want %v", got, row.want)
			}
			accepted(t, inFile.c)
			key := keyOf(t, row.key)
			if key.SameAs != "" {
				if key.Environment() != "" || key.Flag != "" {
					t.Errorf("another name has the flag %q and the variable %q", key.Flag, key.Environment())
				}
				return
			}
			text := strings.Trim(row.value, `"`)
			environment, err := config.Environment(func(name string) (string, bool) { return text, name == key.Environment() })
			if err != nil {
				t.Fatal(err)
			}
			if got := row.at(resolve(t, config.In{Environment: environment, File: parse(t, row.with)})); got != row.want {
				t.Errorf("by %s: %v, want %v", key.Environment(), got, row.want)
			}
			var flags config.Values
			if err := flags.Set(row.key, text); err != nil {
				t.Fatal(err)
			}
			if got := row.at(resolve(t, config.In{Flag: flags, File: parse(t, row.with)})); got != row.want {
				t.Errorf("by --%s: %v, want %v", key.Flag, got, row.want)
			}
		})
	}
}

func keyOf(t *testing.T, name string) config.Key {
	t.Helper()
	for _, key := range config.Keys() {
		if key.Name == name {
			return key
		}
	}
	t.Fatalf("no key %s", name)
	return config.Key{}
}

// accepted requires that a stack can be made of a config.
func accepted(t *testing.T, c longsession.Config) {
	t.Helper()
	stack, err := longsession.New(session.InMemoryService(), c)
	if err != nil {
		t.Errorf("the stack refuses it: %v", err)
		return
	}
	if err := stack.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestTheNearestSourceWins(t *testing.T) {
	set := func(text string) config.Values {
		var v config.Values
		if err := v.Set("compaction.overlap_size", text); err != nil {
			t.Fatal(err)
		}
		return v
	}
	environment, err := config.Environment(func(name string) (string, bool) { return "4", name == "LONGSESSION_OVERLAP_SIZE" })
	if err != nil {
		t.Fatal(err)
	}
	in := config.In{Flag: set("3"), Environment: environment, File: parse(t, "[compaction]\noverlap_size = 5"), App: set("6")}
	for _, want := range []struct {
		n      int
		origin string
		remove func()
	}{
		{3, "flag --overlap-size", func() { in.Flag = config.Values{} }},
		{4, "environment LONGSESSION_OVERLAP_SIZE", func() { in.Environment = config.Values{} }},
		{5, "file s.toml:2:1", func() { in.File = config.Values{} }},
		{6, "app compaction.overlap_size", func() { in.App = config.Values{} }},
		{0, "", func() {}},
	} {
		r := resolve(t, in)
		if r.c.Compaction.OverlapSize != want.n || originOf(r.s, "compaction.overlap_size") != want.origin {
			t.Errorf("%d (%s), want %d (%s)", r.c.Compaction.OverlapSize, originOf(r.s, "compaction.overlap_size"), want.n, want.origin)
		}
		want.remove()
	}
}

func TestAFileIsNamedWithThePlace(t *testing.T) {
	r := resolve(t, config.In{File: parse(t, "[agent]\ncompact_trigger = 0.9\nmax_turn_cost_usd = 1\n[compaction]\nthreshold_by_tier = {mid = 0.5}\nblock_threshold = 0.97")})
	for key, want := range map[string]string{
		"compaction.threshold":       "file s.toml:5:22",
		"compaction.block_threshold": "file s.toml:6:1",
		"agent.max_turn_cost_usd":    "file s.toml:3:1",
		"session.ask":                "default",
	} {
		if got := originOf(r.s, key); got != want {
			t.Errorf("the origin of %s is %q, want %q", key, got, want)
		}
	}
	r = resolve(t, config.In{File: parse(t, "[agent]\ncompact_trigger = 0.9\n")})
	if got := originOf(r.s, "compaction.threshold"); got != "file s.toml:2:1 agent.compact_trigger" {
		t.Errorf("the origin by another name is %q", got)
	}
}

func TestAValueWithoutEffectIsRefusedByName(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"a ceiling above another one", "[agent]\nmax_turn_cost_usd = 5\nmax_session_cost_usd = 1",
			[]string{"agent.max_turn_cost_usd is $5.0000 (file s.toml:2:1)", "agent.max_session_cost_usd is $1.0000 (file s.toml:3:1)"}},
		{"a reserve above half of the window", "[agent]\ncontext_budget = 8000\nmax_output_tokens = 5000",
			[]string{"agent.max_output_tokens is 5000 (file s.toml:3:1): it is more than half of the window of 8000 tokens"}},
		{"a pack beside a template", "[compaction]\nprompt_pack = 'intent'\nprompt_template = '{{history}}'",
			[]string{"compaction.prompt_pack is \"intent\" (file s.toml:2:1): compaction.prompt_template (file s.toml:3:1) is the whole prompt: remove one of them"}},
		{"calls alone where they would stop", "[safety]\nwatchdog = 'stop'\nwatchdog_calls_alone = true",
			[]string{"safety.watchdog_calls_alone is true (file s.toml:3:1): safety.watchdog is stop (file s.toml:2:1), which counts calls only if their results are alike: remove it, or use warn"}},
		{"a template without messages", "[compaction]\nprompt_template = 'be brief'",
			[]string{"compaction.prompt_template is \"be brief\" (file s.toml:2:1): it must contain {{history}} once"}},
		{"a template that is not there", "[compaction]\nprompt_template = 'file://none.txt'", []string{"there is no file none.txt"}},
		{"too many lines", "[session.context]\ntool_result_head_lines = 200\ntool_result_tail_lines = 100",
			[]string{"session.context.tool_result_tail_lines is 100 (file s.toml:3:1)", "more than the 256 lines"}},
		{"a stub above the cut", "agent.result_offload_threshold = 2048\nsession.context.tool_result_max_bytes = 1000",
			[]string{"agent.result_offload_threshold is 2048 (file s.toml:1:1): session.context.tool_result_max_bytes is 1000 (file s.toml:2:1), so no result would be large enough"}},
		{"two at once", "[compaction]\nprompt_template = 'x'\n[agent]\nmax_turn_cost_usd = 5\nmax_session_cost_usd = 1", []string{"max_turn_cost_usd", "prompt_template"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := config.Resolve(config.In{File: parse(t, c.text)})
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error is\n%v\nwant\n%s", err, want)
				}
			}
			var refused *preset.SettingError
			if !errors.As(err, &refused) {
				t.Errorf("the error has no *preset.SettingError: %v", err)
			}
		})
	}
}

func TestANearerSwitchTakesAFartherThresholdAway(t *testing.T) {
	var flags config.Values
	if err := flags.Set("compaction.enabled", "false"); err != nil {
		t.Fatal(err)
	}
	r := resolve(t, config.In{Flag: flags, File: parse(t, "[compaction]\ntoken_threshold = 5000")})
	if got := r.c.Compaction.TokenThreshold; got != compaction.Off {
		t.Errorf("the token threshold is %d, want Off", got)
	}
	withoutDeadNotes(t, r.s)
	file := parse(t, "[compaction]\nenabled = false")
	var near config.Values
	if err := near.Set("compaction.token_threshold", "5000"); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Resolve(config.In{Flag: near, File: file}); err == nil || !strings.Contains(err.Error(), "--token-threshold") {
		t.Errorf("a nearer threshold without effect: error is %v", err)
	}
}

func TestATokenThresholdHoldsWithoutAShare(t *testing.T) {
	r := resolve(t, config.In{File: parse(t, "[compaction]\nthreshold = 0\ntoken_threshold = 5000")})
	if got := [2]any{r.c.Compaction.TokenThreshold, r.c.Compaction.SafetyRatio}; got != [2]any{5000, float64(compaction.Off)} {
		t.Errorf("threshold and ratio are %v", got)
	}
	accepted(t, r.c)
}

func TestZeroTurnsOff(t *testing.T) {
	r := resolve(t, config.In{File: parse(t, "[agent]\nmax_output_tokens = 0\nresult_offload_threshold = 0\ntool_deferral_threshold = 0\n[session.context]\nmax_history_tokens = 0\ntool_result_keep_first = 0")})
	if got := [5]any{r.c.Budget.MaxOutputTokens, r.c.ToolResults.StubAbove, r.c.ToolSearch.Threshold, r.c.Compaction.TokenThreshold, r.c.Masking.KeepFirst}; got !=
		[5]any{compaction.Off, toolresult.Off, -1.0, 0, toolresult.Off} {
		t.Errorf("zeros are %v", got)
	}
	if r.c.Masking.KeepLast != 0 {
		t.Errorf("KeepLast is %d, though nobody has set it", r.c.Masking.KeepLast)
	}
	accepted(t, r.c)
	both := resolve(t, config.In{File: parse(t, "[session.context]\ntool_result_keep_first = 0\ntool_result_keep_last = 0")})
	if both.c.Masking.KeepLast != math.MaxInt32 {
		t.Errorf("with both 0, KeepLast is %d: results are masked", both.c.Masking.KeepLast)
	}
	accepted(t, both.c)
}

func TestALimitThatIsSetStaysBesideOneInTokens(t *testing.T) {
	r := resolve(t, config.In{File: parse(t, "agent.result_offload_threshold = 900\n[session.context]\nmax_tool_result_tokens = 100\ntool_result_max_bytes = 1000\ntool_result_max_lines = 20")})
	got := r.c.ToolResults.Limits
	if got.StubAbove != 900 || got.MaxBytes != 1000 || got.MaxLines != 20 || got.MaxTokens != 100 {
		t.Errorf("limits are %+v", got)
	}
	accepted(t, r.c)
}

func TestATemplateIsReadFromAFile(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "summary.txt"), []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"file://summary.txt", "file://./summary.txt", "file://" + filepath.Join(folder, "summary.txt")} {
		file := filepath.Join(folder, "longsession.toml")
		if err := os.WriteFile(file, []byte("[compaction]\nprompt_template = '"+value+"'\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := config.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := resolve(t, config.In{File: v}).c.Compaction.PromptTemplate; got != template {
			t.Errorf("%s: the template is %q", value, got)
		}
	}
}

func TestWhatIsNeverReachedIsNoted(t *testing.T) {
	for text, want := range map[string]string{
		"[agent]\ncontext_budget = 50000\n[compaction]\ntoken_threshold = 60000": "compaction.token_threshold is 60000 (file s.toml:4:1), which is never reached: compaction.threshold is 0.65 (preset tier mid), which is 29250 tokens here.",
		"[agent]\nmodel = 'claude-haiku-4-5'\ncontext_budget = 5000000":          "agent.context_budget is 5000000 (file s.toml:3:1), and the window of claude-haiku-4-5 has 200000 tokens",
		"[agent]\nmodel = 'house-llm'\n[compaction]\ntoken_threshold = 700000":   "compaction.token_threshold is 700000 (file s.toml:4:1), which is never reached: compaction.threshold is 0.85 (preset no tier), which is 101836 tokens here.",
		"[agent]\nmodel = 'gemini-1.5-pro'":                                      "agent.model is gemini-1.5-pro (file s.toml:2:1), which was turned off",
	} {
		r := resolve(t, config.In{File: parse(t, text)})
		all := ""
		for _, n := range r.s.Notes {
			all += n + "\n"
		}
		if !strings.Contains(all, want) {
			t.Errorf("notes are\n%s\nwant\n%s", all, want)
		}
	}
}

func TestLoadConfiguresAnApp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "longsession.toml")
	if err := os.WriteFile(file, []byte("[compaction]\nthreshold = 0.5\noverlap_size = 3\n[agent]\nmax_turn_cost_usd = 0.25\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	llm := compactiontest.NewModel("gemini-2.5-pro", nil)
	t.Setenv("LONGSESSION_OVERLAP_SIZE", "4")
	c, err := config.Load(file, llm)
	if err != nil {
		t.Fatal(err)
	}
	if c.Model != llm || c.Compaction.SafetyRatio != 0.5 || c.Compaction.OverlapSize != 4 || c.Guard.Turn.USD != 25*tokens.Cent {
		t.Errorf("config is %+v", c)
	}
	accepted(t, c)
	if c, err = config.Load("", llm); err != nil || c.Compaction.OverlapSize != 4 {
		t.Errorf("without a file: %v, overlap %d", err, c.Compaction.OverlapSize)
	}
	if _, err := config.Load(file, nil); err == nil {
		t.Error("a nil model is accepted")
	}
	t.Setenv("LONGSESSION_OVERLAP_SIZE", "many")
	if _, err := config.Load(file, llm); err == nil || !strings.Contains(err.Error(), `compaction.overlap_size is "many" (environment LONGSESSION_OVERLAP_SIZE): use a whole number`) {
		t.Errorf("a bad variable: %v", err)
	}
	t.Setenv("LONGSESSION_OVERLAP_SIZE", "")
	if _, err := config.Load(file+".no", llm); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(file, []byte("[agent]\nmodel = 'claude-opus-4-7'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(file, llm); err == nil || !strings.Contains(err.Error(), "the settings are for claude-opus-4-7") {
		t.Errorf("another model than the app's: %v", err)
	}
}

func TestACopyOfValuesIsItsOwn(t *testing.T) {
	var first config.Values
	if err := first.Set("compaction.overlap_size", "3"); err != nil {
		t.Fatal(err)
	}
	second := first
	if err := second.Set("compaction.overlap_size", "4"); err != nil {
		t.Fatal(err)
	}
	if got := resolve(t, config.In{Flag: first}).c.Compaction.OverlapSize; got != 3 {
		t.Errorf("the first has %d, want 3", got)
	}
	if err := first.Set("no.such", "1"); err == nil {
		t.Error("an unknown key is accepted")
	}
}

// blocks are those that other programs document.
var blocks = map[string]string{
	"turns":   "[compaction]\nenabled = true\ninvocation_threshold = 5\noverlap_size = 2\ntoken_threshold = 700000\nsafety_ratio = 0.7\n",
	"budget":  "[agent]\ncontext_budget = 100000\nmax_output_tokens = 4096\ncompact_trigger = 0.95\nhard_block = 0.98\nresult_offload_threshold = 4096\ntool_deferral_threshold = 0.10\n",
	"history": "[session]\non_disconnect = 'pause'\nmax_tool_iterations = 25\n[session.context]\nmax_history_tokens = 20000\nmax_tool_result_tokens = 8000\ntool_result_truncation = 'head'\ntool_result_keep_first = 2\ntool_result_keep_last = 5\n",
}

func TestBlocksOfOtherProgramsWorkTogetherAndForEveryModel(t *testing.T) {
	off := strings.Replace(blocks["turns"], "enabled = true", "enabled = false", 1)
	for _, model := range []string{"gemini-2.5-pro", "gemini-2.5-flash", "claude-haiku-4-5", "house-llm"} {
		for _, text := range []string{
			blocks["turns"], blocks["budget"], blocks["history"], off, blocks["turns"] + blocks["budget"], blocks["turns"] + blocks["history"], blocks["budget"] + blocks["history"],
			blocks["turns"] + blocks["budget"] + blocks["history"], off + blocks["budget"] + blocks["history"],
		} {
			file, err := config.Parse("s.toml", []byte(text))
			if err != nil {
				t.Errorf("%s\n%v", text, err)
				continue
			}
			var app config.Values
			app.Preset.Model = &model
			s, err := config.Resolve(config.In{File: file, App: app})
			if err != nil {
				t.Errorf("%s: %s\n%v", model, text, err)
				continue
			}
			accepted(t, configOf(t, s))
		}
	}
}

func TestTheStricterOfTwoNamesCounts(t *testing.T) {
	all := resolve(t, config.In{File: parse(t, blocks["turns"]+blocks["budget"]+blocks["history"])})
	if got := [3]any{all.c.Compaction.SafetyRatio, all.c.Compaction.BlockRatio, all.c.Compaction.TokenThreshold}; got != [3]any{0.7, 0.98, 20_000} {
		t.Errorf("all blocks: %v", got)
	}
	wantNotes(t, all.s,
		"agent.compact_trigger is 0.95 (file s.toml:10:1), without effect: compaction.safety_ratio is 0.7 (file s.toml:6:1), which means the same and is stricter.",
		"compaction.token_threshold is 700000 (file s.toml:5:1), without effect: session.context.max_history_tokens is 20000 (file s.toml:18:1), which means the same and is stricter.")
	for _, c := range []struct {
		text string
		at   func(r result) any
		want any
		note string
	}{
		{"[compaction]\nthreshold = 0.6\nsafety_ratio = 0.5\n[agent]\ncompact_trigger = 0.55", func(r result) any { return r.c.Compaction.SafetyRatio }, 0.5,
			"compaction.threshold is 0.6 (file s.toml:2:1), without effect: compaction.safety_ratio is 0.5 (file s.toml:3:1), which means the same and is stricter."},
		{"[compaction]\nthreshold = 0\nsafety_ratio = 0.5", func(r result) any { return r.c.Compaction.SafetyRatio }, 0.5,
			"compaction.threshold is 0 (file s.toml:2:1), without effect"},
		{"[compaction]\nthreshold = 0.5\nsafety_ratio = 0.50", func(r result) any { return r.c.Compaction.SafetyRatio }, 0.5, ""},
		{"session.max_tool_iterations = 25\nagent.max_tool_iterations = 30", func(r result) any { return r.c.Guard.Turn.ModelCalls }, 26,
			"agent.max_tool_iterations is 30 (file s.toml:2:1), without effect: session.max_tool_iterations is 25 (file s.toml:1:1)"},
	} {
		r := resolve(t, config.In{File: parse(t, c.text)})
		if got := c.at(r); got != c.want {
			t.Errorf("%s\n%v, want %v", c.text, got, c.want)
		}
		if c.note == "" {
			withoutDeadNotes(t, r.s)
		}
		wantNotes(t, r.s, c.note)
	}
}

func TestASetValueReplacesAnEarlierOneOfItsNameOnly(t *testing.T) {
	var v config.Values
	for _, set := range [][2]string{{"compaction.threshold", "0.3"}, {"agent.compact_trigger", "0.5"}, {"compaction.threshold", "0.6"}} {
		if err := v.Set(set[0], set[1]); err != nil {
			t.Fatal(err)
		}
	}
	if got := resolve(t, config.In{App: v}).c.Compaction.SafetyRatio; got != 0.5 {
		t.Errorf("the ratio is %v, want the 0.5 of the other name", got)
	}
}

func TestAFileMayLetPricesDecideAgain(t *testing.T) {
	var v config.Values
	if err := v.Set("compaction.invocation_threshold", "7"); err != nil {
		t.Fatal(err)
	}
	r := resolve(t, config.In{File: parse(t, "compaction.invocation_threshold = 'price'\n"), App: v})
	if got := r.c.Compaction.InvocationThreshold; got != 0 {
		t.Errorf("the threshold is %d, want 0, by price", got)
	}
}

func TestABlockThatIsSwitchedOffKeepsItsKeys(t *testing.T) {
	text := "[compaction]\nenabled = false\ninvocation_threshold = 3\noverlap_size = 4\ntoken_threshold = 700000\nsafety_ratio = 0.7\n"
	r := resolve(t, config.In{File: parse(t, text)})
	c := r.c.Compaction
	if got := [4]any{c.InvocationThreshold, c.OverlapSize, c.TokenThreshold, c.SafetyRatio}; got != [4]any{compaction.Off, 4, compaction.Off, float64(compaction.Off)} {
		t.Errorf("the block does this: %v", got)
	}
	const because = ", without effect: compaction.enabled is false (file s.toml:2:1)."
	wantNotes(t, r.s, "compaction.invocation_threshold is 3 (file s.toml:3:1)"+because, "compaction.token_threshold is 700000 (file s.toml:5:1)"+because,
		"compaction.threshold is 0.7 (file s.toml:6:1 compaction.safety_ratio)"+because)
	accepted(t, r.c)
	environment, err := config.Environment(func(name string) (string, bool) {
		text, set := map[string]string{"LONGSESSION_COMPACT": "false", "LONGSESSION_TOKEN_THRESHOLD": "5000"}[name]
		return text, set
	})
	if err != nil {
		t.Fatal(err)
	}
	wantNotes(t, resolve(t, config.In{Environment: environment}).s,
		"compaction.token_threshold is 5000 (environment LONGSESSION_TOKEN_THRESHOLD), without effect: compaction.enabled is false (environment LONGSESSION_COMPACT).")
	var flags config.Values
	for _, set := range [][2]string{{"compaction.enabled", "false"}, {"compaction.token_threshold", "5000"}} {
		if err := flags.Set(set[0], set[1]); err != nil {
			t.Fatal(err)
		}
	}
	want := "compaction.token_threshold is 5000 (flag --token-threshold): compaction.enabled is false (flag --no-compact), so it would have no effect: remove one of them"
	if _, err := config.Resolve(config.In{Flag: flags}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("two flags that contradict each other: %v", err)
	}
}

// withoutDeadNotes requires that no note is about a value without effect.
func withoutDeadNotes(t *testing.T, s config.Settings) {
	t.Helper()
	for _, n := range s.Notes {
		if strings.Contains(n, "without effect") || strings.Contains(n, "never reached") {
			t.Errorf("a note without reason: %s", n)
		}
	}
}

// wantNotes requires that the notes have each of the texts.
func wantNotes(t *testing.T, s config.Settings, texts ...string) {
	t.Helper()
	all := ""
	for _, n := range s.Notes {
		all += n + "\n"
	}
	for _, want := range texts {
		if !strings.Contains(all, want) {
			t.Errorf("notes are\n%s\nwant\n%s", all, want)
		}
	}
}

// Files that other programs document keep working as they are.
func TestFilesOfOtherProgramsLoad(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		at   func(r result) any
		want any
	}{
		"turns and tokens": {blocks["turns"], func(r result) any {
			return [4]any{r.c.Compaction.InvocationThreshold, r.c.Compaction.OverlapSize, r.c.Compaction.TokenThreshold, r.c.Compaction.SafetyRatio}
		}, [4]any{5, 2, 0, 0.7}}, // 0.7 of the effective window is less than 700,000
		"a budget": {blocks["budget"], func(r result) any {
			return [6]any{r.c.Budget.ContextWindow, r.c.Budget.MaxOutputTokens, r.c.Budget.Thresholds.Compact, r.c.Budget.Thresholds.Block, r.c.ToolResults.StubAbove, r.c.ToolSearch.Threshold}
		}, [6]any{100_000, 4096, 0.95, 0.98, 4096, 0.10}},
		"a history": {blocks["history"], func(r result) any {
			return [6]any{r.c.Guard.Turn.ModelCalls, r.c.Compaction.TokenThreshold, r.c.ToolResults.MaxTokens, r.c.ToolResults.Strategy, r.c.Masking.KeepFirst, r.c.Masking.KeepLast}
		}, [6]any{26, 20_000, 8000, toolresult.Head, 2, 5}},
		"tiers": {"compaction = {threshold = 0.85, threshold_by_tier = {small = 0.30}}\nsession = {task_class = 'debug'}\nsafety.small_tier_parent = 'allow'\nagent.model = 'claude-haiku-4-5'", func(r result) any { return r.c.Compaction.SafetyRatio }, 0.30},
	} {
		t.Run(name, func(t *testing.T) {
			r := resolve(t, config.In{File: parse(t, c.text)})
			if got := c.at(r); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			accepted(t, r.c)
		})
	}
}

// TestACutKeepsTheEndsThatItsMarkerNames follows each way of cutting from a file to what the model sees. A limit in tokens
// turns the other limits off.
func TestACutKeepsTheEndsThatItsMarkerNames(t *testing.T) {
	t.Setenv("LONGSESSION_CONFIG", "")
	var lines strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&lines, "line %d of the log\n", i)
	}
	const head, tail = "line 0 of the log\n", "line 19999 of the log\n"
	for _, strategy := range []string{"", "lines", "head", "tail", "both"} {
		for _, limits := range []string{"max_tool_result_tokens = 4000", "", "max_tool_result_tokens = 4000\ntool_result_max_lines = 100", "max_tool_result_tokens = 4000\ntool_result_head_lines = 7"} {
			text := "[session.context]\n" + limits + "\n"
			if strategy != "" {
				text += "tool_result_truncation = \"" + strategy + "\"\n"
			}
			if limits == "" {
				text += "[agent]\nresult_offload_threshold = 0\n"
			}
			file := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := config.Load(file, compactiontest.NewModel("gemini-3.1-pro-preview", nil))
			if err != nil {
				t.Fatalf("%s\n%v", text, err)
			}
			cutter, err := toolresult.New(cfg.ToolResults)
			if err != nil {
				t.Fatalf("%s\n%v", text, err)
			}
			got, _, changed := cutter.Response("shell", map[string]any{"output": lines.String()})
			shown, _ := got["output"].(string)
			wantHead, wantTail := strategy != "tail", strategy != "head"
			if !changed || strings.HasPrefix(shown, head) != wantHead || strings.HasSuffix(shown, tail) != wantTail || len(shown) < 1500 {
				t.Errorf("%s%d bytes: %.80q…%q", text, len(shown), shown, shown[max(0, len(shown)-80):])
			}
			if i := strings.Index(shown, "\n["); strategy == "both" && (i < len(shown)/3 || i > len(shown)*2/3) {
				t.Errorf("%sthe ends are not alike: the marker is at %d of %d bytes", text, i, len(shown))
			}
		}
	}
}
