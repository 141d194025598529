package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/summarizer"
)

// Layers is what the layers of a policy did, see Policy.Layers.
type Layers struct {
	// Shortened is how many different tool results the model got as a stub, cut or masked. ReadBack
	// is how many of them were then read back whole, byte for byte, by their references.
	Shortened int `json:"shortened"`
	ReadBack  int `json:"read_back"`
	// PrefixBreaks counts the requests that do not extend the one before, by cause. A provider's
	// cache serves such a request only up to the difference.
	PrefixBreaks map[string]int `json:"prefix_breaks,omitempty"`
	// BrokenSections counts those whose cause is the instruction or the tools, by the section of the
	// instruction, or by the first tool, that differs.
	BrokenSections map[string]int `json:"broken_sections,omitempty"`
	// Declarations is what tool search did, nil if the recording declares no tools or the layer is off.
	Declarations *Declarations `json:"declarations,omitempty"`
	// Refused counts the requests that the budget did not send because they exceed the context
	// window whatever is left out. The recorded answer was used all the same.
	Refused int `json:"refused"`
}

func (l *Layers) add(o Layers) {
	l.Shortened += o.Shortened
	l.ReadBack += o.ReadBack
	l.Refused += o.Refused
	l.PrefixBreaks = addCounts(l.PrefixBreaks, o.PrefixBreaks)
	l.BrokenSections = addCounts(l.BrokenSections, o.BrokenSections)
	if o.Declarations != nil {
		if l.Declarations == nil {
			l.Declarations = &Declarations{}
		}
		l.Declarations.add(*o.Declarations)
	}
}

func addCounts(to, from map[string]int) map[string]int {
	for key, n := range from {
		if to == nil {
			to = map[string]int{}
		}
		to[key] += n
	}
	return to
}

// layering runs the layers of one policy and collects what they do.
type layering struct {
	stack *longsession.Stack
	// refs are the references that the model got, each with the tool whose result it names.
	refs     map[string]string
	breaks   map[string]int
	sections map[string]int
	refused  int
	declared *declaring // nil without tool search
}

// newLayering puts the layers over the inner service, with cfg as the settings of compaction, for a
// model with the given context window.
func newLayering(r *run, cfg compaction.Config, window int) (*layering, error) {
	l := &layering{refs: map[string]string{}, breaks: map[string]int{}, sections: map[string]int{}}
	layers := *r.policy.Layers
	if len(r.c.Tools) > 0 && !slices.Contains(layers.Disable, longsession.LayerToolSearch) {
		l.declared = newDeclaring(r.c.Tools)
	}
	layers.Model, layers.Compaction = nil, cfg
	if layers.Budget.ContextWindow == 0 {
		layers.Budget.ContextWindow = window // no table has the model that gives the recorded answers
	}
	ofPolicy := layers.Budget.Observer
	layers.Budget.Observer = func(ctx context.Context, o budget.Observation) {
		if o.Break != nil {
			r.mu.Lock()
			l.breaks[string(o.Break.Cause)]++
			if o.Break.Section != "" {
				l.sections[o.Break.Section]++
			}
			r.mu.Unlock()
		}
		if ofPolicy != nil {
			ofPolicy(ctx, o)
		}
	}
	var err error
	l.stack, err = longsession.New(r.inner, layers)
	return l, err
}

// withoutTriggers is cfg with every automatic compaction off.
func withoutTriggers(cfg compaction.Config) compaction.Config {
	cfg.InvocationThreshold, cfg.SafetyRatio, cfg.TokenThreshold = compaction.Off, compaction.Off, 0
	if cfg.Model == nil && cfg.Summarizer == nil {
		cfg.Summarizer = summarizer.Extractive{}
	}
	return cfg
}

// model wraps the script in the layers. Where the budget refuses a request, the script answers all the
// same: the recorded conversation went on, and so does the replay.
func (l *layering) model(script model.LLM) model.LLM {
	return &insistent{LLM: l.stack.Model(l.declared.watch(script)), script: script, refused: &l.refused}
}

// insistent is a model in its layers that answers even a request that the budget refuses.
type insistent struct {
	model.LLM
	script  model.LLM
	refused *int // counts those requests
}

// GenerateContent implements [model.LLM].
func (m *insistent) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for resp, err := range m.LLM.GenerateContent(ctx, req, stream) {
			if errors.Is(err, budget.ErrContextOverflow) {
				*m.refused++
				m.script.GenerateContent(ctx, req, stream)(yield)
				return
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

// note collects the references in a request.
func (l *layering) note(req *model.LLMRequest) {
	for _, c := range req.Contents {
		for _, p := range parts(c) {
			if p.FunctionResponse == nil {
				continue
			}
			if ref, ok := toolresult.IsShortened(p.FunctionResponse.Name, p.FunctionResponse.Response); ok {
				l.refs[ref] = p.FunctionResponse.Name
			}
		}
	}
}

// report reads back every result that the model got shortened, and compares it with the stored one.
func (l *layering) report(ctx context.Context, r *run) error {
	whole, err := r.storedResults(ctx)
	if err != nil {
		return err
	}
	rep := &Layers{Shortened: len(l.refs), PrefixBreaks: l.breaks, BrokenSections: l.sections, Refused: l.refused, Declarations: l.declared.report()}
	owner := r.ref
	source := store.Events(r.inner)
	for _, ref := range slices.Sorted(maps.Keys(l.refs)) {
		got, err := readAll(ctx, source, owner, ref)
		switch content, stored := whole[ref]; {
		case err != nil:
			r.addProblems(fmt.Errorf("result %s of %s cannot be read back: %w", ref, l.refs[ref], err))
		case !stored || got != content:
			r.addProblems(fmt.Errorf("result %s of %s is read back as %d bytes that differ from the %d stored", ref, l.refs[ref], len(got), len(content)))
		default:
			rep.ReadBack++
		}
	}
	r.report.Layers = rep
	return nil
}

func readAll(ctx context.Context, source store.Source, owner store.Owner, ref string) (string, error) {
	reader, size, err := source.Open(ctx, owner, ref)
	if err != nil {
		return "", err
	}
	if closer, ok := reader.(io.Closer); ok {
		defer closer.Close()
	}
	data, err := io.ReadAll(io.NewSectionReader(reader, 0, size))
	return string(data), err
}

// storedResults are the contents of all results in storage, by their references.
func (r *run) storedResults(ctx context.Context) (map[string]string, error) {
	raw, err := r.inner.Get(ctx, r.get())
	if err != nil {
		return nil, err
	}
	whole := map[string]string{}
	for _, ev := range eventsOf(raw.Session) {
		for _, p := range parts(ev.Content) {
			if p.FunctionResponse != nil {
				result := store.ResultOf(p.FunctionResponse.Response)
				whole[result.Ref] = result.Content
			}
		}
	}
	return whole, nil
}
