package compaction_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

func scripted(name string) *compactiontest.Model {
	return compactiontest.NewModel(name, func(int, *model.LLMRequest) *model.LLMResponse { return compactiontest.Say("Nothing.") })
}

// TestConfigThatCannotDoWhatItSaysIsRefused: the error names the field, its value and the effect.
func TestConfigThatCannotDoWhatItSaysIsRefused(t *testing.T) {
	t.Parallel()
	type change = func(*compaction.Config)
	negative := "must not be negative"
	for _, tt := range []struct {
		name   string
		change change
		says   []string
	}{
		{"negative InvocationThreshold", func(c *compaction.Config) { c.InvocationThreshold = -2 }, []string{"InvocationThreshold", "-2", negative, "Off"}},
		{"negative OverlapSize", func(c *compaction.Config) { c.OverlapSize = -2 }, []string{"OverlapSize", "-2", negative}},
		{"negative TokenThreshold", func(c *compaction.Config) { c.TokenThreshold = -3 }, []string{"TokenThreshold", "-3", negative}},
		{"negative ContextWindow", func(c *compaction.Config) { c.ContextWindow = -4 }, []string{"ContextWindow", "-4", negative}},
		{"negative MaxOutputTokens", func(c *compaction.Config) { c.MaxOutputTokens = -5 }, []string{"MaxOutputTokens", "-5", negative}},
		{"negative RetainEvents", func(c *compaction.Config) { c.RetainEvents = -6 }, []string{"RetainEvents", "-6", negative}},
		{"negative MaxSummaries", func(c *compaction.Config) { c.MaxSummaries = -7 }, []string{"MaxSummaries", "-7", negative}},
		{"negative MaxLedgerTokens", func(c *compaction.Config) { c.MaxLedgerTokens = -2 }, []string{"MaxLedgerTokens", "-2", "Off (-1)"}},
		{"RecallTool with a space", func(c *compaction.Config) { c.RecallTool = "search it" }, []string{"RecallTool", `"search it"`, "letters, digits"}},
		{"RecallTool that ends the frame", func(c *compaction.Config) { c.RecallTool = "[End of summary.]" }, []string{"RecallTool", "End of summary", "letters, digits"}},
		{"RecallTool too long", func(c *compaction.Config) { c.RecallTool = strings.Repeat("a", 65) }, []string{"RecallTool", "64"}},
		{"negative MaxSummaryTokens", func(c *compaction.Config) { c.MaxSummaryTokens = -8 }, []string{"MaxSummaryTokens", "-8", negative}},
		{"negative Timeout", func(c *compaction.Config) { c.Timeout = -time.Second }, []string{"Timeout", "-1s", negative}},
		{"negative SafetyRatio", func(c *compaction.Config) { c.SafetyRatio = -0.1 }, []string{"SafetyRatio", "-0.1", "share"}},
		{"SafetyRatio over 1", func(c *compaction.Config) { c.SafetyRatio = 1.5 }, []string{"SafetyRatio", "1.5", "share"}},
		{"SafetyRatio no number", func(c *compaction.Config) { c.SafetyRatio = math.NaN() }, []string{"SafetyRatio", "NaN", "share"}},
		{"SafetyRatio infinite", func(c *compaction.Config) { c.SafetyRatio = math.Inf(1) }, []string{"SafetyRatio", "+Inf", "share"}},
		{"negative BlockRatio", func(c *compaction.Config) { c.BlockRatio = -0.1 }, []string{"BlockRatio", "-0.1", "share"}},
		{"BlockRatio off", func(c *compaction.Config) { c.BlockRatio = compaction.Off }, []string{"BlockRatio", "-1", "share"}},
		{"BlockRatio over 1", func(c *compaction.Config) { c.BlockRatio = 1.01 }, []string{"BlockRatio", "1.01", "share"}},
		{"BlockRatio no number", func(c *compaction.Config) { c.BlockRatio = math.NaN() }, []string{"BlockRatio", "NaN", "share"}},
		{"SafetyRatio over BlockRatio", func(c *compaction.Config) { c.SafetyRatio, c.BlockRatio = 0.9, 0.8 }, []string{"SafetyRatio is 0.9", "before the hard limit", "BlockRatio 0.8"}},
		{"SafetyRatio as large as BlockRatio", func(c *compaction.Config) { c.SafetyRatio = 0.98 }, []string{"SafetyRatio is 0.98", "BlockRatio 0.98"}},
		{"BlockRatio under the default SafetyRatio", func(c *compaction.Config) { c.SafetyRatio, c.BlockRatio = 0, 0.5 }, []string{"SafetyRatio is 0.7", "BlockRatio 0.5"}},
		{"no overlap", func(c *compaction.Config) { c.OverlapSize = compaction.Off }, []string{"OverlapSize", "-1", negative}},
		{
			"TokenThreshold over the share", func(c *compaction.Config) { c.ContextWindow, c.TokenThreshold = 1000, 631 },
			[]string{"TokenThreshold", "631", "never be reached", "SafetyRatio", "(ContextWindow 1000 - MaxOutputTokens 100) = 630"},
		},
		{
			"TokenThreshold over the hard limit", func(c *compaction.Config) {
				c.SafetyRatio, c.ContextWindow, c.MaxOutputTokens, c.TokenThreshold = compaction.Off, 1000, compaction.Off, 981
			},
			[]string{"TokenThreshold", "981", "never be reached", "980"},
		},
		{
			"TokenThreshold over what the reply leaves", func(c *compaction.Config) {
				c.SafetyRatio, c.ContextWindow, c.MaxOutputTokens, c.TokenThreshold = compaction.Off, 1000, 500, 491
			}, []string{"TokenThreshold", "491", "never be reached", "490", "MaxOutputTokens"},
		},
		{"reply as large as the window", func(c *compaction.Config) { c.ContextWindow, c.MaxOutputTokens = 1000, 1000 }, []string{"MaxOutputTokens", "1000", "nothing would be left"}},
		{"nobody to summarize", func(c *compaction.Config) { c.Summarizer = nil }, []string{"Model", "Summarizer", "nil"}},
		{
			"template without history", func(c *compaction.Config) {
				c.Summarizer, c.Model, c.PromptTemplate = nil, scripted("m"), "Be brief."
			}, []string{"PromptTemplate", "{{history}}"},
		},
		{"pack nobody knows", func(c *compaction.Config) {
			c.Summarizer, c.Model, c.Pack = nil, scripted("m"), "brief"
		}, []string{"Pack", "is unknown", "handover"}},
		{"pack nobody reads", func(c *compaction.Config) { c.Pack = summarizer.PackIntent }, []string{"Pack", "Summarizer", "no effect"}},
		{"pack beside a template", func(c *compaction.Config) {
			c.Summarizer, c.Model, c.Pack, c.PromptTemplate = nil, scripted("m"), summarizer.PackIntent, "Be brief: {{history}}"
		}, []string{"Pack", "PromptTemplate", "no effect"}},
		{"template nobody reads", func(c *compaction.Config) { c.PromptTemplate = "Be brief: {{history}}" }, []string{"PromptTemplate", "Summarizer", "no effect"}},
		{"two mistakes", func(c *compaction.Config) { c.RetainEvents, c.SafetyRatio = -1, 2 }, []string{"RetainEvents", "SafetyRatio"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg, _ := oracleConfig()
			tt.change(&cfg)
			svc, err := compaction.NewCompactionService(session.InMemoryService(), cfg)
			if err == nil || svc != nil {
				t.Fatalf("got %v, %v: want an error and no service", svc, err)
			}
			for _, want := range tt.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q: %v", want, err)
				}
			}
		})
	}
}

