package audit_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence"
)

func TestANameThatFitsNoneOrSeveralListsTheCandidates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := writing(t, path)
	f := open(t, path)
	_, err := f.Find(t.Context(), "", audit.Narrow{})
	if err == nil || !strings.Contains(err.Error(), "the file has no session") {
		t.Errorf("an empty file: %v", err)
	}
	create(t, s, "ada", "order-1")
	create(t, s, "bob", "order-1")
	create(t, s, "bob", "a/b")
	for _, r := range []struct {
		name   string
		narrow audit.Narrow
		want   string
	}{
		{"order-1", audit.Narrow{User: "bob"}, "shop/bob/order-1"},
		{"shop/ada/order-1", audit.Narrow{}, "shop/ada/order-1"},
		{"a/b", audit.Narrow{}, "shop/bob/a/b"},
		{"", audit.Narrow{User: "ada"}, "shop/ada/order-1"},
		{"order-1", audit.Narrow{}, `2 sessions are named "order-1": use --app and --user, or name one of "shop/ada/order-1", "shop/bob/order-1"`},
		{"", audit.Narrow{}, `the file has 3 sessions: name one of "shop/ada/order-1", "shop/bob/a/b", "shop/bob/order-1"`},
		{"x", audit.Narrow{App: "shop"}, `the file has no session "x" of app "shop"; it has "shop/ada/order-1"`},
		{"x", audit.Narrow{User: "eve"}, `the file has no session of user "eve"`},
	} {
		found, err := f.Find(t.Context(), r.name, r.narrow)
		got := fmt.Sprint(err)
		if err == nil {
			got = found.Name()
		} else if which := new(audit.ErrWhich); !errors.As(err, &which) {
			t.Errorf("%q: error of type %T", r.name, err)
		}
		if !strings.HasPrefix(got, r.want) {
			t.Errorf("%q %v:\n got %s\nwant %s", r.name, r.narrow, got, r.want)
		}
	}
}

func TestAnAuditLeavesTheFileAlone(t *testing.T) {
	t.Parallel()
	for name, live := range map[string]bool{"nobody else": false, "an app": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := made(t, 12)
			if live {
				app := compacting(t, writing(t, path))
				resp, err := app.Get(t.Context(), &session.GetRequest{AppName: "shop", UserID: user, SessionID: "order-1"})
				if err != nil {
					t.Fatal(err)
				}
				if err := app.AppendEvent(t.Context(), resp.Session, text("late", "more")); err != nil {
					t.Fatal(err)
				}
			}
			before := sums(t, path)
			f, err := audit.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			s := find(t, f, "order-1")
			o, err := f.Overview(t.Context(), s, 5)
			if err != nil || len(o.Findings) > 0 || live && s.Events < 49 {
				t.Errorf("%+v, %v", o, err)
			}
			if _, err := f.Export(t.Context(), []*audit.Session{s}, audit.Markdown, nil, new(strings.Builder)); err != nil {
				t.Error(err)
			}
			if _, err := f.Verify(t.Context(), []*audit.Session{s}, 5, func(one audit.Finding) error { t.Errorf("%+v", one); return nil }, func(*audit.Session) {}); err != nil {
				t.Error(err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if after := sums(t, path); after != before {
				t.Errorf("the folder was\n%s and is\n%s", before, after)
			}
		})
	}
}

func sums(t *testing.T, path string) (out string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		hash := [32]byte{}
		if !strings.HasSuffix(file.Name(), "-shm") {
			hash = sha256.Sum256([]byte(bytesOf(t, filepath.Join(filepath.Dir(path), file.Name()))))
		}
		out += fmt.Sprintf("%s %x\n", file.Name(), hash)
	}
	return out
}

func TestAFileThatIsNotOneOfOursIsRefused(t *testing.T) {
	t.Parallel()
	_, err := audit.Open(filepath.Join(t.TempDir(), "missing.db"))
	if err == nil || !strings.Contains(err.Error(), "check the path") {
		t.Errorf("missing: %v", err)
	}
	path := built(t, &ct.History{})
	run(t, path, "PRAGMA user_version = 77")
	if _, err := audit.Open(path); !errors.Is(err, persistence.ErrNewerSchema) {
		t.Errorf("newer: %v", err)
	}
}

func TestAnEventThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	path := built(t, (&ct.History{}).Turns(3, "bot"))
	run(t, path, "UPDATE events SET content = '{' WHERE seq = 4")
	f := open(t, path)
	s := find(t, f, "")
	var entries []audit.Entry
	for row, err := range f.Rows(t.Context(), s, 0, -1) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, audit.EntryOf(row))
	}
	if len(entries) != 6 || entries[3].Unreadable == "" || entries[3].ID != "e4" || entries[4].Unreadable != "" || entries[4].Text == "" {
		t.Errorf("entries %+v", entries)
	}
	_, viewed := f.View(t.Context(), s, 0, -1)
	_, listed := f.Compactions(t.Context(), s)
	_, exported := f.Export(t.Context(), []*audit.Session{s}, audit.JSONL, nil, new(strings.Builder))
	for _, err := range []error{viewed, listed, exported} {
		if err == nil || !strings.Contains(err.Error(), "event 4 cannot be read") || !strings.Contains(err.Error(), "audit verify") {
			t.Errorf("error %v", err)
		}
	}
}
