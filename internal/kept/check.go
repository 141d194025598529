package kept

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/values"
)

// Finding is something in a summary that its source does not bear out.
type Finding struct {
	// Value is a value that the source does not have or, of what is turned around, the words in question.
	Value string
	// Turned is true for what the source says the other way around.
	Turned bool
	kind   string
	unit   int
}

// Verdict is what a check has found.
type Verdict struct {
	Findings []Finding
	// Checked counts the values that were looked for.
	Checked int

	text  string
	units []unit
}

// maxUnit is how many bytes of a sentence are looked at.
const maxUnit = 4 << 10

// Check looks for what a summary has and its source does not. Each value is found once.
func (s *Source) Check(text string) *Verdict {
	v := &Verdict{text: text, units: unitsOf(text)}
	c := checker{Source: s, foreign: s.foreign(text)}
	announced, turns := false, maxChecked
	known := map[values.Exact]bool{}
	for i, u := range v.units {
		words := text[u.begin:u.end]
		secret := announced
		announced = endsOpen(words) && values.Announces(words)
		if secret || u.code { // code may be made up to show something, and half of it says nothing
			continue
		}
		if len(words) > maxUnit {
			words = words[:maxUnit]
			words = words[:max(0, strings.LastIndexFunc(words, unicode.IsSpace))]
		}
		words = withoutEscapes(words)
		c.unit = words
		for _, one := range values.In(words) {
			s.steps++
			v.Checked++
			key := values.Exact{Kind: one.Kind, Text: one.Text}
			bad, seen := known[key]
			if !seen {
				bad = c.invented(one)
				known[key] = bad
			}
			if bad {
				v.Findings = append(v.Findings, Finding{Value: one.Text, kind: one.Kind, unit: i})
			}
		}
		if said, turned := s.turned(words, &turns); turned {
			v.Findings = append(v.Findings, Finding{Value: said, Turned: true, unit: i})
		}
	}
	return v
}

// endsOpen reports whether a sentence goes on in the next line: "The key is:".
func endsOpen(s string) bool {
	s = strings.TrimRight(s, " *_`\n")
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") || strings.HasSuffix(s, "=") || strings.HasSuffix(s, " is")
}

// Without returns the summary without the sentences and the items of lists in which something was found.
func (v *Verdict) Without() string {
	gone := map[int]bool{}
	for _, f := range v.Findings {
		gone[f.unit] = true
	}
	if len(gone) == 0 {
		return v.text
	}
	return without(v.text, v.units, gone)
}

// Values returns the different values of the findings, in their order.
func (v *Verdict) Values() []string {
	var out []string
	for _, f := range v.Findings {
		if !slices.Contains(out, f.Value) {
			out = append(out, f.Value)
		}
	}
	return out
}

// foreign reports whether a summary is in another language than its source: most of its words are not in it. A window of a
// few words does not tell.
func (s *Source) foreign(text string) bool {
	known, all := 0, 0
	eachAtom(text, func(a atom) {
		s.steps++
		word := text[a.begin:a.end]
		if len(word) < 3 || strings.ContainsAny(word, "0123456789") {
			return
		}
		all++
		if s.atoms[a.hash] {
			known++
		}
	})
	return all > 0 && known*2 < all
}

// checker judges the values of one sentence after the other.
type checker struct {
	*Source
	foreign bool
	unit    string
}

// invented reports whether the source does not have a value, in whatever form.
func (c *checker) invented(v values.Exact) bool {
	if isPattern(v.Text) || c.has(v.Text) || c.inLonger(v.Text) {
		return false
	}
	switch v.Kind {
	case values.Number, values.Money:
		return c.number(v)
	case values.Date:
		return c.date(v.Text)
	case values.ID:
		return c.id(v)
	case values.Path:
		return c.path(v.Text)
	case values.Link:
		return c.link(v.Text)
	case values.Quote:
		return c.quote(v.Text)
	}
	return false
}

