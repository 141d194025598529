package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// What the synthetic sessions vary: by how many tokens the history grows with each call, and what cached input and
// output cost in prices of other input.
var (
	growths = []int{100, 500, 2_000}
	cached  = []float64{0.1, 0.25, 0.5, 1}
	outputs = []float64{2, 5, 10}
)

// The goals of synthetic sessions of so many calls or more, in shares of the best threshold. A shorter one may end before
// its summaries have paid for themselves.
const (
	goalCalls  = 10_000
	goalWorst  = 2.0
	goalMedian = 1.1
)

// inputPrice is in USD per million tokens.
const inputPrice = 2.0

// summaryTokens is the length of every synthetic summary.
const summaryTokens = 500

// cell is a kind of synthetic session.
type cell struct {
	growth         int
	cached, output float64
}

func (c cell) model() tokens.Model {
	return tokens.Model{Name: "synthetic", ContextWindow: 900_000_000, InputPrice: inputPrice, CachedInputPrice: c.cached * inputPrice, OutputPrice: c.output * inputPrice}
}

// ratio is what compaction by price came to in a cell.
type ratio struct {
	cell
	ofBest      float64
	threshold   int
	compactions int
}

// playSynthetic prints a table of all cells, and returns the goals that were missed.
func playSynthetic(ctx context.Context, calls int, out, progress io.Writer) ([]string, error) {
	var ratios []ratio
	for _, growth := range growths {
		fmt.Fprintf(progress, "synthetic sessions that grow by %d tokens with each call\n", growth)
		var fixed []*ledger
		for _, threshold := range thresholds {
			cfg := compaction.Config{ContextWindow: 900_000_000, TokenThreshold: threshold, SafetyRatio: compaction.Off, InvocationThreshold: compaction.Off}
			l, err := playSession(ctx, cell{growth: growth, cached: 1, output: 1}, calls, cfg)
			if err != nil {
				return nil, err
			}
			fixed = append(fixed, l)
		}
		for _, c := range cells(growth) {
			registry, err := tokens.NewRegistry(c.model())
			if err != nil {
				return nil, err
			}
			l, err := playSession(ctx, c, calls, compaction.Config{Registry: registry, AgentModel: "synthetic", SafetyRatio: compaction.Off})
			if err != nil {
				return nil, err
			}
			best, threshold := whole(growth, calls).dollars(c.model()), 0
			for i, f := range fixed {
				if dollars := f.dollars(c.model()); dollars < best {
					best, threshold = dollars, thresholds[i]
				}
			}
			ratios = append(ratios, ratio{c, l.dollars(c.model()) / best, threshold, l.compactions})
		}
	}
	return printSynthetic(out, calls, ratios), nil
}

func cells(growth int) []cell {
	var all []cell
	for _, share := range cached {
		for _, output := range outputs {
			all = append(all, cell{growth, share, output})
		}
	}
	return all
}

// ledger adds up what a synthetic session pays for, in tokens. Answers cost the same in all of them, and are left out.
type ledger struct {
	anew, again   int // read: for the first time, and from the cache
	read, written int // by the summarizer
	compactions   int
}

func (l *ledger) dollars(m tokens.Model) float64 {
	return m.Cost(tokens.Usage{PromptTokens: l.anew + l.again, CachedTokens: l.again}) +
		m.Cost(tokens.Usage{PromptTokens: l.read, OutputTokens: l.written})
}

// call adds a call with a prompt that begins like the one before for so many tokens.
func (l *ledger) call(prompt, same int) { l.anew, l.again = l.anew+prompt-same, l.again+same }

// whole is the ledger without compaction.
func whole(growth, calls int) *ledger {
	l := &ledger{}
	for i := range calls {
		l.call((i+1)*growth, i*growth)
	}
	return l
}

// Summarize implements the summarizer: it writes summaries of one length, and pays for them.
func (l *ledger) Summarize(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
	read := 0
	for _, ev := range req.Events {
		read += tokens.OfContent(ev.Content)
	}
	l.read, l.written = l.read+read, l.written+summaryTokens
	return summarizer.Result{
		Content: text(genai.RoleModel, summaryTokens), Usage: tokens.Usage{PromptTokens: read, OutputTokens: summaryTokens},
	}, nil
}

