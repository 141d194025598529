package conversation_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// named returns a conversation with an ID, on one line.
func named(id string) string { return `{"id":"` + id + `","messages":[` + hello + `,` + hi + `]}` }

// found returns the IDs of the conversations of a reader, and the errors, in order.
func found(r *conversation.Reader) string {
	var out []string
	for {
		c, err := r.Next()
		var e *conversation.Error
		switch {
		case err == nil:
			out = append(out, fmt.Sprintf("%s@%d", c.ID, c.Line))
		case errors.As(err, &e):
			out = append(out, fmt.Sprintf("error@%d:%d", e.Line, e.Column))
		default:
			return strings.Join(append(out, err.Error()), " ")
		}
		if len(out) > 20 {
			return "no end: " + strings.Join(out, " ")
		}
	}
}

func packed(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEveryLineIsReadWhateverStandsAroundIt(t *testing.T) {
	t.Parallel()
	a, b := named("a"), named("b")
	whole := packed(t, a+"\n"+b+"\n")
	wrongSum := []byte(whole)
	wrongSum[len(wrongSum)-5] ^= 1
	for _, x := range []struct{ name, file, want string }{
		{"plain", a + "\n" + b + "\n", "a@1 b@2 EOF"},
		{"no last line break", a + "\n" + b, "a@1 b@2 EOF"},
		{"blank lines", "\n \n" + a + "\n\t\n\n" + b + "\n\n", "a@3 b@6 EOF"},
		{"CRLF", a + "\r\n\r\n" + b + "\r\n", "a@1 b@3 EOF"},
		{"byte order mark", "\xef\xbb\xbf" + a + "\n" + b, "a@1 b@2 EOF"},
		{"space around", "  " + a + " \n", "a@1 EOF"},
		{"gzip", whole, "a@1 b@2 EOF"},
		{"two concatenated gzip files", packed(t, a+"\n") + packed(t, b), "a@1 b@2 EOF"},
		{"gzip that is cut off", packed(t, a+"\n") + packed(t, b)[:30], "a@1 error@2:0 EOF"},
		{"gzip with a wrong sum", string(wrongSum), "a@1 b@2 error@3:0 EOF"},
		{"gzip without anything in it", "\x1f\x8b", "error@0:0 EOF"},
		{"broken lines", "{\n" + a + "\n{\"id\":7\n" + b + "\n{\"id\"", "error@1:2 a@2 error@3:8 b@4 error@5:6 EOF"},
		{"nothing", "", "error@0:0 EOF"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			for how, in := range map[string]io.Reader{"at once": strings.NewReader(x.file), "byte by byte": iotest.OneByteReader(strings.NewReader(x.file))} {
				if got := found(conversation.NewReader(in, "f")); got != x.want {
					t.Errorf("%s: found %s, want %s", how, got, x.want)
				}
			}
		})
	}
}

func TestALineThatIsTooLongIsPassedOver(t *testing.T) {
	t.Parallel()
	a := named("a")
	long := `{"x":"` + strings.Repeat("x", 200_000) + `"}`
	for _, end := range []string{"\n", "\r\n"} {
		for limit, want := range map[int]string{
			len(a):     fmt.Sprintf("a@1 error@2:%d a@3 EOF", len(a)+1),
			len(a) - 1: fmt.Sprintf("error@1:%d error@2:%d error@3:%d EOF", len(a), len(a), len(a)),
		} {
			r := conversation.NewReader(strings.NewReader(a+end+long+end+a+end), "f")
			r.MaxLine = limit
			if got := found(r); got != want {
				t.Errorf("limit %d, line end %q: found %s, want %s", limit, end, got, want)
			}
		}
	}
	r := conversation.NewReader(strings.NewReader(long), "f")
	r.MaxLine = 1000
	if _, err := r.Next(); err == nil || err.Error() != "f:1:1001: the line is longer than 1000 bytes; expected one conversation or event on a line" {
		t.Errorf("got %v", err)
	}
}

func TestAnErrorOfTheReaderIsPassedOnAndLasts(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	for _, before := range []string{"", named("a") + "\n", named("a") + "\n{\"id\":", says("", "user", "hello") + "\n"} {
		r := conversation.NewReader(io.MultiReader(strings.NewReader(before), iotest.ErrReader(broken)), "f")
		conversations := 0
		_, err := r.Next()
		for ; err == nil; _, err = r.Next() {
			conversations++
		}
		if !errors.Is(err, broken) || err.Error() != "f: the disk is gone" || conversations != strings.Count(before, `"id":"a"`) {
			t.Errorf("after %q: %d conversations, then %v", before, conversations, err)
		}
		if _, again := r.Next(); !errors.Is(again, broken) {
			t.Errorf("after %q: the second error is %v", before, again)
		}
	}
}

func TestTextThatIsNoUTF8IsReplaced(t *testing.T) {
	t.Parallel()
	c := one(t, "{\"messages\":[{\"role\":\"user\",\"content\":\"a\xffb\"}]}")
	if got := c.Turns[0].User.Parts[0].Text; got != "a\uFFFDb" {
		t.Errorf("read %q", got)
	}
}
