package terms

import (
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/kljensen/snowball/english"
)

// maxStems is the number of words whose stems are kept. With at most 32 bytes each they take less than
// 2 MB. Without the cache, stemming is most of the cost of a term.
const maxStems = 8_192

// maxStemmed is the length of the longest word that is stemmed. English has no longer one; the time that
// Porter2 takes grows with the word.
const maxStemmed = 32

var stems = newStems()

func newStems() *lru.Cache[string, string] {
	cache, err := lru.New[string, string](maxStems)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return cache
}

// stem returns the stem of a word of ASCII letters, and any other word as it is. The result shares no memory
// with the word.
func stem(word string) string {
	if len(word) > maxStemmed || !onlyLetters(word) {
		return strings.Clone(word)
	}
	if known, found := stems.Get(word); found {
		return known
	}
	word = strings.Clone(word)
	short := english.Stem(word, true)
	if short == "" {
		short = word
	}
	stems.Add(word, short)
	return short
}

func onlyLetters(word string) bool {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return true
}
