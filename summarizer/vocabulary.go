package summarizer

import (
	"strings"
	"unicode"
)

// vocabulary counts the different words of a text. In scripts without spaces between words, two
// characters of Chinese or Japanese count as a word, and four of Thai, Lao, Khmer or Burmese.
//
// The number of different words distinguishes a text from a phrase that a model repeats. The number
// of tokens does not.
type vocabulary struct {
	words   map[string]bool
	dense   map[rune]bool // Han and kana
	sparse  map[rune]bool // Thai, Lao, Khmer, Burmese
	total   int           // words, repetitions included
	letters int
}

func newVocabulary() *vocabulary {
	return &vocabulary{words: map[string]bool{}, dense: map[rune]bool{}, sparse: map[rune]bool{}}
}

var (
	denseScripts  = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana}
	sparseScripts = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}
)

// firstUnspaced is where the first of these scripts begins. Most texts have no rune behind it.
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

// readable reports whether the text has at least a short word, or two characters of a script
// without spaces.
func (v *vocabulary) readable() bool {
	return v.letters >= 3 || len(v.dense) >= 2
}

// namesOnly reports whether all words are names for the conversation and its participants.
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

// suffices reports whether there are enough different words for any window, and so many that a text
// of total words cannot be a loop, whatever words follow.
func (v *vocabulary) suffices(total int) bool {
	n := v.distinct()
	return n >= mostWords && total < longestLoop*n && !v.namesOnly()
}

// longestLoop is how often each word recurs, on average, in a text that is a loop.
const longestLoop = 32

// loops reports whether the text consists of a few words over and over, as a model writes that is
// caught in a loop.
func (v *vocabulary) loops() bool {
	n := v.distinct()
	return n == 1 && v.total >= 3 || n <= 4 && v.total >= 4*n || v.total >= longestLoop*n
}
