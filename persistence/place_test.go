package persistence_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
)

// serviceCalls returns every call that names session "s".
func serviceCalls(t testing.TB, s *persistence.SQLiteSessionService, handle session.Session) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"get": func(ctx context.Context) error { _, err := s.Get(ctx, request("s")); return err },
		"get active": func(ctx context.Context) error {
			_, err := s.GetActive(ctx, request("s"))
			return err
		},
		"history": func(ctx context.Context) error { return second(s.History(ctx, request("s"), 1, 10)) },
		"list": func(ctx context.Context) error {
			_, err := s.List(ctx, &session.ListRequest{AppName: app, UserID: user})
			return err
		},
		"append": func(ctx context.Context) error { return s.AppendEvent(ctx, handle, text("lost", "")) },
		"append record": func(ctx context.Context) error {
			return s.AppendRecord(ctx, handle, recordOver(t, "lost", "1"))
		},
		"create": func(ctx context.Context) error {
			_, err := s.Create(ctx, &session.CreateRequest{AppName: app, UserID: user})
			return err
		},
		"delete": func(ctx context.Context) error {
			return s.Delete(ctx, &session.DeleteRequest{AppName: app, UserID: user, SessionID: "none"})
		},
	}
}

func TestAFileThatIsNotWhereItWasIsNoticed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		away func(path string) error
		says string
	}{
		"deleted": {os.Remove, "the file no longer exists"},
		"moved":   {func(path string) error { return os.Rename(path, path+".away") }, "the file no longer exists"},
		"replaced": {func(path string) error {
			if err := os.Rename(path, path+".away"); err != nil {
				return err
			}
			other, err := persistence.NewSQLiteSessionService(path + ".other")
			if err != nil {
				return err
			}
			_, err = other.Create(context.Background(), &session.CreateRequest{AppName: app, UserID: user, SessionID: "s"})
			return errors.Join(err, other.Close(), os.Rename(path+".other", path))
		}, "another file is in its place"},
	} {
		for _, used := range []bool{false, true} { // whether connections for reading are already open
			t.Run(fmt.Sprint(name, " ", used), func(t *testing.T) {
				t.Parallel()
				path := newPath(t)
				s, err := persistence.NewSQLiteSessionService(path)
				if err != nil {
					t.Fatal(err)
				}
				handle := create(t, s, "s")
				appendTo(t, s, handle, text("1", "said"))
				if used {
					get(t, s, "s")
				}
				if err := c.away(path); err != nil {
					t.Fatal(err)
				}
				before, _ := os.ReadFile(path)
				for doing, call := range serviceCalls(t, s, handle) {
					if err := call(t.Context()); !errors.Is(err, persistence.ErrMoved) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.says) {
						t.Errorf("%s: %v", doing, err)
					}
				}
				if after, _ := os.ReadFile(path); string(after) != string(before) {
					t.Error("a file was written at the old path")
				}
				if n := handle.Events().Len(); n != 1 {
					t.Errorf("the handle has %d events", n)
				}
				if name == "moved" { // and put back
					if err := os.Rename(path+".away", path); err != nil {
						t.Fatal(err)
					}
					appendTo(t, s, handle, text("2", ""))
					if got := ids(get(t, s, "s")); len(got) != 2 {
						t.Errorf("after the file was put back: %v", got)
					}
				}
				_ = s.Close() // the files next to it have moved too
			})
		}
	}
}

func TestAFileThatIsOnlyReadAndGoneIsNoticed(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	appendTo(t, s, create(t, s, "s"), text("1", "said"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, used := range []bool{false, true} {
		reading := open(t, path, persistence.WithReadOnly())
		if used {
			get(t, reading, "s")
		}
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		for _, doing := range []string{"get", "get active", "history", "list"} {
			if err := serviceCalls(t, reading, nil)[doing](t.Context()); !errors.Is(err, persistence.ErrWritten) || !strings.Contains(err.Error(), "taken away") {
				t.Errorf("%s: %v", doing, err)
			}
		}
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestATruncatedFileSaysSo(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	sess := create(t, s, "s")
	for n := range 100 {
		appendTo(t, s, sess, text(fmt.Sprint(n), strings.Repeat("word ", 50)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{512, 600, 4096, 5000, 8192, len(whole) / 2, len(whole) - 4096, len(whole) - 1} {
		for name, opts := range map[string][]persistence.Option{"to write": nil, "to read": {persistence.WithReadOnly()}} {
			writeFile(t, path, string(whole[:size]))
			same := unchanged(t, path)
			s, err := persistence.NewSQLiteSessionService(path, opts...)
			if err == nil {
				t.Fatalf("%d bytes, opened %s: %v", size, name, s.Close())
			}
			if !errors.Is(err, persistence.ErrTruncated) || !strings.Contains(err.Error(), fmt.Sprintf("has %d bytes, and its header says %d", size, len(whole))) {
				t.Errorf("%d bytes, %s: %v", size, name, err)
			}
			same()
		}
	}
	writeFile(t, path, string(whole))
	s = open(t, path)
	if n := get(t, s, "s").Events().Len(); n != 100 {
		t.Errorf("the complete file has %d events", n)
	}
}

// A read finds a file that was truncated while open, and must not report a bad disk.
func TestAFileThatIsCutWhileItIsOpenSaysSo(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	sess := create(t, s, "s")
	for n := range 400 {
		appendTo(t, s, sess, text(fmt.Sprint(n), strings.Repeat("word ", 50)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	reading, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 5*4096); err != nil {
		t.Fatal(err)
	}
	for _, doing := range []string{"get", "history"} {
		err := serviceCalls(t, reading, nil)[doing](t.Context())
		if !errors.Is(err, persistence.ErrTruncated) || strings.Contains(err.Error(), "network") {
			t.Errorf("%s: %v", doing, err)
		}
	}
	_ = reading.Close()
}

func TestAURIIsNoPath(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for path, says := range map[string]string{
		"file:sessions.db":                               `"sessions.db" (a file with exactly this name is "./file:sessions.db")`,
		"file:sessions.db?mode=ro":                       `"sessions.db", with the option WithReadOnly`,
		"file:///data/x.db?immutable=1":                  `"/data/x.db", with the option WithReadOnly`,
		"file:x.db?_busy_timeout=50&_synchronous=NORMAL": "WithBusyTimeout and WithSynchronousNormal",
		"file:x.db?cache=shared":                         "WithDB",
		"file::memory:?cache=shared":                     `the path is ":memory:"`,
		"file:x?mode=memory":                             `the path is ":memory:"`,
	} {
		for _, opts := range [][]persistence.Option{nil, {persistence.WithReadOnly()}} {
			s, err := persistence.NewSQLiteSessionService(path, opts...)
			if err == nil {
				t.Errorf("%s was opened: %v", path, s.Close())
			} else if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want %q", path, err, says)
			}
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("files were created: %v, %v", files, err)
	}
	s := open(t, "./file:sessions.db?mode=ro") // a file with exactly this name
	create(t, s, "s")
	if files, err := os.ReadDir(dir); err != nil || len(files) == 0 || files[0].Name() != "file:sessions.db?mode=ro" {
		t.Errorf("files: %v, %v", files, err)
	}
}
