package toolresult_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/persistence"
)

// endless is a text of any size that counts how much of it is read.
type endless struct{ read int }

func (e *endless) ReadAt(p []byte, offset int64) (int, error) {
	e.read += len(p)
	const line = "0123456789abcdef0123456789abcde\n"
	for i := range p {
		p[i] = line[(offset+int64(i))%int64(len(line))]
	}
	return len(p), nil
}

// A piece of a large result costs the piece.
func TestAPieceReadsNoMoreThanItself(t *testing.T) {
	t.Parallel()
	text := &endless{}
	r := newReader(t, broken{func(context.Context) (io.ReaderAt, int64, error) { return text, 1 << 40, nil }}, toolresult.ReadOptions{})
	out := r.call(map[string]any{"ref_id": "r-0123456789abcdef", "offset": 1 << 39})
	if content, _ := out["content"].(string); len(content) != 4_096 || out["total_bytes"] != 1<<40 {
		t.Errorf("%v", out)
	}
	if text.read > 4_096+16 {
		t.Errorf("4,096 bytes cost %d", text.read)
	}
}

// Once the lines are counted, a line in the middle costs one block of them.
func TestLinesAreCountedOnce(t *testing.T) {
	t.Parallel()
	text := &endless{}
	const size = 32 << 20
	r := newReader(t, broken{func(context.Context) (io.ReaderAt, int64, error) { return text, size, nil }}, toolresult.ReadOptions{})
	for i, most := range []int{size + 1<<20, 1 << 18, 1 << 18} {
		text.read = 0
		out := r.call(map[string]any{"ref_id": "r-0123456789abcdef", "lines": fmt.Sprint(500_000 + i)})
		if out["offset"] != (500_000+i-1)*32 || out["total_lines"] != size/32 {
			t.Errorf("%v", out)
		}
		if text.read > most {
			t.Errorf("call %d read %d bytes, want at most %d", i+1, text.read, most)
		}
	}
}

// BenchmarkReadPiece reads 4 KiB of 100 MB through the tool, from the events of a session.
func BenchmarkReadPiece(b *testing.B) {
	svc := session.InMemoryService()
	resp, err := svc.Create(b.Context(), &session.CreateRequest{AppName: owner.AppName, UserID: owner.UserID, SessionID: owner.SessionID})
	if err != nil {
		b.Fatal(err)
	}
	result := map[string]any{"output": strings.Repeat("a line of the result\n", 5_000_000)}
	for i := range 1_000 {
		ev := session.NewEventWithContext(b.Context(), "inv")
		ev.Author, ev.Content = "a", &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{genai.NewPartFromFunctionResponse("tool", map[string]any{"output": fmt.Sprint(i)})}}
		if i == 500 {
			ev.Content.Parts[0].FunctionResponse.Response = result
		}
		if err := svc.AppendEvent(b.Context(), resp.Session, ev); err != nil {
			b.Fatal(err)
		}
	}
	r := newReader(b, store.Events(svc), toolresult.ReadOptions{})
	args := map[string]any{"ref_id": store.ResultOf(result).Ref}
	r.call(args)
	b.ReportAllocs()
	offset := 0
	for b.Loop() {
		offset = (offset + 4_096) % (100 << 20)
		args["offset"] = offset
		if r.call(args)["content"] == "" {
			b.Fatal("nothing was read")
		}
	}
}

// BenchmarkReadPieceFromRows does the same with a result that is only in a session file.
func BenchmarkReadPieceFromRows(b *testing.B) {
	svc, err := persistence.NewSQLiteSessionService(b.TempDir() + "/bench.db")
	if err != nil {
		b.Fatal(err)
	}
	defer svc.Close()
	if _, err := svc.Create(b.Context(), &session.CreateRequest{AppName: owner.AppName, UserID: owner.UserID, SessionID: owner.SessionID}); err != nil {
		b.Fatal(err)
	}
	result := store.ResultOf(map[string]any{"output": strings.Repeat("a line of the result\n", 5_000_000)})
	rows := persistence.Results(svc)
	if err := rows.Put(b.Context(), owner, "tool", result); err != nil {
		b.Fatal(err)
	}
	r := newReader(b, rows, toolresult.ReadOptions{})
	args := map[string]any{"ref_id": result.Ref}
	b.ReportAllocs()
	offset := 0
	for b.Loop() {
		offset = (offset + 12_345_678) % (100 << 20)
		args["offset"] = offset
		if r.call(args)["content"] == "" {
			b.Fatal("nothing was read")
		}
	}
}

// BenchmarkGrep searches as much of 32 MB as one call does.
func BenchmarkGrep(b *testing.B) {
	src, ref := holding(strings.Repeat("a line of the result that does not match\n", 32<<20/41))
	r := newReader(b, src, toolresult.ReadOptions{})
	for _, pattern := range []string{"needle", "(?i)error|warn", "^x.*y$"} {
		b.Run(pattern, func(b *testing.B) {
			searched := 0
			for b.Loop() {
				searched, _ = r.call(map[string]any{"ref_id": ref, "grep": pattern})["next_offset"].(int)
			}
			b.SetBytes(int64(searched))
		})
	}
}
