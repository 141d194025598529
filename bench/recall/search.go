package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/persistence"
)

// cost is what search and appends take.
type cost struct {
	events int
	// build is the time of the first search, which takes in all events, and warm that of each later one.
	buildMemory, buildFile time.Duration
	warmMemory, warmFile   []time.Duration
	bytes                  int   // of the index in memory
	before, after          int64 // bytes of the file, without and with its index
	appends                appends
}

// cost measures on an invented session, in a new folder.
func (s settings) cost(ctx context.Context, progress io.Writer) (c cost, err error) {
	folder, err := os.MkdirTemp("", "recall-")
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	events := longSession(s.events)
	questions := questionsAbout(events, s.queries)
	c.events = s.events

	fmt.Fprintf(progress, "recall: %d queries over %d events in memory\n", len(questions), len(events))
	memory := wordsearch.NewMemory(512 << 20)
	if c.buildMemory, c.warmMemory, err = search(ctx, questions, memoryFinder(memory, "long", events)); err != nil {
		return c, err
	}
	c.bytes = memory.Bytes()

	fmt.Fprintf(progress, "recall: %d queries over %d events in a file\n", len(questions), len(events))
	path := filepath.Join(folder, "long.db")
	file, err := persistence.NewSQLiteSessionService(path, persistence.WithSynchronousNormal())
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := appendAll(ctx, file, "long", events); err != nil {
		return c, err
	}
	if c.before, err = sizeOf(path); err != nil {
		return c, err
	}
	if c.buildFile, c.warmFile, err = search(ctx, questions, fileFinder(file, "long")); err != nil {
		return c, err
	}
	if c.after, err = sizeOf(path); err != nil {
		return c, err
	}

	fmt.Fprintf(progress, "recall: %d turns with recall, and as many without\n", s.turns)
	c.appends, err = compareAppends(ctx, folder, s.turns)
	return c, err
}

// search asks one question, which builds the index, and then all of them.
func search(ctx context.Context, questions []string, find finder) (build time.Duration, warm []time.Duration, err error) {
	first, err := timed(ctx, questions[:1], find)
	if err != nil {
		return 0, nil, err
	}
	warm, err = timed(ctx, questions, find)
	return first[0], warm, err
}

// sizeOf is the size of a file with its log.
func sizeOf(path string) (int64, error) {
	var sum int64
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		if errors.Is(err, os.ErrNotExist) && name != path {
			continue
		}
		if err != nil {
			return 0, err
		}
		sum += info.Size()
	}
	return sum, nil
}

// rows are a name and a figure each.
func (c cost) rows() [][2]string {
	perEvent := func(d time.Duration) string {
		return fmt.Sprintf("%.0f us an event", float64(d.Microseconds())/float64(c.events))
	}
	at := func(times []time.Duration) string {
		return fmt.Sprintf("%.1f ms, p90 %.1f, slowest %.1f", percentile(times, 50), percentile(times, 90), percentile(times, 100))
	}
	ratios := c.appends.ratios()
	return [][2]string{
		{"first search, which reads all events, in memory", perEvent(c.buildMemory)},
		{"first search, which reads all events, in the file", perEvent(c.buildFile)},
		{"search in memory", at(c.warmMemory)},
		{"search in the file", at(c.warmFile)},
		{"index in memory", fmt.Sprintf("%s bytes an event", count(c.bytes/c.events))},
		{"file without and with its index", fmt.Sprintf("%.1f and %.1f MB", float64(c.before)/1e6, float64(c.after)/1e6)},
		{"`AppendEvent` over a file, without and with recall", fmt.Sprintf("%.0f and %.0f us (medians of %d rounds)", microseconds(c.appends.without), microseconds(c.appends.with), c.appends.rounds)},
		{"the ratio of the two in one round", fmt.Sprintf("%.3f (a quarter below %.3f, a quarter above %.3f)", middle(ratios), quantile(ratios, 1), quantile(ratios, 3))},
	}
}

func microseconds(times []time.Duration) float64 { return 1000 * percentile(times, 50) }

// quantile is the n-th quarter of sorted values.
func quantile(sorted []float64, n int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, len(sorted)*n/4)]
}

// wordsRepeat is how many events a session must have for the size of an index to be judged. In a short one most words
// are new, and take up more room than the events that have them.
const wordsRepeat = 10_000

// goals are those of the cost.
func (c cost) goals() []goal {
	events := count(c.events)
	goals := []goal{
		{what: "query over " + events + " events in memory, p90", got: percentile(c.warmMemory, 90), most: 5, unit: " ms", timed: true},
		{what: "query over " + events + " events in the file, p90", got: percentile(c.warmFile, 90), most: 20, unit: " ms", timed: true},
		{what: "`AppendEvent` with recall, of the time without", got: 100 * middle(c.appends.ratios()), most: 105, unit: "%", timed: true},
	}
	if c.events >= wordsRepeat {
		goals = append(goals, goal{what: "index in memory, of an event", got: float64(c.bytes) / float64(c.events), most: 500, unit: " bytes"})
	}
	return goals
}
