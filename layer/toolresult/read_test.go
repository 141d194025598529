package toolresult_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/genai"
	"pgregory.net/rapid"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

var owner = store.Owner{AppName: "app", UserID: "user", SessionID: "s"}

// held is a source of one session in memory.
type held map[string]string

func (h held) Open(_ context.Context, of store.Owner, ref string) (io.ReaderAt, int64, error) {
	content, found := h[ref]
	if of != owner || !found {
		return nil, 0, store.ErrUnknownRef
	}
	return strings.NewReader(content), int64(len(content)), nil
}

// holding returns a source with one result, and its reference.
func holding(content string) (held, string) {
	const ref = "r-0123456789abcdef"
	return held{ref: content}, ref
}

// caller is the context of a tool call.
type caller struct {
	adk.ToolContext
	context.Context
	owner store.Owner
}

func (c caller) AppName() string                         { return c.owner.AppName }
func (c caller) UserID() string                          { return c.owner.UserID }
func (c caller) SessionID() string                       { return c.owner.SessionID }
func (c caller) Deadline() (deadline time.Time, ok bool) { return c.Context.Deadline() }
func (c caller) Done() <-chan struct{}                   { return c.Context.Done() }
func (c caller) Err() error                              { return c.Context.Err() }
func (c caller) Value(key any) any                       { return c.Context.Value(key) }

// reader calls the tool as ADK does.
type reader struct {
	t    rapid.TB
	tool tool.Tool
}

func newReader(t rapid.TB, src store.Source, opts toolresult.ReadOptions) reader {
	made, err := toolresult.ReadResult(src, opts)
	if err != nil {
		t.Fatal(err)
	}
	return reader{t, made}
}

func (r reader) as(of store.Owner, args any) map[string]any {
	runner, ok := r.tool.(interface {
		Run(agent.ToolContext, any) (map[string]any, error)
	})
	if !ok {
		r.t.Fatalf("%T cannot be run", r.tool)
	}
	out, err := runner.Run(caller{Context: context.Background(), owner: of}, args)
	if err != nil {
		r.t.Fatalf("the call failed: %v", err)
	}
	return out
}

func (r reader) call(args map[string]any) map[string]any { return r.as(owner, args) }

// all reads a text piece by piece.
func (r reader) all(ref string, limit int, extra map[string]any) string {
	var joined strings.Builder
	for offset := 0; ; {
		args := map[string]any{"ref_id": ref, "offset": float64(offset), "limit": float64(limit)}
		for k, v := range extra {
			args[k] = v
		}
		out := r.call(args)
		content, ok := out["content"].(string)
		if !ok {
			r.t.Fatalf("offset %d: %v", offset, out)
		}
		if out["offset"] != offset {
			r.t.Fatalf("the piece at %d begins at %v", offset, out["offset"])
		}
		if out["encoding"] == "hex" {
			raw, err := hex.DecodeString(content)
			if err != nil {
				r.t.Fatal(err)
			}
			content = string(raw)
		} else if !utf8.ValidString(content) {
			r.t.Fatalf("%q is no UTF-8", content)
		}
		joined.WriteString(content)
		next := out["next_offset"].(int)
		if next != offset+len(content) {
			r.t.Fatalf("offset %d, %d bytes, next_offset %d", offset, len(content), next)
		}
		if out["done"] == true {
			return joined.String()
		}
		if next <= offset {
			r.t.Fatalf("no progress at %d: %v", offset, out)
		}
		offset = next
	}
}

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20_000), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "é", "漢", "😀", "\n", "<", ">", "&", "\x00", "\u2028", "\xff", `"`, `\`}), 0, 20_000), func(s []string) string { return strings.Join(s, "") }),
	)
}

func TestThePiecesAreTheResult(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		content := anyText().Draw(t, "content")
		limit := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 100, 4_096, 100_000}).Draw(t, "limit")
		if len(content) > 2_000*limit {
			content = content[:2_000*limit]
		}
		src, ref := holding(content)
		if got := newReader(t, src, toolresult.ReadOptions{}).all(ref, limit, nil); got != content {
			t.Fatalf("%d bytes of %d, different from byte %d on", len(got), len(content), firstDifference(got, content))
		}
	})
}

// A piece in hexadecimal digits ends at a rune boundary too.
func TestThePiecesOfMixedBytesDoNotOverlap(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"\xffé", "\xff\xfe漢\xff😀\xff", "é\xff\xff\xff\xff漢", "\x80\x80\x80é\x80"} {
		src, ref := holding(content)
		for limit := 1; limit <= 8; limit++ {
			if got := newReader(t, src, toolresult.ReadOptions{}).all(ref, limit, nil); got != content {
				t.Errorf("limit %d: %q, want %q", limit, got, content)
			}
		}
	}
}

func firstDifference(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// Whatever the content, an answer is at most MaxLimit bytes of JSON and a few hundred for the other keys.
func TestAnAnswerIsNeverTooLarge(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"a", "<>&", "\x01", "\n", "\u2028", "漢", "😀", "\xff", `"\`, "a\nb\xff"} {
		src, ref := holding(strings.Repeat(unit, 200_000/len(unit)))
		r := newReader(t, src, toolresult.ReadOptions{})
		for _, args := range []map[string]any{
			{"ref_id": ref}, {"ref_id": ref, "limit": 16_384.0}, {"ref_id": ref, "limit": 1e300}, {"ref_id": ref, "lines": "1-"},
			{"ref_id": ref, "grep": ".", "limit": 16_384.0}, {"ref_id": ref, "grep": "", "offset": 7.0}, {"ref_id": ref, "grep": "(?s).*", "limit": 1.0},
		} {
			data, err := json.Marshal(r.call(args))
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > 16_384+400 {
				t.Errorf("%q, %v: %d bytes", unit, args, len(data))
			}
		}
	}
}

