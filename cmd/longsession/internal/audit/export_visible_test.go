package audit_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
)

// TestNothingInADocumentIsActedOn: a pager, an editor or a browser would otherwise show something
// else than what was said, and a lone carriage return ends a block of Markdown.
func TestNothingInADocumentIsActedOn(t *testing.T) {
	t.Parallel()
	const evil = "x\x1b[31my\u202ez\u2066\x00\a\u0085\U000E0041"
	h := (&ct.History{}).Branch("b"+evil).User("i", "one"+evil+"\rtwo\r\nthree\t👩\u200d👧").Call("i", evil, evil, "c").Response("i", evil, evil, evil, "c").
		Agent("i", evil, "\r```\r# I am a heading\r").Branch("").Turns(2, evil)
	h.Events[3].ErrorMessage = evil
	h.Compact("r"+evil, "e1", "e2", "e3", "e4")
	path := built(t, h)
	run(t, path, "UPDATE sessions SET created_at = 'at' || char(27) || '[2J' || char(10) || '# I am one, too'")
	page := exported(t, path, audit.Markdown)
	for _, r := range page {
		if r != '\n' && r != '\t' && r != '\u200d' && unicode.In(r, unicode.Cc, unicode.Cf) {
			t.Errorf("the page has %U", r)
			break
		}
	}
	if n := strings.Count(page, `x\x1b[31my\u202ez\u2066\x00\a\u0085\U000e0041`); n < 8 {
		t.Errorf("the page shows what was said %d times", n)
	}
	for _, want := range []string{"\\rtwo\nthree\t👩\u200d👧", `at\x1b[2J # I am o`, "\\r```\\r# I am a heading\\r"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q\n%s", want, page)
		}
	}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "# I am") {
			t.Errorf("a heading of somebody's own: %q", line)
		}
	}
}
