package summarizer

import (
	"strings"
	"unicode"
)

// vocabulary counts the distinct words of a text. In scripts without spaces between words, two
// characters of Chinese or Japanese count as a word, and four of Thai, Lao, Khmer or Burmese.
//
// The number of distinct words distinguishes a summary from a phrase that a model repeats. The
// number of tokens does not: "and so on " repeated 400 times has 1,200 words, and 3 distinct ones.
type vocabulary struct {
	words   map[string]bool
	dense   map[rune]bool // Han and kana
	sparse  map[rune]bool // Thai, Lao, Khmer, Burmese
	total   int           // words including repetitions
	letters int
}

func newVocabulary() *vocabulary {
	return &vocabulary{words: map[string]bool{}, dense: map[rune]bool{}, sparse: map[rune]bool{}}
}

var (
	denseScripts  = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana}
	sparseScripts = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}
)

// firstUnspaced is the first code point of these scripts. Most texts stay below it.
const firstUnspaced = '\u0e00'

func (v *vocabulary) add(text string) {
	dense, sparse := 0, 0
	start := -1
	flush := func(end int) {
		if start >= 0 {
			v.total++
			v.words[strings.ToLower(text[start:end])] = true
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case r >= firstUnspaced && unicode.In(r, denseScripts...):
			flush(i)
			v.dense[r] = true
			dense++
		case r >= firstUnspaced && unicode.In(r, sparseScripts...):
			flush(i)
			v.sparse[r] = true
			sparse++
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			if start < 0 {
				start = i
			}
		default:
			flush(i)
			continue
		}
		v.letters++
	}
	flush(len(text))
	v.total += (dense+1)/2 + (sparse+3)/4
}

// distinct returns the number of different words.
func (v *vocabulary) distinct() int {
	return len(v.words) + (len(v.dense)+1)/2 + (len(v.sparse)+3)/4
}

// readable reports whether the text has at least three letters, or two characters of a script
// without spaces.
func (v *vocabulary) readable() bool {
	return v.letters >= 3 || len(v.dense) >= 2
}

// namesOnly reports whether every word refers to the conversation, its participants or the summary
// itself, as in "The user and the assistant."
func (v *vocabulary) namesOnly() bool {
	for word := range v.words {
		if !namesOfTheTask[word] {
			return false
		}
	}
	return len(v.dense) == 0 && len(v.sparse) == 0
}

var namesOfTheTask = map[string]bool{
	"user": true, "assistant": true, "agent": true, "model": true, "conversation": true, "summary": true, "transcript": true,
	"the": true, "a": true, "an": true, "and": true, "of": true, "this": true, "with": true, "between": true,
}

// suffices reports whether there are enough distinct words for any window, and too many for a text
// of total words to be a loop, whatever the remaining words are.
func (v *vocabulary) suffices(total int) bool {
	n := v.distinct()
	return n >= mostWords && total < longestLoop*n && !v.namesOnly()
}

// longestLoop is the average number of repetitions per word from which on a text counts as a loop.
const longestLoop = 32

// loops reports whether the text repeats a few words over and over, like the output of a model
// stuck in a loop.
func (v *vocabulary) loops() bool {
	n := v.distinct()
	return n == 1 && v.total >= 3 || n <= 4 && v.total >= 4*n || v.total >= longestLoop*n
}
