package subtask_test

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// questions is how many questions a walk has, each about a package of its own. With bare tools and 13 files in a
// package, a question takes 15 model calls: one lists the package, 13 read a file each, and one answers.
const questions = 20

// tree is the size of the packages: so many files, with so many functions each.
type tree struct{ files, functions int }

// meter is a scripted model that adds up what its requests cost, without a prompt cache and with a perfect
// one, which reads the longest common beginning with the session's last request.
type meter struct {
	name   string
	answer func(req *model.LLMRequest) *model.LLMResponse

	mu      sync.Mutex
	last    map[string][]uint64 // hashes of the contents, by session
	calls   int
	usage   tokens.Usage // without a cache
	cached  tokens.Usage // with a perfect one
	largest int
}

func (m *meter) Name() string { return m.name }

func (m *meter) GenerateContent(ctx context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		resp := m.answer(req)
		use := m.measure(ctx.(agent.InvocationContext).Session().ID(), req, tokens.OfContent(resp.Content))
		resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(use.PromptTokens), CandidatesTokenCount: int32(use.OutputTokens)}
		yield(resp, nil)
	}
}

func (m *meter) measure(id string, req *model.LLMRequest, output int) tokens.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, again := m.last[id]
	_, prompt := promptsize.OfRequest(&model.LLMRequest{Config: req.Config})
	cached, same := 0, again
	if again {
		cached = prompt // instruction and declarations do not change
	}
	hashes := make([]uint64, len(req.Contents))
	for i, c := range req.Contents {
		hashes[i] = promptsize.Hash(c)
		size := promptsize.OfContent(c)
		prompt += size
		if same = same && i < len(before) && before[i] == hashes[i]; same {
			cached += size
		}
	}
	if m.last == nil {
		m.last = map[string][]uint64{}
	}
	m.last[id] = hashes
	use := tokens.Usage{PromptTokens: prompt, OutputTokens: output}
	m.calls, m.usage, m.largest = m.calls+1, m.usage.Add(use), max(m.largest, prompt)
	m.cached = m.cached.Add(tokens.Usage{PromptTokens: prompt, CachedTokens: cached, OutputTokens: output})
	return use
}

// cost is that of all calls, without a cache and with a perfect one.
func (m *meter) cost(t *testing.T) (plain, cached tokens.Nano) {
	t.Helper()
	priced, ok := tokens.Lookup(m.name)
	if !ok || !priced.Priced() || priced.CachedInputPrice == 0 {
		t.Fatalf("%s has no prices", m.name)
	}
	return priced.Nanos(m.usage), priced.Nanos(m.cached)
}

func budgetOf(i int) int { return 100 + i*7919%900 }

// sources are the files. One of each package has the answer.
func (size tree) sources() map[string]string {
	files := map[string]string{}
	for i := range questions {
		for j := range size.files {
			var b strings.Builder
			fmt.Fprintf(&b, "package service%02d\n", i)
			for k := range size.functions {
				fmt.Fprintf(&b, "\n// handle%dOf%d applies rule %d of the protocol to the message.\nfunc handle%dOf%d(m message) error {\n\treturn m.apply(rules[%d], %d)\n}\n", k, j, k, k, j, k, (i*31+j*17+k*7)%991)
				if j == (i*5)%size.files && k == size.functions/2 {
					fmt.Fprintf(&b, "\n// RetryBudget is how many retries a minute the service may send.\nconst RetryBudget = %d\n", budgetOf(i))
				}
			}
			files[fmt.Sprintf("service%02d/part%02d.go", i, j)] = b.String()
		}
	}
	return files
}

func (size tree) tools(t *testing.T) []tool.Tool {
	files := size.sources()
	type path struct {
		Path string `json:"path"`
	}
	list := function(t, "list_dir", func(_ agent.ToolContext, a path) (map[string]any, error) {
		var names []any
		for j := range size.files {
			names = append(names, fmt.Sprintf("part%02d.go", j))
		}
		return map[string]any{"names": names}, nil
	})
	read := function(t, "read_file", func(_ agent.ToolContext, a path) (map[string]any, error) {
		content, ok := files[a.Path]
		if !ok {
			return nil, fmt.Errorf("%s does not exist", a.Path)
		}
		return map[string]any{"content": content}, nil
	})
	return append(bare(t, "grep", "glob"), list, read)
}

var (
	folder = regexp.MustCompile(`service\d\d`)
	budget = regexp.MustCompile(`RetryBudget = (\d+)`)
)

// since returns the question that a request is about, and the responses to its calls.
func since(req *model.LLMRequest) (question string, responses []*genai.FunctionResponse) {
	for _, c := range req.Contents {
		for _, part := range c.Parts {
			switch {
			case c.Role == genai.RoleUser && part.Text != "":
				question, responses = part.Text, nil
			case part.FunctionResponse != nil:
				responses = append(responses, part.FunctionResponse)
			}
		}
	}
	return question, responses
}

