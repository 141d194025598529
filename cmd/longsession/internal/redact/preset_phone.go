package redact

import (
	"regexp"
	"strings"
)

// phoneRules find numbers in international form, in the national forms of many countries, and after
// a word that announces one.
var phoneRules = []rule{
	phones(`(?:\+|\b00[ -]?)[1-9](?:[ ().\x{2d}/]{0,3}\d){6,14}`, 8, 15, international),
	// North America: the area and the exchange begin with 2 to 9.
	phones(`(?:\b1[ .-])?(?:\([2-9]\d{2}\) ?|\b[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}`, 10, 11, nil),
	phones(`(?:\+?1[ .-])?(?:\([2-9]\d{2}\) ?|\b[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4} ?x\d{1,5}`, 11, 16, nil), // with an extension
	// A trunk 0, as in most of Europe, Africa, Asia and Australia: 030 1234567, 0151/23456789,
	// (020) 7946 0958, 06 12 34 56 78.
	phones(`\b0[1-9]\d{1,3}[ /-]{1,3}\d{3,4}[ -]?\d{2,5}(?:[ -]\d{2,4})?`, 9, 12, nil),
	phones(`\(0\d{1,4}\)[ /-]{0,3}\d{3,4}(?:[ -]?\d{2,4}){1,3}`, 9, 12, nil),
	phones(`\b0[1-9](?:[ .]\d{2}){4}`, 10, 10, nil),
	phones(`\b0\d{1,2}-\d{3,4}-\d{4}`, 9, 11, nil),
	// Russia, within the country.
	phones(`\b8[ -]?\(\d{3,5}\)[ -]?\d{1,3}-\d{2}-\d{2}`, 11, 11, nil),
	// Brazil, China and India, where mobile numbers begin without one.
	phones(`\([1-9]\d\) ?9?\d{4}-\d{4}`, 10, 11, nil),
	phones(`\b1[3-9]\d[ -]\d{4}[ -]\d{4}`, 11, 11, nil),
	// Announced by a word; any digits may follow.
	phones(`(?i)(?:\b(?:tel|telephone|phone|mobile|mobil|cell|handy|fax|whatsapp|sms|telefon|telefono|teléfono|téléphone|móvil|celular|cellulare|telefone|rufnummer|call (?:me|us|him|her|them)(?: back)?(?: at| on| under)?)\b|电话|手机|電話|携帯)(?: ?(?:number|no|nr|nummer|número|numéro))?[\s.:#=("'-]{0,4}(?:is |ist |es |: ?)?(\+?\(?\d[\d ().\x{2d}/]{5,17}\d)`, 7, 15, nil),
}

// phones returns the rule for an expression, or for its group if it has one. A number has between
// fewest and most digits.
func phones(expression string, fewest, most int, is func(string) bool) rule {
	re := regexp.MustCompile(expression)
	return func(text string) (found [][]int) {
		for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
			m = m[len(m)-2:]
			number := text[m[0]:m[1]]
			if n := len(digits(number)); n < fewest || n > most || !alone(text, m[0], m[1], "-./:+") || is != nil && !is(number) {
				continue
			}
			found = append(found, m)
		}
		return found
	}
}

// decimal is a number with a sign.
var decimal = regexp.MustCompile(`^\+\d+\.\d+$`)

// international reports whether a number that begins with + or 00 is a phone number and not a
// decimal.
func international(number string) bool {
	if strings.HasPrefix(number, "00") && len(digits(number)) < 11 {
		return false
	}
	return !decimal.MatchString(number) && strings.Count(number, "(") == strings.Count(number, ")")
}