// inLonger reports whether a value is a part of a longer word of the sentence. Then nobody has named it.
func (c *checker) inLonger(value string) bool {
	at := strings.Index(c.unit, value)
	if at < 0 || value == "" {
		return false
	}
	joins := func(a, b rune) bool { return inWord(a) && inWord(b) && !isHan(a) && !isHan(b) }
	before, _ := utf8.DecodeLastRuneInString(c.unit[:at])
	first, _ := utf8.DecodeRuneInString(value)
	last, _ := utf8.DecodeLastRuneInString(value)
	after, _ := utf8.DecodeRuneInString(c.unit[at+len(value):])
	return joins(before, first) || joins(last, after)
}

// isPattern reports whether a text stands for others, or is a part of one.
func isPattern(text string) bool {
	at := strings.IndexByte(text, '$')
	return strings.ContainsAny(text, "<>{}*…") || strings.Contains(text, "...") || at >= 0 && at+1 < len(text) && !isDigit(text[at+1])
}

// countsBelow: smaller numbers of things are counted by the summary itself.
const (
	smallBelow  = 13
	countsBelow = 100
)

// approximate are words in front of a number that is none of the source's.
var approximate = set("about approximately around roughly over under nearly almost than circa ca etwa rund über unter fast environ alrededor aproximadamente casi")

// numbered are words in front of the number of a step or of a section.
var numbered = set("step steps section sections phase part chapter item items task tasks point points figure table line lines row column page option question turn message messages")

func (c *checker) number(v values.Exact) bool {
	at := placeOf(c.unit, v.Text)
	before := strings.TrimRight(c.unit[max(0, min(at, at-32)):max(0, at)], " *_`\"'(")
	word := strings.ToLower(before[strings.LastIndexFunc(before, unicode.IsSpace)+1:])
	switch {
	case strings.HasSuffix(before, "~"), strings.HasSuffix(before, "≈"), strings.HasPrefix(v.Text, "~"), strings.HasPrefix(v.Text, "≈"),
		approximate[word], numbered[word], at == 0, // the number of a section
		hasWord(c.unit, ofSums), hasWord(c.unit, ofLines):
		return false
	}
	bad := false
	eachNumber(v.Text, func(n number) {
		behind := v.Text[n.end:]
		if at > 0 { // the sentence may have the unit behind the value
			behind = c.unit[at+n.end:]
		}
		bad = bad || c.badNumber(v.Text, behind, n)
	})
	return bad
}

// placeOf is where a value that begins or ends with a digit stands in a sentence, -1 for nowhere: not within a longer number.
func placeOf(sentence, value string) int {
	for from := 0; ; {
		i := strings.Index(sentence[from:], value)
		if i < 0 {
			return -1
		}
		at, end := from+i, from+i+len(value)
		if (at == 0 || !isDigit(sentence[at-1])) && (end == len(sentence) || !isDigit(sentence[end]) && signBetween(sentence, end) == "") {
			return at
		}
		from = at + 1
	}
}

// badNumber reports whether one of the numbers of a value is invented. behind is the text that follows the number.
func (c *checker) badNumber(text, behind string, n number) bool {
	if len(n.readings) == 0 {
		return false // with many groups: something else
	}
	unit, counts := unitOf(text[:n.begin], behind)
	value, whole := n.readings[len(n.readings)-1], n.groups == nil
	switch {
	case whole && value < smallBelow && (counts || unit == ""),
		whole && value < countsBelow && (counts || strings.Contains(text, "/")), // "24/7"
		c.foreign && value < countsBelow,                                        // it may stand in words
		unit == "%" && (value == 0 || value == 100),                             // all and none
		times[unit] && value < countsBelow,                                      // from one time to another
		whole && unit == "" && statuses[int(value)],
		unit == "s" && value >= 1000 && value < 3000: // the 1990s
		return false
	}
	return !c.hasNumber(n, unit) && !c.computed(value)
}

