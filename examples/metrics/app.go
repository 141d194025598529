package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/tokens"
)

// app is an agent with a ceiling, whose numbers are exported.
type app struct {
	provider *sdkmetric.MeterProvider
	stack    *longsession.Stack
	runner   *runner.Runner
	handler  http.Handler // of /metrics
}

func newApp() (*app, error) {
	// A registry of its own, so that a scrape has these metrics only.
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo())
	if err != nil {
		return nil, err
	}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))
	spent, err := newSpending(provider)
	if err != nil {
		return nil, err
	}
	prices, err := tokens.NewRegistry(tokens.Model{Name: modelName, ContextWindow: 32_000, InputPrice: 10, OutputPrice: 50})
	if err != nil {
		return nil, err
	}
	llm := scripted()
	summaries := compaction.DefaultConfig()                         // by turns: so short a session is cheaper without a summary
	summaries.MeterProvider, summaries.Synchronous = provider, true // synchronous, so that every run exports the same
	stack, err := longsession.New(session.InMemoryService(), longsession.Config{
		Model: llm, Registry: prices,
		Compaction: summaries,
		Guard: guard.Config{
			Turn:     guard.Limits{USD: 10 * tokens.Cent},
			Session:  guard.Limits{ModelCalls: 30},
			Watchdog: watchdog.Config{Mode: watchdog.Stop}, // as for an unattended run
			Observer: spent.Observe,
		},
	})
	if err != nil {
		return nil, err
	}
	a := &app{provider: provider, stack: stack, handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{})}
	page, err := functiontool.New(functiontool.Config{Name: "read_page", Description: "reads a page of the manual"},
		func(_ agent.ToolContext, args pageArgs) (map[string]any, error) {
			return map[string]any{"text": fmt.Sprintf("Page %d of the manual.", args.Page)}, nil
		})
	if err != nil {
		return nil, errors.Join(err, a.close(context.Background()))
	}
	clerk, err := llmagent.New(llmagent.Config{Name: "clerk", Model: stack.Model(llm), Tools: []tool.Tool{page}})
	if err != nil {
		return nil, errors.Join(err, a.close(context.Background()))
	}
	a.runner, err = runner.New(runner.Config{
		AppName: "metrics", Agent: clerk, SessionService: stack.Sessions, PluginConfig: stack.PluginConfig(), AutoCreateSession: true,
	})
	if err != nil {
		return nil, errors.Join(err, a.close(context.Background()))
	}
	return a, nil
}

type pageArgs struct {
	Page int `json:"page"`
}

// play plays the turns of the script. A turn that the guard stops is no failure: the metrics are there to show
// it.
func (a *app) play(ctx context.Context, out io.Writer) error {
	for i, message := range script {
		calls := 0
		var stopped *guard.StopError
		for ev, err := range a.runner.Run(ctx, "operator", message.session, genai.NewContentFromText(message.text, genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				if !errors.As(err, &stopped) {
					return fmt.Errorf("turn %d: %w", i+1, err)
				}
				break
			}
			if ev.UsageMetadata != nil && !ev.Partial {
				calls++
			}
		}
		if stopped != nil {
			fmt.Fprintf(out, "turn %2d: %d model calls, then %v\n", i+1, calls, stopped)
		}
	}
	return a.stack.Guard.Flush(ctx)
}

// scrape prints what Prometheus would read.
func (a *app) scrape(out io.Writer) error {
	answer := httptest.NewRecorder()
	a.handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		return fmt.Errorf("the scrape answered %d: %s", answer.Code, answer.Body)
	}
	_, err := io.Copy(out, answer.Body)
	return err
}

func (a *app) close(ctx context.Context) error {
	return errors.Join(a.stack.Close(ctx), a.provider.Shutdown(ctx))
}
