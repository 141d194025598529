package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"
)

func TestPromptsStayUnderHalfAndNothingIsLost(t *testing.T) {
	t.Parallel()
	out := play40(t, newFile(t))
	last := lastLine(out)
	var turns, events, compactions, merges, prompt, uncompacted int
	const format = "quickstart ok: %d turns, %d events stored, %d compactions and %d merges, largest prompt %d tokens (uncompacted %d)"
	if _, err := fmt.Sscanf(last, format, &turns, &events, &compactions, &merges, &prompt, &uncompacted); err != nil {
		t.Fatalf("last line %q is not of the documented form: %v", last, err)
	}
	if again := fmt.Sprintf(format, turns, events, compactions, merges, prompt, uncompacted); again != last {
		t.Errorf("last line %q, want %q", last, again)
	}
	// Every turn has at least a question and an answer.
	if turns != 40 || events < 2*turns+compactions+merges || merges == 0 || compactions < 5 || prompt <= 0 || prompt >= uncompacted/2 {
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
	var outputs [2]string
	for i := range outputs {
		file := newFile(t)
		outputs[i] = strings.ReplaceAll(play40(t, file), file, "sessions.db")
	}
	if outputs[0] != outputs[1] {
		t.Errorf("two runs differ:\n%s\n%s", outputs[0], outputs[1])
	}
}

// The query printed for the sqlite3 shell works and returns what the model sees.
func TestTheFileAnswersThePrintedQuestion(t *testing.T) {
	t.Parallel()
	file := newFile(t)
	out := play40(t, file)
	if want := fmt.Sprintf("sqlite3 -readonly -box '%s' %q\n", file, whatTheModelSees); !strings.Contains(out, want) {
		t.Fatalf("output lacks %q:\n%s", want, out)
	}
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(whatTheModelSees)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var authors, texts []string
	for rows.Next() {
		var seq int
		var author, said string
		if err := rows.Scan(&seq, &author, &said); err != nil {
			t.Fatal(err)
		}
		authors, texts = append(authors, author), append(texts, said)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(authors) < 5 || authors[0] != "summary" || !strings.Contains(texts[0], fact) || !strings.Contains(texts[len(texts)-1], fact) {
		t.Errorf("the file shows %q by %q; want summaries first, and %s at both ends", texts, authors, fact)
	}
}

// The README quotes the end of the output, with a different path.
func TestREADMEShowsTheOutput(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	file := newFile(t)
	out := strings.ReplaceAll(play40(t, file), file, "quickstart-2041/sessions.db")
	_, end, found := strings.Cut(out, "\nThe session stays in")
	if !found || !strings.Contains(string(readme), "```\nThe session stays in"+end+"```\n") {
		t.Errorf("README.md does not show the end of the output:\n%s", end)
	}
	var prompt, uncompacted int
	_, sizes, _ := strings.Cut(out, "largest prompt ")
	if _, err := fmt.Sscanf(sizes, "%d tokens (uncompacted %d)", &prompt, &uncompacted); err != nil {
		t.Fatal(err)
	}
	row := fmt.Sprintf("| %d,%03d tokens | %d,%03d tokens |", uncompacted/1000, uncompacted%1000, prompt/1000, prompt%1000)
	if !strings.Contains(string(readme), row) {
		t.Errorf("README.md does not have the row of figures %q", row)
	}
}

func newFile(t *testing.T) string { return filepath.Join(t.TempDir(), "sessions.db") }

// play40 runs the command on a file and returns its output.
func play40(t *testing.T, file string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-file", file}, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d, stderr %q", code, stderr.String())
	}
	return stdout.String()
}

func lastLine(out string) string {
	out = strings.TrimRight(out, "\n")
	return out[strings.LastIndexByte(out, '\n')+1:]
}

func TestCallsThatCannotWorkSayWhy(t *testing.T) {
	t.Setenv("GOOGLE_API_KEY", "")
	existing := newFile(t)
	if err := os.WriteFile(existing, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-live"}, 2, "GOOGLE_API_KEY"},
		{[]string{"-nonsense"}, 2, "-nonsense"},
		{[]string{"extra"}, 2, `unexpected argument "extra"`},
		{[]string{"-help"}, 0, "-live"},
		{[]string{"-file", existing}, 2, "need a new one"},
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
