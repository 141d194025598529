package main

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// set is conversations that are measured together, with windows of these sizes in tokens.
type set struct {
	name          string
	conversations []*conversation.Conversation
	windows       []int
}

// row is what came of a set under one way.
type row struct {
	way     way
	figures figures
}

// sets are the invented conversation and, if dir names a folder of recorded ones, the long ones there.
func sets(dir string) ([]set, error) {
	name := fmt.Sprintf("an invented conversation of %d turns, %d of them with a tool", inventedTurns, inventedTurns-inventedTurns/plainEvery)
	all := []set{{name, []*conversation.Conversation{invented()}, []int{8_000}}}
	if dir == "" {
		return all, nil
	}
	for _, file := range []struct {
		name, what string
		messages   int
		windows    []int
	}{
		{"coding_agent_sessions.jsonl", "coding agents", 300, []int{200_000, 32_000, 8_000}},
		{"tau_airline_gpt4o.jsonl", "an airline's service", 40, []int{32_000, 8_000}},
	} {
		found, err := long(dir, file.name, file.messages)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s, %d recorded conversations of %d and more messages", file.what, len(found), file.messages)
		all = append(all, set{name, found, file.windows})
	}
	return all, nil
}

// measure plays a set under every way, that many times over: what ran before takes part in how long a
// run takes, so each time another way is the first, and the least counts.
func measure(ctx context.Context, s set, window, runs int, progress io.Writer) ([]row, error) {
	all := ways()
	rows := make([]row, len(all))
	for run := range runs {
		fmt.Fprintf(progress, "%s, window %d: run %d of %d\n", s.name, window, run+1, runs)
		for i := range all {
			i = (i + run*len(all)/runs) % len(all)
			f, err := once(ctx, s, all[i], window)
			if err != nil {
				return nil, err
			}
			if run > 0 {
				f.took = min(f.took, rows[i].figures.took)
			}
			rows[i] = row{all[i], f}
		}
	}
	return rows, nil
}

// once plays a set under one way.
func once(ctx context.Context, s set, w way, window int) (figures, error) {
	var sum figures
	for _, c := range s.conversations {
		p := plant(c)
		runtime.GC() // what others left behind is not this one's to clear
		f, err := play(ctx, p, w, window)
		if err != nil {
			return figures{}, err
		}
		sum = sum.add(f)
	}
	return sum, nil
}
