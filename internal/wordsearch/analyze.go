package wordsearch

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/terms"
)

// AnalyzerVersion changes with every change of the terms that [Terms] returns for an event. An index that
// was made with another version must be made anew.
const AnalyzerVersion = 2

// dateMark begins the terms that stand for the date of an event and not for its words. Words have no colon.
const dateMark = "d:"

// Terms returns the terms by which an event is found, in the order of its text, with repetitions: those of
// [Text], then the author's name, then terms such as "d:m5" for the month, the day, the weekday and the year of the
// event, in UTC. Other terms hold letters, digits and their marks only. A term has at most 64 bytes. The result is nil for an event that cannot be found. redact
// may be nil.
func Terms(ev *session.Event, redact func(string) string) []string {
	words := said(ev, redact)
	if words == nil {
		return nil
	}
	words = append(words, authorTerms(ev.Author)...)
	for _, date := range dateTerms(ev.Timestamp) {
		words = append(words, dateMark+date)
	}
	return words
}

// said returns the terms of an event's text, nil if it cannot be found.
func said(ev *session.Event, redact func(string) string) []string {
	text := Redacted(ev, redact)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if words := wordsOf(text); words != nil {
		return words
	}
	return []string{}
}

// Redacted returns [Text] as redact leaves it, which may be nil. The text is cut behind the redaction.
func Redacted(ev *session.Event, redact func(string) string) string {
	if redact == nil {
		return Text(ev)
	}
	text := textOf(ev, maxText+redactAhead)
	if text != "" {
		text = redact(text)
	}
	return cutText(text, maxText)
}

// Whole returns what [Redacted] does, however long the event's text is.
func Whole(ev *session.Event, redact func(string) string) string {
	text := textOf(ev, math.MaxInt)
	if redact != nil && text != "" {
		text = redact(text)
	}
	return text
}

// redactAhead is how many bytes behind the end of an event's text are redacted with it. A key that is cut in two would
// not be recognized.
const redactAhead = 8 << 10

// wordsOf returns the terms of a text, and those of its numbers without the commas between thousands: 12,500 is also found
// as 12500.
func wordsOf(text string) []string {
	words := terms.Terms(text)
	for _, m := range thousands.FindAllString(text, maxThousands) {
		words = append(words, strings.ReplaceAll(m, ",", ""))
	}
	return words
}

var thousands = regexp.MustCompile(`\b\d{1,3}(?:,\d{3}){1,6}\b`)

// maxThousands is how many numbers of a text are joined.
const maxThousands = 256

func authorTerms(author string) []string { return terms.Terms(author) }

// dateTerms returns the terms of the day of a timestamp, in UTC.
func dateTerms(at time.Time) []string {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return []string{year(at.Year()), month(int(at.Month())), day(at.Day()), weekday(int(at.Weekday()))}
}

func appendNew(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}

func year(n int) string    { return "y" + strconv.Itoa(n) }
func month(n int) string   { return "m" + strconv.Itoa(n) }
func day(n int) string     { return "d" + strconv.Itoa(n) }
func weekday(n int) string { return "w" + strconv.Itoa(n) }

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
