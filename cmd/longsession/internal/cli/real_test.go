package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/replay"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

func TestRealConversationsLoseNothing(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("LONGSESSION_DATA")
	if folder == "" {
		t.Skip("LONGSESSION_DATA is not set: no folder of real conversations (JSONL) to replay")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no *.jsonl in LONGSESSION_DATA=%s (%v)", folder, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			for _, window := range []string{"200000", "8000"} {
				end := replayed(t.Context(), replay.Compare, nil, file, "--limit", "3", "--context-window", window)
				if end.code != exit.CodeOK || !strings.Contains(end.stdout, "\ntotal of 3 ") {
					t.Errorf("window %s: exit code %d: %s%s", window, end.code, end.stdout, end.stderr)
				}
			}
		})
	}
}
