package terminal_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

func TestNothingWrittenIsObeyed(t *testing.T) {
	t.Parallel()
	hostile := "a\x1b[2Jb\ac\x7fd\u0085e\u009b1mf\u202eg\u2066h\u2069\xffi\t\r\nשלום \u200f👩\u200d💻é"
	var out strings.Builder
	if n, err := terminal.Harmless(&out).Write([]byte(hostile)); err != nil || n != len(hostile) {
		t.Errorf("%d, %v", n, err)
	}
	if want := `a\u001b[2Jb\u0007c\u007fd\u0085e\u009b1mf\u202eg\u2066h\u2069` + "\xffi\t\r\nשלום \u200f👩\u200d💻é"; out.String() != want {
		t.Errorf("%q", out.String())
	}

	// JSON means the same.
	text := `\"` + strings.ToValidUTF8(hostile, "")
	out.Reset()
	if err := json.NewEncoder(terminal.Harmless(&out)).Encode(text); err != nil {
		t.Fatal(err)
	}
	var read string
	if err := json.Unmarshal([]byte(out.String()), &read); err != nil || read != text || strings.ContainsAny(out.String(), "\u009b\u202e\x7f") {
		t.Errorf("%v: %q of %q", err, read, out.String())
	}
}
