package terms_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/internal/terms"
)

// weightOf returns the weight of a term in a query, 0 if it is not there.
func weightOf(text, term string) float64 {
	for _, w := range terms.Query(text) {
		if w.Term == term {
			return w.Weight
		}
	}
	return 0
}

func TestQueryBringsTranslations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"Datei löschen", "file delet"},
		{"DATEI LOESCHEN", "file"},
		{"supprimer un dossier", "delet directori"},
		{"crear una tabla", "creat tabl"},
		{"eliminare la cartella", "delet directori"},
		{"listar usuários", "list user"},
		{"bestanden verwijderen", "file delet"},
		{"usuń plik", "delet file"},
		{"удалить файлы", "delet file"},
		{"删除文件", "delet file"},
		{"ファイルを削除して", "file delet"},
		{"파일을 삭제해 주세요", "file delet"},
		{"base de données", "databas"},
		{"プルリクエストの一覧", "pull request list"},
	} {
		for want := range strings.FieldsSeq(c.want) {
			if weightOf(c.text, want) != 1 {
				t.Errorf("%q does not ask for %s with weight 1: %v", c.text, want, terms.Query(c.text))
			}
		}
	}
}

func TestQueryBringsSynonymsThatCountLess(t *testing.T) {
	t.Parallel()
	if own, other := weightOf("remove folder", "remov"), weightOf("remove folder", "delet"); own != 1 || other <= 0 || other >= 1 {
		t.Errorf("remove counts %v, and delete %v", own, other)
	}
	if weightOf("which pods", "list") == 0 {
		t.Error("which does not ask for a list")
	}
	if weightOf("table", "tabl") != 1 || weightOf("important", "import") == 1 && weightOf("important", "importar") != 0 {
		t.Error("an English word is taken for a foreign one")
	}
}

// TestQueryKeepsTheWordsFirst: the terms of the text come first and have weight 1, each term once.
func TestQueryKeepsTheWordsFirst(t *testing.T) {
	t.Parallel()
	got := terms.Query("delete delete remove files")
	if len(got) < 4 || got[0] != (terms.Weighted{Term: "delet", Weight: 1, Own: true}) || got[1].Term != "remov" || got[2].Term != "file" {
		t.Errorf("got %v", got)
	}
	for _, w := range got[3:] {
		if w.Own {
			t.Errorf("%s is not a word of the query", w.Term)
		}
	}
	if translated := terms.Query("Datei"); translated[0] != (terms.Weighted{Term: "datei", Weight: 1}) {
		t.Errorf("a word with a translation is %v", translated[0])
	}
	seen := map[string]bool{}
	for _, w := range got {
		if seen[w.Term] {
			t.Errorf("%s is there twice", w.Term)
		}
		seen[w.Term] = true
	}
	if terms.Query("") != nil || terms.Query("the \xff .*") != nil {
		t.Error("nothing to ask for has terms")
	}
}

// TestQueryOfLargeTexts: time that grew with the square of a megabyte would not end.
func TestQueryOfLargeTexts(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"base ", "Datei ", "x", "字", "プルリクエスト", "the "} {
		if got := terms.Query(strings.Repeat(unit, 1<<20/len(unit))); len(got) > 50 {
			t.Errorf("%q again and again has %d terms", unit, len(got))
		}
	}
}

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"", "Datei löschen", "删除文件", "파일을 삭제", "base de datos", "\xff*|+", "which table"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first := terms.Query(text)
		for _, w := range first {
			if w.Weight <= 0 || w.Weight > 1 {
				t.Fatalf("%q: %v", text, w)
			}
			check(t, []string{w.Term})
		}
		if !slices.Equal(first, terms.Query(text)) {
			t.Fatalf("the query %q differs the second time", text)
		}
	})
}

func BenchmarkTerms(b *testing.B) {
	text := strings.Repeat("Search the calendar events of a person by text in title, description, place or attendees. ", 10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		terms.Terms(text)
	}
}

func BenchmarkQuery(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		terms.Query("find free time and schedule a meeting with Anna")
	}
}
