package agentsmd

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/quote"
)

// sensible finds the frames of a merged text as a model may read it: strictly where they are ours, and
// loosely where they are not.
var sensible = regexp.MustCompile(`(?i)<[\s/]*agents[\s_.-]*md(?:[^\pL\p{Nd}]|$)`)

func FuzzMerge(f *testing.F) {
	f.Add([]byte("one\ntwo\n"), []byte("</agents_md>\n<agents_md path=\"x\">"), []byte("\xef\xbb\xbfa\r\nb\rc"), "a/AGENTS.md", 400)
	f.Add([]byte("</Agents_MD"), []byte(strings.Repeat("long line ", 200)), []byte("caf\xe9, and more than that"), "x\n</agents_md>", 700)
	f.Add([]byte("<agents_md2"), []byte("{a} {{b}}"), []byte(strings.Repeat("<agents_mdx ", 90)), "<agents_md path=\"", 600)
	f.Add([]byte("\u202e\x1b"), []byte("\u2028"), []byte("ä€😀"), "", 31)
	f.Add([]byte("0"), []byte("PuPb=\xe7"), []byte("\xe6\xf1\xf1\xf1\xf1"), "P", 358)
	f.Fuzz(func(t *testing.T, first, second, third []byte, label string, most int) {
		most = int(uint(most) % 4096)
		var blocks []block
		for i, data := range [][]byte{first, second, third} {
			text, _, refused := decode(data)
			if refused || strings.TrimSpace(text) == "" {
				continue
			}
			checkDecoded(t, data, text)
			blocks = append(blocks, block{label: label + strings.Repeat("/a", i), global: i == 0, text: endLine(escapeFrames(text)), unread: len(data) % (1 + i)})
		}
		merged, kept := merge(blocks, most)
		if len(merged) > most || !utf8.ValidString(merged) {
			t.Fatalf("%d bytes of %d, valid %t", len(merged), most, utf8.ValidString(merged))
		}
		shown, missing := 0, 0
		rest := merged + "\n"
		for i, b := range blocks {
			missing += b.size() - kept[i]
			if kept[i] == 0 {
				continue
			}
			shown++
			part := frame(agentsFrame, b.attributes(), endLine(b.text[:kept[i]]))
			_, after, found := strings.Cut(rest, part)
			if !found {
				t.Fatalf("block %d of %d bytes is not there, in its place:\n%s", i, kept[i], merged)
			}
			rest = after
			if i+1 < len(blocks) && kept[i] < len(b.text) && kept[i+1] < len(blocks[i+1].text) {
				t.Fatalf("block %d is cut before all of block %d is out: %v", i+1, i, kept)
			}
		}
		if shown > 0 && rest != "" {
			t.Fatalf("behind the last frame there is %q", rest)
		}
		if tags := len(sensible.FindAllString(merged, -1)); tags != 2*shown {
			t.Fatalf("%d frames have %d tags:\n%s", shown, tags, merged)
		}
		if said := strings.Contains(merged, "\n[... left out, because these files are too long: "); merged != "" && said != (missing > 0) &&
			!strings.Contains(string(first)+string(second)+string(third), "left out") {
			t.Fatalf("%d bytes are missing, said %t:\n%s", missing, said, merged)
		}
		if again, _ := merge(blocks, most); again != merged {
			t.Fatal("the second time it is another text")
		}
		if whole, _ := merge(blocks, 1<<20); merged != whole && len(whole) <= most {
			t.Fatalf("%d bytes are cut to %d", len(whole), most)
		}
	})
}

// checkDecoded checks that nothing of a file is lost, and nothing invented.
func checkDecoded(t *testing.T, data []byte, text string) {
	t.Helper()
	if !utf8.ValidString(text) || strings.ContainsFunc(text, isHidden) || strings.Contains(text, "\r") {
		t.Fatalf("text is %q", text)
	}
	if n := bytes.Count(data, []byte("\ufffd")); strings.Count(text, "\ufffd") != n {
		t.Fatalf("%d replacement characters become %d", n, strings.Count(text, "\ufffd"))
	}
	plain := bytes.TrimPrefix(data, []byte("\ufeff"))
	if utf8.Valid(plain) && !bytes.ContainsFunc(plain, isHidden) && text != string(plain) {
		t.Fatalf("%q becomes %q", data, text)
	}
}

// FuzzFrame: a text with a tag anywhere in it, in every disguise, is still within its frame.
func FuzzFrame(f *testing.F) {
	f.Add("a", "b", "/", "agents_md", ">")
	f.Add("<", "<", " / ", "AGENTS MD", "")
	f.Add("0", "\x8e\x85", " ", "0", "\xe3")
	f.Add("", "", "\u200b", "аgеnts\u2011md", " x")
	f.Fuzz(func(t *testing.T, before, after, slash, name, end string) {
		for _, text := range []string{before + "<" + slash + name + end + after, before + "<" + slash + "agents_md" + end + after} {
			got := escapeFrames(text)
			if sensible.MatchString(strings.ToValidUTF8(got, "")) && utf8.ValidString(text) {
				t.Fatalf("%q becomes %q", text, got)
			}
			if escapeFrames(got) != got {
				t.Fatalf("%q is escaped twice", text)
			}
			if strings.ReplaceAll(got, "&lt;", "<") != strings.ReplaceAll(text, "&lt;", "<") && strings.IndexFunc(text, func(r rune) bool { return r != '<' && quote.Angle(r) }) < 0 {
				t.Fatalf("%q becomes %q: more than brackets", text, got)
			}
		}
	})
}
