package compaction_test

import (
	"context"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// gemini is a model that names its backend, as ADK's own does.
type gemini struct {
	*compactiontest.Model
	backend genai.Backend
}

func (g gemini) GetGoogleLLMVariant() genai.Backend { return g.backend }

// newGemini answers with a short summary that took 1,000 tokens, 400 of them cached, 20 candidates and
// 5 thoughts.
func newGemini(backend genai.Backend) gemini {
	return gemini{compactiontest.NewModel("gemini-2.5-flash", func(int, *model.LLMRequest) *model.LLMResponse {
		response := compactiontest.Say("Language: English\nThings were asked for.")
		response.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
			PromptTokenCount: 1000, CachedContentTokenCount: 400, CandidatesTokenCount: 20, ThoughtsTokenCount: 5,
		}
		return response
	}), backend}
}

// tracedSpan plays events that set one compaction off and returns the attributes of its span.
func tracedSpan(t *testing.T, cfg compaction.Config, events []*session.Event) map[string]attribute.Value {
	t.Helper()
	traced := newTraces()
	cfg.TracerProvider, cfg.Synchronous = traced.provider, true
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), events...)
	spans := traced.spans(t)
	if len(spans) != 1 {
		t.Fatalf("%d spans, want 1", len(spans))
	}
	return attributesOf(spans[0])
}

// TestAttributesOfASpanStayAsTheyAre: dashboards, those for adk-python among them, read names and types.
func TestAttributesOfASpanStayAsTheyAre(t *testing.T) {
	t.Parallel()
	cfg := compaction.DefaultConfig()
	cfg.Model, cfg.ContextWindow = newGemini(genai.BackendVertexAI), 100_000
	events := turns(5)
	got := tracedSpan(t, cfg, events)
	for _, key := range []string{"gen_ai.compaction.result_event_id", "gen_ai.compaction.record_id"} {
		if got[key].Type() != attribute.STRING || got[key].AsString() == "" {
			t.Errorf("%s is %v", key, got[key])
		}
		delete(got, key)
	}
	seconds := func(ts time.Time) attribute.Value { return attribute.Float64Value(float64(ts.UnixMicro()) / 1e6) }
	flash, _ := tokens.Lookup("gemini-2.5-flash")
	want := map[string]attribute.Value{
		"gen_ai.operation.name":                  attribute.StringValue("compact_events"),
		"gen_ai.conversation.id":                 attribute.StringValue(ref.SessionID),
		"gen_ai.system":                          attribute.StringValue("gcp.vertex_ai"),
		"gcp.vertex.agent.invocation_id":         attribute.StringValue("inv5"),
		"gen_ai.compaction.trigger":              attribute.StringValue("invocations"),
		"gen_ai.compaction.summarizer_type":      attribute.StringValue("LLM"),
		"gen_ai.compaction.event_count":          attribute.IntValue(6),
		"gen_ai.compaction.compaction_interval":  attribute.IntValue(5),
		"gen_ai.compaction.overlap_size":         attribute.IntValue(2),
		"gen_ai.compaction.token_threshold":      attribute.IntValue(63_000),
		"gen_ai.compaction.event_retention_size": attribute.IntValue(10),
		"gen_ai.compaction.inline":               attribute.BoolValue(true),
		"gen_ai.compaction.tokens_before":        got["gen_ai.compaction.tokens_before"],
		"gen_ai.compaction.tokens_after":         got["gen_ai.compaction.tokens_after"],
		"gen_ai.compaction.kept":                 attribute.Float64Value(.6667),
		"gen_ai.compaction.start_timestamp":      seconds(events[0].Timestamp),
		"gen_ai.compaction.end_timestamp":        seconds(events[5].Timestamp),
		"gen_ai.request.model":                   attribute.StringValue("gemini-2.5-flash"),
		"gen_ai.usage.input_tokens":              attribute.IntValue(1000),
		"gen_ai.usage.output_tokens":             attribute.IntValue(25),
		"gen_ai.usage.cache_read.input_tokens":   attribute.IntValue(400),
		"gen_ai.compaction.cost_usd":             attribute.Float64Value(flash.Cost(tokens.Usage{PromptTokens: 1000, CachedTokens: 400, OutputTokens: 25})),
	}
	if !maps.Equal(got, want) {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
	if before, after := got["gen_ai.compaction.tokens_before"].AsInt64(), got["gen_ai.compaction.tokens_after"].AsInt64(); after <= 0 || before <= after {
		t.Errorf("%d tokens before, %d after", before, after)
	}
	if want["gen_ai.compaction.cost_usd"].AsFloat64() <= 0 {
		t.Error("the test's model has no price")
	}
}

// TestUnknownIsLeftOut: an empty or zero value would read as a measurement, and a zero time as 1754.
func TestUnknownIsLeftOut(t *testing.T) {
	t.Parallel()
	cfg, oracle := oracleConfig()
	cfg.InvocationThreshold, cfg.SafetyRatio, cfg.TokenThreshold = compaction.Off, compaction.Off, 400
	cfg.Summarizer = summarizerFunc(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		result, err := oracle.Summarize(ctx, req)
		return summarizer.Result{Content: result.Content}, err
	})
	events := turns(12)
	for _, ev := range events {
		ev.Timestamp = time.Time{}
	}
	traced := newTraces()
	cfg.TracerProvider = traced.provider
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), events...)
	stored := 0
	for _, span := range traced.spans(t) {
		got := attributesOf(span)
		if _, ok := got["gen_ai.compaction.result_event_id"]; !ok {
			continue
		}
		stored++
		for _, key := range []string{
			"gen_ai.system", "gen_ai.request.model", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.usage.cache_read.input_tokens",
			"gen_ai.compaction.cost_usd", "gen_ai.compaction.branch", "gen_ai.compaction.compaction_interval", "gen_ai.compaction.overlap_size",
			"gen_ai.compaction.start_timestamp", "gen_ai.compaction.end_timestamp", "gen_ai.compaction.late_store",
		} {
			if value, has := got[key]; has {
				t.Errorf("%s is %v", key, value.String())
			}
		}
		if got["gen_ai.compaction.token_threshold"].AsInt64() != 400 || got["gen_ai.compaction.summarizer_type"].AsString() != "summarizerFunc" {
			t.Errorf("span: %v", got)
		}
	}
	if stored == 0 {
		t.Error("nothing was stored")
	}
}