// playSession appends the calls of a session one after the other, and pays for what the service would send.
func playSession(ctx context.Context, c cell, calls int, cfg compaction.Config) (*ledger, error) {
	l := &ledger{}
	var failed error
	changed := false
	cfg.Summarizer, cfg.Synchronous, cfg.MaxLedgerTokens, cfg.MaxUserTokens = l, true, compaction.Off, compaction.Off
	cfg.Observer = func(_ context.Context, o compaction.Observation) {
		if o.Err != nil {
			failed = o.Err
		}
		if o.Outcome == compaction.Stored {
			l.compactions++
			changed = true
		}
	}
	svc, err := compaction.NewCompactionService(session.InMemoryService(), cfg)
	if err != nil {
		return nil, err
	}
	created, err := svc.Create(ctx, &session.CreateRequest{AppName: "economy", UserID: "user", SessionID: fmt.Sprint(c.growth)})
	if err != nil {
		return nil, err
	}
	question, reply := text(genai.RoleUser, c.growth-answerTokens), text(genai.RoleModel, answerTokens)
	var prompt, last []sent // what the next request has, and what the last one had
	for i := range calls {
		user := session.NewEventWithContext(ctx, fmt.Sprint("call", i))
		user.Author, user.Content = "user", question
		if err := svc.AppendEvent(ctx, created.Session, user); err != nil {
			return nil, err
		}
		prompt = append(prompt, sent{user.ID, tokens.OfContent(user.Content)})
		if changed {
			if prompt, err = look(ctx, svc, created.Session); err != nil {
				return nil, err
			}
			changed = false
		}
		size, same := compareSent(last, prompt)
		l.call(size, same)
		last = slices.Clone(prompt)
		answer := session.NewEventWithContext(ctx, user.InvocationID)
		answer.Author, answer.Content = "agent", reply
		answer.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(size), CachedContentTokenCount: int32(same), CandidatesTokenCount: answerTokens}
		if err := svc.AppendEvent(ctx, created.Session, answer); err != nil {
			return nil, err
		}
		prompt = append(prompt, sent{answer.ID, tokens.OfContent(answer.Content)})
	}
	if err := svc.Close(ctx); err != nil {
		return nil, err
	}
	return l, failed
}

// answerTokens is the length of every synthetic answer.
const answerTokens = 50

// sent is an event as it is sent.
type sent struct {
	id   string
	size int // in tokens
}

// look returns what the service would send.
func look(ctx context.Context, svc session.Service, s session.Session) ([]sent, error) {
	resp, err := svc.Get(ctx, &session.GetRequest{AppName: s.AppName(), UserID: s.UserID(), SessionID: s.ID()})
	if err != nil {
		return nil, err
	}
	var all []sent
	for ev := range resp.Session.Events().All() {
		all = append(all, sent{ev.ID, tokens.OfContent(ev.Content)})
	}
	return all, nil
}

// compareSent is the size of a request in tokens, and how many of them it begins with like the one before.
func compareSent(before, now []sent) (size, same int) {
	equal := true
	for i, s := range now {
		size += s.size
		if equal = equal && i < len(before) && before[i] == s; equal {
			same += s.size
		}
	}
	return size, same
}

// text is a text of so many tokens, in which no word comes twice: the service refuses summaries that repeat a few words.
func text(role genai.Role, n int) *genai.Content {
	return genai.NewContentFromText(words[:sort.Search(len(words), func(k int) bool { return tokens.Estimate(words[:k]) >= n })], role)
}

var words = func() string {
	var b strings.Builder
	for i := range slices.Max(growths) {
		fmt.Fprintf(&b, "word%d ", i)
	}
	return b.String()
}()

// printSynthetic prints a table of ratios, and returns the goals that were missed.
func printSynthetic(out io.Writer, calls int, ratios []ratio) []string {
	fmt.Fprintf(out, "Sessions of %s calls, in shares of the best threshold (which that is; how often compaction by price compacted):\n\n", count(calls))
	fmt.Fprint(out, "| growth per call | cached price |")
	for _, output := range outputs {
		fmt.Fprintf(out, " output %g times input |", output)
	}
	fmt.Fprintln(out, "\n|---|---|"+strings.Repeat("---|", len(outputs)))
	var all []float64
	for i, r := range ratios {
		if i%len(outputs) == 0 {
			fmt.Fprintf(out, "| %s | %g |", count(r.growth), r.cached)
		}
		fmt.Fprintf(out, " %.3f (%s; %s) |", r.ofBest, count(r.threshold), count(r.compactions))
		if i%len(outputs) == len(outputs)-1 {
			fmt.Fprintln(out)
		}
		all = append(all, r.ofBest)
	}
	slices.Sort(all)
	median, worst := all[len(all)/2], all[len(all)-1]
	fmt.Fprintf(out, "\nMedian %.3f, worst %.3f.\n\n", median, worst)
	return missedShares(calls, median, worst)
}

// missedShares compares the shares of synthetic sessions with their goals.
func missedShares(calls int, median, worst float64) []string {
	if calls < goalCalls {
		return nil
	}
	var missed []string
	if median > goalMedian {
		missed = append(missed, fmt.Sprintf("synthetic sessions: median %.3f of the best threshold, want at most %.1f", median, goalMedian))
	}
	if worst > goalWorst {
		missed = append(missed, fmt.Sprintf("synthetic sessions: worst %.3f of the best threshold, want at most %.1f", worst, goalWorst))
	}
	return missed
}
