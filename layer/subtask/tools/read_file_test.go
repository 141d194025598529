package tools_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/subtask/tools"
)

func TestReadFileShowsTextAsItIs(t *testing.T) {
	t.Parallel()
	utf16 := func(text string, little bool) string {
		out := []byte{0xfe, 0xff}
		for _, r := range text {
			out = append(out, byte(r>>8), byte(r))
		}
		if little {
			for i := 0; i < len(out); i += 2 {
				out[i], out[i+1] = out[i+1], out[i]
			}
		}
		return string(out)
	}
	files := map[string]string{
		"plain": "one\ntwo\n", "open": "one\ntwo", "empty": "", "newline": "\n", "crlf": "one\r\ntwo\r\n", "cr": "one\rtwo\n",
		"bom": "\xef\xbb\xbfone\n", "invalid": "caf\xe9\n", "le": utf16("grün\nzwei\n", true), "be": utf16("grün\r\n", false),
		"binary": "\x7fELF\x00\x01", "png": "\x89PNG\r\n\x1a\n\x00\x00", "utf32": "\xff\xfe\x00\x00a\x00\x00\x00",
		"late-nul": strings.Repeat("x", 9_000) + "\nnul \x00 here\n", "tabs": "\ta\n",
	}
	_, by := tree(t, tools.FilesConfig{}, files)
	for _, tt := range []struct{ name, content, note, err string }{
		{name: "plain", content: "1\tone\n2\ttwo\n"},
		{name: "open", content: "1\tone\n2\ttwo\n"},
		{name: "empty", note: "the file is empty"},
		{name: "newline", content: "1\t\n"},
		{name: "crlf", content: "1\tone\n2\ttwo\n", note: "CRLF"},
		{name: "cr", content: "1\tone\rtwo\n"},
		{name: "bom", content: "1\tone\n"},
		{name: "invalid", content: "1\tcaf\uFFFD\n", note: "not valid text"},
		{name: "le", content: "1\tgrün\n2\tzwei\n", note: "UTF-16LE"},
		{name: "be", content: "1\tgrün\n", note: "the file is in UTF-16BE; lines end with CRLF"},
		{name: "tabs", content: "1\t\ta\n"},
		{name: "late-nul", content: "\n2\tnul \uFFFD here\n", note: "not valid text"},
		{name: "binary", err: "is a binary file of 6 bytes (application/octet-stream)"},
		{name: "png", err: "(image/png)"},
		{name: "utf32", err: "is a binary file"},
	} {
		got := call(t, t.Context(), by["read_file"], map[string]any{"path": tt.name})
		if content := text(got, "content"); content != tt.content && !(len(content) > 9_000 && strings.HasSuffix(content, tt.content)) {
			t.Errorf("%s: content %q, want %q", tt.name, content, tt.content)
		}
		want(t, tt.name+": note", text(got, "note"), tt.note)
		want(t, tt.name+": error", text(got, "error"), tt.err)
		if (tt.err == "") != (text(got, "error") == "") || tt.note == "" && text(got, "note") != "" {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// Parts of a file, read one after the other, are the whole file.
func TestPartsOfAFileAreTheWholeFile(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&file, "line %d %s\n", i+1, strings.Repeat("ü", i%90))
	}
	_, by := tree(t, tools.FilesConfig{}, map[string]string{"long": file.String()})
	var whole strings.Builder
	calls := 0
	for offset := 1; offset > 0; calls++ {
		got := call(t, t.Context(), by["read_file"], map[string]any{"path": "long", "offset": offset})
		if size := len(text(got, "content")); size > 64<<10 {
			t.Fatalf("%d bytes at once", size)
		}
		for l := range strings.Lines(text(got, "content")) {
			number, rest, _ := strings.Cut(l, "\t")
			if number != fmt.Sprint(offset) {
				t.Fatalf("line %s at offset %d", number, offset)
			}
			whole.WriteString(rest)
			offset++
		}
		if next := number(got, "next_offset"); next != 0 && next != offset || number(got, "last_line") != offset-1 {
			t.Fatalf("next_offset %d and last_line %d before line %d", next, number(got, "last_line"), offset)
		} else if next == 0 {
			if number(got, "total_lines") != 5_000 {
				t.Errorf("total_lines is %v", got["total_lines"])
			}
			break
		}
	}
	if whole.String() != file.String() || calls < 2 {
		t.Errorf("%d calls read %d bytes of %d", calls+1, whole.Len(), file.Len())
	}
}

func TestReadFileHoldsItsLimits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 2_000)
	_, by := tree(t, tools.FilesConfig{ReadLines: 3, ResultBytes: 1_024, LineBytes: 3_000, FileBytes: 10_000}, map[string]string{
		"lines": "1\n2\n3\n4\n5\n", "wide": "a\n" + long + "\nb\n", "huge": strings.Repeat("0123456789\n", 2_000), "three": "1\n2\n3\n",
	})
	for _, tt := range []struct {
		what          string
		path          string
		offset, limit any
		content       string
		next          int
		note, err     string
	}{
		{what: "more lines than are returned", path: "lines", content: "1\t1\n2\t2\n3\t3\n", next: 4},
		{what: "a limit above the config's", path: "lines", limit: 99, content: "1\t1\n2\t2\n3\t3\n", next: 4},
		{what: "a limit below it", path: "lines", limit: 1, content: "1\t1\n", next: 2},
		{what: "offset 0", path: "three", offset: 0, content: "1\t1\n2\t2\n3\t3\n"},
		{what: "exactly the limit", path: "three", content: "1\t1\n2\t2\n3\t3\n"},
		{what: "the last lines", path: "lines", offset: 4, content: "4\t4\n5\t5\n"},
		{what: "before a line that is too long", path: "wide", content: "1\ta\n", next: 2},
		{what: "a line that is too long", path: "wide", offset: 2, content: "2\t" + strings.Repeat("ü", 510) + "\n", next: 3, note: "line 2 is 4000 bytes long and is cut"},
		{what: "behind it", path: "wide", offset: 3, content: "3\tb\n"},
		{what: "behind the end", path: "lines", offset: 6, err: `"lines" has 5 lines; offset 6 is behind the last one`},
		{what: "far into a huge file", path: "huge", offset: 1_500, err: "behind the first 10000 bytes"},
		{what: "a negative offset", path: "lines", offset: -1, err: "lines are counted from 1"},
		{what: "a negative limit", path: "lines", limit: -1, err: "it must be positive"},
	} {
		args := map[string]any{"path": tt.path}
		if tt.offset != nil {
			args["offset"] = tt.offset
		}
		if tt.limit != nil {
			args["limit"] = tt.limit
		}
		got := call(t, t.Context(), by["read_file"], args)
		if text(got, "content") != tt.content || number(got, "next_offset") != tt.next {
			t.Errorf("%s: content %q, next_offset %d", tt.what, text(got, "content"), number(got, "next_offset"))
		}
		want(t, tt.what+": note", text(got, "note"), tt.note)
		want(t, tt.what+": error", text(got, "error"), tt.err)
	}
}

