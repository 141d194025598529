package main

import (
	"context"
	"fmt"
	"io"

	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/tokens"
)

// smaller has a smaller model of the same provider for each of models.
var smaller = map[string]string{
	"gemini-2.5-flash":  "gemini-2.5-flash-lite",
	"claude-sonnet-4-5": "claude-haiku-4-5",
	"gpt-4.1":           "gpt-4.1-mini",
	"gpt-4o":            "gpt-4o-mini",
}

// writerRow is what a set costs by who writes its summaries, in USD.
type writerRow struct {
	model, small    string
	own, less, warm float64
}

// compareWriters plays a set by the prices of each model three times: it writes its own summaries, a smaller one writes
// them, or they continue the agent's last request, so that all that is read for them comes from the provider's cache.
// The last is a lower bound: that request also has the instructions, the tools, and what stays raw.
func compareWriters(ctx context.Context, conversations []*conversation.Conversation) ([]writerRow, error) {
	var rows []writerRow
	for _, name := range models {
		agent, _ := tokens.Lookup(name)
		small, _ := tokens.Lookup(smaller[name])
		warm := agent
		warm.Name, warm.InputPrice = "continuing "+name, agent.CachedInputPrice
		row := writerRow{model: name, small: smaller[name]}
		for _, by := range []struct {
			writer tokens.Model
			sum    *float64
		}{{agent, &row.own}, {small, &row.less}, {warm, &row.warm}} {
			registry, err := tokens.NewRegistry(by.writer)
			if err != nil {
				return nil, err
			}
			cfg := config()
			cfg.AgentModel, cfg.InvocationThreshold, cfg.Registry = name, 0, registry
			policies := []replay.Policy{{Name: "with summaries by " + by.writer.Name, Config: cfg}}
			opts := replay.Options{Fixed: replay.FixedAuto, SummaryModel: by.writer}
			for _, c := range conversations {
				reports, err := replay.Compare(ctx, c, policies, opts)
				if err != nil {
					return nil, err
				}
				sent := bill{sent: reports[0].With}
				*by.sum += sent.dollars(agent) + reports[0].Summarizer.Dollars
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// printWriters prints a table of what compareWriters found.
func printWriters(out io.Writer, rows []writerRow) {
	fmt.Fprintln(out, "| agent's model | its own summaries | by a smaller model | of own | continuing the agent's request | of own |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|")
	for _, r := range rows {
		fmt.Fprintf(out, "| %s | $%.4f | $%.4f (%s) | %.3f | $%.4f | %.3f |\n", r.model, r.own, r.less, r.small, r.less/r.own, r.warm, r.warm/r.own)
	}
	fmt.Fprintln(out)
}
