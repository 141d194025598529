package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/chat/sessionlock"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
)

// talked runs a chat over a pipe, with a scripted model.
func talked(ctx context.Context, in string, args ...string) (code int, out, complaints string) {
	var stdout, stderr bytes.Buffer
	code = Run(ctx, append([]string{"chat", "--model", "scripted:demo", "--user", "ada", "--no-tools"}, args...), strings.NewReader(in), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// TestAChatRefusesABadFileOfSettings before it makes a session file, with the place of each mistake and what to do.
func TestAChatRefusesABadFileOfSettings(t *testing.T) {
	home(t)
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":   {"[compaction]\nthresold = 0.5\n", "s.toml:2:1: compaction.thresold: there is no such key (did you mean compaction.threshold?)"},
		"unknown table": {"[sesion]\n", "s.toml:1:2: sesion: there is no such table (did you mean [session]?)"},
		"doubled key":   {"[agent]\nmodel = 'a'\nmodel = 'b'\n", "s.toml:3:1: "},
		"doubled table": {"[agent]\nmodel = 'a'\n[agent]\n", "s.toml:3:"},
		"wrong type":    {"[compaction]\nthreshold = 'half'\n", "s.toml:2:1: compaction.threshold: it is a text: write a number such as 0.5, without quotation marks"},
		"no turns":      {"[compaction]\ninvocation_threshold = true\n", "s.toml:2:1: compaction.invocation_threshold: it is true or false: write \"price\", or a whole number without quotation marks"},
		"out of range":  {"[compaction]\nthreshold = 1.5\n", "s.toml:2:1: compaction.threshold: it is 1.5: use a share of the effective window, from 0 to 1"},
		"newer version": {"version = 2\n[future]\nx = 1\n", "s.toml: version: the file is of version 2, and this program reads version 1: update the program"},
		"not UTF-8":     {"[agent]\n# \xff\n", "s.toml:2:3: this is not UTF-8: save the file as UTF-8"},
		"no TOML":       {"{\"agent\": {}}\n", "s.toml:1:1"},
		"empty":         {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			settings, file := filepath.Join(folder, "s.toml"), filepath.Join(folder, "chat.db")
			if err := os.WriteFile(settings, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			code, out, complaints := talked(t.Context(), "hello\n", "--config", settings, "--file", file)
			_, err := os.Stat(file)
			switch {
			case c.want == "" && (code != exit.CodeOK || out == ""):
				t.Errorf("exit code %d:\n%s", code, complaints)
			case c.want != "" && (code != exit.CodeUsage || !strings.Contains(complaints, c.want) || out != ""):
				t.Errorf("exit code %d, %q on standard output, want %q in:\n%s", code, out, c.want, complaints)
			case c.want != "" && err == nil:
				t.Error("the session file was made")
			}
		})
	}
}

// TestAChatRefusesAFileThatIsNone: folders in the place of files.
func TestAChatRefusesAFileThatIsNone(t *testing.T) {
	home(t)
	folder := t.TempDir()
	for _, c := range []struct{ flag, value, want string }{
		{"--file", folder, "--file is " + folder + ", which is a folder: name a file"},
		{"--config", folder, folder + ": it is a folder: name a file of settings in TOML"},
		{"--model", "scripted:" + folder, folder + " is a folder: name a script"},
		{"--prompt-template", "file://" + folder, folder + " must be a file of at most 1048576 bytes"},
	} {
		if code, _, complaints := talked(t.Context(), "hello\n", "--file", filepath.Join(t.TempDir(), "a.db"), c.flag, c.value); code != exit.CodeUsage || !strings.Contains(complaints, c.want) {
			t.Errorf("%s: exit code %d, want %q in:\n%s", c.flag, code, c.want, complaints)
		}
	}
}

// TestAChatLeavesASessionThatIsInUseAlone, and another session of the same file can be talked in.
func TestAChatLeavesASessionThatIsInUseAlone(t *testing.T) {
	home(t)
	file := filepath.Join(t.TempDir(), "a.db")
	if code, _, complaints := talked(t.Context(), "hello\n", "--file", file, "--session", "busy"); code != exit.CodeOK {
		t.Fatalf("exit code %d:\n%s", code, complaints)
	}
	release, err := sessionlock.Take(file, "longsession", "ada", "busy")
	if err != nil {
		t.Fatal(err)
	}
	for _, which := range [][]string{{"--session", "busy"}, {"--resume"}} {
		code, out, complaints := talked(t.Context(), "hello\n", append([]string{"--file", file}, which...)...)
		if code != exit.CodeUsage || out != "" || !strings.Contains(complaints, "session busy is in use by another chat (process ") || !strings.Contains(complaints, "): end that one, or talk in another session") {
			t.Errorf("%v: exit code %d, %q\n%s", which, code, out, complaints)
		}
	}
	if code, _, complaints := talked(t.Context(), "hello\n", "--file", file, "--session", "free"); code != exit.CodeOK {
		t.Errorf("another session: exit code %d:\n%s", code, complaints)
	}
	release()
	if code, _, complaints := talked(t.Context(), "hello\n", "--file", file, "--session", "busy"); code != exit.CodeOK {
		t.Errorf("afterwards: exit code %d:\n%s", code, complaints)
	}
	if _, out, _ := called(t.Context(), "audit", "history", file, "busy"); strings.Count(out, "hello") != 2 {
		t.Errorf("said while it was in use, or lost:\n%s", out)
	}
}

// TestAChatRefusesADamagedSessionFile with what to do, and does not touch it.
func TestAChatRefusesADamagedSessionFile(t *testing.T) {
	home(t)
	whole := filepath.Join(t.TempDir(), "whole.db")
	if code, _, complaints := talked(t.Context(), "hello\n", "--file", whole, "--session", "a"); code != exit.CodeOK {
		t.Fatalf("exit code %d:\n%s", code, complaints)
	}
	good, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	overwritten := bytes.Clone(good)
	for at := 3 * page; at < len(overwritten); at += page {
		copy(overwritten[at:], bytes.Repeat([]byte{0xa5}, 200))
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"overwritten": {overwritten, "the file is damaged: restore a backup, or rescue the rest with the sqlite3 shell's .recover"},
		"truncated":   {good[:5*page], "the file is truncated: it has 20480 bytes"},
		"no database": {[]byte("To be, or not to be.\n"), "--file: "},
	} {
		file := filepath.Join(t.TempDir(), "damaged.db")
		if err := os.WriteFile(file, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, which := range [][]string{{"--session", "a"}, {"--resume"}, nil} {
			code, out, complaints := talked(t.Context(), "hello\n", append([]string{"--file", file}, which...)...)
			if code != exit.CodeUsage || out != "" || !strings.Contains(complaints, c.want) || !strings.Contains(complaints, file) {
				t.Errorf("%s %v: exit code %d, %q\n%s", name, which, code, out, complaints)
			}
		}
		if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, c.data) {
			t.Errorf("%s: the file was changed: %v", name, err)
		}
	}
}

// TestInputThatIsNotUTF8IsToldAndKept as far as it can be read.
func TestInputThatIsNotUTF8IsToldAndKept(t *testing.T) {
	home(t)
	file := filepath.Join(t.TempDir(), "a.db")
	const note = "The message has bytes that are not UTF-8. Each run of them is replaced by \uFFFD."
	code, out, complaints := talked(t.Context(), "gr\xfc\xdfe aus K\xf6ln\nplain\n", "--file", file, "--session", "a")
	if code != exit.CodeOK || strings.Count(out, "\n") != 2 || strings.Count(complaints, note) != 1 {
		t.Errorf("exit code %d\n%s%s", code, out, complaints)
	}
	if code, _, complaints = talked(t.Context(), "", "--file", file, "--session", "a", "-p", "caf\xe9"); code != exit.CodeOK || strings.Count(complaints, note) != 1 {
		t.Errorf("exit code %d\n%s", code, complaints)
	}
	_, history, _ := called(t.Context(), "audit", "history", file, "a")
	for _, want := range []string{"gr\uFFFDe aus K\uFFFDln", "plain", "caf\uFFFD"} {
		if !strings.Contains(history, want) {
			t.Errorf("%q is not in\n%s", want, history)
		}
	}
	if code, out, complaints = called(t.Context(), "audit", "verify", file); code != exit.CodeOK {
		t.Errorf("the file: exit code %d\n%s%s", code, out, complaints)
	}
	for _, flag := range []string{"--session", "--user"} {
		want := flag + ` is "caf\xe9", which is not UTF-8: name one in UTF-8`
		if code, _, complaints = talked(t.Context(), "hello\n", "--file", file, flag, "caf\xe9"); code != exit.CodeUsage || !strings.Contains(complaints, want) {
			t.Errorf("exit code %d, want %q in\n%s", code, want, complaints)
		}
	}
	script := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(script, []byte("{\"text\": \"fine\"}\n{\"text\": \"caf\xe9\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, complaints = talked(t.Context(), "hello\n", "--file", file, "--model", "scripted:"+script); code != exit.CodeUsage || !strings.Contains(complaints, "line 2: it is not UTF-8: save the script as UTF-8") {
		t.Errorf("exit code %d\n%s", code, complaints)
	}
}

// TestAChatTellsADamagedSession and the rest of the file can be talked in.
func TestAChatTellsADamagedSession(t *testing.T) {
	home(t)
	file := storeSession(t, (&ct.History{}).Turns(6, "bot"), "longsession", "ada", "torn", "UPDATE events SET content = '{\"parts\":' WHERE seq = 3")
	for _, which := range [][]string{{"--session", "torn"}, {"--resume"}} {
		code, out, complaints := talked(t.Context(), "hello\n", append([]string{"--file", file}, which...)...)
		if code != exit.CodeUsage || out != "" || !strings.Contains(complaints, "session torn can be neither read nor created: ") || !strings.Contains(complaints, "audit verify") {
			t.Errorf("%v: exit code %d, %q\n%s", which, code, out, complaints)
		}
	}
	if code, _, complaints := talked(t.Context(), "hello\n", "--file", file, "--session", "whole"); code != exit.CodeOK {
		t.Errorf("another session: exit code %d:\n%s", code, complaints)
	}
	if code, out, _ := called(t.Context(), "audit", "verify", file, "torn"); code == exit.CodeOK {
		t.Errorf("audit verify finds nothing:\n%s", out)
	}
}
