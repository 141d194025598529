package wordsearch

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// The parameters of the ranking. They were measured on 1,536 questions about ten long chats (LoCoMo), and held on
// sessions of other kinds; the ranking changes little between k1 of 0.6 to 1.5 and b of 0.3 to 0.5.
const (
	k1 = 0.9 // how soon more mentions of a term count no more
	b  = 0.4 // how much a long event must mention a term more often

	weightPair    = 0.3  // of two adjacent words, against one word
	weightDate    = 2    // of a part of the event's date that the question names; 0.5 where any number may be a date
	weightNext    = 0.3  // of the score of the event before or behind
	weightSecond  = 0.15 // of the score of the event two before or behind
	weightEpisode = 0.3  // of the best score, for the episode that fits best
	weightAuthor  = 1.3  // of the events of the only author that the question names
	weightAsking  = 0.8  // of an event that is only a short question
)

// EpisodeGap is the time without an event after which a new episode begins.
const EpisodeGap = 4 * time.Hour

// shortQuestion is how many terms a question has at most that tells nothing itself.
const shortQuestion = 12

// Corpus is what the ranking must know of a whole session. Counts of events are those that have text.
type Corpus struct {
	Events int // that have text
	Length int // of these, in terms of [Terms], dates left out
	// Frequency counts the events that have the term of the question at that position, and Dates the same for its dates.
	Frequency, Dates []int
	// Episodes are stretches of events without a gap of [EpisodeGap], in order.
	Episodes []Episode
	// Authors are the different authors of events that have text.
	Authors []string
}

// average is how many terms an event has.
func (corpus Corpus) average() float64 {
	return max(1, float64(corpus.Length)/float64(max(1, corpus.Events)))
}

// Episode is a stretch of events.
type Episode struct {
	First, Last int // positions
	Length      int // in terms
}

// Candidate is an event that has a term or a date of the question.
type Candidate struct {
	Position int
	Author   string
	Length   int   // in terms
	Counts   []int // of each term of the question
	Dates    []bool
	Asking   bool // it is only a short question

	pairs uint64 // those of the question that it has, a bit for each
}

// Count makes the candidate of an event from its terms, which are those of [Terms] for it. asks is what [Asks] reports for
// its text.
func (q Question) Count(position int, author string, asks bool, list []string) Candidate {
	c := Candidate{Position: position, Author: author, Counts: make([]int, len(q.Terms)), Dates: make([]bool, len(q.Dates))}
	last := -1
	for _, term := range list {
		if strings.HasPrefix(term, dateMark) {
			if i := slices.Index(q.Dates, term); i >= 0 {
				c.Dates[i] = true
			}
			continue
		}
		c.Length++
		i := slices.Index(q.Terms, term)
		c.count(q, last, i)
		last = i
	}
	c.Asking = asks && c.Length <= shortQuestion
	return c
}

// count notes a term of the event: its position in the question, and that of the term before it, -1 for others.
func (c *Candidate) count(q Question, before, i int) {
	if i < 0 {
		return
	}
	c.Counts[i]++
	if before >= 0 {
		if p := slices.Index(q.pairs, [2]int{before, i}); p >= 0 {
			c.pairs |= 1 << p
		}
	}
}

// Asks reports whether a text ends as a question does.
func Asks(text string) bool {
	text = strings.TrimRight(text, " \n\t\"'”」』)）")
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
}

// Ranked is the position of an event, and its score.
type Ranked struct {
	Position int
	Score    float64
}

// Rank orders candidates by how well they answer a question, the best first. Each position must occur once. It leaves
// out candidates that have nothing of the question, unless two events that have something are next to them.
//
// An event without a word of the question may be what those around it are about. So a store ranks its candidates, adds
// those [Beside] the best, and ranks again: of 80 questions about talks with users, the first ten had 98.1 % of the
// answers and not 96.2 %. Hits next to one event only would turn each search for a number or a name into five hits.
func Rank(q Question, corpus Corpus, candidates []Candidate) []Ranked {
	if len(candidates) == 0 {
		return nil
	}
	average := corpus.average()
	weights := make([]float64, len(q.Terms))
	for i := range weights {
		weights[i] = idf(corpus.Events, corpus.Frequency[i])
	}
	candidates = slices.SortedFunc(slices.Values(candidates), func(a, b Candidate) int { return cmp.Compare(a.Position, b.Position) })
	own := make([]float64, len(candidates))
	for i, c := range candidates {
		own[i] = q.own(c, weights, corpus, average)
	}
	inEpisode, episodeScores := corpus.episodes(q, candidates)
	named := onlyAuthor(q, corpus.Authors)
	out := make([]Ranked, len(candidates))
	for i, c := range candidates {
		score, helpers := own[i], 0
		for _, j := range []int{i - 2, i - 1, i + 1, i + 2} {
			if j < 0 || j >= len(candidates) || inEpisode[j] != inEpisode[i] || own[j] == 0 {
				continue
			}
			switch candidates[j].Position - c.Position {
			case -1, 1:
				score += weightNext * own[j]
			case -2, 2:
				score += weightSecond * own[j]
			default:
				continue
			}
			helpers++
		}
		if own[i] == 0 && helpers < minHelpers {
			score = 0
		}
		out[i] = Ranked{c.Position, score}
	}
	best, bestEpisode := 0.0, 0.0
	for _, r := range out {
		best = max(best, r.Score)
	}
	for _, s := range episodeScores {
		bestEpisode = max(bestEpisode, s)
	}
	for i, c := range candidates {
		if bestEpisode > 0 && out[i].Score > 0 {
			out[i].Score += weightEpisode * best * episodeScores[inEpisode[i]] / bestEpisode
		}
		if named != "" && c.Author == named {
			out[i].Score *= weightAuthor
		}
		if c.Asking {
			out[i].Score *= weightAsking
		}
	}
	out = slices.DeleteFunc(out, func(r Ranked) bool { return r.Score <= 0 })
	slices.SortFunc(out, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Position, b.Position))
	})
	return out
}

