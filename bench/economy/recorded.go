package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// set is a file of recorded conversations, and what compaction by price may cost in it.
type set struct {
	name, file string
	// ofBest is the highest share of the best fixed threshold, and ofNone of no compaction, for the whole set. 0 is no
	// goal.
	ofBest, ofNone float64
	// ofNoneEach is the highest share of no compaction for any one conversation.
	ofNoneEach float64
	// writers says that it is also played with other models that write the summaries.
	writers bool
}

var sets = []set{
	{name: "coding agents", file: "coding_agent_sessions.jsonl", ofBest: 1.05, ofNone: 0.65, writers: true},
	{name: "an airline's service", file: "tau_airline_gpt4o.jsonl", ofNone: 1, ofNoneEach: 1.01},
	{name: "chats of ten days", file: "memorybank_zh_en.jsonl", ofNone: 1, ofNoneEach: 1.01},
	{name: "monologues", file: "bfcl_memory.jsonl", ofNone: 1, ofNoneEach: 1.01},
}

// playRecorded prints a table of all sets, and one of who writes the summaries, and returns the goals that were missed.
func playRecorded(ctx context.Context, dir string, out, progress io.Writer) ([]string, error) {
	var rows []row
	var writers []writerRow
	for _, s := range sets {
		conversations, err := conversation.ReadFile(filepath.Join(dir, s.file))
		if err != nil {
			return nil, fmt.Errorf("-data must name a folder with recorded conversations, or nothing: %w", err)
		}
		fmt.Fprintf(progress, "%s: %d conversations\n", s.name, len(conversations))
		all, err := playAll(ctx, conversations)
		if err != nil {
			return nil, err
		}
		for i, name := range models {
			m, _ := tokens.Lookup(name)
			rows = append(rows, compare(s, all, i, m))
		}
		if s.writers {
			found, err := compareWriters(ctx, conversations)
			if err != nil {
				return nil, err
			}
			writers = append(writers, found...)
		}
	}
	printRecorded(out, rows)
	printWriters(out, writers)
	return missedGoals(rows), nil
}

// playAll plays conversations, as many at a time as there are processors.
func playAll(ctx context.Context, conversations []*conversation.Conversation) ([]bills, error) {
	all, failed := make([]bills, len(conversations)), make([]error, len(conversations))
	var running sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, c := range conversations {
		running.Add(1)
		slots <- struct{}{}
		go func() {
			defer running.Done()
			all[i], failed[i] = play(ctx, c)
			<-slots
		}()
	}
	running.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// play plays a conversation under every policy.
func play(ctx context.Context, c *conversation.Conversation) (bills, error) {
	var policies []replay.Policy
	for _, threshold := range thresholds {
		cfg := config()
		cfg.TokenThreshold, cfg.SafetyRatio = threshold, compaction.Off
		policies = append(policies, replay.Policy{Name: fmt.Sprintf("at %d tokens", threshold), Config: cfg})
	}
	for _, name := range models {
		cfg := config()
		cfg.AgentModel, cfg.InvocationThreshold = name, 0
		policies = append(policies, replay.Policy{Name: "by the prices of " + name, Config: cfg})
	}
	reports, err := replay.Compare(ctx, c, policies, replay.Options{Fixed: replay.FixedAuto})
	if err != nil {
		return bills{}, err
	}
	b := bills{id: c.ID, without: bill{sent: reports[0].Without}}
	for i, r := range reports {
		if r.Orphans > 0 || r.Hidden > 0 {
			return bills{}, fmt.Errorf("%s, %s: %d calls or responses alone, %d events hidden and in no summary", c.ID, r.Policy, r.Orphans, r.Hidden)
		}
		played := bill{r.With, r.Summarizer, len(r.Compactions)}
		if i < len(thresholds) {
			b.fixed = append(b.fixed, played)
		} else {
			b.byPrices = append(b.byPrices, played)
		}
	}
	return b, nil
}

func config() compaction.Config {
	return compaction.Config{Summarizer: summarizer.Extractive{}, ContextWindow: window, InvocationThreshold: compaction.Off, Synchronous: true}
}
