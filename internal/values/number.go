package values

import (
	"strings"
	"unicode"
)

// number adds the number at i with the word behind it, and returns the last token that it took.
func (f *finder) number(s *sentence, i int) int {
	t := s.tokens
	if from, to := dateAround(t, i); to > from+1 || from == i && isYear(t, i) {
		if !f.fromTool {
			f.addRange(f.is(kindDate, t, from), s, t, from, to)
		}
		return max(i, to-1)
	}
	if spacedCard(t, i) {
		for i+1 < len(t) && isDigits(t[i+1].text) {
			i++
		}
		return i
	}
	if f.fromTool {
		return i
	}
	digits := strings.Count(t[i].text, "") - 1
	if isDigits(t[i].text) && digits > 6 { // a number of something, such as an order
		f.add(f.is(kindID, t, i), context(t, i), t[i].text)
		return i
	}
	to := i + 1
	if to < len(t) && t[to].class == classPunct && t[to].text == "%" {
		to++
	}
	for to+1 < len(t) && (t[to].lower == "x" || t[to].text == "×") && t[to+1].class == classNumber { // 170 x 240
		to += 2
	}
	if to < len(t) && (t[to].class == classWord && (!stop[t[to].lower] || len(t[to].text) == 1 && units[t[to].lower]) || t[to].class == classNumber && units[strings.ToLower(t[to].text)]) {
		to++
		if to < len(t) && t[to].class == classWord && t[to-1].class == classWord && (measured[t[to-1].lower] || strings.Contains(t[to-1].text, "-")) && !stop[t[to].lower] {
			to++
		}
	}
	if to == i+1 && (t[i].begin == 0 || i == 0) && to < len(t) && t[to].class == classPunct && strings.HasPrefix(t[to].text, ".") {
		return i // "1." of a list
	}
	before := context(t, i)
	if to == i+1 && before == "" {
		return i // a number alone means nothing
	}
	f.add(f.is(kindNumber, t, i), before, s.text[t[i].begin:t[to-1].end])
	return to - 1
}

// measured are words behind a number that need the next one: "38 square feet".
var measured = set("square cubic business working new different more full small large big other hot cold")

// isYear reports whether the number at i is a year.
func isYear(t []token, i int) bool {
	w := t[i].text
	if len(w) != 4 || !isDigits(w) || w < "1900" || w > "2099" || i == 0 {
		return false
	}
	return yearBefore[t[i-1].lower] || months[t[i-1].lower]
}

var (
	yearBefore = set("in since until by from of late early mid year during around before after between and")
	months     = set("january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec")
	weekdays   = set("monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays")
	dayWords   = set("today tomorrow tonight yesterday noon midnight")
	halves     = set("am pm a.m p.m o'clock")
)

// dateAround returns the tokens of the date or time at i: the month, the year and the time of day around it. It
// returns i, i+1 if there is nothing around.
func dateAround(t []token, i int) (from, to int) {
	from, to = i, i+1
	isDay := func(k int) bool {
		w := strings.TrimRight(strings.ToLower(t[k].text), "stndrh")
		return t[k].class == classNumber && len(w) <= 2 && isDigits(w)
	}
	month := func(k int) bool {
		return k >= 0 && k < len(t) && t[k].class == classWord && months[strings.TrimSuffix(t[k].lower, ".")]
	}
	comma := func(k int) int {
		if k < len(t) && t[k].class == classPunct && (t[k].text == "," || t[k].text == ".") {
			return k + 1
		}
		return k
	}
	year := func(k int) bool {
		return k < len(t) && t[k].class == classNumber && len(t[k].text) == 4 && isDigits(t[k].text) && (t[k].text[:2] == "19" || t[k].text[:2] == "20")
	}
	switch {
	case isDay(i) && month(i-1):
		from = i - 1
	case isDay(i) && i > 1 && t[i-1].class == classPunct && t[i-1].text == "." && month(i-2):
		from = i - 2
	case isDay(i) && month(i+1):
		to = i + 2
	case isDay(i) && i+2 < len(t) && t[i+1].lower == "of" && month(i+2):
		to = i + 3
	case isDay(i) && i+1 < len(t) && halves[t[i+1].lower]:
		return i, i + 2
	case year(i) && month(i-1):
		return i - 1, i + 1
	case t[i].class == classTime, t[i].class == classDate:
		if to < len(t) && halves[t[to].lower] {
			to++
		}
		return from, to
	default:
		return i, i + 1
	}
	if k := comma(to); year(k) {
		to = k + 1
	}
	return from, to
}

// word adds the name, the date or the counted thing that begins at i, and returns the last token that it took.
func (f *finder) word(s *sentence, i int) int {
	t := s.tokens
	w := t[i].lower
	switch {
	case months[w] && i+1 < len(t) && t[i+1].class == classNumber:
		return f.number(s, i+1)
	case months[w] && unicode.IsUpper(first(t[i].text)) && i > 0 && len(w) > 3 && (yearBefore[t[i-1].lower] || t[i-1].lower == "next" || t[i-1].lower == "last"):
		f.addRange(kindDate, s, t, i, i+1)
		return i
	case weekdays[w] && unicode.IsUpper(first(t[i].text)), dayWords[w] && i+2 < len(t) && t[i+1].lower == "at":
		to := i + 1
		if to+1 < len(t) && (t[to].lower == "at" || t[to].text == ",") && (t[to+1].class == classTime || t[to+1].class == classNumber) {
			to += 2
			if to < len(t) && halves[t[to].lower] {
				to++
			}
		}
		if to > i+1 || weekdays[w] && i > 0 && (t[i-1].lower == "on" || t[i-1].lower == "by" || t[i-1].lower == "every" || t[i-1].lower == "next" || t[i-1].lower == "until") {
			f.addRange(kindDate, s, t, i, to)
		}
		return to - 1
	case numberWords[w]:
		return f.count(s, i)
	case unicode.IsUpper(first(t[i].text)):
		if n := f.name(t, i); n > 0 {
			return i + n - 1
		}
	}
	return i
}

var numberWords = set("two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen " +
	"twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million dozen half-dozen twice")

// count adds a number in words with its noun: "ten years", "twenty-five guests".
func (f *finder) count(s *sentence, i int) int {
	t := s.tokens
	to := i + 1
	for to < len(t) && (numberWords[t[to].lower] || t[to].lower == "and" && to+1 < len(t) && numberWords[t[to+1].lower]) {
		to++
	}
	if to >= len(t) || t[to].class != classWord || stop[t[to].lower] || t[i].lower == "twice" {
		return to - 1
	}
	to++
	if to < len(t) && t[to].class == classWord && !stop[t[to].lower] && (!strings.HasSuffix(t[to-1].lower, "s") || measured[t[to-1].lower]) {
		to++
	}
	f.addRange(f.is(kindCount, t, i), s, t, i, to)
	return to - 1
}
