package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// set is a group of conversations that are measured together, with each of the given window sizes
// in tokens.
type set struct {
	name    string
	plays   []playing
	windows []int
	// hard is true for a case that only the ways of the comparison play.
	hard bool
	// alone is true if agents work where the session service does not reach, so that compaction alone promises nothing.
	alone bool
}

// title is that of the set's table for a window.
func (s set) title(window int) string { return fmt.Sprintf("%s; window %s", s.name, count(window)) }

// ways returns the ways that play the set.
func (s set) ways() []way {
	if !s.hard {
		return ways()
	}
	return slices.DeleteFunc(ways(), func(w way) bool { return !w.compared })
}

// missed returns the guarantees of this module that the figures of the set violate.
func (s set) missed(r row) []string {
	if !r.way.ours || s.alone && !r.way.layers {
		return nil
	}
	return broken(r.figures)
}

// playing plays one conversation.
type playing func(ctx context.Context, w way, window int) (figures, error)

// plain plays conversations from their beginning to their end.
func plain(conversations ...*conversation.Conversation) (all []playing) {
	for _, c := range conversations {
		all = append(all, course{}.of(c))
	}
	return all
}

// row is the result of a set played one way.
type row struct {
	way     way
	figures figures
}

// sets returns the invented conversations and, if dir names a folder of recordings, the long ones in
// it.
func sets(dir string) ([]set, error) {
	name := fmt.Sprintf("an invented conversation of %d turns, %d of them with a tool", inventedTurns, inventedTurns-inventedTurns/plainEvery)
	all := []set{
		{name: name, plays: plain(invented()), windows: []int{8_000}},
		{name: fmt.Sprintf("an invented agent that reads %d files", readingTurns*readingSteps), plays: plain(readingLogs()), windows: []int{200_000, 32_000}},
	}
	all = append(all, hardCases()...)
	if dir == "" {
		return all, nil
	}
	for _, file := range []struct {
		name, what string
		messages   int
		windows    []int
	}{
		{"coding_agent_sessions.jsonl", "coding agents", 300, []int{200_000, 32_000, 8_000}},
		{"tau_airline_gpt4o.jsonl", "an airline's service", 40, []int{200_000, 32_000, 8_000}},
	} {
		found, err := long(dir, file.name, file.messages)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s, %d recorded conversations of %d and more messages", file.what, len(found), file.messages)
		all = append(all, set{name: name, plays: plain(found...), windows: file.windows})
	}
	return all, nil
}

// measure plays a set every way, runs times. Earlier work affects the time of a run, so each run
// begins with a different way, and the shortest time counts.
func measure(ctx context.Context, s set, window, runs int, progress io.Writer) ([]row, error) {
	all := s.ways()
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

// once plays a set one way.
func once(ctx context.Context, s set, w way, window int) (figures, error) {
	var sum figures
	for _, play := range s.plays {
		runtime.GC() // garbage of other ways must not count here
		f, err := play(ctx, w, window)
		if err != nil {
			return figures{}, err
		}
		sum = sum.add(f)
	}
	return sum, nil
}
