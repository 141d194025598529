// Package wordsearch finds the events of a session by their words. It needs neither a model nor vectors.
//
// The unit is one event. [Text] is what can be found of it, and [Terms] cuts that into terms: stems of English words,
// pairs of adjacent characters of Chinese and Japanese, numbers, the parts of identifiers, the author, and the day.
// [Rank] orders events by BM25 over these, with what makes a conversation different from a pile of documents: an answer
// is next to its question, people come back to a subject within one sitting, and a question may name who said something
// and when.
//
// A store that keeps terms of its own uses [Terms] when it writes and [Ask] when it is asked, and hands its candidates to
// [Rank]. So every store finds the same. [Memory] is such a store.
package wordsearch
