package values

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/secrets"
)

// isCard reports whether the digits of a word are the number of a payment card.
func isCard(w string) bool {
	digits := ungrouped.Replace(w)
	return isDigits(digits) && likeCard([]byte(digits), len(digits) < len(w))
}

var ungrouped = strings.NewReplacer("-", "", " ", "", ".", "")

// likeCard reports whether digits begin like the number of a card and have its length, whatever their last one is:
// people mistype, and a number that was misread is still nearly the right one. Other numbers of 15 and 16 digits are
// times and the like, and begin otherwise; those of 14 are no cards unless they are grouped. With the right last digit,
// other lengths and beginnings count, too.
func likeCard(digits []byte, grouped bool) bool {
	n := len(digits)
	if 13 <= n && n <= 19 && ('2' <= digits[0] && digits[0] <= '6' || digits[0] == '8' && digits[1] == '1') && secrets.Luhn(digits) {
		return true
	}
	length := 16
	if digits[0] == '3' && n > 1 {
		switch digits[1] {
		case '4', '7': // American Express
			length = 15
		case '0', '6', '8', '9': // Diners Club
			length = 14
		}
	}
	return n == length && (n != 14 || grouped) && secrets.Issuers.Match(digits)
}

// withoutCards returns a text without numbers of payment cards, in whatever digits and with whatever signs between
// groups of them.
func withoutCards(text string) string {
	const leastDigits, mostDigits, leastGroup = 13, 19, 3
	type group struct{ begin, end, digits int }
	var groups []group // that follow each other
	var digits []byte  // of these
	var out strings.Builder
	done := 0
	check := func() {
		for first := 0; first < len(groups); first++ {
			from := 0
			for _, g := range groups[:first] {
				from += g.digits
			}
			to := from
			for last := first; last < len(groups); last++ {
				to += groups[last].digits
				if n := to - from; n > mostDigits {
					break
				} else if n >= leastDigits && likeCard(digits[from:to], first < last) {
					out.WriteString(text[done:groups[first].begin] + "; ")
					done, first = groups[last].end, last
					break
				}
			}
		}
		groups, digits = groups[:0], digits[:0]
	}
	between, in := 0, false // visible signs since the last digit, and whether a group goes on
	for i, r := range text {
		n, ok := digitOf(r)
		switch {
		case ok && in && between == 0:
			g := &groups[len(groups)-1]
			g.end, g.digits = i+utf8.RuneLen(r), g.digits+1
		case ok:
			if len(groups) > 0 && groups[len(groups)-1].digits < leastGroup {
				check()
			}
			groups = append(groups, group{i, i + utf8.RuneLen(r), 1})
		case hidden(r):
			continue
		case in && between == 0 && (isSpace(r) || r == '_' || unicode.Is(unicode.Pd, r)) && len(groups) > 0 && r != '\n':
			between++
			continue
		default:
			if in {
				check()
			}
			in = false
			continue
		}
		if digits = append(digits, n); len(digits) > 1<<10 {
			check()
			in = false
			continue
		}
		in, between = true, 0
	}
	check()
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// digitOf returns a digit of ASCII, or of its full-width form.
func digitOf(r rune) (byte, bool) {
	switch {
	case '0' <= r && r <= '9':
		return byte(r), true
	case '０' <= r && r <= '９':
		return byte('0' + r - '０'), true
	}
	return 0, false
}

// spacedCard reports whether the number at i is part of a card number in groups: 4111 1111 1111 1111.
func spacedCard(tokens []token, i int) bool {
	from, to := i, i+1
	for from > 0 && i-from < 6 && isDigits(tokens[from-1].text) {
		from--
	}
	for to < len(tokens) && to-i < 6 && isDigits(tokens[to].text) {
		to++
	}
	if to-from < 2 {
		return false
	}
	var digits []byte
	groups := 0
	for _, t := range tokens[from:to] {
		if len(t.text) >= 4 {
			groups++
		}
		for j := range len(t.text) {
			digits = append(digits, t.text[j]-'0')
		}
	}
	return groups >= 2 && len(digits) >= 13 && len(digits) <= 19
}
