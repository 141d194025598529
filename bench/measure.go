package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/adk-go-ext/longsession/bench/workload"
)

// Names of the measurements.
const (
	adkOne, adkOneTuned, oursOne, handOne = "ADK, one writer", "ADK tuned, one writer", "ours, one writer", "by hand, one writer"
	oursOneFull, handOneFull              = "ours, one writer, FULL", "by hand, one writer, FULL"
	adkEight, adkEightTuned, oursEight    = "ADK, eight writers", "ADK tuned, eight writers", "ours, eight writers"
	oursEightFull, alone                  = "ours, eight writers, FULL", "ours, eight writers, FULL, one append in each commit"
	adkGet, oursGet                       = "ADK, Get", "ours, Get"
	shortGet, wrappedGet, longGet         = "ours, short wrapped Get", "ours, wrapped Get", "ours, long wrapped Get"
)

type measurement struct {
	name    string
	program string // adk or ours
	job     workload.Job
}

// Names of the sessions that are read.
const (
	adkFile, oursFile, shortFile, compactedFile, longFile = "adk.db", "ours.db", "short.db", "compacted.db", "long.db"
)

func fills(events int) []measurement {
	return []measurement{
		{adkFile, "adk", workload.Job{Task: workload.Fill, Events: events, Variant: "tuned", Mode: "NORMAL"}},
		{oursFile, "ours", workload.Job{Task: workload.Fill, Events: events, Mode: "NORMAL"}},
		{shortFile, "ours", workload.Job{Task: workload.Compact, Events: shorter(events), Mode: "NORMAL"}},
		{compactedFile, "ours", workload.Job{Task: workload.Compact, Events: events, Mode: "NORMAL"}},
		{longFile, "ours", workload.Job{Task: workload.Compact, Events: 10 * events, Mode: "NORMAL"}},
	}
}

// shorter returns the length of the session whose cost a long session must match. It is long enough
// to be compacted.
func shorter(events int) int { return max(events/100, 100) }

func measurements() []measurement {
	appends := func(name, program, variant, mode string, writers int) measurement {
		return measurement{name, program, workload.Job{Task: workload.Append, Variant: variant, Mode: mode, Writers: writers}}
	}
	gets := func(name, program, variant, file string) measurement {
		return measurement{name, program, workload.Job{Task: workload.Get, Variant: variant, Mode: "NORMAL", Path: file}}
	}
	return []measurement{
		appends(adkOne, "adk", "", "NORMAL", 1),
		appends(oursOne, "ours", "", "NORMAL", 1),
		appends(handOne, "ours", "by hand", "NORMAL", 1),
		appends(adkOneTuned, "adk", "tuned", "NORMAL", 1),
		appends(oursOneFull, "ours", "", "FULL", 1),
		appends(handOneFull, "ours", "by hand", "FULL", 1),
		appends(adkEight, "adk", "", "NORMAL", 8),
		appends(oursEight, "ours", "", "NORMAL", 8),
		appends(adkEightTuned, "adk", "tuned", "NORMAL", 8),
		appends(oursEightFull, "ours", "", "FULL", 8),
		appends(alone, "ours", "ungrouped", "FULL", 8),
		gets(adkGet, "adk", "", adkFile),
		gets(oursGet, "ours", "", oursFile),
		gets(wrappedGet, "ours", "wrapped", compactedFile),
		gets(shortGet, "ours", "wrapped", shortFile),
		gets(longGet, "ours", "wrapped", longFile),
	}
}

// measured holds the results of every round by the name of the measurement, and the content of the
// files.
type measured struct {
	rounds map[string][]workload.Result
	filled map[string]workload.Result
	bytes  map[string]int64
}

// measureAll builds both programs and runs them alternately.
func measureAll(ctx context.Context, s settings, progress io.Writer) (m measured, err error) {
	dir, err := os.MkdirTemp(s.dir, "bench")
	if err != nil {
		return measured{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	const here = "github.com/adk-go-ext/longsession/bench/"
	build := exec.CommandContext(ctx, "go", "build", "-o", dir+string(filepath.Separator), here+"adk", here+"ours")
	if out, err := build.CombinedOutput(); err != nil {
		return measured{}, fmt.Errorf("%v, in the folder bench? %w\n%s", build.Args, err, out)
	}

	m = measured{map[string][]workload.Result{}, map[string]workload.Result{}, map[string]int64{}}
	for _, one := range fills(s.events) {
		fmt.Fprintf(progress, "writing %d events to %s\n", one.job.Events, one.name)
		one.job.Path = filepath.Join(dir, one.name)
		if m.filled[one.name], err = do(ctx, dir, one); err != nil {
			return measured{}, err
		}
		info, err := os.Stat(one.job.Path)
		if err != nil {
			return measured{}, err
		}
		m.bytes[one.name] = info.Size()
	}
	for round := range s.rounds {
		fmt.Fprintf(progress, "round %d of %d\n", round+1, s.rounds)
		for i, one := range measurements() {
			one.job.For = s.long
			if one.job.Task == workload.Append {
				one.job.Path = fmt.Sprintf("append-%d-%d.db", round, i)
			}
			one.job.Path = filepath.Join(dir, one.job.Path)
			result, err := do(ctx, dir, one)
			if err == nil {
				err = plausible(one, result, s.events)
			}
			if err != nil {
				return measured{}, err
			}
			m.rounds[one.name] = append(m.rounds[one.name], result)
		}
	}
	return m, nil
}

// plausible rejects a read that returned the wrong number of events, because its time would be
// meaningless.
func plausible(one measurement, result workload.Result, events int) error {
	const short = 50 // maximum events in the view of a compacted session of any length
	switch {
	case one.job.Task != workload.Get:
		return nil
	case one.job.Variant != "" && result.Shown > short:
		return fmt.Errorf("%s: the view has %d events, want %d at most", one.name, result.Shown, short)
	case one.job.Variant == "" && result.Shown != events:
		return fmt.Errorf("%s: the session has %d events, want %d", one.name, result.Shown, events)
	}
	return nil
}

// do runs one job with a program.
func do(ctx context.Context, dir string, one measurement) (result workload.Result, err error) {
	job, err := json.Marshal(one.job)
	if err != nil {
		return workload.Result{}, err
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, one.program), string(job)).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w\n%s", err, exit.Stderr)
		}
		return workload.Result{}, fmt.Errorf("%s: %w", one.name, err)
	}
	if err := json.Unmarshal(out, &result); err != nil {
		return workload.Result{}, fmt.Errorf("%s: %w", one.name, err)
	}
	return result, nil
}