func TestAPieceSaysWhereItIs(t *testing.T) {
	t.Parallel()
	const content = "one\ntwo\nthrée\nfour" // é is at bytes 11 and 12
	src, ref := holding(content)
	r := newReader(t, src, toolresult.ReadOptions{})
	for _, row := range []struct {
		name           string
		args           map[string]any
		want           string
		offset, next   int
		done           bool
		note, encoding any
	}{
		{"all", nil, content, 0, 19, true, nil, nil},
		{"a limit", map[string]any{"limit": 5.0}, "one\nt", 0, 5, false, nil, nil},
		{"a limit of 0", map[string]any{"limit": 0.0}, content, 0, 19, true, nil, nil},
		{"an offset", map[string]any{"offset": 4.0, "limit": 3.0}, "two", 4, 7, false, nil, nil},
		{"numbers as Go has them", map[string]any{"offset": 4, "limit": int64(3)}, "two", 4, 7, false, nil, nil},
		{"numbers as texts", map[string]any{"offset": "4", "limit": json.Number("3")}, "two", 4, 7, false, nil, nil},
		{"null is nothing", map[string]any{"offset": nil, "grep": nil, "lines": nil, "field": nil}, content, 0, 19, true, nil, nil},
		{"an offset inside a rune moves back", map[string]any{"offset": 12.0, "limit": 3.0}, "ée", 11, 14, false, nil, nil},
		{"a limit inside a rune", map[string]any{"offset": 10.0, "limit": 2.0}, "r", 10, 11, false, nil, nil},
		{"a limit smaller than a rune", map[string]any{"offset": 11.0, "limit": 1.0}, "é", 11, 13, false, nil, nil},
		{"at the end", map[string]any{"offset": 19.0}, "", 19, 19, true, nil, nil},
		{"past the end", map[string]any{"offset": 1e18}, "", 19, 19, true, nil, nil},
		{"lines", map[string]any{"lines": "2-3"}, "two\nthrée\n", 4, 15, true, nil, nil},
		{"lines, cut by the limit", map[string]any{"lines": "2-3", "limit": 5.0}, "two\nt", 4, 9, false, nil, nil},
		{"one line", map[string]any{"lines": "4"}, "four", 15, 19, true, nil, nil},
		{"one line as a number", map[string]any{"lines": 2.0}, "two\n", 4, 8, true, nil, nil},
		{"lines to the end", map[string]any{"lines": " 3 - "}, "thrée\nfour", 8, 19, true, nil, nil},
		{"the last lines", map[string]any{"lines": "-2"}, "thrée\nfour", 8, 19, true, nil, nil},
		{"more last lines than there are", map[string]any{"lines": "-9"}, content, 0, 19, true, nil, nil},
		{"more lines than there are", map[string]any{"lines": "4-99"}, "four", 15, 19, true, nil, nil},
		{"grep", map[string]any{"grep": "o"}, "1:0:one\n2:6:two\n4:16:four\n", 0, 19, true, nil, nil},
		{"grep from an offset", map[string]any{"grep": "o", "offset": 4.0}, "2:6:two\n4:16:four\n", 4, 19, true, nil, nil},
		{"grep within lines", map[string]any{"grep": "o", "lines": "2-3"}, "2:6:two\n", 4, 15, true, nil, nil},
		{"grep for line ends", map[string]any{"grep": "r$"}, "4:18:four\n", 0, 19, true, nil, nil},
		{"grep for nothing", map[string]any{"grep": "zzz"}, "", 0, 19, true, "No line matches.", nil},
		{"grep ignoring case", map[string]any{"grep": "(?i)ONE"}, "1:0:one\n", 0, 19, true, nil, nil},
		{"a field of a text", map[string]any{"field": "stdout", "limit": 3.0}, "one", 0, 3, false, "The result is plain text without fields, so field was ignored.", nil},
	} {
		args := map[string]any{"ref_id": ref}
		for k, v := range row.args {
			args[k] = v
		}
		want := map[string]any{"ref_id": ref, "content": row.want, "offset": row.offset, "next_offset": row.next, "done": row.done, "total_bytes": 19, "total_lines": 4}
		if row.note != nil {
			want["note"] = row.note
		}
		if got := r.call(args); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s:\n%v, want\n%v", row.name, got, want)
		}
	}
}

