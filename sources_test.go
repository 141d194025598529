package longsession_test

import (
	"errors"
	"path/filepath"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/summarizer"
)

// Results that no event has, as those a callback has changed, are in a store of their own. A session created again under
// the ID of a deleted one must not open them.
func TestDeletingASessionDropsItsResults(t *testing.T) {
	t.Parallel()
	folder, err := store.NewFolder(filepath.Join(t.TempDir(), "results"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	for name, results := range map[string]store.Store{"memory": store.NewMemory(0), "folder": folder} {
		t.Run(name, func(t *testing.T) {
			stack, err := longsession.New(session.InMemoryService(), longsession.Config{Results: results, Compaction: compaction.Config{Summarizer: summarizer.Extractive{}}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { stack.Close(t.Context()) })
			ref := compaction.SessionRef{AppName: "app", UserID: "user", SessionID: "s"}
			kept := compaction.SessionRef{AppName: "app", UserID: "user", SessionID: "kept"}
			result := store.ResultOf(map[string]any{"output": "secret"})
			for _, r := range []compaction.SessionRef{ref, kept} {
				if err := results.Put(t.Context(), r, "tool", result); err != nil {
					t.Fatal(err)
				}
			}
			create := &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}
			if _, err := stack.Sessions.Create(t.Context(), create); err != nil {
				t.Fatal(err)
			}
			if err := stack.Sessions.Delete(t.Context(), &session.DeleteRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
				t.Fatal(err)
			}
			if _, err := stack.Sessions.Create(t.Context(), create); err != nil {
				t.Fatal(err)
			}
			if _, _, err := stack.OpenResult(t.Context(), ref, result.Ref); !errors.Is(err, store.ErrUnknownRef) {
				t.Errorf("the session that was created again opens a result of the first: %v", err)
			}
			if _, _, err := stack.OpenResult(t.Context(), kept, result.Ref); err != nil {
				t.Errorf("another session has lost its result: %v", err)
			}
		})
	}
}
