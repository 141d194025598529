// Package secrets has the forms of keys and the names of passwords, once for all that looks for secrets. Who must
// leave nothing in, in doubt, takes the beginnings alone; who must take nothing else out, the whole forms.
package secrets

import (
	"regexp"
	"strings"
)

// Key is a form of keys: what they begin with, one of several separated by blanks, and a regular expression for the
// rest.
type Key struct{ Begins, Rest string }

// Keys are the forms that issuers document.
var Keys = []Key{
	{"AKIA ASIA ABIA ACCA", `[A-Z2-7]{16}`}, // AWS
	{"glpat- gldt- glrt- glsoat- glptt- glcbt- glagent- glft- github_pat_ ya29. GOCSPX- nvapi-", `[A-Za-z0-9_-]{20,}`},        // GitLab, GitHub, Google, Nvidia
	{"ghp_ gho_ ghu_ ghs_ ghr_ hf_ npm_ lin_api_ ntn_ secret_ gsk_ xai-", `[A-Za-z0-9]{30,}`},                                 // GitHub, Hugging Face, npm, Linear, Notion, Groq, xAI
	{"sk-", `(?:ant-|proj-|svcacct-|or-)?(?:[A-Za-z0-9_-]*[0-9A-Z][A-Za-z0-9_-]{18,}|[A-Za-z0-9_-]{18,}[0-9][A-Za-z0-9_-]*)`}, // OpenAI, Anthropic, OpenRouter
	{"sk_live sk_test rk_live rk_test pk_live pk_test", `_[A-Za-z0-9]{16,}`},                                                  // Stripe
	{"shpat_ shpca_ shppa_ shpss_ sk_ dop_v1_", `[a-fA-F0-9]{32,}`},                                                           // Shopify, ElevenLabs, DigitalOcean
	{"xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-", `[A-Za-z0-9-]{10,}`},                                                        // Slack
	{"xapp-", `\d-[A-Za-z0-9-]{10,}`},
	{"whsec_", `[A-Za-z0-9+/=]{24,}`}, // Stripe
	{"AIza pypi-", `[A-Za-z0-9_-]{35,}`},
	{"eyJ", `[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`}, // JSON Web Token
	{"SG.", `[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`},                       // SendGrid
	{"glsa_", `[A-Za-z0-9]{32}_[a-f0-9]{8}`},                                // Grafana
	{"sq0", `[a-z]{3}-[A-Za-z0-9_-]{22,}`},                                  // Square
	{"AGE-SECRET-KEY", `-1[A-Z0-9]{58}`},
}

// Passwords are the words for passwords alone, in one word and in small letters.
var Passwords = []string{"password", "passwd", "passphrase", "passcode", "pwd", "passwort", "kennwort", "contraseña", "senha", "пароль",
	"密码", "口令", "パスワード", "暗証番号"}

// OfKeys are the words in front of "key" in the name of a key.
var OfKeys = []string{"api", "access", "account", "auth", "private", "secret", "signing", "encryption", "master", "shared"}

// Issuers matches the numbers that issuers of cards give, by their first digits and their lengths.
var Issuers = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`4\d{12}(?:\d{3}){0,2}`, // Visa
	`(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}`, // Mastercard
	`3[47]\d{13}`, // American Express
	`(?:60\d\d|64[4-9]\d|65\d\d|62\d\d|81\d\d)\d{12,}`, // Discover, RuPay, UnionPay
	`3(?:0[0-5]|[689]\d)\d{11,}`,                       // Diners Club
	`(?:352[89]|35[3-8]\d)\d{12,}`,                     // JCB
	`220[0-4]\d{12,}`,                                  // Mir
	`(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{8,}`, // Maestro
}, "|") + `)$`)

// user is the user and the password in an address, also in one that lacks its scheme.
var user = regexp.MustCompile(`(?i)^([a-z][a-z0-9+.-]*://)[^/?#\s]+@|^[^/?#@\s:]*:[^/?#\s]+@`)

// Shown returns an address as a message may have it: without user and password.
func Shown(address string) string { return user.ReplaceAllString(address, "${1}[redacted]@") }

// Luhn checks the last digit of the number of a card (ISO/IEC 7812).
func Luhn(number []byte) bool {
	sum := 0
	for i := range number {
		value := int(number[len(number)-1-i]-'0') * (1 + i%2)
		sum += value/10 + value%10
	}
	return sum%10 == 0
}