// minHelpers is how many events next to one that has nothing of the question must have something of it.
const minHelpers = 2

// nextTo is how many of the best are looked beside, and within how many positions. With all of them the answers to
// questions were found no better.
const nextTo, within = 16, 2

// Beside returns the positions next to the best of ranked events, in order and without those of candidates.
func Beside(ranked []Ranked, candidates []Candidate) []int {
	known := make(map[int]bool, len(candidates))
	for _, c := range candidates {
		known[c.Position] = true
	}
	var out []int
	for _, r := range ranked[:min(nextTo, len(ranked))] {
		for p := max(0, r.Position-within); p <= r.Position+within; p++ {
			if !known[p] {
				known[p] = true
				out = append(out, p)
			}
		}
	}
	slices.Sort(out)
	return out
}

// own is the score of an event by itself.
func (q Question) own(c Candidate, weights []float64, corpus Corpus, average float64) float64 {
	score := 0.0
	for i, n := range c.Counts {
		score += weights[i] * Saturated(n, c.Length, average)
	}
	for p, pair := range q.pairs {
		if c.pairs&(1<<p) != 0 {
			score += weightPair * max(weights[pair[0]], weights[pair[1]]) * Saturated(1, c.Length, average)
		}
	}
	for i, has := range c.Dates {
		if has {
			score += weightDate * idf(corpus.Events, corpus.Dates[i])
		}
	}
	return score
}

// Saturated is BM25's weight of a term that occurs n times in an event of so many terms, where
// an event has average terms.
func Saturated(n, length int, average float64) float64 {
	if n == 0 {
		return 0
	}
	f := float64(n)
	return f * (k1 + 1) / (f + k1*(1-b+b*float64(length)/average))
}

// idf is how rare a term is that so many of all events have.
func idf(events, have int) float64 {
	return math.Log(1 + (float64(events)-float64(have)+0.5)/(float64(have)+0.5))
}

// episodes returns the episode of each candidate, and the BM25 score of each episode as if it were one text.
func (corpus Corpus) episodes(q Question, candidates []Candidate) (of []int, scores map[int]float64) {
	of, scores = make([]int, len(candidates)), map[int]float64{}
	if len(corpus.Episodes) < 2 {
		return of, scores
	}
	counts := map[int][]int{}
	for i, c := range candidates {
		at, found := slices.BinarySearchFunc(corpus.Episodes, c.Position, func(e Episode, position int) int { return cmp.Compare(e.First, position) })
		if !found {
			at--
		}
		of[i] = at
		sums := counts[at]
		if sums == nil {
			sums = make([]int, len(q.Terms))
			counts[at] = sums
		}
		for k, n := range c.Counts {
			sums[k] += n
		}
	}
	average := max(1, float64(corpus.Length)/float64(len(corpus.Episodes)))
	have := make([]int, len(q.Terms))
	for _, sums := range counts {
		for k, n := range sums {
			if n > 0 {
				have[k]++
			}
		}
	}
	for at, sums := range counts {
		if at < 0 {
			continue
		}
		for k, n := range sums {
			scores[at] += idf(len(corpus.Episodes), have[k]) * Saturated(n, corpus.Episodes[at].Length, average)
		}
	}
	return of, scores
}

// onlyAuthor returns the author whose name the question has, "" if it has none or several.
func onlyAuthor(q Question, authors []string) string {
	named := ""
	for _, author := range authors {
		words := authorTerms(author)
		if len(words) == 0 || slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(q.Terms, word) }) {
			continue
		}
		if named != "" {
			return ""
		}
		named = author
	}
	return named
}
