package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// report prints what happened, and returns an error if anything is wrong.
func (c *client) report(ctx context.Context, shared *adkdb.Service, db *sql.DB) error {
	var version string
	if err := db.QueryRowContext(ctx, "SHOW server_version").Scan(&version); err != nil {
		return err
	}
	killed := names[len(names)-1]
	fmt.Fprintf(c.out, "PostgreSQL %s and three processes of one app: %s. Each turn goes to any of them.\n", version, strings.Join(names, ", "))
	fmt.Fprintf(c.out, "Behind turn %d %s was killed, and another process took its place.\n\n", c.turns/2, killed)
	c.answered()
	c.compacted()
	sent, whole := 0, 0
	for _, t := range c.talks {
		sent, whole = sent+t.sent, whole+t.whole
	}
	fmt.Fprintf(c.out, "The prompts of all turns had %d tokens. With whole histories they would have had %d, %d%% more.\n\n", sent, whole, 100*(whole-sent)/sent)
	err := c.check(ctx, shared, db)
	if err == nil {
		fmt.Fprintf(c.out, "\ncluster ok: %d turns answered, nothing lost, nothing summarized twice\n", len(c.talks)*c.turns)
	}
	return err
}

// answered prints who answered each turn. A capital letter stands for a process that also wrote a summary behind the turn.
func (c *client) answered() {
	wrote := map[turnTaken]bool{}
	for _, p := range c.ended {
		for _, s := range p.seen {
			wrote[turnTaken{p.name, s.Invocation}] = wrote[turnTaken{p.name, s.Invocation}] || s.Outcome == compaction.Stored
		}
	}
	fmt.Fprintln(c.out, "Who answered, turn by turn, by first letters. A capital: this process also wrote a summary behind the turn.")
	for _, t := range c.talks {
		letters := ""
		for _, taken := range t.turns {
			letter := taken.by[:1]
			if wrote[taken] {
				letter = strings.ToUpper(letter)
			}
			letters += letter
		}
		fmt.Fprintf(c.out, "  %-6s %s\n", t.name, letters)
	}
	fmt.Fprintln(c.out)
}

// compacted prints what each process did about summaries.
func (c *client) compacted() {
	turns, summaries := map[string]int{}, map[string]int{}
	for _, t := range c.talks {
		for _, taken := range t.turns {
			turns[taken.by]++
		}
	}
	reasons := map[string]int{}
	begun, stored, before, after := 0, 0, 0, 0
	for _, p := range c.ended {
		for _, s := range p.seen {
			switch s.Outcome {
			case compaction.Started:
				begun++
			case compaction.Stored:
				stored++
				summaries[p.name]++
				before, after = before+s.Before, after+s.Now
			case compaction.Declined, compaction.Discarded, compaction.Failed:
				reasons[fmt.Sprintf("%s: %s", s.Outcome, s.Reason)]++
			}
		}
	}
	for _, name := range names {
		fmt.Fprintf(c.out, "  %-6s answered %d turns and wrote %d summaries\n", name, turns[name], summaries[name])
	}
	fmt.Fprintf(c.out, "\n%d summaries were begun and %d stored: %d tokens became %d. Summaries that were due and not written:\n", begun, stored, before, after)
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(c.out, "  %d times %s\n", reasons[reason], reason)
	}
	fmt.Fprintln(c.out)
}

// check compares the database with what was answered.
func (c *client) check(ctx context.Context, shared *adkdb.Service, db *sql.DB) error {
	var errs []error
	for _, t := range c.talks {
		s, err := look(ctx, shared, t.name)
		if err != nil {
			return err
		}
		events := s.events - s.records
		fmt.Fprintf(c.out, "  %-6s %d events and %d summaries are stored; a turn loads %d of them\n", t.name, events, s.records, s.loaded)
		if events != 2*c.turns {
			errs = append(errs, fmt.Errorf("%s: %d events are stored, want %d", t.name, events, 2*c.turns))
		}
		if s.records == 0 {
			errs = append(errs, fmt.Errorf("%s: no summary was written", t.name))
		}
		if s.twice > 0 {
			errs = append(errs, fmt.Errorf("%s: %d events or summaries were summarized twice", t.name, s.twice))
		}
	}
	found, err := adkdb.Verify(ctx, db)
	for _, f := range found {
		errs = append(errs, fmt.Errorf("session %s: %s", f.SessionID, f.Text))
	}
	return errors.Join(append(errs, err)...)
}
