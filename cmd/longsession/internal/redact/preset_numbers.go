package redact

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/adk-go-ext/longsession/internal/secrets"
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

// cardRules find numbers of payment cards in one piece or in groups: with blanks and dashes, or four
// groups of four that are separated by the same other sign or by line breaks.
var cardRules = []rule{
	grouped(`\d+`, `[ -]{1,3}`, "-./:", isCard),
	form(`\d{4}(?:(?:\.\d{4}){3}|(?:/\d{4}){3}|(?:_\d{4}){3}|(?:\r?\n\d{4}){3})`, "-./:", isCard),
}

// isCard reports whether a number can be that of a card, by its issuer, its length and its check
// digit (ISO/IEC 7812). It refuses a number of equal digits, and one whose first twelve digits have a
// group of fewer than four.
func isCard(text string) bool {
	number := digits(text)
	if !secrets.Issuers.MatchString(number) || len(number) > 19 || strings.Count(number, number[:1]) == len(number) {
		return false
	}
	seen := 0
	for _, group := range strings.FieldsFunc(text, func(char rune) bool { return char < '0' || char > '9' }) {
		if seen += len(group); len(group) < 4 && seen < 12 {
			return false
		}
	}
	return secrets.Luhn([]byte(number))
}

// ibans has the countries with IBANs and their lengths, from the registry of ISO 13616.
const ibans = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 " +
	"FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 " +
	"MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 " +
	"ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"

// ibanStart matches at least the fifteen characters of the shortest of them.
var ibanStart = regexp.MustCompile(`^[A-Za-z]{2}[ -]?\d[ -]?\d.{11}`)

// isIBAN reports whether a number is a bank account with the length for its country and the right
// check digits: as a number, with letters as 10 to 35, it leaves the remainder 1 when divided by 97.
func isIBAN(text string) bool {
	if !ibanStart.MatchString(text) {
		return false
	}
	iban := strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(text))
	if !strings.Contains(ibans, iban[:2]+strconv.Itoa(len(iban))) {
		return false
	}
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
