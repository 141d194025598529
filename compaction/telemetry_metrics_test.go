package compaction_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// reading is one metric: its unit and the value of each set of attributes, written "k=v,k=v".
type reading struct {
	unit   string
	values map[string]float64
}

func read(t *testing.T, reader sdkmetric.Reader) map[string]reading {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		t.Fatal(err)
	}
	out := map[string]reading{}
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			r := reading{m.Unit, map[string]float64{}}
			label := func(set attribute.Set) string { return set.Encoded(attribute.DefaultEncoder()) }
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				if !d.IsMonotonic {
					t.Errorf("%s may fall", m.Name)
				}
				for _, p := range d.DataPoints {
					r.values[label(p.Attributes)] = float64(p.Value)
				}
			case metricdata.Sum[float64]:
				for _, p := range d.DataPoints {
					r.values[label(p.Attributes)] = p.Value
				}
			case metricdata.Gauge[float64]:
				for _, p := range d.DataPoints {
					r.values[label(p.Attributes)] = p.Value
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					r.values[label(p.Attributes)] = float64(p.Count)
				}
			default:
				t.Errorf("%s is a %T", m.Name, m.Data)
			}
			out[m.Name] = r
		}
	}
	return out
}

// TestMetricsAddUp: what triggers led to, how long it took, what went wrong, and what it cost.
func TestMetricsAddUp(t *testing.T) {
	t.Parallel()
	reader, seen := sdkmetric.NewManualReader(), &notes{}
	cfg, oracle := oracleConfig()
	cfg.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	cfg.Observer, cfg.MaxSummaries = seen.Observe, 2
	calls := 0
	cfg.Summarizer = summarizerFunc(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		calls++
		result, err := oracle.Summarize(ctx, req)
		result.Model, result.Usage = "gemini-2.5-flash", tokens.Usage{PromptTokens: 1000, OutputTokens: 10}
		switch calls {
		case 2:
			err = errBoom
		case 3:
			result.Content = prose(words(2000)).Content
		case 4:
			result.Content = prose("").Content
		}
		return result, err
	})
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), turns(40)...)
	compact(t, svc, compaction.CompactOptions{})

	triggers, durations, failures := map[string]float64{}, map[string]float64{}, map[string]float64{}
	used, cost := map[string]float64{}, map[string]float64{}
	for _, o := range seen.all() {
		if o.Outcome == compaction.Started {
			continue
		}
		trigger := "trigger=" + string(o.Trigger)
		outcome := fmt.Sprintf("outcome=%s,%s", o.Outcome, trigger)
		triggers[outcome]++
		if o.Usage.Total() == 0 {
			continue
		}
		durations[outcome]++
		used["gen_ai.token.type=input,"+trigger] += 1000
		used["gen_ai.token.type=output,"+trigger] += 10
		cost[trigger] += o.Cost
	}
	failures["error.type=_OTHER,trigger=invocations"], failures["error.type=unusable_summary,trigger=invocations"] = 1, 1
	ratios, shares := map[string]float64{}, map[string]float64{}
	for _, m := range records(t, rawEvents(t, svc)) {
		ratios["trigger="+string(m.Trigger)] = m.CompressionRatio
		if m.Kept != nil {
			shares["trigger="+string(m.Trigger)] = *m.Kept
		}
	}
	want := map[string]reading{
		"compaction.triggers":          {"{compaction}", triggers},
		"compaction.duration":          {"s", durations},
		"compaction.errors":            {"{error}", failures},
		"compaction.compression_ratio": {"1", ratios},
		"compaction.kept":              {"1", shares},
		"compaction.summarizer.tokens": {"{token}", used},
		"compaction.summarizer.cost":   {"{USD}", cost},
	}
	got := read(t, reader)
	for name, w := range want {
		g := got[name]
		if g.unit != w.unit || !maps.EqualFunc(g.values, w.values, func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }) {
			t.Errorf("%s\n got %v\nwant %v", name, g, w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("metrics %v", slices.Sorted(maps.Keys(got)))
	}
	if len(ratios) < 2 || len(triggers) < 5 || cost["trigger=invocations"] <= 0 {
		t.Errorf("the test shows too little: %v %v %v", ratios, triggers, cost)
	}
}

// TestMetricsHaveFewSeries however many sessions, users and turns there are: each series costs memory
// in the app and in what collects them.
func TestMetricsHaveFewSeries(t *testing.T) {
	t.Parallel()
	reader := sdkmetric.NewManualReader()
	cfg, _ := oracleConfig()
	cfg.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	svc := newService(t, session.InMemoryService(), cfg)
	for i := range 20 {
		id := fmt.Sprintf("s%d", i)
		resp, err := svc.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "user " + id, SessionID: id})
		if err != nil {
			t.Fatal(err)
		}
		h := (&compactiontest.History{}).Branch(id).Turns(5, id)
		appendAll(t, svc, resp.Session, h.Events...)
	}
	got := read(t, reader)
	if n := got["compaction.triggers"].values["outcome=stored,trigger=invocations"]; n != 20 {
		t.Fatalf("%v compactions, want one for each session", n)
	}
	for name, r := range got {
		if len(r.values) > 2 {
			t.Errorf("%s has %d series: %v", name, len(r.values), r.values)
		}
	}
}

// TestEveryMetricIsDocumented in the package comment, with its attributes.
func TestEveryMetricIsDocumented(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	reader := sdkmetric.NewManualReader()
	cfg, _ := oracleConfig()
	cfg.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	calls := 0
	cfg.Summarizer = summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) {
		calls++
		result := prose("Things were asked for. Order A-9999 was among them.")
		result.Model, result.Usage = "gemini-2.5-flash", tokens.Usage{PromptTokens: 1000, OutputTokens: 10}
		if calls == 1 {
			return result, errBoom
		}
		return result, nil
	})
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), turns(12)...)
	got := map[string]string{}
	for name, r := range read(t, reader) {
		for label := range r.values {
			keys := regexp.MustCompile(`=[^,]*`).ReplaceAllString(label, "")
			names := strings.Split(keys, ",")
			slices.Sort(names)
			got[name] = strings.Join(names, " ")
		}
	}
	comment, _, _ := strings.Cut(string(source), "\npackage compaction")
	documented := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^//\t(compaction\.[a-z_.]+) +[a-z]+(?:, \S+)? +(trigger(?:, [a-z_.]+)?) `).FindAllStringSubmatch(comment, -1) {
		names := strings.Split(row[2], ", ")
		slices.Sort(names)
		documented[row[1]] = strings.Join(names, " ")
	}
	if len(got) != 8 || !maps.Equal(got, documented) {
		t.Errorf("documented\n %v\nused\n %v", documented, got)
	}
}
