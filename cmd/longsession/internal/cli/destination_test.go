//go:build unix

package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// writers are the commands that write to a file, each with what it needs in front of the file's
// name.
func writers(t *testing.T) map[string][]string {
	t.Helper()
	db := storeSession(t, (&ct.History{}).Turns(2, "bot"), "shop", "ada", "s1")
	talk := filepath.Join(t.TempDir(), "talk.jsonl")
	if err := os.WriteFile(talk, []byte(talks("a")), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string][]string{"-o": {"audit", "export", db, "-o"}, "--html": {"replay", talk, "--html"}}
}

// TestOnlyARegularFileIsReplaced: a device or a pipe that was replaced would be gone for everybody.
func TestOnlyARegularFileIsReplaced(t *testing.T) {
	t.Parallel()
	for flag, args := range writers(t) {
		folder := t.TempDir()
		fifo, device, nowhere := filepath.Join(folder, "fifo"), filepath.Join(folder, "device"), filepath.Join(folder, "nowhere")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(folder, "missing"), nowhere); err != nil {
			t.Fatal(err)
		}
		refused := map[string]string{folder: "is a folder: name a file in it", fifo: "is not a regular file", nowhere: "is a link that leads nowhere"}
		if err := syscall.Mknod(device, syscall.S_IFCHR|0o600, 1<<8|3); err == nil { // of the kind of null
			refused[device] = "is not a regular file"
		}
		for name, want := range refused {
			before, err := os.Lstat(name)
			if err != nil {
				t.Fatal(err)
			}
			code, _, complaints := called(t.Context(), append(args, name)...)
			if code != exit.CodeUsage || !strings.Contains(complaints, flag+" "+name+" "+want) {
				t.Errorf("%s %s: exit code %d: %s", flag, name, code, complaints)
			}
			if after, err := os.Lstat(name); err != nil || after.Mode() != before.Mode() {
				t.Errorf("%s %s was %v and is %v, %v", flag, name, before.Mode(), after.Mode(), err)
			}
		}
		if _, err := os.Lstat(filepath.Join(folder, "missing")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s made a file that a link led to: %v", flag, err)
		}
	}
}

// TestALinkStaysAndItsFileIsWritten: somebody has put it there for a reason.
func TestALinkStaysAndItsFileIsWritten(t *testing.T) {
	t.Parallel()
	for flag, args := range writers(t) {
		folder := t.TempDir()
		real, link := filepath.Join(folder, "real"), filepath.Join(t.TempDir(), "link")
		if err := os.WriteFile(real, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(real, link); err != nil {
			t.Fatal(err)
		}
		if code, _, complaints := called(t.Context(), append(args, link)...); code != exit.CodeOK {
			t.Fatalf("%s: exit code %d: %s", flag, code, complaints)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s: the link became %v, %v", flag, info.Mode(), err)
		}
		if text, err := os.ReadFile(real); err != nil || len(text) < 100 {
			t.Errorf("%s: the file has %q, %v", flag, text, err)
		}
		onlyFiles(t, folder, "real")
	}
}

// TestWhatSQLiteKeepsBesideAFileIsNeverWrittenTo: the newest events stand there, or will.
func TestWhatSQLiteKeepsBesideAFileIsNeverWrittenTo(t *testing.T) {
	t.Parallel()
	db := storeSession(t, (&ct.History{}).Turns(2, "bot"), "shop", "ada", "s1")
	folder := t.TempDir()
	link, linkedFolder := filepath.Join(folder, "link.db"), filepath.Join(folder, "folder")
	for from, to := range map[string]string{link: db, linkedFolder: filepath.Dir(db)} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	talk := filepath.Join(t.TempDir(), "talk.jsonl")
	if err := os.WriteFile(talk, []byte(talks("a")), 0o600); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		for _, there := range []bool{false, true} {
			file := db + suffix
			if there && suffix != "-journal" { // SQLite would act on one
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			aliased := filepath.Join(linkedFolder, filepath.Base(file))
			for _, args := range [][]string{
				{"audit", "export", db, "-o", file}, {"audit", "export", link, "-o", file}, {"audit", "export", db, "-o", aliased},
				{"replay", db, "--html", file}, {"replay", link, "--html", file}, {"replay", talk, "--db", db, "--html", aliased},
				{"replay", db, "--db", file}, {"replay", talk, "--db", file},
			} {
				tried++
				if code, out, complaints := called(t.Context(), args...); code != exit.CodeUsage || out != "" || !strings.Contains(complaints, filepath.Base(file)) {
					t.Errorf("%q: exit code %d: %s%s", args, code, out, complaints)
				}
				if info, err := os.Stat(file); err == nil && info.Size() > 0 && suffix != "-shm" {
					t.Fatalf("%q wrote %d bytes to %s", args, info.Size(), file)
				}
			}
			if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
	if code, _, complaints := called(context.Background(), "audit", "verify", db); code != exit.CodeOK || tried != 48 {
		t.Errorf("after %d tries: exit code %d: %s", tried, code, complaints)
	}
	// A conversation in a file that a new session file would keep its newest events in.
	beside := filepath.Join(folder, "new.db-wal")
	if err := os.WriteFile(beside, []byte(talks("a")), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, complaints := called(t.Context(), "replay", beside, "--db", filepath.Join(folder, "new.db")); code != exit.CodeUsage {
		t.Errorf("exit code %d: %s", code, complaints)
	}
	if text, err := os.ReadFile(beside); err != nil || string(text) != talks("a") {
		t.Errorf("the conversation became %q, %v", text, err)
	}
}
