package store_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// Agents that run in parallel often get the same result. It takes its room once.
func TestAFolderCountsAResultThatSeveralPutsStoreOnce(t *testing.T) {
	t.Parallel()
	folder, err := store.NewFolder(filepath.Join(t.TempDir(), "results"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	result := store.ResultOf(map[string]any{"output": "the same in every agent"})
	folder.SetMaxBytes(int64(len(result.Content)))
	owner := store.Owner{AppName: "app", UserID: "user", SessionID: "session"}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if err := folder.Put(t.Context(), owner, "tool", result); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
