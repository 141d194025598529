package replaycmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chatcmd"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/tokens"
)

// writer is a model that writes summaries.
type writer struct {
	llm     model.LLM
	server  string        // "" if it needs none
	timeout time.Duration // for a summary; 0 is the library's
	price   tokens.Model  // unpriced for one that is free or unknown
}

// axis returns the values that a grid gives a key, nil if it does not vary the key.
func (f *flags) axis(key string) []string {
	for _, a := range f.grid {
		if a.key == key {
			return a.values
		}
	}
	return nil
}

// asksModel reports whether a model writes summaries.
func (f *flags) asksModel() bool {
	if values := f.axis("summarizer"); values != nil {
		return slices.Contains(values, byModel)
	}
	return f.policy.summarizer == byModel
}

// summaryModels are the names of the models whose summaries or prices are asked for.
func (f *flags) summaryModels() []string {
	if values := f.axis("summary-model"); values != nil {
		return values
	}
	return []string{f.policy.summaryModel}
}

// checkWriters refuses flags about the models that write summaries if they contradict others; given reports whether a flag
// was given.
func (f *flags) checkWriters(given func(flag string) bool) error {
	named := given("summary-model") || f.axis("summary-model") != nil
	switch {
	case named && slices.Contains(f.summaryModels(), ""):
		return exit.Usage("--summary-model is empty: name a model, such as gemini-3.1-flash-lite")
	case slices.ContainsFunc(f.summaryModels(), unprintable):
		return exit.Usage("--summary-model %q has a character that cannot be seen: write the name as its provider does", f.summaryModels()[slices.IndexFunc(f.summaryModels(), unprintable)])
	case f.summaryPrice.Priced() && len(f.summaryModels()) > 1:
		return exit.Usage("--summary-price with %s: they do not all cost the same; replay them one by one", terminal.List(f.summaryModels(), "and"))
	case f.asksModel() && !named:
		return exit.Usage("--summarizer model without --summary-model: name the model whose summaries you want to see, such as gemini-3.1-flash-lite")
	case f.summaryPrice.Priced() && !named:
		return exit.Usage("--summary-price without --summary-model: name the model whose price it is")
	case f.asksModel():
		return nil
	case f.axis("summary-model") != nil:
		return exit.Usage("--grid: summary-model, and no model writes summaries; add --summarizer model")
	}
	for _, flag := range []string{"base-url", "server-timeout", "max-summary-cost-usd"} {
		if given(flag) {
			return exit.Usage("--%s without --summarizer model: no model is called; leave it out, or add --summarizer model", flag)
		}
	}
	return nil
}

func unprintable(name string) bool { return terminal.Printable(name) != name }

// summaryModel is what is known of a model whose summaries or prices are asked for.
func (p *plan) summaryModel(name string) (m tokens.Model, known bool) {
	if strings.EqualFold(name, p.flags.model) && !p.summaryPrice.Priced() {
		return p.model, true
	}
	m, known = tokens.Lookup(name)
	m.Name = strings.ToLower(name)
	if price := p.summaryPrice; price.Priced() {
		m.InputPrice, m.CachedInputPrice, m.OutputPrice = price.InputPrice, price.CachedInputPrice, price.OutputPrice
		known = true
	}
	if m.ContextWindow == 0 {
		m.ContextWindow = min(p.flags.policy.cfg.ContextWindow, tokens.DefaultContextWindow)
	}
	return m, known
}

// setPrices decides whose prices apply to summaries: those of --summary-model if it was given or writes them, else those of
// the agent's model. Of several models in a grid, each has its own, which the registry knows.
func (p *plan) setPrices(given func(flag string) bool) error {
	rows := []tokens.Model{p.model}
	names := p.summaryModels()
	for _, name := range names {
		m, known := p.summaryModel(name)
		if !known && !p.asksModel() && given("summary-model") {
			return exit.Usage("--summary-model %q is in no table: without --summarizer model only its prices are used; name another, such as gemini-2.5-flash, or give --summary-price", name)
		}
		if (p.asksModel() || p.summaryPrice.Priced()) && !slices.ContainsFunc(rows, func(row tokens.Model) bool { return strings.EqualFold(row.Name, m.Name) }) {
			rows = append(rows, m)
		}
		if len(names) == 1 && (p.asksModel() || p.summaryPrice.Priced() || given("summary-model")) {
			p.summary = m
		}
	}
	var err error
	p.flags.policy.cfg.Registry, err = tokens.NewRegistry(rows...)
	return err
}

// open opens a model that writes summaries, once for all policies. It fails without a key, and without a price that the
// ceiling needs, before any work is done.
func (p *plan) open(ctx context.Context, name string) (*writer, error) {
	if w, opened := p.writers[name]; opened {
		return w, nil
	}
	price, _ := p.summaryModel(name)
	said := tokens.Model{}
	if price.Priced() {
		said = price
	}
	setup, err := chatcmd.Named(ctx, "--summary-model", name, p.server, said)
	if err != nil {
		return nil, exit.Usage("%w", err)
	}
	w := &writer{llm: setup.Model, server: setup.Server(), price: said}
	if idle := setup.Settings.ServerTimeout(); idle > compaction.DefaultConfig().Timeout {
		w.timeout = idle
	}
	switch {
	case p.summaryCeiling == 0, setup.Free():
	case !price.Priced():
		return nil, exit.Usage("--summary-model is %s, whose price is not known, so nobody can tell when its summaries have cost --max-summary-cost-usd %v: give --summary-price, or --max-summary-cost-usd 0 for no limit", name, p.summaryCeiling)
	default:
		w.llm = p.spending.bounded(w.llm, price)
	}
	if p.writers == nil {
		p.writers = map[string]*writer{}
	}
	p.writers[name] = w
	return w, nil
}

// describeWriters says who writes the summaries, where, and what that may cost: "" if no model does.
func (p *plan) describeWriters() string {
	var names []string
	bounded := false
	for _, name := range p.summaryModels() {
		w := p.writers[name]
		if w == nil {
			continue
		}
		text := name
		if w.server != "" {
			text += " at " + w.server
		}
		if w.price.Priced() {
			text += fmt.Sprintf(" ($%v input, $%v output)", w.price.InputPrice, w.price.OutputPrice)
			bounded = p.summaryCeiling > 0
		} else {
			text += " (no price)"
		}
		names = append(names, text)
	}
	if len(names) == 0 {
		return ""
	}
	text := terminal.List(names, "and") + ", which read the conversations"
	if len(names) == 1 {
		text = names[0] + ", which reads the conversations"
	}
	if bounded {
		text += fmt.Sprintf("; the run ends when that has cost %v (--max-summary-cost-usd)", p.summaryCeiling)
	}
	return text
}
