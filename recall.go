package longsession

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/internal/wrapper"
	"github.com/adk-go-ext/longsession/layer/recall"
)

// prepareRecall has summaries say that earlier messages can be searched, once the app has taken from the stack what gives
// its agents the tools: over the session service alone, no agent has them. It comes before the session service is made, and
// addRecall behind it.
func (b *builder) prepareRecall() error {
	c := b.cfg
	if c.Recall.Disabled {
		return nil
	}
	c.Compaction.RecallTool, c.Compaction.RecallOffered = recall.ToolName, b.recalls.Load
	b.indexAfterCompactions()
	return c.Recall.Check()
}

// indexAfterCompactions has the file's index take in what summaries stand for, as soon as they are stored.
func (b *builder) indexAfterCompactions() {
	own := b.cfg.Compaction.Observer
	b.cfg.Compaction.Observer = func(ctx context.Context, o compaction.Observation) {
		b.Recall.Observe(ctx, o)
		if own != nil {
			own(ctx, o)
		}
	}
}

// addRecall makes the tools, unless they are off. Nothing is indexed before the first summary or search.
func (b *builder) addRecall() error {
	if b.cfg.Recall.Disabled {
		return nil
	}
	r, err := recall.New(b.Sessions, b.cfg.Recall)
	if err != nil {
		return err
	}
	b.Recall = r
	return nil
}

// offerRecall declares the tools of recall for agents without plugins, such as those of subtasks: their summaries name
// recall, too. It gives them nothing else to search, such as other sessions of the user.
func (s *Stack) offerRecall(llm model.LLM) model.LLM {
	if s.Recall == nil || wrapper.Wraps(llm, s) {
		return llm
	}
	return wrapper.New(llm, s, "longsession", func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		switch ic := adk.Invocation(ctx); {
		case req == nil || !namesRecall(req):
		case ic == nil || adk.IsCustom(ic.Agent()):
			s.nameRecallIfOffered(req) // nobody runs a tool that is not there already
		default:
			s.declareRecall(req, ic.Agent().Name)
		}
		return llm.GenerateContent(ctx, req, stream)
	})
}

// namesRecall reports whether a request tells the model of recall: each view with summaries has one that does.
func namesRecall(req *model.LLMRequest) bool {
	return slices.ContainsFunc(req.Contents, promptsize.IsSummary) || adk.Instructs(req, recall.ToolName) || adk.Instructs(req, recall.TurnToolName)
}

// declareRecall declares the tools of recall in a request that has a use for them. If the app has a tool of one of their
// names, that one stays and neither is declared: they work together only. Where the model cannot call recall, no summary
// speaks of it.
func (s *Stack) declareRecall(req *model.LLMRequest, agent func() string) {
	if s.Recall == nil {
		return
	}
	tools := s.Recall.Tools()
	if i := slices.IndexFunc(tools, func(t tool.Tool) bool { return adk.HasOther(req, t) }); i < 0 {
		s.declareIn(req, tools)
	} else {
		s.tellOfOther(tools[i].Name(), agent)
	}
	s.nameRecallIfOffered(req)
}

// tellOfOther logs that an agent has a tool of a name of ours. It does so once: the app is as its author wants it.
func (s *Stack) tellOfOther(name string, agent func() string) {
	s.other.Do(func() {
		defer s.places.Survive("longsession: a tool of the app's")
		cmp.Or(s.places.Logger, slog.Default()).LogAttrs(context.Background(), slog.LevelInfo,
			"longsession: "+"an agent keeps its own tool of that name, and cannot search earlier messages", slog.String("tool", name), slog.String("agent", agent()))
	})
}

// nameRecallIfOffered takes the sentence about recall out of the summaries of a request that does not offer it. The view
// has it for every agent, because it does not know whose prompt it will be. A model that is told of a tool calls it,
// and ADK would run none, or one of the app's.
func (s *Stack) nameRecallIfOffered(req *model.LLMRequest) {
	defer s.places.Survive("longsession: the offer of recall in a request")
	offered := func(t tool.Tool) bool { return t.Name() == recall.ToolName && adk.Has(req, t) }
	if slices.ContainsFunc(s.Recall.Tools(), offered) {
		return
	}
	own := false // the contents may be the session's
	for i, c := range req.Contents {
		if !promptsize.IsSummary(c) {
			continue
		}
		if without := withoutOffer(c); without != c {
			if !own {
				req.Contents, own = slices.Clone(req.Contents), true
			}
			req.Contents[i] = without
		}
	}
}

// withoutOffer returns a content whose texts do not name recall: the content itself if none does.
func withoutOffer(c *genai.Content) *genai.Content {
	out := c
	for i, p := range c.Parts {
		if p == nil {
			continue
		}
		text := view.WithoutOffer(p.Text, recall.ToolName)
		if text == p.Text {
			continue
		}
		if out == c {
			out = &genai.Content{Role: c.Role, Parts: slices.Clone(c.Parts)}
		}
		part := *p
		part.Text = text
		out.Parts[i] = &part
	}
	return out
}
