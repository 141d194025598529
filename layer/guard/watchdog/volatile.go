package watchdog

import (
	"hash/maphash"
	"strings"
	"time"
	"unicode"
)

// sums are hashes of one value, from the strictest to the most lenient.
type sums struct {
	// whole is of the value as it is; stable without times, durations and the like; shape without other whole numbers, too,
	// which may be counters.
	whole, stable, shape uint64
}

func like(hash uint64) sums { return sums{hash, hash, hash} }

// mix returns hashes of two values, in this order.
func (s sums) mix(t sums) sums {
	return sums{mix(s.whole, t.whole), mix(s.stable, t.stable), mix(s.shape, t.shape)}
}

// add returns hashes of two values in any order.
func (s sums) add(t sums) sums {
	return sums{s.whole + t.whole, s.stable + t.stable, s.shape + t.shape}
}

// volatileText returns a text without times, durations and the like, and without other whole numbers, too, as in a sum. It
// judges whole words, so that main.go:12:50 is no time, and keeps numbers of things that are done: 3 of 40, 3/40 and 7%.
func (d *digest) volatileText(text string) (stable, shape string) {
	if !hasDigit(text) {
		return text, text
	}
	var withoutTimes, withoutNumbers replaced
	for at := 0; at < len(text); {
		if separators[text[at]] {
			at++
			continue
		}
		end := at + 1
		for end < len(text) && !separators[text[end]] {
			end++
		}
		if isDigit(rune(text[at])) || text[at] == '#' {
			word := strings.TrimRight(text[at:end], ".:!?")
			switch number, kind := kindOf(text[:at], word, text[at+len(word):]); kind {
			case aTime:
				withoutTimes.replace(text, at, len(word))
				withoutNumbers.replace(text, at, len(word))
			case aNumber:
				withoutNumbers.replace(text, at, len(word))
				d.numbers += number
			}
		}
		at = end
	}
	return withoutTimes.rest(text), withoutNumbers.rest(text)
}

// replaced is a text with zeros in place of some words.
type replaced struct {
	text strings.Builder
	from int // of the text that is not written yet
}

func (r *replaced) replace(text string, at, n int) {
	if r.from == 0 {
		r.text.Grow(len(text))
	}
	r.text.WriteString(text[r.from:at])
	r.text.WriteByte('0')
	r.from = at + n
}

func (r *replaced) rest(text string) string {
	if r.from == 0 {
		return text
	}
	r.text.WriteString(text[r.from:])
	return r.text.String()
}

// What a word that begins with a digit or a # is.
const (
	aName = iota
	aTime
	aNumber // that may be a counter
)

// kindOf returns what a word is, and its number. before precedes it, and rest follows it.
func kindOf(before, word, rest string) (number int64, kind int) {
	if word == "" {
		return 0, aName
	}
	rest = strings.TrimLeft(rest, " ")
	number, whole := wholeNumber(word)
	duration := isDuration(word) || whole && unit(rest)
	switch {
	case duration && remains(rest[:min(len(rest), 24)]):
		return 0, aName
	case duration, isTime(word):
		return 0, aTime
	case whole && countsCalls(lastWord(before)) && !strings.HasPrefix(rest, "of ") && !strings.HasPrefix(rest, "out of ") && !strings.HasPrefix(rest, "/"):
		return number, aNumber
	}
	return 0, aName
}

// lastWord returns the word that a number at the end of a text would belong to, as in "Request #".
func lastWord(text string) string {
	const most = 24
	text = strings.TrimRight(text[max(0, len(text)-most):], " #:=")
	return text[strings.LastIndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })+1:]
}

// countsCalls reports whether a word says of a number that it counts what the agent does, and not what a tool gets done:
// rows, percents and files may grow by one with each call, too.
func countsCalls(word string) bool {
	switch strings.ToLower(word) {
	case "request", "requests", "attempt", "attempts", "try", "tries", "retry", "retries", "call", "calls", "poll", "polls",
		"query", "queries", "invocation", "invocations", "version", "revision":
		return true
	}
	return false
}