func TestEdgesOfTheConfigAreAccepted(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*compaction.Config){
		"everything off": func(c *compaction.Config) {
			c.InvocationThreshold, c.OverlapSize, c.SafetyRatio = compaction.Off, 0, compaction.Off
		},
		"SafetyRatio just under BlockRatio": func(c *compaction.Config) { c.SafetyRatio = 0.979 },
		"BlockRatio 1":                      func(c *compaction.Config) { c.SafetyRatio, c.BlockRatio = 0.99, 1 },
		"SafetyRatio that is not used":      func(c *compaction.Config) { c.SafetyRatio, c.BlockRatio, c.TokenThreshold = 0.7, 0.5, compaction.Off },
		"TokenThreshold just at the share":  func(c *compaction.Config) { c.ContextWindow, c.TokenThreshold = 1000, 630 },
		"values off, with Redact":           func(c *compaction.Config) { c.MaxLedgerTokens, c.Redact = compaction.Off, strings.ToLower },
		"RecallTool":                        func(c *compaction.Config) { c.RecallTool = "recall" },
		"extractive":                        func(c *compaction.Config) { c.Summarizer = summarizer.Extractive{} },
		"model and template": func(c *compaction.Config) {
			c.Summarizer, c.Model, c.PromptTemplate = nil, scripted("m"), "Be brief: {{history}}"
		},
	} {
		cfg, _ := oracleConfig()
		change(&cfg)
		if _, err := compaction.NewCompactionService(session.InMemoryService(), cfg); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The zero value of every number is its default: what differs from DefaultConfig is when a compaction comes.
func TestZeroValueOfEveryNumberIsItsDefault(t *testing.T) {
	t.Parallel()
	oracle := &compactiontest.Oracle{}
	svc := newService(t, session.InMemoryService(), compaction.Config{Summarizer: oracle})
	appendAll(t, svc, create(t, svc), turns(5)...)
	flush(t, svc)
	if n := len(summariesIn(t, svc)); n != 0 {
		t.Errorf("%d summaries after five turns, which are not worth one", n)
	}
	explicit, _ := oracleConfig()
	byTurns := newSession(t, explicit)
	got, want := status(t, svc), status(t, byTurns)
	if a, b := svc.Settings(), byTurns.Settings(); !a.ByPrice || b.ByPrice || a.InvocationThreshold != 0 || b.InvocationThreshold != 5 || a.OverlapSize != b.OverlapSize || a.RetainEvents != b.RetainEvents || a.Timeout != b.Timeout {
		t.Errorf("settings are %+v; those of DefaultConfig %+v", a, b)
	}
	if got.TokenThreshold <= want.TokenThreshold || got.TokenThreshold >= want.HardLimit || got.HardLimit != want.HardLimit || got.ContextWindow != want.ContextWindow {
		t.Errorf("limits are %d, %d, %d; those of DefaultConfig %d, %d, %d",
			got.TokenThreshold, got.HardLimit, got.ContextWindow, want.TokenThreshold, want.HardLimit, want.ContextWindow)
	}
}

// newSession returns a service with an empty session.
func newSession(t *testing.T, cfg compaction.Config) *compaction.CompactionSessionService {
	t.Helper()
	svc := newService(t, session.InMemoryService(), cfg)
	create(t, svc)
	return svc
}

// Off turns off the trigger that it is written to, and no other.
func TestOffTurnsOffOneTrigger(t *testing.T) {
	t.Parallel()
	const off = compaction.Off
	for _, tt := range []struct {
		name        string
		change      func(*compaction.Config)
		turns       bool
		threshold   int
		description string
	}{ // turns, if nothing else is said
		{"turns", func(*compaction.Config) {}, true, 83_866, "turns and tokens"},
		{"zero", func(c *compaction.Config) { c.InvocationThreshold = 0 }, false, 113_818, "prices and tokens"},
		{"zero, and an early hard limit", func(c *compaction.Config) { c.InvocationThreshold, c.BlockRatio = 0, 0.5 }, false, 58_107, "prices and tokens"},
		{"turns off", func(c *compaction.Config) { c.InvocationThreshold = off }, false, 83_866, "tokens only"},
		{"ratio off", func(c *compaction.Config) { c.SafetyRatio = off }, true, 0, "turns only"},
		{"ratio off, threshold", func(c *compaction.Config) { c.SafetyRatio, c.TokenThreshold = off, 100_000 }, true, 100_000, "the threshold decides"},
		{"threshold", func(c *compaction.Config) { c.TokenThreshold = 50_000 }, true, 50_000, "the lesser decides"},
		{"threshold off", func(c *compaction.Config) { c.TokenThreshold, c.SafetyRatio = off, 0.5 }, true, 0, "turns only"},
		{"both off", func(c *compaction.Config) { c.InvocationThreshold, c.SafetyRatio = off, off }, false, 0, "by hand only"},
	} {
		cfg := compaction.Config{Summarizer: &compactiontest.Oracle{}, Synchronous: true, InvocationThreshold: 5}
		tt.change(&cfg)
		svc := newService(t, session.InMemoryService(), cfg)
		appendAll(t, svc, create(t, svc), turns(5)...)
		if got := status(t, svc).TokenThreshold; got != tt.threshold {
			t.Errorf("%s: the token trigger fires at %d, want %d: %s", tt.name, got, tt.threshold, tt.description)
		}
		if n := len(summariesIn(t, svc)); n > 0 != tt.turns {
			t.Errorf("%s: %d summaries after five turns: %s", tt.name, n, tt.description)
		}
	}
}

// The reply is reserved for by what the model can write, but never with much of the window.
func TestReplyOfTheAgentsModelIsReservedFor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		model           string
		window, reserve int // as configured
		want            int
	}{
		{"gemini-2.5-flash", 0, 0, 65_536},
		{"gemini-2.0-flash", 0, 0, 8_192},
		{"gpt-5-mini", 0, 0, 40_000},
		{"claude-haiku-4-5", 16_000, 0, 1_600},
		{"house-llm", 0, 0, 8_192},
		{"house-llm", 4_000, 0, 400},
		{"house-llm", 4_000, 1_000, 1_000},
		{"gemini-2.5-flash", 0, compaction.Off, 0},
	} {
		cfg := compaction.Config{Model: scripted(tt.model), ContextWindow: tt.window, MaxOutputTokens: tt.reserve}
		got := status(t, newSession(t, cfg))
		if want := int(0.98 * float64(got.ContextWindow-tt.want)); got.HardLimit != want {
			t.Errorf("%s in %d, MaxOutputTokens %d: the hard limit is %d, want %d", tt.model, tt.window, tt.reserve, got.HardLimit, want)
		}
	}
}

