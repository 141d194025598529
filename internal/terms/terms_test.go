package terms_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/terms"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"only stop words", "to be or the", ""},
		{"stems", "searching searched searches", "search search search"},
		{"case and punctuation", "Open the FILE, please!", "open file pleas"},
		{"snake", "create_pull_request", "creat pull request"},
		{"hyphen, dot, slash", "list-events repos/get.content", "list event repo get content"},
		{"camel", "getSpreadsheetValues", "getspreadsheetvalu get spreadsheet valu"},
		{"abbreviation in camel", "parseHTTPHeader", "parsehttphead pars http header"},
		{"plural of an abbreviation", "PRs and URLs", "pr url"},
		{"products are one word", "GitHub JavaScript iOS", "github javascript io"},
		{"digits stay with letters", "s3 ec2 ISO8601 4K s3Get", "s3 ec2 iso8601 4k s3get s3 get"},
		{"apostrophes", "don't Anna's l’école", "anna l ecol"},
		{"accents", "Café Müller Ångström œuvre Straße", "cafe muller angstrom oeuvr strass"},
		{"full width and ligatures", "ＦＩＬＥ ﬁle", "file file"},
		{"composed or not", "e\u0301te\u0301 été", "ete ete"},
		{"Turkish capital", "İstanbul ISTANBUL", "istanbul istanbul"},
		{"Russian", "Удалить файл", "удалить фаил"},
		{"Greek end of word", "ΛΟΓΟΣ λόγος", "λογοσ λογοσ"},
		{"Chinese", "读取文件", "读取 取文 文件"},
		{"a lone character", "5月6号", "5 月 6 号"},
		{"Japanese", "ファイルを読む", "ファ ァイ イル ルを を読 読む"},
		{"voiced kana stay", "がか カ\u3099", "がか ガ"},
		{"half width kana", "ｶﾞｲﾄﾞ", "ガイ イド"},
		{"Korean", "이메일을", "이메 메일 일을"},
		{"Chinese next to English", "用git提交", "用 git 提交"},
		{"Thai keeps its vowel signs", "ที่นี่", "ที่นี่"},
		{"Hindi keeps its vowel signs", "हिन्दी", "हिन्दी"},
		{"Arabic", "كِتاب", "كِتاب"},
		{"bytes that are no UTF-8", "a\xffbc\xc3(file\xe2\x82", "bc file"},
		{"symbols", "👍 a+b=c $$$ {{.X}} .*(", "b c x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(terms.Terms(c.text), " "); got != c.want {
				t.Errorf("the terms of %q are %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	if got := terms.Append([]string{"first"}, "second file"); !slices.Equal(got, []string{"first", "second", "file"}) {
		t.Errorf("got %q", got)
	}
}

// TestTermsOfLargeTexts: time that grew with the square of a megabyte would not end.
func TestTermsOfLargeTexts(t *testing.T) {
	t.Parallel()
	const mega = 1 << 20
	for _, c := range []struct{ name, unit string }{
		{"one word", "a"}, {"one camel case name", "aB"}, {"capitals", "A"}, {"one Chinese word", "字"}, {"accents", "\u0301"}, {"one letter and accents", "e\u0301"},
		{"bad bytes", "\xff"}, {"a ligature that becomes 18 characters", "ﷺ"}, {"words", "searching "}, {"vowel signs", "ก็"}, {"joined syllables", "ᄀ"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check(t, terms.Terms(strings.Repeat(c.unit, mega/len(c.unit))))
		})
	}
}

// check reports terms that an index or a query language could not take.
func check(t *testing.T, list []string) {
	t.Helper()
	for _, term := range list {
		if term == "" || len(term) > 64 || !utf8.ValidString(term) {
			t.Fatalf("the term %q is empty, too long or no UTF-8", term)
		}
		for _, r := range term {
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) || unicode.IsUpper(r) && unicode.ToLower(r) != r {
				t.Fatalf("the term %q has the character %q", term, r)
			}
		}
	}
}

func FuzzTerms(f *testing.F) {
	for _, seed := range []string{"", "Open the FILE", "createIssue URLs", "读取文件", "ファイルｶﾞ", "e\u0301\xff", "ﷺ ½ Ⅷ", "ที่นี่", "don’t", "각", "İß"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first := terms.Terms(text)
		check(t, first)
		if !slices.Equal(first, terms.Terms(text)) {
			t.Fatalf("the terms of %q differ the second time", text)
		}
		if upper := strings.ToUpper(text); isASCII(text) && strings.ToLower(text) == text {
			if got := terms.Terms(upper); !slices.Equal(got, first) && !strings.ContainsAny(text, "s") {
				t.Fatalf("the terms of %q are %q, and in capitals %q", text, first, got)
			}
		}
	})
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