// TestSystemIsNamedWhereItIsKnown, and never guessed.
func TestSystemIsNamedWhereItIsKnown(t *testing.T) {
	t.Parallel()
	for want, backend := range map[string]genai.Backend{"gcp.gemini": genai.BackendGeminiAPI, "gcp.vertex_ai": genai.BackendVertexAI, "": genai.BackendUnspecified} {
		cfg := compaction.DefaultConfig()
		cfg.Model = newGemini(backend)
		if got := tracedSpan(t, cfg, turns(5))["gen_ai.system"].AsString(); got != want {
			t.Errorf("gen_ai.system of backend %v is %q, want %q", backend, got, want)
		}
		// The agent's model says nothing about who writes the summaries.
		cfg.Summarizer = &compactiontest.Oracle{}
		if got, has := tracedSpan(t, cfg, turns(5))["gen_ai.system"]; has {
			t.Errorf("gen_ai.system is %q with a summarizer of another kind", got.AsString())
		}
	}
}

// generic is a summarizer whose type has type arguments.
type generic[T any] struct{ compactiontest.Oracle }

// TestSummarizerTypeIsABareName: the package path would differ between languages and versions.
func TestSummarizerTypeIsABareName(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]compaction.Summarizer{
		"Oracle":         &compactiontest.Oracle{},
		"Extractive":     summarizer.Extractive{},
		"Func":           summarizer.Func((&compactiontest.Oracle{}).Summarize),
		"generic":        &generic[session.Event]{},
		"struct":         struct{ compaction.Summarizer }{&compactiontest.Oracle{}},
		"summarizerFunc": summarizerFunc((&compactiontest.Oracle{}).Summarize),
	} {
		cfg := compaction.DefaultConfig()
		cfg.Summarizer = s
		if got := tracedSpan(t, cfg, turns(5))["gen_ai.compaction.summarizer_type"].AsString(); got != want {
			t.Errorf("the type of %T is told as %q, want %q", s, got, want)
		}
	}
}

