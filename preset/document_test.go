package preset_test

import (
	"os"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/preset"
)

// TestTheDocumentListsEveryKey with its flag and its variable.
func TestTheDocumentListsEveryKey(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range preset.Keys() {
		row := "\n| `" + key.Name + "` | `" + key.Flag + "`, `" + strings.TrimPrefix(key.Environment(), "LONGSESSION_") + "` |"
		if !strings.Contains(string(document), row) {
			t.Errorf("configuration.md lacks the row%s", row)
		}
	}
}