// A sparse file of a terabyte costs no more than its limit.
func TestAHugeFileIsNeverReadWhole(t *testing.T) {
	t.Parallel()
	dir, by := tree(t, tools.FilesConfig{FileBytes: 1 << 20}, map[string]string{"log": strings.Repeat("a line\n", 2_000)})
	if err := os.Truncate(filepath.Join(dir, "log"), 1<<40); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	if got := call(t, t.Context(), by["read_file"], map[string]any{"path": "log", "limit": 1}); text(got, "content") != "1\ta line\n" {
		t.Errorf("its first line: %v", got)
	}
	want(t, "its last line", text(call(t, t.Context(), by["read_file"], map[string]any{"path": "log", "offset": 1_000_000}), "error"), "behind the first 1048576 bytes")
	got := call(t, t.Context(), by["grep"], map[string]any{"pattern": "nowhere"})
	want(t, "a search", text(got, "note"), "1 files are too large and searched only in part")
}

func TestAFileThatChangesIsRead(t *testing.T) {
	t.Parallel()
	dir, by := tree(t, tools.FilesConfig{}, map[string]string{"log": ""})
	done := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := os.WriteFile(filepath.Join(dir, "log"), bytes.Repeat([]byte("grows and shrinks\n"), i%2_000), 0o644); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for range 100 {
		if got := call(t, t.Context(), by["read_file"], map[string]any{"path": "log"}); text(got, "error") != "" {
			t.Fatalf("%v", got)
		}
	}
	close(stop)
	<-done
}
