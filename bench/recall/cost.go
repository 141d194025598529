package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/genai"
)

// vocabulary makes up texts with words as frequent as those of a natural language: the n-th word is about n times
// as rare as the first.
type vocabulary struct {
	random *rand.Rand
	zipf   *rand.Zipf
}

// words is the number of words of the vocabulary.
const words = 30_000

func newVocabulary(seed uint64) *vocabulary {
	random := rand.New(rand.NewPCG(seed, 17))
	return &vocabulary{random, rand.NewZipf(random, 1.07, 2, words-1)}
}

var (
	common    = strings.Fields("the of and to a in is it you that he was for on are with as I his they be at one have this")
	syllables = strings.Fields("ba ce di fo gu ha ke li mo nu pa re si to vu wa xe zi jo qua tra ble cho dri spe sta gli fru")
)

// word is the n-th most frequent word.
func word(n int) string {
	if n < len(common) {
		return common[n]
	}
	var b strings.Builder
	for n += len(syllables) * len(syllables); n > 0; n /= len(syllables) {
		b.WriteString(syllables[n%len(syllables)])
	}
	return b.String()
}

func (v *vocabulary) next() int { return int(v.zipf.Uint64()) }

// text has about so many bytes.
func (v *vocabulary) text(size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(word(v.next()))
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// question is a question with some rare words of a text.
func (v *vocabulary) question(text string) string {
	said := strings.Fields(text)
	v.random.Shuffle(len(said), func(i, j int) { said[i], said[j] = said[j], said[i] })
	slices.SortStableFunc(said, func(a, b string) int { return len(b) - len(a) })
	return fmt.Sprintf("What was it that I said about %s %s and the %s when it was %s for %s?", said[0], said[1], said[3], said[6], said[len(said)/2])
}

// bytesPerEvent is the length of each text in a long session.
const bytesPerEvent = 400

// longSession makes up a session of so many events: 20 minutes of messages a day.
func longSession(events int) []*session.Event {
	v := newVocabulary(1)
	start := day(2024, time.January, 1)
	all := make([]*session.Event, events)
	for i := range all {
		author, role := "user", genai.Role(genai.RoleUser)
		if i%2 == 1 {
			author, role = agentName, genai.RoleModel
		}
		all[i] = &session.Event{
			ID: fmt.Sprintf("message-%d", i), InvocationID: fmt.Sprintf("turn-%d", i/2), Author: author,
			Timestamp:   start.AddDate(0, 0, i/40).Add(time.Duration(i%40) * 30 * time.Second),
			LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(v.text(bytesPerEvent), role)},
		}
	}
	return all
}

// questionsAbout makes up questions about events of a session.
func questionsAbout(events []*session.Event, n int) []string {
	v := newVocabulary(2)
	var all []string
	for range n {
		all = append(all, v.question(events[v.random.IntN(len(events))].Content.Parts[0].Text))
	}
	return all
}

// percentile of times, in milliseconds.
func percentile(times []time.Duration, p int) float64 {
	times = slices.Sorted(slices.Values(times))
	if len(times) == 0 {
		return 0
	}
	return float64(times[min(len(times)-1, len(times)*p/100)].Microseconds()) / 1000
}

// timed asks the questions one by one.
func timed(ctx context.Context, questions []string, find finder) ([]time.Duration, error) {
	var times []time.Duration
	for _, q := range questions {
		start := time.Now()
		found, err := find(ctx, q)
		times = append(times, time.Since(start))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("a question with words of the session found nothing: %q", q)
		}
	}
	return times, nil
}