func TestWrongArgumentsAreAnswered(t *testing.T) {
	t.Parallel()
	src, ref := holding("one\ntwo\n")
	r := newReader(t, src, toolresult.ReadOptions{})
	for _, row := range []struct {
		name string
		args any
		want string
	}{
		{"no arguments", nil, store.ErrUnknownRef.Error()},
		{"no map", "ref", store.ErrUnknownRef.Error()},
		{"an unknown reference", map[string]any{"ref_id": "r-0000000000000000"}, store.ErrUnknownRef.Error()},
		{"no reference", map[string]any{"ref_id": "../../etc/passwd"}, store.ErrUnknownRef.Error()},
		{"a list as reference", map[string]any{"ref_id": []any{ref}}, "ref_id must be a text."},
		{"a negative offset", map[string]any{"ref_id": ref, "offset": -1.0}, "offset must be a whole number of bytes, 0 or more."},
		{"a negative limit", map[string]any{"ref_id": ref, "limit": math.MinInt64}, "limit must be a whole number of bytes, 0 or more."},
		{"half a byte", map[string]any{"ref_id": ref, "offset": 0.5}, "offset must be a whole number of bytes, 0 or more."},
		{"NaN", map[string]any{"ref_id": ref, "offset": math.NaN()}, "offset must be a whole number of bytes, 0 or more."},
		{"infinity", map[string]any{"ref_id": ref, "limit": math.Inf(-1)}, "limit must be a whole number of bytes, 0 or more."},
		{"a word as offset", map[string]any{"ref_id": ref, "offset": "start"}, "offset must be a whole number of bytes, 0 or more."},
		{"a bad pattern", map[string]any{"ref_id": ref, "grep": "("}, "grep is not a regular expression that RE2 accepts (error parsing regexp: missing closing ): `(`)."},
		{"a long pattern", map[string]any{"ref_id": ref, "grep": strings.Repeat("a", 1_001)}, "grep is longer than 1000 bytes: use a shorter pattern."},
		{"lines backwards", map[string]any{"ref_id": ref, "lines": "3-2"}, `lines must be such as "120-180", "120", "120-" or "-50", counted from 1.`},
		{"line 0", map[string]any{"ref_id": ref, "lines": "0"}, `lines must be such as "120-180", "120", "120-" or "-50", counted from 1.`},
		{"words as lines", map[string]any{"ref_id": ref, "lines": "first"}, `lines must be such as "120-180", "120", "120-" or "-50", counted from 1.`},
		{"lines past the end", map[string]any{"ref_id": ref, "lines": "3-9"}, "There is no line 3: the result has 2 lines."},
		{"lines and an offset", map[string]any{"ref_id": ref, "lines": "1", "offset": 3.0}, "offset and lines contradict each other: give one of them."},
		{"all at once", map[string]any{"ref_id": ref, "lines": true, "offset": -3.0}, "offset must be a whole number of bytes, 0 or more. lines must be a text."},
	} {
		if got := r.as(owner, row.args); len(got) != 1 || got["error"] != row.want {
			t.Errorf("%s: %v, want %q", row.name, got, row.want)
		}
	}
	for _, other := range []store.Owner{{}, {AppName: "x", UserID: "user", SessionID: "s"}, {AppName: "app", UserID: "x", SessionID: "s"}, {AppName: "app", UserID: "user", SessionID: "x"}} {
		if got := r.as(other, map[string]any{"ref_id": ref}); got["error"] != store.ErrUnknownRef.Error() {
			t.Errorf("%v reads %v", other, got)
		}
	}
}

