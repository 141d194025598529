package redact

import (
	"regexp"
	"strings"
)

var address = regexp.MustCompile(`[\p{L}\p{N}][\p{L}\p{N}._%+'-]*@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+(?:xn--[A-Za-z0-9-]+|[\p{L}]{2,})`)

// notDomain matches endings of files and of hosts in a local network, which are not domains.
var notDomain = regexp.MustCompile(`(?i)\.(?:png|jpe?g|gif|svg|webp|ico|css|js|ts|tsx|jsx|json|ya?ml|html?|txt|md|csv|log|docx?|xlsx?|pdf|eml|vcf|zip|gz|tgz|whl|jar|local|internal)$`)

// emails finds e-mail addresses, including those with letters outside ASCII.
func emails(text string) (found [][]int) {
	for _, m := range address.FindAllStringIndex(text, -1) {
		// git@host:path and ssh://git@host/path name a Git repository.
		if strings.HasPrefix(text[m[0]:], "git@") && (strings.HasPrefix(text[m[1]:], ":") || strings.HasSuffix(text[:m[0]], "://")) {
			continue
		}
		// A file may be named after an address.
		for end := notDomain.FindStringIndex(text[m[0]:m[1]]); end != nil; end = notDomain.FindStringIndex(text[m[0]:m[1]]) {
			m[1] = m[0] + end[0]
		}
		if strings.Contains(text[m[0]+strings.LastIndexByte(text[m[0]:m[1]], '@'):m[1]], ".") {
			found = append(found, m)
		}
	}
	return found
}

var (
	digitGroup   = regexp.MustCompile(`\d+`)
	numberGroups = regexp.MustCompile(`\d+(?:[ -]{1,3}\d+)*`)
)

// otherGroups are four groups separated by the same sign or by line breaks.
var otherGroups = regexp.MustCompile(`\d{4}(?:(?:\.\d{4}){3}|(?:/\d{4}){3}|(?:_\d{4}){3}|(?:\r?\n\d{4}){3})`)

// cards finds numbers of payment cards of a known issuer, with the right length and the right check
// digit, in one piece or in groups of four or more digits.
func cards(text string) (found [][]int) {
	for _, at := range numberGroups.FindAllStringIndex(text, -1) {
		groups := digitGroup.FindAllStringIndex(text[at[0]:at[1]], -1)
		for _, group := range groups {
			group[0], group[1] = at[0]+group[0], at[0]+group[1]
		}
		for i := 0; i < len(groups); i++ {
			if j := cardFrom(text, groups, i); j > i {
				found = append(found, []int{groups[i][0], groups[j-1][1]})
				i = j - 1
			}
		}
	}
	for _, at := range otherGroups.FindAllStringIndex(text, -1) {
		if alone(text, at[0], at[1], "-./:") && isCard(digits(text[at[0]:at[1]])) {
			found = append(found, at)
		}
	}
	return found
}

// cardFrom returns the index behind the last group of a card number that begins with group i, or 0.
func cardFrom(text string, groups [][]int, i int) int {
	number := ""
	for j := i; j < len(groups) && len(number) < 19; j++ {
		group := text[groups[j][0]:groups[j][1]]
		if number += group; len(number) < 12 {
			if len(group) < 4 {
				return 0
			}
			continue
		}
		if len(number) <= 19 && alone(text, groups[i][0], groups[j][1], "-./:") && isCard(number) {
			return j + 1
		}
	}
	return 0
}

// issuers matches the numbers that issuers of cards give, by their first digits and their lengths.
var issuers = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`4\d{12}(?:\d{3}){0,2}`, // Visa
	`(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}`, // Mastercard
	`3[47]\d{13}`, // American Express
	`(?:6011|64[4-9]\d|65\d\d|62\d\d|81\d\d)\d{12,}`,   // Discover, UnionPay
	`3(?:0[0-5]|[689]\d)\d{11,}`,                       // Diners Club
	`(?:352[89]|35[3-8]\d)\d{12,}`,                     // JCB
	`220[0-4]\d{12,}`,                                  // Mir
	`(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{8,}`, // Maestro
}, "|") + `)$`)

// isCard reports whether a number can be that of a card, by its issuer, its length and its check
// digit (ISO/IEC 7812). It refuses a number of equal digits.
func isCard(number string) bool {
	n := len(number)
	if !issuers.MatchString(number) || strings.Count(number, number[:1]) == n {
		return false
	}
	sum := 0
	for i := range n {
		value := int(number[n-1-i] - '0')
		if i%2 == 1 {
			if value *= 2; value > 9 {
				value -= 9
			}
		}
		sum += value
	}
	return sum%10 == 0
}

// ibanLength has the length of the IBANs of each country, from the registry of ISO 13616.
var ibanLength = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28, "CH": 21, "CR": 22,
	"CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27, "GB": 22,
	"GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30,
	"KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20,
	"MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22,
	"RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26,
	"UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}

var ibanStart = regexp.MustCompile(`[A-Za-z]{2}[ -]?\d{2}[ -]?[A-Za-z0-9]`)

// ibans finds bank accounts, with or without blanks, by the length for their country and the check
// digits.
func ibans(text string) (found [][]int) {
	for at := 0; ; {
		m := ibanStart.FindStringIndex(text[at:])
		if m == nil {
			return found
		}
		from := at + m[0]
		if to := ibanFrom(text, from); to > 0 {
			found = append(found, []int{from, to})
			at = to
		} else {
			at = from + 1
		}
	}
}

// ibanFrom returns the end of an IBAN that begins at from, or 0.
func ibanFrom(text string, from int) int {
	want, iban := ibanLength[strings.ToUpper(text[from:from+2])], ""
	for i := from; i < len(text) && len(iban) < want; i++ {
		c := text[i]
		switch {
		case c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			iban += string(c)
			if len(iban) == want && alone(text, from, i+1, "-") && isIBAN(strings.ToUpper(iban)) {
				return i + 1
			}
		case (c == ' ' || c == '-') && text[i-1] != ' ' && text[i-1] != '-':
		default:
			return 0
		}
	}
	return 0
}

// isIBAN reports whether the check digits are right: as a number, with letters as 10 to 35, the
// IBAN leaves the remainder 1 when divided by 97.
func isIBAN(iban string) bool {
	rest := 0
	for _, c := range iban[4:] + iban[:4] {
		if c >= 'A' {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	return rest == 1
}
