package terms

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed words.txt
var wordsFile string

// meaning is one line of words.txt: English terms for one thing.
type meaning struct {
	first  []string // the terms of the word that descriptions use most
	others []string
}

// dictionary finds meanings by words.
type dictionary struct {
	english  map[string][]*meaning // by stem
	words    map[string][]*meaning // of other languages, folded
	prefixes map[string][]*meaning
	phrases  map[string][]phrase // by the first word
	longest  int                 // characters of the longest word of a script without spaces
}

// phrase is several words that have a meaning together.
type phrase struct {
	others []string
	means  *meaning
}

// minPrefix is the length in bytes of the shortest beginning of a word that is looked up.
const minPrefix = 3

// vocabulary is read at the first query.
var vocabulary = sync.OnceValue(func() *dictionary { return readDictionary(wordsFile) })

func readDictionary(file string) *dictionary {
	d := &dictionary{english: map[string][]*meaning{}, words: map[string][]*meaning{}, prefixes: map[string][]*meaning{}, phrases: map[string][]phrase{}}
	for line := range strings.Lines(file) {
		if english, foreign, found := strings.Cut(line, "|"); found && !strings.HasPrefix(line, "#") {
			d.addLine(strings.Fields(english), strings.Fields(foreign))
		}
	}
	return d
}

func (d *dictionary) addLine(english, foreign []string) {
	m := &meaning{}
	for i, word := range english {
		list := Terms(strings.ReplaceAll(word, "+", " "))
		if i == 0 {
			m.first = list
		} else {
			m.others = append(m.others, list...)
		}
		if key := stem(word); !strings.Contains(word, "+") {
			d.english[key] = appendNew(d.english[key], m)
		}
	}
	for _, word := range foreign {
		first, rest, several := strings.Cut(word, "+")
		if several {
			first = fold(strings.TrimSuffix(first, "*"))
			d.phrases[first] = append(d.phrases[first], phrase{Words(rest), m})
			continue
		}
		folded := strings.Join(Words(word), "") // e-mail is looked up word by word and whole
		if strings.HasSuffix(word, "*") {
			d.prefixes[folded] = appendNew(d.prefixes[folded], m)
		} else {
			d.words[folded] = appendNew(d.words[folded], m)
		}
		if kindOf(firstRune(word)) == pairs {
			d.longest = max(d.longest, utf8.RuneCountInString(folded))
		}
	}
}

// each calls f with the meanings of the words of a text, in their order, and how much they count. It
// returns the words that it has translated. Stop words are looked up, too: which and what ask for a list.
func (d *dictionary) each(text string, f func(m *meaning, weight float64)) (translated []string) {
	all := Words(text)
	for i, word := range all {
		if known := d.english[stem(word)]; known != nil { // words such as table, which is French, too, are not translated
			for _, m := range known {
				f(m, weightSynonym)
			}
			continue
		}
		meanings := d.translate(word, all[i+1:min(len(all), i+1+maxApart)])
		for _, m := range meanings {
			f(m, weightTranslation)
		}
		if meanings != nil {
			translated = append(translated, word)
		}
	}
	return translated
}

// maxApart is how many words after the first the other words of a phrase may be, as in base de données.
const maxApart = 3

// translate returns the meanings of a word of another language, alone and with those that follow it.
func (d *dictionary) translate(word string, next []string) []*meaning {
	if kindOf(firstRune(word)) == pairs {
		return d.inside(word)
	}
	out := slices.Concat(d.words[word], d.byPrefix(word))
	for _, p := range d.phrases[word] {
		if !slices.ContainsFunc(p.others, func(other string) bool { return !slices.Contains(next, other) }) {
			out = append(out, p.means)
		}
	}
	return out
}

// byPrefix returns the meanings of the longest known beginning of a word.
func (d *dictionary) byPrefix(word string) []*meaning {
	for end := len(word); end >= minPrefix; end-- {
		if found := d.prefixes[word[:end]]; found != nil {
			return found
		}
	}
	return nil
}

// inside returns the meanings of the words in a run without spaces: from each character on the longest
// word, behind it the next.
func (d *dictionary) inside(run string) []*meaning {
	var out []*meaning
	runes := []rune(run)
	for i := 0; i < len(runes); {
		step := 1
		for n := min(d.longest, len(runes)-i); n > 0; n-- {
			if found := d.words[string(runes[i:i+n])]; found != nil {
				out, step = append(out, found...), n
				break
			}
		}
		i += step
	}
	return out
}

func firstRune(word string) rune {
	r, _ := utf8.DecodeRuneInString(word)
	return r
}

func appendNew(list []*meaning, m *meaning) []*meaning {
	if slices.Contains(list, m) {
		return list
	}
	return append(list, m)
}
