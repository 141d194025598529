package main

import (
	"context"
	"fmt"
	"io"

	"github.com/adk-go-ext/longsession/internal/conversation"
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

// measure plays a set under every way.
func measure(ctx context.Context, s set, window int, progress io.Writer) ([]row, error) {
	rows := make([]row, 0, len(ways()))
	for _, w := range ways() {
		fmt.Fprintf(progress, "%s, window %d: %s\n", s.name, window, w.name)
		r := row{way: w}
		for _, c := range s.conversations {
			f, err := play(ctx, plant(c), w, window)
			if err != nil {
				return nil, err
			}
			r.figures = r.figures.add(f)
		}
		rows = append(rows, r)
	}
	return rows, nil
}
