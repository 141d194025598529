package conversation_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

func TestReadFileReturnsAllConversationsOrTheFirstError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "two.jsonl")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(named("a") + "\n" + named("b") + "\n")
	all, err := conversation.ReadFile(path)
	if err != nil || len(all) != 2 || all[0].ID != "a" || all[1].ID != "b" || all[1].File != "two.jsonl" || all[1].Line != 2 {
		t.Errorf("read %+v, %v", all, err)
	}
	write(named("a") + "\n{\"id\":7}\n")
	all, err = conversation.ReadFile(path)
	var e *conversation.Error
	if !errors.As(err, &e) || e.File != "two.jsonl" || e.Line != 2 || all != nil {
		t.Errorf("read %d conversations, then %v; want an error in line 2", len(all), err)
	}
	if _, err = conversation.ReadFile(path + ".missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
}