// walk reads all files of the package that a question is about, and answers with what they say: the model has
// no other source.
func (size tree) walk(req *model.LLMRequest) *model.LLMResponse {
	question, responses := since(req)
	pkg := folder.FindString(question)
	switch n := len(responses); {
	case n == 0:
		return call("list_dir", map[string]any{"path": pkg})
	case n <= size.files:
		return call("read_file", map[string]any{"path": fmt.Sprintf("%s/part%02d.go", pkg, n-1)})
	}
	for _, r := range responses {
		if found := budget.FindString(fmt.Sprint(r.Response["content"])); found != "" {
			return say(fmt.Sprintf("%s: %s, declared as a constant with the comment that it is how many retries a minute the service may send. "+
				"It is the only one in the package; the other files hold handlers of the protocol, and none of them reads it.", pkg, found))
		}
	}
	return say("not found")
}

// delegates asks agentic_research, and answers with its digest.
func delegates(req *model.LLMRequest) *model.LLMResponse {
	question, responses := since(req)
	if len(responses) == 0 {
		return call(subtask.ResearchName, map[string]any{"question": question, "path": folder.FindString(question)})
	}
	return say(fmt.Sprint(responses[0].Response["digest"]))
}

// stroll asks all questions in one session, and returns how many were answered rightly.
func stroll(t *testing.T, llm model.LLM, svc session.Service, tools []tool.Tool) (right int) {
	t.Helper()
	p := &parent{t: t, svc: svc, llm: llm, tools: tools}
	for i := range questions {
		events := p.say(fmt.Sprintf("How many retries a minute may service%02d send?", i))
		answer := textIn(events[len(events)-1])
		if found := budget.FindStringSubmatch(answer); found != nil && found[1] == fmt.Sprint(budgetOf(i)) {
			right++
		}
	}
	return right
}

func textIn(ev *session.Event) (text string) {
	for _, part := range parts(ev.Content) {
		text += part.Text
	}
	return text
}

// saving is how much less of 100 is paid.
func saving(now, before tokens.Nano) float64 { return 100 * (1 - float64(now)/float64(before)) }

// The figures are those of BENCHMARKS.md. Files of 20 functions have about 900 tokens, those of one function 60.
func TestAnAgenticCodeWalkCostsLess(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "it reads millions of tokens")
	for _, row := range []struct {
		tree
		atLeast float64 // percent less with the small model
	}{
		{tree{files: 13, functions: 20}, 30},
		{tree{files: 13, functions: 1}, 30},
		{tree{files: 1, functions: 1}, -100}, // one short file for each question: it may cost more
	} {
		t.Run(fmt.Sprintf("%d files of %d functions", row.files, row.functions), func(t *testing.T) {
			t.Parallel()
			calls := questions * (row.files + 2)
			compacted, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{
				Summarizer: summarizer.Extractive{}, Synchronous: true, ContextWindow: 128_000,
			})
			must(t, err)
			var plain, cached tokens.Nano // of the cheapest way with bare tools
			for _, bare := range []struct {
				name string
				svc  session.Service
			}{{"ADK alone", session.InMemoryService()}, {"compaction", compacted}} {
				m := &meter{name: large, answer: row.walk}
				if right := stroll(t, m, bare.svc, row.tools(t)); right != questions || m.calls != calls {
					t.Fatalf("%s: with bare tools %d of %d answers are right, in %d calls", bare.name, right, questions, m.calls)
				}
				p, c := m.cost(t)
				t.Logf("bare tools, %-24s %3d calls, largest prompt %7d, %9d in, %6d out, %9s, with a perfect cache %9s",
					bare.name, m.calls, m.largest, m.usage.PromptTokens, m.usage.OutputTokens, p, c)
				if plain == 0 || p < plain {
					plain = p
				}
				if cached == 0 || c < cached {
					cached = c
				}
			}
			for _, name := range []string{small, large} {
				own, child := &meter{name: large, answer: delegates}, &meter{name: name, answer: row.walk}
				svc, bare := session.InMemoryService(), row.tools(t)
				wrapped, err := newRunner(t, svc, child, nil).Wrappers(bare...)
				must(t, err)
				if right := stroll(t, own, svc, append(wrapped, bare...)); right != questions || child.calls != calls {
					t.Errorf("with subtasks on %s %d of %d answers are right, in %d calls", name, right, questions, child.calls)
				}
				ownPlain, ownCached := own.cost(t)
				p, c := child.cost(t)
				p, c = p+ownPlain, c+ownCached
				t.Logf("subtasks on %-24s %3d calls, largest prompt %7d, %9d in, %6d out, %9s, with a perfect cache %9s: %.0f%% and %.0f%% less",
					name, own.calls+child.calls, max(own.largest, child.largest), own.usage.PromptTokens+child.usage.PromptTokens,
					own.usage.OutputTokens+child.usage.OutputTokens, p, c, saving(p, plain), saving(c, cached))
				if name == small && (saving(p, plain) < row.atLeast || saving(c, cached) < row.atLeast) {
					t.Errorf("the walk costs %s instead of %s, and %s instead of %s with a perfect cache: want %.0f%% less", p, plain, c, cached, row.atLeast)
				}
			}
		})
	}
}
