package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/compaction"
)

// output plays a chat of the given number of turns.
func output(t *testing.T, turns int) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-turns", fmt.Sprint(turns)}, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d, stderr %q, stdout:\n%s", code, stderr.String(), stdout.String())
	}
	return stdout.String()
}

func TestRecallAnswersEverythingFromASmallPrompt(t *testing.T) {
	t.Parallel()
	out := output(t, 200)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := lines[len(lines)-1]
	var turns, answered, of, prompt, whole int
	if _, err := fmt.Sscanf(last, "recall ok: %d turns, %d of %d questions answered, last prompt %d tokens (with ADK alone %d)", &turns, &answered, &of, &prompt, &whole); err != nil {
		t.Fatalf("last line %q: %v", last, err)
	}
	if turns != 200 || answered != len(facts) || of != len(facts) || prompt == 0 || prompt*3 > 2*whole {
		t.Errorf("last line %q", last)
	}
	if again := output(t, 200); again != out {
		t.Errorf("two runs differ:\n%s\n%s", out, again)
	}
}

// Each way keeps more than the one before it, except for ADK alone, which keeps everything.
func TestTheLedgerAndRecallEachAddAnswers(t *testing.T) {
	t.Parallel()
	var plays []*play
	for _, w := range ways() {
		p, err := w.play(t.Context(), chat(200))
		if err != nil {
			t.Fatal(err)
		}
		plays = append(plays, p)
	}
	bare, summaries, ledger, recall := plays[0], plays[1], plays[2], plays[3]
	if bare.answered() != len(facts) || bare.recalled+summaries.recalled+ledger.recalled > 0 || recall.recalled == 0 {
		t.Errorf("ADK alone answers %d of %d, and recall was called where it must not be, or not where it must", bare.answered(), len(facts))
	}
	if summaries.answered() >= ledger.answered() || ledger.answered() >= recall.answered() {
		t.Errorf("answered with summaries %d, with a ledger %d, with recall %d: want more each time", summaries.answered(), ledger.answered(), recall.answered())
	}
	for i := range facts {
		if ledger.answers[i] == fromPrompt && recall.answers[i] != fromPrompt {
			t.Errorf("question %d: the prompt has the answer only where there is no tool to ask", i+1)
		}
	}
}

// Where a model writes the summaries, the user's words are what is left of its wishes, and the example shows them.
func TestTheUsersWordsKeepEveryWish(t *testing.T) {
	t.Parallel()
	without, err := lastPrompt(t.Context(), compaction.Off)
	if err != nil {
		t.Fatal(err)
	}
	if n := wishesIn(without); n > 0 {
		t.Errorf("without the user's words, %d wishes are left", n)
	}
	var out strings.Builder
	if err := playWishes(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range append([]string{"What the user said in these messages, word for word", " 0 of 4 wishes", " 4 of 4 wishes"}, wishes...) {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not shown:\n%s", want, out.String())
		}
	}
}

func TestTheChatHasEachFactOnceAndAsksForIt(t *testing.T) {
	t.Parallel()
	for _, turns := range []int{fewest, 200, most} {
		script := chat(turns)
		if len(script) != turns {
			t.Errorf("%d turns, want %d", len(script), turns)
		}
		for _, f := range facts {
			said, asked, elsewhere := 0, 0, 0
			for _, e := range script {
				switch {
				case e.user == f.said && strings.Contains(e.user, f.answer):
					said++
				case e.user == f.asked && e.model == "" && !strings.Contains(e.user, f.answer):
					asked++
				case strings.Contains(e.user, f.answer):
					elsewhere++
				}
			}
			if said != 1 || asked != 1 || elsewhere > 0 {
				t.Errorf("%d turns: %q is said %d times, asked for %d times, and %d other messages have it", turns, f.answer, said, asked, elsewhere)
			}
		}
	}
}

// The check of the example notices what it is there for.
func TestTheCheckFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	p := &play{answers: []how{fromPrompt, byRecall}}
	if err := p.check(); err != nil {
		t.Error(err)
	}
	p.answers = append(p.answers, notAtAll)
	if err := p.check(); err == nil || !strings.Contains(err.Error(), facts[2].asked) {
		t.Errorf("error %v, want one that names the question", err)
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
		{[]string{"-turns", "3"}, 2, "-turns is 3"},
		{[]string{"-turns", "9999"}, 2, "-turns is 9999"},
		{[]string{"-help"}, 0, "-turns"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), tt.args, &stdout, &stderr); code != tt.code || !strings.Contains(stderr.String(), tt.want) || stdout.Len() > 0 {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q", tt.args, code, stdout.String(), stderr.String())
		}
	}
}
