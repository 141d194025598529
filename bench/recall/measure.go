package main

import (
	"context"
	"fmt"
	"io"
)

// found is what was found in one set.
type found struct {
	name string
	// memory and file are the ranks of the two stores' indexes, and adk those of ADK's own memory.
	memory, file, adk ranks
	answers           answers
}

// coding is what one way came to on the coding sessions.
type coding struct {
	name   string
	window int
	files  files
}

// measured is everything that is measured on recordings.
type measured struct {
	scenarios, chats, joined found
	sessions                 int // of coding agents
	coding                   []coding
}

func (m measured) all() []found { return []found{m.scenarios, m.chats, m.joined} }

// measure asks the questions of the recorded conversations in a folder.
func measure(ctx context.Context, dir string, progress io.Writer) (m measured, err error) {
	all, err := readSets(dir)
	if err != nil {
		return m, err
	}
	conversations, err := readCoding(dir)
	if err != nil {
		return m, err
	}
	for _, part := range []struct {
		set set
		to  *found
	}{{all.scenarios, &m.scenarios}, {all.chats, &m.chats}, {all.joined, &m.joined}} {
		fmt.Fprintf(progress, "recall: %s\n", part.set.name)
		if *part.to, err = find(ctx, part.set); err != nil {
			return m, fmt.Errorf("%s: %w", part.set.name, err)
		}
	}
	m.sessions = len(conversations)
	for _, window := range codingWindows {
		for _, way := range codingWays(window) {
			fmt.Fprintf(progress, "recall: coding agents, window %d, %s\n", window, way.name)
			named, err := filesNamed(ctx, conversations, way)
			if err != nil {
				return m, err
			}
			m.coding = append(m.coding, coding{way.name, window, named})
		}
	}
	return m, nil
}

// find asks the questions of one set.
func find(ctx context.Context, s set) (f found, err error) {
	f.name = s.name
	if f.memory, err = rank(ctx, s, inMemory); err != nil {
		return f, err
	}
	if f.file, err = rank(ctx, s, inFile); err != nil {
		return f, err
	}
	if f.adk, err = rank(ctx, s, inADKMemory); err != nil {
		return f, err
	}
	f.answers, err = answer(ctx, s)
	return f, err
}

func inADKMemory(ctx context.Context, h *history) (finder, func() error, error) {
	m, err := newADKMemory(ctx, h)
	return func(ctx context.Context, query string) ([]int, error) {
		found, _, err := m.search(ctx, query)
		return found, err
	}, nothing, err
}

// nothing is to be closed.
func nothing() error { return nil }
