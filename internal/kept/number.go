package kept

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// number is one in digits.
type number struct {
	begin, end int
	// readings are what its digits may mean: "1,234" is 1.234 or 1234. The last one is the likeliest.
	readings []float64
	decimals int       // of the last reading
	groups   []float64 // its groups of digits, if there are several: "1,234" may be two numbers
}

// plainNumber writes a number without an exponent.
func plainNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

const maxGroups = 8 // groups of digits of one number

// eachNumber calls f with the numbers of a text.
func eachNumber(text string, f func(n number)) {
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			i++
			continue
		}
		n := number{begin: i}
		var groups []string
		var signs []string
		for {
			from := i
			for i < len(text) && isDigit(text[i]) {
				i++
			}
			groups = append(groups, text[from:i])
			sign := signBetween(text, i)
			if sign == "" || len(groups) == maxGroups {
				break
			}
			signs = append(signs, sign)
			i += len(sign)
		}
		n.end = i
		n.read(groups, signs)
		f(n)
	}
}

// signBetween returns the sign at i that may be inside of a number, "" for none.
func signBetween(text string, i int) string {
	if i >= len(text) {
		return ""
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	next := i + size
	if next >= len(text) || !isDigit(text[next]) {
		return ""
	}
	switch r {
	case '.', ',', '_':
		return text[i:next]
	case '\'', '’', ' ', '\u00a0', '\u202f', '\u2009': // between thousands only
		if next+3 <= len(text) && isDigits(text[next:next+3]) && (next+3 == len(text) || !isDigit(text[next+3])) {
			return text[i:next]
		}
	}
	return ""
}

// read fills in what the groups of digits may mean.
func (n *number) read(groups, signs []string) {
	parse := func(digits string) (float64, bool) {
		v, err := strconv.ParseFloat(digits, 64)
		return v, err == nil && len(digits) <= 18
	}
	add := func(digits string, decimals int) {
		if v, ok := parse(digits); ok {
			n.readings, n.decimals = append(n.readings, v), decimals
		}
	}
	if len(groups) == 1 {
		add(groups[0], 0)
		return
	}
	thousands := len(groups[0]) <= 3
	for i, g := range groups {
		if v, ok := parse(g); ok {
			n.groups = append(n.groups, v)
		}
		thousands = thousands && (i == 0 || len(g) == 3)
	}
	last := len(groups) - 1
	if sign := signs[last-1]; sign == "." || sign == "," {
		add(strings.Join(groups[:last], "")+"."+groups[last], len(groups[last]))
	}
	if thousands {
		add(strings.Join(groups, ""), 0)
	}
}

// numeral is a word or a character that is a part of a number.
type numeral struct {
	value  float64
	factor bool // of what stands before it: "hundred"
	digit  bool // of a number that is written in digits: "二零二六"
}

var numerals = map[string]numeral{"dozen": {12, true, false}, "hundred": {100, true, false}, "thousand": {1e3, true, false}, "million": {1e6, true, false}, "billion": {1e9, true, false}}

func init() {
	from := func(n float64, step float64, words string) {
		for word := range strings.FieldsSeq(words) {
			numerals[word] = numeral{value: n}
			n += step
		}
	}
	from(1, 1, "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	from(13, 1, "dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn")
	from(13, 1, "treize quatorze quinze seize")
	from(13, 1, "trece catorce quince dieciséis diecisiete dieciocho diecinueve")
	for _, tens := range []string{"twenty thirty forty fifty sixty seventy eighty ninety", "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert",
		"vingt trente quarante cinquante soixante", "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien"} {
		from(20, 10, tens)
	}
	for i, r := range []rune("零一二三四五六七八九") {
		numerals[string(r)] = numeral{value: float64(i), digit: true}
	}
	numerals["两"], numerals["〇"] = numeral{value: 2, digit: true}, numeral{digit: true}
	for i, r := range []rune("十百千万亿") {
		numerals[string(r)] = numeral{[]float64{10, 100, 1e3, 1e4, 1e8}[i], true, false}
	}
}

// spelled adds up a number in words: "two hundred and fifty", "三百五十".
type spelled struct {
	sum, part, last float64
	any, digit      bool
}

// word takes the next atom, and returns the number that ends in front of it, if one does.
func (s *spelled) word(lower string) (n float64, ends bool) {
	one, is := numerals[lower]
	if !is {
		if s.any && lower == "and" {
			return 0, false
		}
		n, ends = s.sum+s.part+s.last, s.any
		*s = spelled{}
		return n, ends
	}
	s.any = true
	switch {
	case one.factor && one.value >= 1e3: // of all before it
		s.sum, s.part, s.last = s.sum+max(1, s.part+s.last)*one.value, 0, 0
	case one.factor:
		s.part, s.last = s.part+max(1, s.last)*one.value, 0
	case one.digit && s.digit:
		s.last = s.last*10 + one.value
	default:
		s.last += one.value
	}
	s.digit = one.digit
	return 0, false
}

// sort makes the numbers ready to be looked for.
func (s *Source) sort() {
	if !s.sorted {
		slices.Sort(s.numbers)
		s.numbers, s.sorted = slices.Compact(s.numbers), true
	}
}

// near reports whether the source has a number that is at most off from v.
func (s *Source) near(v, off float64) bool {
	s.sort()
	off += 1e-9 * math.Abs(v)
	i, _ := slices.BinarySearch(s.numbers, v-off)
	s.steps++
	return i < len(s.numbers) && s.numbers[i] <= v+off
}

// factors are by what a number may have been divided for its unit, besides 1.
var factors = map[string][]float64{
	"%": {.01}, "percent": {.01},
	"k": {1e3, 1024}, "thousand": {1e3}, "m": {1e6, 60}, "million": {1e6}, "millions": {1e6}, "mio": {1e6}, "millionen": {1e6}, "millones": {1e6}, "bn": {1e9}, "b": {1e9}, "billion": {1e9},
	"mrd": {1e9}, "milliarden": {1e9}, "tausend": {1e3}, "mille": {1e3}, "mil": {1e3}, "万": {1e4}, "亿": {1e8},
	"kb": {1e3, 1024}, "kib": {1024}, "mb": {1e6, 1 << 20, 1e3, 1024}, "mib": {1 << 20, 1024}, "gb": {1e9, 1 << 30, 1e3, 1024}, "gib": {1 << 30, 1024}, "tb": {1e12, 1e3, 1024},
	"ms": {1e-3, 1e3, 1e6}, "us": {1e3}, "s": {1e3, 1e6, 1e9, 1. / 60}, "sec": {1e3, 1. / 60}, "secs": {1e3, 1. / 60}, "second": {1e3}, "seconds": {1e3, 1e9, 1. / 60, 1. / 3600},
	"min": {60, 6e4, 1. / 60}, "mins": {60, 6e4, 1. / 60}, "minute": {60, 6e4}, "minutes": {60, 6e4, 1. / 60},
	"h": {60, 3600, 3.6e6, 1. / 24}, "hr": {60, 3600}, "hrs": {60, 3600}, "hour": {60, 3600}, "hours": {60, 3600, 3.6e6, 1. / 24}, "d": {24, 86400}, "days": {24, 86400, 7, 1440}, "day": {24, 86400},
	"weeks": {7, 168}, "months": {1. / 12}, "years": {12, 365}, "year": {12}, "cm": {.01, 10, 1 / 2.54}, "mm": {.1, 1e-3}, "km": {1e3, 1 / 1.609344}, "g": {1e-3, 1e3}, "kg": {1e3, 2.20462}, "l": {1e3}, "ml": {1e-3},
	"mi": {1.609344}, "miles": {1.609344}, "lb": {1 / 2.20462}, "lbs": {1 / 2.20462}, "pounds": {1 / 2.20462}, "ft": {.3048}, "feet": {.3048}, "inches": {2.54},
	"$": {100}, "€": {100}, "£": {100}, "usd": {100}, "eur": {100}, "dollars": {100}, "euros": {100}, "cents": {.01},
}

// hasNumber reports whether a number may come from the source: as it is, rounded, or in another unit.
func (s *Source) hasNumber(n number, unit string) bool {
	for i, v := range n.readings {
		off := .5 * math.Pow10(-n.decimals)
		if i < len(n.readings)-1 {
			off = 0
		}
		if n.decimals == 0 {
			for step := 10.; v >= 10*step && math.Mod(v, step) == 0; step *= 10 { // 12,000 may be rounded to thousands
				off = step / 2
			}
		}
		if s.near(v, off) {
			return true
		}
		for _, factor := range factors[unit] {
			if s.near(v*factor, off*factor) {
				return true
			}
		}
	}
	return false
}