// TestSummarizerAtTheHardLimitIsNamed: the failing model and what stepped in are two attempts.
func TestSummarizerAtTheHardLimitIsNamed(t *testing.T) {
	t.Parallel()
	traced := newTraces()
	cfg := compaction.DefaultConfig()
	cfg.TracerProvider, cfg.ContextWindow, cfg.InvocationThreshold = traced.provider, 4000, compaction.Off
	cfg.Summarizer = answers(summarizer.Result{}, errBoom)
	svc := newService(t, session.InMemoryService(), cfg)
	h := (&compactiontest.History{}).Turns(20, "agent").User("long", words(4000))
	appendAll(t, svc, create(t, svc), h.Events...)
	spans := traced.spans(t)
	if len(spans) < 2 {
		t.Fatalf("%d spans, want the model's and the stand-in's", len(spans))
	}
	wantOutcome(t, spans[0], compaction.Failed)
	wantOutcome(t, spans[1], compaction.Stored)
	for i, want := range []string{"summarizerFunc", "Extractive"} {
		if got := attributesOf(spans[i])["gen_ai.compaction.summarizer_type"].AsString(); got != want {
			t.Errorf("span %d is of %q, want %q", i, got, want)
		}
	}
}

// TestEveryAttributeIsDocumented: the table in the package comment is all that users have.
func TestEveryAttributeIsDocumented(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(source), "\npackage compaction")
	var documented []string
	for _, row := range regexp.MustCompile(`(?m)^//\t((?:gen_ai|gcp|error)\.[a-z_.]+)`).FindAllStringSubmatch(comment, -1) {
		documented = append(documented, row[1])
	}
	used := map[string]bool{}
	add := func(attrs map[string]attribute.Value) {
		for key := range attrs {
			used[key] = true
		}
	}
	for _, o := range occasions {
		traced, _, _ := o.run(t)
		add(attributesOf(traced.spans(t)[0]))
	}
	cfg := compaction.DefaultConfig()
	cfg.Model = newGemini(genai.BackendGeminiAPI)
	events := (&compactiontest.History{}).Branch("left").Turns(5, "agent").Events
	add(tracedSpan(t, cfg, events))
	cfg = compaction.DefaultConfig()
	cfg.Summarizer, _ = inventing(true)
	add(tracedSpan(t, cfg, orders(5)))
	used["gen_ai.compaction.late_store"] = true // see TestLateStoreIsLinkedToItsSummary
	slices.Sort(documented)
	if want := slices.Sorted(maps.Keys(used)); !slices.Equal(documented, want) {
		t.Errorf("documented\n %v\nused\n %v", documented, want)
	}
}

// TestUsageOfAFailedCallIsReported: it is paid for like any other.
func TestUsageOfAFailedCallIsReported(t *testing.T) {
	t.Parallel()
	seen := &notes{}
	cfg, _ := oracleConfig()
	cfg.Observer = seen.Observe
	cfg.Summarizer = summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) {
		return summarizer.Result{Model: "gemini-2.5-flash", Usage: tokens.Usage{PromptTokens: 1000, OutputTokens: 10}}, errBoom
	})
	got := tracedSpan(t, cfg, turns(5))
	if got["gen_ai.usage.input_tokens"].AsInt64() != 1000 || got["gen_ai.usage.output_tokens"].AsInt64() != 10 || got["gen_ai.compaction.cost_usd"].AsFloat64() <= 0 {
		t.Errorf("span: %v", got)
	}
	failed := seen.of(compaction.Failed)
	if len(failed) != 1 || failed[0].Usage.Total() != 1010 || failed[0].Cost <= 0 || failed[0].Model != "gemini-2.5-flash" {
		t.Errorf("observations: %+v", failed)
	}
}
