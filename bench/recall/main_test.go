package main

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// What the recordings must show at least.
func TestRecordedConversationsMeetTheirGoals(t *testing.T) {
	t.Parallel()
	m, err := measure(t.Context(), recordings(t), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range m.goals() {
		if !g.met() {
			t.Errorf("%s: %s, asked for %s", g.what, g.figure(), g.bound())
		}
	}
	for _, f := range m.all() {
		a := f.answers
		if a.newest.held > a.bare.held || a.bare.held > a.ledger.held || a.ledger.held > a.recall.held || a.ledger.held > a.rich.held+1 {
			t.Errorf("%s: newest %d, no ledger %d, ledger %d, larger ledger %d, recall %d: each should hold as many answers as the one before",
				f.name, a.newest.held, a.bare.held, a.ledger.held, a.rich.held, a.recall.held)
		}
		for i := range depths {
			if f.adk.at(i) > f.memory.at(i) || f.adk.at(i) > f.file.at(i) {
				t.Errorf("%s: ADK's memory finds more among the first %d", f.name, depths[i])
			}
		}
	}
	for _, window := range codingWindows {
		var without, with files
		for _, c := range m.coding {
			switch {
			case c.window == window && c.name == noLedger:
				without = c.files
			case c.window == window && c.name == ourDefault:
				with = c.files
			}
		}
		if without.behind == 0 || with.again != without.again || with.behindThere*without.behind <= without.behindThere*with.behind {
			t.Errorf("window %d: of the files that no raw message names the prompt has %+v without and %+v with the ledger, want a larger share", window, without, with)
		}
	}
}

// The bytes of an index do not depend on the machine.
func TestAnIndexIsSmall(t *testing.T) {
	t.Parallel()
	s := settings{events: 20_000, queries: 20, turns: 100}
	c, err := s.cost(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range c.goals() {
		if !g.timed && !g.met() {
			t.Errorf("%s: %s, asked for %s", g.what, g.figure(), g.bound())
		}
	}
	if c.appends.rounds != 5 || len(c.appends.with) != 5 || len(c.warmFile) != 20 || c.after <= c.before {
		t.Errorf("%d rounds, %d queries in the file, %d bytes before the index and %d after it", c.appends.rounds, len(c.warmFile), c.before, c.after)
	}
}

func TestTheCommandPrintsItsTables(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"-data", "", "-events", "1000", "-queries", "5", "-turns", "100"}, &out, &errs); code != 0 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	for _, want := range []string{"| search in the file |", "| index in memory |", "| goal | figure | asked for | |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
	if !strings.Contains(errs.String(), "LONGSESSION_DATA") {
		t.Errorf("nothing says why the tables of the recordings are not there: %s", errs.String())
	}
}

func TestCallsThatCannotWorkSayWhy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-nonsense"}, 2, "-nonsense"},
		{[]string{"extra"}, 2, `unexpected argument "extra"`},
		{[]string{"-events", "5"}, 2, "too little to measure"},
		{[]string{"-data", "", "-events", "0"}, 2, "nothing to measure"},
		{[]string{"-data", "/nowhere", "-events", "0"}, 1, "/nowhere"},
		{[]string{"-help"}, 0, "-missed"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), tt.args, &out, &errs); code != tt.code || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("%v: exit code %d, %q; want %d and %q", tt.args, code, errs.String(), tt.code, tt.want)
		}
	}
}

func TestMissedGoalsFailUnlessTheyAreTimes(t *testing.T) {
	t.Parallel()
	slow := goal{what: "a query", got: 9, most: 5, unit: " ms", timed: true}
	poor := goal{what: "answers", got: 79.9, least: 80, unit: "%"}
	var out bytes.Buffer
	if err := printGoals(&out, []goal{slow}); err != nil {
		t.Errorf("a time failed the command: %v", err)
	}
	err := printGoals(&out, []goal{slow, poor})
	if !errors.Is(err, errMissed) || !strings.Contains(err.Error(), "answers") || strings.Contains(err.Error(), "query") {
		t.Errorf("error %v", err)
	}
	for _, line := range []string{"| a query | 9 ms | at most 5 ms | missed |", "| answers | 79.9% | at least 80% | missed |"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("output lacks %q:\n%s", line, out.String())
		}
	}
}

func TestFiguresOfTimes(t *testing.T) {
	t.Parallel()
	var times []time.Duration
	for i := range 10 {
		times = append(times, time.Duration(10-i)*time.Millisecond)
	}
	if percentile(times, 50) != 6 || percentile(times, 90) != 10 || percentile(times, 100) != 10 || percentile(nil, 90) != 0 {
		t.Errorf("%v, %v, %v", percentile(times, 50), percentile(times, 90), percentile(times, 100))
	}
	a := appends{with: []time.Duration{30, 11, 24}, without: []time.Duration{10, 10, 20}}
	if got := a.ratios(); !slices.Equal(got, []float64{1.1, 1.2, 3}) || middle(got) != 1.2 {
		t.Errorf("%v", got)
	}
}

func TestAnInventedSessionIsTheSameInEachRun(t *testing.T) {
	t.Parallel()
	a, b := longSession(100), longSession(100)
	for i := range a {
		if text := a[i].Content.Parts[0].Text; text != b[i].Content.Parts[0].Text || len(text) < bytesPerEvent-20 || len(text) > bytesPerEvent+40 {
			t.Fatalf("event %d: %q, and another time %q", i, text, b[i].Content.Parts[0].Text)
		}
	}
	if !slices.Equal(questionsAbout(a, 5), questionsAbout(b, 5)) {
		t.Error("the questions differ")
	}
}