// hasWord reports whether a sentence has one of some words.
func hasWord(sentence string, words map[string]bool) bool {
	for word := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if words[strings.ToLower(word)] {
			return true
		}
	}
	return false
}

// statuses are those of HTTP that everybody knows.
var statuses = map[int]bool{200: true, 201: true, 204: true, 301: true, 302: true, 400: true, 401: true, 403: true, 404: true, 409: true, 422: true, 429: true, 500: true, 502: true, 503: true}

// times are units of time: a summary may say how much of it lies between two times.
var times = set("s sec secs second seconds min mins minute minutes h hr hrs hour hours d day days week weeks month months year years minuten stunden tage wochen monate jahre heures jours horas días")

// ofLines and ofSums are words of sentences whose numbers the summary may have made: places in files, and what is made of
// other numbers.
var ofLines = set("line lines zeile zeilen ligne lignes línea líneas")

var ofSums = set("total totals totaling totalling sum sums difference remaining average overall combined altogether together gesamt summe insgesamt differenz " +
	"durchschnitt somme différence moyenne suma diferencia promedio totale totaal")

// unitOf returns the unit of a number that stands between two texts, "" for none. counts says that a noun follows, as in "45 tests".
func unitOf(before, behind string) (unit string, counts bool) {
	if r, _ := utf8.DecodeLastRuneInString(before); strings.ContainsRune("$€£", r) {
		return string(r), false
	}
	rest := strings.TrimLeft(behind, " -\u00a0")
	r, size := utf8.DecodeRuneInString(rest)
	if strings.ContainsRune("%$€£", r) {
		return rest[:size], false
	}
	end := 0
	for end < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[end:])
		if !unicode.IsLetter(r) {
			break
		}
		end += size
	}
	unit = strings.ToLower(rest[:end])
	if _, known := factors[unit]; known || len(unit) == 1 {
		return unit, false
	}
	return "", unit != ""
}

// computed reports whether a number is the sum, the difference, the product or the ratio of two other numbers of its
// sentence, or the sum of all others.
func (c *checker) computed(v float64) bool {
	var others []float64
	sum := 0.
	eachNumber(c.unit, func(n number) {
		c.steps++
		if len(n.readings) == 0 {
			return
		}
		one := n.readings[len(n.readings)-1]
		if one != v && len(others) < 12 {
			others, sum = append(others, one), sum+one
		}
	})
	if len(others) > 2 && sum == v {
		return true
	}
	for i, a := range others {
		for k, b := range others {
			if i != k && (a+b == v || a-b == v || a*b == v || b != 0 && (near(a/b, v, .051) || near(100*a/b, v, .51) || near(100*(a-b)/b, v, .51) || near(100*(b-a)/b, v, .51))) {
				return true
			}
		}
		if a != 0 && (c.near(v/a, 0) || c.near(v*a, 0)) { // "12 for 1.50 each, 18 in all"
			return true
		}
	}
	return false
}

func near(a, b, off float64) bool { return a-b <= off && b-a <= off }

func (c *checker) date(text string) bool {
	var r dateReader
	var named dates
	r.text, r.dates = text, &named
	eachAtom(text, r.atom)
	found := false
	for month := range named.days {
		for day, is := range named.days[month] {
			if is {
				found = true
				if c.dates.has(month, day) { // one of its readings
					return false
				}
			}
		}
	}
	if found {
		return true
	}
	for minute, is := range named.minutes {
		if is {
			return minute != 0 && minute != 30 && !c.dates.minutes[minute] && !c.atoms[hashOf(twoDigits(minute))]
		}
	}
	var numbers []number
	eachNumber(text, func(n number) { numbers = append(numbers, n) })
	return len(numbers) == 1 && len(text[numbers[0].begin:numbers[0].end]) == 4 && !c.near(float64(atoi(text[numbers[0].begin:numbers[0].end])), 0) && !c.dates.relative // a year
}

func twoDigits(n int) string { return string([]byte{'0' + byte(n/10), '0' + byte(n%10)}) }
