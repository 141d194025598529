package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/adk/artifact"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/layer/toolresult/store/storetest"
)

func TestStoresKeepTheContract(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(*testing.T) storetest.Backend {
			m := store.NewMemory(0)
			return storetest.Backend{Store: m, Delete: func(_ testing.TB, owner store.Owner) { m.Drop(owner) }}
		})
	})
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t *testing.T) storetest.Backend {
			f := newFolder(t, filepath.Join(t.TempDir(), "results"))
			return storetest.Backend{Store: f, Delete: func(t testing.TB, owner store.Owner) {
				if err := f.Drop(owner); err != nil {
					t.Error(err)
				}
			}}
		})
	})
	t.Run("artifacts", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(*testing.T) storetest.Backend {
			return storetest.Backend{Store: store.NewArtifacts(artifact.InMemoryService())}
		})
	})
}

func newFolder(t testing.TB, dir string) *store.Folder {
	t.Helper()
	f, err := store.NewFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// quotas are stores that have room for 100 bytes.
func quotas(t *testing.T) map[string]struct {
	store.Store
	drop func(store.Owner)
} {
	memory, folder := store.NewMemory(100), newFolder(t, t.TempDir()+"/results")
	folder.SetMaxBytes(100)
	return map[string]struct {
		store.Store
		drop func(store.Owner)
	}{
		"memory": {memory, memory.Drop},
		"folder": {folder, func(o store.Owner) {
			if err := folder.Drop(o); err != nil {
				t.Error(err)
			}
		}},
	}
}

func TestAFullStoreRefusesNewResultsAndKeepsTheOld(t *testing.T) {
	t.Parallel()
	for name, s := range quotas(t) {
		old, large, small := store.ResultOf(result(strings.Repeat("a", 60))), store.ResultOf(result(strings.Repeat("b", 41))), store.ResultOf(result(strings.Repeat("c", 40)))
		other := store.Owner{AppName: "app", UserID: "user", SessionID: "other"}
		put := func(owner store.Owner, r store.Result) error { return s.Put(t.Context(), owner, "tool", r) }
		if err := put(me, old); err != nil {
			t.Fatal(name, err)
		}
		var full *store.QuotaError
		if err := put(other, large); !errors.As(err, &full) || full.Size != 41 || full.Used != 60 || full.Max != 100 {
			t.Errorf("%s: 41 bytes more: %v", name, err)
		}
		if _, err := readAll(t.Context(), s, other, large.Ref); !errors.Is(err, store.ErrUnknownRef) {
			t.Errorf("%s: the refused result: %v", name, err)
		}
		if err := errors.Join(put(other, small), put(me, old), put(other, small)); err != nil {
			t.Errorf("%s: 40 bytes more: %v", name, err)
		}
		if got, err := readAll(t.Context(), s, me, old.Ref); err != nil || got != old.Content {
			t.Errorf("%s: the old result is %q, %v", name, got, err)
		}
		s.drop(me)
		s.drop(me)
		if err := put(other, large); err != nil {
			t.Errorf("%s: after a session was dropped: %v", name, err)
		}
	}
}

func TestAFolderSurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "results")
	r := store.ResultOf(result(strings.Repeat("x", 1_000)))
	first := newFolder(t, dir)
	if err := first.Put(t.Context(), me, "tool", r); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := newFolder(t, dir)
	if got, err := readAll(t.Context(), second, me, r.Ref); err != nil || got != r.Content {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	second.SetMaxBytes(1_500)
	var full *store.QuotaError
	if err := second.Put(t.Context(), me, "tool", store.ResultOf(result(strings.Repeat("y", 501)))); !errors.As(err, &full) || full.Used != 1_000 {
		t.Errorf("what was stored before the restart does not count: %v", err)
	}
}

func TestAFolderIsPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	dir := filepath.Join(t.TempDir(), "results")
	f := newFolder(t, dir)
	if err := f.Put(t.Context(), me, "secret-tool", store.ResultOf(result("secret"))); err != nil {
		t.Fatal(err)
	}
	files := 0
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o700)
		if !entry.IsDir() {
			want = 0o600
			files++
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, want %v", name, info.Mode(), want)
		}
		for _, word := range []string{me.AppName, me.UserID, "secret", refOf("secret")} {
			if rel, _ := filepath.Rel(dir, name); strings.Contains(rel, word) {
				t.Errorf("%s shows %q", rel, word)
			}
		}
		return nil
	})
	if err != nil || files != 1 {
		t.Errorf("%d files, %v", files, err)
	}
}

func TestAFolderOfOthersIsRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	base := t.TempDir()
	file, public, link, private := filepath.Join(base, "file"), filepath.Join(base, "public"), filepath.Join(base, "link"), filepath.Join(base, "private")
	for _, err := range []error{os.WriteFile(file, nil, 0o600), os.Mkdir(public, 0o700), os.Chmod(public, 0o755), os.Mkdir(private, 0o700), os.Symlink(private, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"", file, public, link, filepath.Join(file, "below")} {
		if _, err := store.NewFolder(dir); err == nil {
			t.Errorf("%q was accepted", dir)
		}
	}
}