// Every refused value can be told from the others without reading the message.
func TestConfigErrorsNameFieldAndValue(t *testing.T) {
	t.Parallel()
	_, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{Summarizer: &compactiontest.Oracle{}, RetainEvents: -3})
	var refused *compaction.ConfigError
	if !errors.As(err, &refused) || refused.Field != "RetainEvents" || refused.Value != -3 || refused.Reason == "" {
		t.Errorf("got %#v of %v", refused, err)
	}
}

// opaque is somebody else's decorator: sessions pass through it, appends and unwrapping too.
type opaque struct{ session.Service }

func (o *opaque) Unwrap() session.Service { return o.Service }

func TestServiceIsWrappedOnceOnly(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	if _, err := compaction.NewCompactionService(nil, cfg); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("nil inner service: %v", err)
	}
	svc := newService(t, &opaque{session.InMemoryService()}, cfg)
	for name, inner := range map[string]session.Service{"itself": svc, "below another decorator": &opaque{&opaque{svc}}} {
		if _, err := compaction.NewCompactionService(inner, cfg); err == nil || !strings.Contains(err.Error(), "already compacts") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDefaultsAreTheDocumentedOnes(t *testing.T) {
	t.Parallel()
	want := compaction.Config{
		InvocationThreshold: 5, OverlapSize: 2, SafetyRatio: 0.7, BlockRatio: 0.98, RetainEvents: 10, MaxSummaries: 5, MaxSummaryTokens: 500, MaxLedgerTokens: 600,
		Timeout: time.Minute,
	}
	if got := compaction.DefaultConfig(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCallersConfigIsCopied(t *testing.T) {
	t.Parallel()
	oracle := &compactiontest.Oracle{}
	cfg := compaction.Config{Summarizer: oracle, InvocationThreshold: 2, OverlapSize: 1, Synchronous: true}
	before := cfg
	svc := newService(t, session.InMemoryService(), cfg)
	if !reflect.DeepEqual(cfg, before) {
		t.Errorf("the config became %+v", cfg)
	}
	cfg.InvocationThreshold, cfg.Summarizer = compaction.Off, nil
	appendAll(t, svc, create(t, svc), turns(4)...)
	if len(oracle.Requests()) == 0 {
		t.Error("a change of the caller's config after the fact changed the service")
	}
}

func TestContextWindowIsThatOfTheAgentsModel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*compaction.Config)
		window int
	}{
		{"set", func(c *compaction.Config) { c.ContextWindow, c.AgentModel = 5000, "gpt-4o" }, 5000},
		{"by the agent's model", func(c *compaction.Config) {
			c.AgentModel, c.Model, c.Summarizer = "gpt-4o", scripted("gemini-2.5-flash"), nil
		}, 128_000},
		{"by the agent's model beside a summarizer", func(c *compaction.Config) { c.AgentModel = "gemini-2.5-flash" }, 1_048_576},
		{"by the summarizing model", func(c *compaction.Config) { c.Model, c.Summarizer = scripted("gemini-2.5-flash"), nil }, 1_048_576},
		{"model unheard of", func(c *compaction.Config) { c.Model, c.Summarizer = scripted("house-llm"), nil }, 128_000},
		{"no model at all", func(*compaction.Config) {}, 128_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg, _ := oracleConfig()
			cfg.MaxOutputTokens = 1000
			tt.change(&cfg)
			svc := newService(t, session.InMemoryService(), cfg)
			create(t, svc)
			got := status(t, svc)
			limit := int(0.98 * float64(tt.window-1000))
			if got.ContextWindow != tt.window || got.HardLimit != limit || got.TokenThreshold != int(math.Ceil(0.7*float64(tt.window-1000))) {
				t.Errorf("window %d, hard limit %d, threshold %d; want %d, %d and seven tenths of what the reply leaves", got.ContextWindow, got.HardLimit, got.TokenThreshold, tt.window, limit)
			}
		})
	}
}
