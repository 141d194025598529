package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

func inventedSession(t *testing.T) []*recorded {
	t.Helper()
	sessions, err := recordAll(t.Context(), []*conversation.Conversation{invented()})
	if err != nil {
		t.Fatal(err)
	}
	return sessions
}

func TestBatchesSaveNearlyAsMuchAtFewerBreaks(t *testing.T) {
	t.Parallel()
	rows, err := measure(inventedSession(t), 1_000)
	if err != nil {
		t.Fatal(err)
	}
	each, standard, late := rows[0], rows[1], rows[9]
	if each.masking.BatchTokens != toolresult.Off || standard.masking.BatchTokens != 5_000 || late.window != 128_000 || late.masking.BatchTokens != 5_000 {
		t.Fatalf("the settings changed places: %+v, %+v, %+v", each.setting, standard.setting, late.setting)
	}
	if each.requests != 122 || each.breaks < 100 || each.whole.breaks > 0 || each.whole.masked > 0 {
		t.Errorf("masking on every call: %+v", each)
	}
	if standard.breaks*5 > each.breaks || standard.breaks == 0 || standard.saved() < each.saved()-0.1 || standard.price() > each.price() {
		t.Errorf("in batches: %+v, on every call: %+v", standard, each)
	}
	if late.saved() > standard.saved() || late.saved() < 0.3 {
		t.Errorf("over a quarter of the window %.2f saved, always %.2f", late.saved(), standard.saved())
	}
	for _, r := range rows {
		if r.breaks != r.batches || r.breaks == 0 {
			t.Errorf("%s, batch %s: %d calls broke the prefix, and %d had a batch", r.place(), r.batch(), r.breaks, r.batches)
		}
	}
}

// The figures are worth nothing if a provider would reject the requests.
func TestMaskedRequestsAreValid(t *testing.T) {
	t.Parallel()
	sessions := inventedSession(t)
	for _, s := range allSettings() {
		m, err := toolresult.NewMasker(s.masking)
		if err != nil {
			t.Fatal(err)
		}
		for _, session := range sessions {
			for call, request := range session.requests {
				req := copyOf(request)
				m.Apply(req, toolresult.Room{Effective: s.window}, nil)
				if problems := requests.Problems(req.Contents); len(problems) > 0 {
					t.Fatalf("%+v, call %d: %v", s, call, problems)
				}
			}
		}
	}
}

func TestTheDefaultMeetsItsGoalsOnRecordedSessions(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("LONGSESSION_DATA")
	if dir == "" {
		t.Skip("LONGSESSION_DATA names no folder with recorded conversations")
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"-data", dir}, &out, &errs); code != 0 {
		t.Errorf("exit code %d: %s\n%s", code, errs.String(), out.String())
	}
	rows := regexp.MustCompile(`(?m)^(\| [^|]* \| [^|]* \|) (\S+)% \| (\S+) \| (\S+) \| (\S+) \|$`).FindAllStringSubmatch(out.String(), -1)
	if len(rows) != len(allSettings()) {
		t.Errorf("%d rows read:\n%s", len(rows), out.String())
	}
	for _, r := range rows {
		testkit.Figures(t, "../../BENCHMARKS.md", r[1]+" %s%% | %s | %s | %s |", r[2], r[3], r[4], r[5])
	}
}

func TestMissedGoalsAreNamed(t *testing.T) {
	t.Parallel()
	poor := row{setting{toolresult.Masking{BatchTokens: 5_000, From: 0.25}, 128_000}, figures{prompt: 90, breaks: 11, batches: 10}, figures{prompt: 100}}
	each := row{setting{toolresult.Masking{BatchTokens: toolresult.Off, From: toolresult.Off}, 0}, figures{prompt: 80, breaks: 100, batches: 100}, figures{prompt: 100}}
	if missed := missedGoals([]row{each, poor}); len(missed) != 4 {
		t.Errorf("%q, want four goals", missed)
	}
}

func TestTheCommandPrintsATable(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"-data", ""}, &out, &errs); code != 0 || !strings.Contains(errs.String(), "an invented session") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	if n := strings.Count(out.String(), "\n| "); n != 1+len(allSettings()) {
		t.Errorf("%d lines in the table:\n%s", n, out.String())
	}
	for _, args := range [][]string{{"more"}, {"-data", "/nowhere"}, {"-unknown"}} {
		if code := run(t.Context(), args, &out, &errs); code != 2 {
			t.Errorf("%q: exit code %d, want 2", args, code)
		}
	}
}