func hasDigit(text string) bool {
	for i := range len(text) {
		if text[i]-'0' <= 9 {
			return true
		}
	}
	return false
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// separators stand between words.
var separators = func() (is [256]bool) {
	for _, c := range []byte(" \t\r\n\"'()[]{}<>=|,;") {
		is[c] = true
	}
	return is
}()

// wholeNumber returns a whole number that could be a counter.
func wholeNumber(word string) (n int64, is bool) {
	word = strings.TrimPrefix(word, "#")
	if len(word) == 0 || len(word) > 15 {
		return 0, false
	}
	for _, r := range word {
		if !isDigit(r) {
			return 0, false
		}
		n = n*10 + int64(r-'0')
	}
	return n, true
}

// Times since 1970 that a number may be, in seconds: the years 2001 to 2100.
const firstSecond, lastSecond = 1_000_000_000, 4_102_444_800

// isTime reports whether a word that begins with a digit is a date, a time of day, or both; or a random ID in the form of a
// UUID.
func isTime(word string) bool {
	if n, whole := wholeNumber(word); whole {
		return n >= firstSecond && n < lastSecond || n/1_000 >= firstSecond && n/1_000 < lastSecond
	}
	if len(word) == 36 && word[8] == '-' && word[13] == '-' && word[18] == '-' && word[23] == '-' {
		return true
	}
	for _, layout := range [...]string{"0000-00-00", "0000/00/00", "00:00:00", "0:00:00", "00:00", "0:00"} {
		if len(word) >= len(layout) && formed(word[:len(layout)], layout) {
			rest := word[len(layout):]
			return rest == "" || strings.ContainsRune("T._+Z-", rune(rest[0])) || strings.EqualFold(rest, "am") || strings.EqualFold(rest, "pm")
		}
	}
	return false
}

// formed reports whether a word has digits where a layout has zeros, and is equal to it everywhere else.
func formed(word, layout string) bool {
	for i := range len(layout) {
		if digit := layout[i] == '0'; digit != isDigit(rune(word[i])) || !digit && word[i] != layout[i] {
			return false
		}
	}
	return true
}

func isDuration(word string) bool {
	if last := word[len(word)-1]; last != 's' && last != 'm' && last != 'h' {
		return false
	}
	_, err := time.ParseDuration(word)
	return err == nil
}

// unit reports whether a text begins with a unit of time, as in "12 seconds".
func unit(text string) bool {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(text)
	}
	return end <= len("milliseconds") && isUnit(strings.ToLower(text[:end]))
}

// isUnit reports whether a word in small letters is a unit of time.
func isUnit(word string) bool {
	switch word {
	case "ms", "millis", "milliseconds", "millisecond", "s", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes", "hour", "hours":
		return true
	}
	return false
}

// isTimeKey reports whether a field has a time, a duration or a random ID by its name, such as checked_at, durationMs or
// requestId. What remains is no such time: it tells that something goes on.
func isTimeKey(key string) bool {
	first, last := split(key)
	if remains(first) {
		return false
	}
	switch last {
	case "time", "timestamp", "ts", "date", "datetime", "now", "elapsed", "duration", "took", "latency", "uptime", "nonce":
		return true
	case "at":
		return first != ""
	case "id":
		return first == "request" || first == "trace" || first == "span" || first == "correlation"
	case "requestid", "traceid", "spanid":
		return true
	}
	return len(last) > 1 && last != "min" && isUnit(last)
}

// isCounterKey reports whether a field counts calls by its name, such as attempt, totalRequests or retry_count.
func isCounterKey(key string) bool {
	first, last := split(key)
	if last == "count" || last == "number" {
		_, last = split(first)
	}
	return countsCalls(last)
}

// split returns the last word of a key, and what comes before it, in small letters.
func split(key string) (first, last string) {
	last = key
	if i := strings.LastIndexAny(key, "_-. "); i >= 0 {
		first, last = key[:i], key[i+1:]
	} else if i := strings.LastIndexFunc(key, unicode.IsUpper); i > 0 && unicode.IsLower(rune(key[i-1])) {
		first, last = key[:i], key[i:]
	}
	return strings.ToLower(first), strings.ToLower(last)
}

// remains reports whether a text says that something is to come.
func remains(text string) bool {
	for _, word := range [...]string{"remain", "left", "to go", "eta", "estimate", "until"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// wordsOf returns a hash of the words of a text, in any order.
func wordsOf(text string) (sum uint64) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		sum += mix(12, maphash.String(seed, word))
	}
	return sum
}