// Somebody who can write into the folder plants a link under the name of a result.
func TestAFolderFollowsNoLinks(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir, secret := filepath.Join(base, "results"), filepath.Join(base, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFolder(t, dir)
	r := store.ResultOf(result("mine"))
	if err := f.Put(t.Context(), me, "tool", r); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	inside := filepath.Join(filepath.Dir(names[0]), "inside")
	if err := os.WriteFile(inside, []byte("inside"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{secret, inside, "inside", "/dev/zero"} {
		if err := errors.Join(os.RemoveAll(names[0]), os.Symlink(target, names[0])); err != nil {
			t.Skip("links cannot be made here: ", err)
		}
		if got, err := readAll(t.Context(), f, me, r.Ref); err == nil {
			t.Errorf("a link to %s was read: %q", target, got)
		}
		if err := f.Put(t.Context(), me, "tool", r); err != nil {
			t.Error(err)
		}
		if got, err := readAll(t.Context(), f, me, r.Ref); err != nil || got != "mine" {
			t.Errorf("after the result was stored again: %q, %v", got, err)
		}
	}
	for name, want := range map[string]string{secret: "secret", inside: "inside"} {
		if data, err := os.ReadFile(name); err != nil || string(data) != want {
			t.Errorf("%s has %q now, %v", name, data, err)
		}
	}
}

func TestAnUnfinishedFileIsNoResult(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "results")
	f := newFolder(t, dir)
	if err := f.Put(t.Context(), me, "tool", store.ResultOf(result("x"))); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*", "tmp-*"))
	if err != nil || len(names) != 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// refusing is an artifact service that is down.
type refusing struct{ artifact.Service }

var errDown = errors.New("down")

func (refusing) Load(context.Context, *artifact.LoadRequest) (*artifact.LoadResponse, error) {
	return nil, errDown
}

func (refusing) Save(context.Context, *artifact.SaveRequest) (*artifact.SaveResponse, error) {
	return nil, errDown
}

func TestArtifactsWithoutAServiceRefuseResults(t *testing.T) {
	t.Parallel()
	r := store.ResultOf(result("x"))
	var typed *refusing
	for name, a := range map[string]store.Store{"nil": store.NewArtifacts(nil), "typed nil": store.NewArtifacts(typed)} {
		if err := a.Put(t.Context(), me, "tool", r); err == nil {
			t.Errorf("%s: stored", name)
		}
		if _, err := readAll(t.Context(), a, me, r.Ref); err != store.ErrUnknownRef {
			t.Errorf("%s: %v", name, err)
		}
	}
	down := store.NewArtifacts(refusing{})
	if err := down.Put(t.Context(), me, "tool", r); !errors.Is(err, errDown) {
		t.Errorf("Put: %v", err)
	}
	if _, err := readAll(t.Context(), down, me, r.Ref); !errors.Is(err, errDown) || errors.Is(err, store.ErrUnknownRef) {
		t.Errorf("Open: %v", err)
	}
}

func TestAnArtifactIsSavedOnce(t *testing.T) {
	t.Parallel()
	svc := artifact.InMemoryService()
	r := store.ResultOf(result("x"))
	for range 3 {
		if err := store.NewArtifacts(svc).Put(t.Context(), me, "tool", r); err != nil {
			t.Fatal(err)
		}
	}
	list, err := svc.List(t.Context(), &artifact.ListRequest{AppName: me.AppName, UserID: me.UserID, SessionID: me.SessionID})
	if err != nil || len(list.FileNames) != 1 || strings.ContainsAny(list.FileNames[0], `/\`) {
		t.Fatalf("%v, %v", list, err)
	}
	versions, err := svc.Versions(t.Context(), &artifact.VersionsRequest{AppName: me.AppName, UserID: me.UserID, SessionID: me.SessionID, FileName: list.FileNames[0]})
	if err != nil || len(versions.Versions) != 1 {
		t.Errorf("%v, %v", versions, err)
	}
}

func ExampleNewFolder() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	results, err := store.NewFolder(filepath.Join(dir, "tool-results"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer results.Close()
	owner := store.Owner{AppName: "app", UserID: "user", SessionID: "s"}
	whole := store.ResultOf(map[string]any{"output": "3 files changed"})
	if err := results.Put(context.Background(), owner, "git", whole); err != nil {
		fmt.Println(err)
		return
	}
	content, size, err := results.Open(context.Background(), owner, whole.Ref)
	if err != nil {
		fmt.Println(err)
		return
	}
	if closer, ok := content.(io.Closer); ok {
		defer closer.Close()
	}
	part := make([]byte, 7)
	if _, err := content.ReadAt(part, 0); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(size, string(part))
	// Output: 15 3 files
}

func ExampleEvents() {
	sessions := session.InMemoryService()
	results := store.Events(sessions)
	_, _, err := results.Open(context.Background(), store.Owner{AppName: "app", UserID: "user", SessionID: "s"}, "r-0123456789abcdef")
	fmt.Println(err)
	// Output: no result with this ref_id in this session
}