func TestBytesAreReadAsHex(t *testing.T) {
	t.Parallel()
	src, ref := holding("\xff\xfe\x00")
	want := map[string]any{
		"ref_id": ref, "content": "fffe00", "offset": 0, "next_offset": 3, "total_bytes": 3, "total_lines": 1, "done": true, "encoding": "hex",
		"note": "This part is not text. content has its bytes as hexadecimal digits; offsets count bytes.",
	}
	if got := newReader(t, src, toolresult.ReadOptions{}).call(map[string]any{"ref_id": ref}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAFieldIsReadAsText(t *testing.T) {
	t.Parallel()
	stdout := "line 1 <é>\n" + strings.Repeat("x", 50_000) + "\x00\n"
	src := held{}
	result := store.ResultOf(map[string]any{"stdout": stdout, "exit_code": 1, "list": []any{"a"}})
	src[result.Ref] = result.Content
	r := newReader(t, src, toolresult.ReadOptions{})
	if got := r.all(result.Ref, 4_096, map[string]any{"field": "stdout"}); got != stdout {
		t.Errorf("%d bytes, want %d", len(got), len(stdout))
	}
	if got := r.all(result.Ref, 4_096, nil); got != result.Content {
		t.Errorf("without the field: %d bytes, want %d", len(got), len(result.Content))
	}
	for field, want := range map[string]string{"exit_code": "1", "list": `["a"]`} {
		if got := r.all(result.Ref, 100, map[string]any{"field": field}); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
	if got := r.call(map[string]any{"ref_id": result.Ref, "field": "stdout", "lines": "1"}); got["content"] != "line 1 <é>\n" || got["total_lines"] != 2 {
		t.Errorf("line 1 of the field: %v", got)
	}
	if got := r.call(map[string]any{"ref_id": result.Ref, "field": "stderr"}); got["error"] != `The result has no field "stderr". It has: exit_code, list, stdout.` {
		t.Errorf("an unknown field: %v", got)
	}
	for _, broken := range []string{`{"a":`, `{"a":1`, `[1]`, `"a"`, ``, `{]`, `nul`} {
		src, ref := holding(broken)
		if got := newReader(t, src, toolresult.ReadOptions{}).call(map[string]any{"ref_id": ref, "field": "b"}); got["content"] != broken || got["note"] == nil {
			t.Errorf("%s: %v", broken, got)
		}
	}
}

// grep finds what the lines of the text have, wherever the blocks end in which it is searched.
func TestGrepFindsEveryLine(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	var want []string
	for line := 1; b.Len() < 3<<20; line++ {
		if rng.IntN(2_000) == 0 {
			want = append(want, fmt.Sprintf("%d:%d:needle %d", line, b.Len(), line))
			fmt.Fprintf(&b, "needle %d\n", line)
			continue
		}
		fmt.Fprintln(&b, strings.Repeat("hay", rng.IntN(100)))
	}
	src, ref := holding(b.String())
	r := newReader(t, src, toolresult.ReadOptions{Timeout: toolresult.Off})
	if got := grepAll(t, r, ref, "^needle"); !equal(got, want) {
		t.Errorf("found %d lines, want %d", len(got), len(want))
	}
}

// grepAll follows next_offset.
func grepAll(t *testing.T, r reader, ref, pattern string) (found []string) {
	t.Helper()
	for offset := 0; ; {
		out := r.call(map[string]any{"ref_id": ref, "grep": pattern, "offset": offset, "limit": 1_000})
		if text, _ := out["content"].(string); text != "" {
			found = append(found, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		}
		if out["done"] == true {
			return found
		}
		next, ok := out["next_offset"].(int)
		if !ok || next <= offset {
			t.Fatalf("no progress at %d: %v", offset, out)
		}
		offset = next
	}
}

func equal(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

// grep agrees with a search line by line.
func TestGrepIsASearchLineByLine(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[ab c<é]{0,12}`), 0, 200).Draw(t, "lines")
		pattern := rapid.SampledFrom([]string{"a", "ab", "^b", "c$", "a.*c", "(?i)A|B", "é", "x", "ab*", "^$"}).Draw(t, "pattern")
		content := strings.Join(lines, "\n")
		var want []string
		offset := 0
		for i, line := range strings.Split(content, "\n") {
			if at := regexp.MustCompile(pattern).FindStringIndex(line); at != nil && offset < len(content) {
				want = append(want, fmt.Sprintf("%d:%d:%s", i+1, offset+at[0], line))
			}
			offset += len(line) + 1
		}
		src, ref := holding(content)
		out := newReader(t, src, toolresult.ReadOptions{}).call(map[string]any{"ref_id": ref, "grep": pattern, "limit": 16_384})
		text, _ := out["content"].(string)
		if got := strings.TrimSuffix(text, "\n"); got != strings.Join(want, "\n") || out["done"] != true {
			t.Fatalf("%q in %q:\n%s\nwant\n%s\n%v", pattern, content, got, strings.Join(want, "\n"), out)
		}
	})
}

// JSON is one line, so each match counts, not each line.
func TestGrepShowsEveryMatchOfALongLine(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	var want []int
	for i := range 60 {
		b.WriteString(strings.Repeat("é", 50_000))
		if i == 30 {
			b.WriteString(strings.Repeat("-", 3<<20-b.Len()-3)) // the needle lies across the end of a block
		}
		want = append(want, b.Len())
		b.WriteString("needle")
	}
	src, ref := holding(b.String())
	var got []int
	entry := regexp.MustCompile(`^1:(\d+):….*needle.*$`)
	for _, line := range grepAll(t, newReader(t, src, toolresult.ReadOptions{Timeout: toolresult.Off}), ref, "needle") {
		m := entry.FindStringSubmatch(line)
		if m == nil || len(line) > 240 {
			t.Fatalf("%q", line)
		}
		offset, _ := strconv.Atoi(m[1])
		got = append(got, offset)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found at %v, want %v", got, want)
	}
}

// A long line is searched in parts.
func TestGrepFindsAMatchAcrossTwoParts(t *testing.T) {
	t.Parallel()
	for _, at := range []int{1<<20 - 1, 1<<20 - 3, 1<<20 - 6, 1 << 20, 1<<20 - 4<<10 - 3} {
		src, ref := holding(strings.Repeat("-", at) + "needle" + strings.Repeat("-", 2<<20))
		out := newReader(t, src, toolresult.ReadOptions{Timeout: toolresult.Off}).call(map[string]any{"ref_id": ref, "grep": "needle|thread"})
		if text, _ := out["content"].(string); !strings.HasPrefix(text, fmt.Sprintf("1:%d:", at)) || strings.Count(text, "needle") != 1 {
			t.Errorf("at %d: %.200v", at, out)
		}
	}
}

func TestLinesOfALargeTextAreFound(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := 1; i <= 100_000; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	src, ref := holding(b.String())
	r := newReader(t, src, toolresult.ReadOptions{Timeout: toolresult.Off})
	for _, n := range []int{1, 2, 777, 50_000, 99_999, 100_000} {
		if got := r.call(map[string]any{"ref_id": ref, "lines": strconv.Itoa(n)}); got["content"] != fmt.Sprintf("line %d\n", n) || got["total_lines"] != 100_000 {
			t.Errorf("line %d: %v", n, got)
		}
	}
}

func TestAModelThatReadsInCirclesIsTold(t *testing.T) {
	t.Parallel()
	src, ref := holding(strings.Repeat("x", 10_000))
	r := newReader(t, src, toolresult.ReadOptions{})
	for i := range 20 {
		if got := r.call(map[string]any{"ref_id": ref})["note"]; (got != nil) != (i >= 5) {
			t.Errorf("read %d of one piece has the note %v", i+1, got)
		}
		if got := r.call(map[string]any{"ref_id": ref, "offset": 100*i + 100})["note"]; got != nil {
			t.Errorf("reading on has the note %v", got)
		}
	}
	if got := r.call(map[string]any{"ref_id": ref, "grep": "x"})["note"]; got != nil {
		t.Errorf("a first search has the note %v", got)
	}
}

// broken is a source that fails.
type broken struct {
	open func(context.Context) (io.ReaderAt, int64, error)
}

func (b broken) Open(ctx context.Context, _ store.Owner, _ string) (io.ReaderAt, int64, error) {
	return b.open(ctx)
}

type readerAt func([]byte, int64) (int, error)

func (f readerAt) ReadAt(p []byte, offset int64) (int, error) { return f(p, offset) }

func TestASourceThatFailsIsAnswered(t *testing.T) {
	t.Parallel()
	down := errors.New("down: secret")
	for name, open := range map[string]func(context.Context) (io.ReaderAt, int64, error){
		"fails":             func(context.Context) (io.ReaderAt, int64, error) { return nil, 0, down },
		"panics":            func(context.Context) (io.ReaderAt, int64, error) { panic(down) },
		"hangs":             func(ctx context.Context) (io.ReaderAt, int64, error) { <-ctx.Done(); return nil, 0, ctx.Err() },
		"hangs for an hour": func(context.Context) (io.ReaderAt, int64, error) { time.Sleep(time.Hour); return nil, 0, down },
		"is nil":            func(context.Context) (io.ReaderAt, int64, error) { return nil, 10, nil },
		"cannot be read": func(context.Context) (io.ReaderAt, int64, error) {
			return readerAt(func([]byte, int64) (int, error) { return 0, down }), 10, nil
		},
		"is short": func(context.Context) (io.ReaderAt, int64, error) { return strings.NewReader("x"), 10, nil },
		"panics in reading": func(context.Context) (io.ReaderAt, int64, error) {
			return readerAt(func([]byte, int64) (int, error) { panic(down) }), 10, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				r := newReader(t, broken{open}, toolresult.ReadOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
				for _, args := range []map[string]any{{"ref_id": "r-0123456789abcdef"}, {"ref_id": "r-0123456789abcdef", "field": "x"}} {
					if got := r.call(args); got["error"] != "The result cannot be read at the moment. Try again later, or go on without it." {
						t.Errorf("%v", got)
					}
				}
				if !strings.Contains(log.String(), "read_result cannot read") {
					t.Errorf("the log has %q", log.String())
				}
				time.Sleep(2 * time.Hour) // lets the one that hangs end
			})
		})
	}
}

func TestASourceIsClosed(t *testing.T) {
	t.Parallel()
	closed := 0
	r := newReader(t, broken{func(context.Context) (io.ReaderAt, int64, error) {
		return closing{strings.NewReader("x"), &closed}, 1, nil
	}}, toolresult.ReadOptions{})
	r.call(map[string]any{"ref_id": "r-0123456789abcdef"})
	r.call(map[string]any{"ref_id": "r-0123456789abcdef", "lines": "7"})
	if closed != 2 {
		t.Errorf("closed %d times, want 2", closed)
	}
}

type closing struct {
	io.ReaderAt
	closed *int
}

func (c closing) Close() error { *c.closed++; return nil }

func TestReadOptionsAreChecked(t *testing.T) {
	t.Parallel()
	src, _ := holding("")
	var typed *readerSource
	for name, row := range map[string]struct {
		src   store.Source
		opts  toolresult.ReadOptions
		field []string
	}{
		"no source":          {nil, toolresult.ReadOptions{}, []string{"Source"}},
		"a nil source":       {typed, toolresult.ReadOptions{}, []string{"Source"}},
		"a negative limit":   {src, toolresult.ReadOptions{Limit: -1}, []string{"ReadOptions.Limit"}},
		"a tiny limit":       {src, toolresult.ReadOptions{MaxLimit: 3}, []string{"ReadOptions.MaxLimit"}},
		"limit over maximum": {src, toolresult.ReadOptions{Limit: 20_000}, []string{"ReadOptions.Limit"}},
		"a negative timeout": {src, toolresult.ReadOptions{Timeout: -2}, []string{"ReadOptions.Timeout"}},
		"everything":         {nil, toolresult.ReadOptions{Limit: 1, MaxLimit: -5, Timeout: -9}, []string{"Source", "ReadOptions.Limit", "ReadOptions.MaxLimit", "ReadOptions.Timeout"}},
	} {
		_, err := toolresult.ReadResult(row.src, row.opts)
		var config *toolresult.ConfigError
		if !errors.As(err, &config) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, field := range row.field {
			if !strings.Contains(err.Error(), field+" is ") {
				t.Errorf("%s: %v does not name %s", name, err, field)
			}
		}
	}
	for _, opts := range []toolresult.ReadOptions{{}, {MaxLimit: 2_000}, {Limit: 10_000}, {Timeout: toolresult.Off}} {
		if _, err := toolresult.ReadResult(src, opts); err != nil {
			t.Errorf("%+v: %v", opts, err)
		}
	}
}

type readerSource struct{ store.Source }

func TestTheDeclarationIsAlwaysTheSame(t *testing.T) {
	t.Parallel()
	src, _ := holding("")
	var first []byte
	for range 20 {
		declaration := newReader(t, src, toolresult.ReadOptions{}).tool.(interface {
			Declaration() *genai.FunctionDeclaration
		}).Declaration()
		data, err := json.Marshal(declaration)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		}
		if !bytes.Equal(data, first) {
			t.Fatalf("%s\nand\n%s", first, data)
		}
	}
}

func ExampleReadResult() {
	sessions := session.InMemoryService()
	read, err := toolresult.ReadResult(store.Events(sessions), toolresult.ReadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(read.Name())
	// Output: read_result
}

// A model's pattern must not keep a processor busy, least of all behind an answer that says "try again later".
func TestASearchForALongPatternEndsEarly(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	src, ref := holding(strings.Repeat("a", size-10) + "\nlast")
	r := newReader(t, src, toolresult.ReadOptions{Timeout: toolresult.Off})
	offset, calls := 0, 0
	for _, row := range []struct{ pattern, want string }{
		{strings.Repeat("a{0,1000}", 100) + "b", "grep repeats too much"},
		{"(?:a{0,60}){0,16}b", "Only a part was searched"},
	} {
		out := r.call(map[string]any{"ref_id": ref, "grep": row.pattern})
		if said := fmt.Sprint(out["error"], out["note"]); !strings.Contains(said, row.want) {
			t.Errorf("%.20s: %s, want %s", row.pattern, said, row.want)
		}
	}
	// The model goes on from there, and gets to the end.
	for done := false; !done; calls++ {
		out := r.call(map[string]any{"ref_id": ref, "grep": "a{0,35}[b]|^last", "offset": offset})
		next, _ := out["next_offset"].(int)
		if done, _ = out["done"].(bool); next <= offset {
			t.Fatalf("from %d to %d: %v", offset, next, out)
		}
		offset = next
		if text, _ := out["content"].(string); done && !strings.HasSuffix(text, ":last\n") {
			t.Errorf("the last part has %q", text)
		}
	}
	if calls < 2 {
		t.Errorf("%d calls", calls)
	}
}
