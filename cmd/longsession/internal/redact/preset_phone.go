package redact

import (
	"regexp"
	"strings"
)

// phoneRules find numbers in international form, in the national forms of many countries, and after
// a word that announces one.
var phoneRules = []rule{
	form(`(?:\+|\b00[ -]?)[1-9](?:[ ().\x{2d}/]{0,3}\d){6,14}`, phoneMarks, func(number string) bool {
		least := 8
		if number[0] == '0' {
			least = 11
		}
		return digitsOf(least, 15)(number) && !decimal.MatchString(number) && strings.Count(number, "(") == strings.Count(number, ")")
	}),
	// North America: the area and the exchange begin with 2 to 9.
	form(`(?:\b1[ .-])?(?:\([2-9]\d{2}\) ?|\b[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}`, phoneMarks, nil),
	form(`(?:\+?1[ .-])?(?:\([2-9]\d{2}\) ?|\b[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4} ?x\d{1,5}`, phoneMarks, nil), // with an extension
	// A trunk 0, as in most of Europe, Africa, Asia and Australia: 030 1234567, 0151/23456789,
	// (020) 7946 0958, 06 12 34 56 78.
	form(`\b0[1-9]\d{1,3}[ /-]{1,3}\d{3,4}[ -]?\d{2,5}(?:[ -]\d{2,4})?`, phoneMarks, digitsOf(9, 12)),
	form(`\(0\d{1,4}\)[ /-]{0,3}\d{3,4}(?:[ -]?\d{2,4}){1,3}`, phoneMarks, digitsOf(9, 12)),
	form(`\b0[1-9](?:[ .]\d{2}){4}`, phoneMarks, nil),
	form(`\b0\d{1,2}-\d{3,4}-\d{4}`, phoneMarks, nil),
	// Russia, within the country.
	form(`\b8[ -]?\(\d{3,5}\)[ -]?\d{1,3}-\d{2}-\d{2}`, phoneMarks, digitsOf(11, 11)),
	// Brazil, China and India, where mobile numbers begin without one.
	form(`\([1-9]\d\) ?9?\d{4}-\d{4}`, phoneMarks, nil),
	form(`\b1[3-9]\d[ -]\d{4}[ -]\d{4}`, phoneMarks, nil),
	// Announced by a word; any digits may follow.
	form(`(?i)(?:\b(?:tel|telephone|phone|mobile|mobil|cell|handy|fax|whatsapp|sms|telefon|telefono|teléfono|téléphone|móvil|celular|cellulare|telefone|rufnummer|call (?:me|us|him|her|them)(?: back)?(?: at| on| under)?)\b|电话|手机|電話|携帯)(?: ?(?:number|no|nr|nummer|número|numéro))?[\s.:#=("'-]{0,4}(?:is |ist |es |: ?)?(\+?\(?\d[\d ().\x{2d}/]{5,17}\d)`, phoneMarks, digitsOf(7, 15)),
}

// phoneMarks are the signs between two numbers that make neither a phone number.
const phoneMarks = "-./:+"

// decimal is a number with a sign.
var decimal = regexp.MustCompile(`^\+\d+\.\d+$`)

// digitsOf reports whether a number has between fewest and most digits.
func digitsOf(fewest, most int) func(string) bool {
	return func(number string) bool { n := len(digits(number)); return fewest <= n && n <= most }
}
