package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"
)

func TestPromptsStayUnderHalfAndNothingIsLost(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), nil, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d, stderr %q", code, stderr.String())
	}
	out := strings.TrimRight(stdout.String(), "\n")
	last := out[strings.LastIndexByte(out, '\n')+1:]
	var turns, events, compactions, prompt, uncompacted int
	const format = "quickstart ok: %d turns, %d events stored, %d compactions, largest prompt %d tokens (uncompacted %d)"
	if _, err := fmt.Sscanf(last, format, &turns, &events, &compactions, &prompt, &uncompacted); err != nil {
		t.Fatalf("last line %q is not of the documented form: %v", last, err)
	}
	if again := fmt.Sprintf(format, turns, events, compactions, prompt, uncompacted); again != last {
		t.Errorf("last line %q, want %q", last, again)
	}
	// Every turn is a question and an answer at least.
	if turns != 40 || events < 2*turns+compactions || compactions < 5 || prompt <= 0 || prompt >= uncompacted/2 {
		t.Errorf("last line %q: want 40 turns, all events, several compactions, and prompts of less than half", last)
	}
	for _, want := range []string{
		"Storage still holds all 40 questions",
		"its answer in turn 40:   Your customer number is " + fact + ".",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("output lacks %q:\n%s", want, out)
		}
	}
}

func TestOutputIsTheSameOnEveryRun(t *testing.T) {
	t.Parallel()
	var outputs [2]bytes.Buffer
	for i := range outputs {
		if code := run(t.Context(), nil, &outputs[i], &outputs[i]); code != 0 {
			t.Fatalf("exit code %d:\n%s", code, outputs[i].String())
		}
	}
	if outputs[0].String() != outputs[1].String() {
		t.Errorf("two runs differ:\n%s\n%s", outputs[0].String(), outputs[1].String())
	}
}

func TestCallsThatCannotWorkSayWhy(t *testing.T) {
	t.Setenv("GOOGLE_API_KEY", "")
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-live"}, 2, "GOOGLE_API_KEY"},
		{[]string{"-nonsense"}, 2, "-nonsense"},
		{[]string{"extra"}, 2, `unexpected argument "extra"`},
		{[]string{"-help"}, 0, "-live"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), tt.args, &stdout, &stderr); code != tt.code || !strings.Contains(stderr.String(), tt.want) || stdout.Len() > 0 {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q; want %d and %q on stderr", tt.args, code, stdout.String(), stderr.String(), tt.code, tt.want)
		}
	}
}

func TestModelThatLostTheFactSaysSo(t *testing.T) {
	t.Parallel()
	prompt := []string{"[Summary] nothing of note", lastQuestion}
	if got := play(contents(prompt...)).Content.Parts[0].Text; !strings.Contains(got, "no longer find") {
		t.Errorf("answer %q", got)
	}
}

func contents(texts ...string) []*genai.Content {
	var out []*genai.Content
	for _, text := range texts {
		out = append(out, genai.NewContentFromText(text, genai.RoleUser))
	}
	return out
}
