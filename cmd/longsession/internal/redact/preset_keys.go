package redact

import (
	"regexp"
	"strings"

	"github.com/adk-go-ext/longsession/internal/secrets"
)

// keyRules find keys by the forms of their issuers, and values by the names that people give them.
var keyRules = []rule{issued, assignment, password, option, header, credentials}

// issued finds keys with a form of their own.
var issued = form(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)|`+
	`\b(?:(?:AC|SK)[a-f0-9]{32}|\d{8,10}:AA[A-Za-z0-9_-]{33}|hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]+`+ // Twilio, Telegram, Slack
	issuedForms()+`)`, "", nil)

func issuedForms() (forms string) {
	for _, key := range secrets.Keys {
		forms += `|(?:` + strings.ReplaceAll(regexp.QuoteMeta(key.Begins), " ", "|") + `)` + key.Rest
	}
	return forms
}

// passwords matches the names that are only used for passwords.
var passwords = `(?:mot de passe|` + strings.Join(secrets.Passwords, "|") + `)`

// assignment is a value under a name for secrets. The name may be quoted, as in JSON, or be the end
// of a longer name, as in AWS_SECRET_ACCESS_KEY.
var assignment = form(`(?i)(?:secret|credentials?|token|`+passwords+`|(?:`+strings.Join(secrets.OfKeys, "|")+`)[_ -]?key)`+
	announced+`([^\s"'<>(){}\[\],;]{6,}\(?)`, "", secret)

// announced is the text between the name of a value and the value.
const announced = `["'\]]*\s{0,3}(?:=>|->|:=|==?|:|\b(?:is|was|ist|war|lautet|est|es)\b:?)\s{0,3}["']{0,2}`

// password is a value under a name that is only used for passwords. It may be a number.
var password = form(`(?i)`+passwords+
	announced+`(\d{4,})(?:[^\w.:/-]|[.](?:\s|$)|$)`, "", nil)

// option is a secret on a command line, such as that of --password, or the password in -u
// NAME:PASSWORD.
var option = form(`(?i)(?:--?(?:`+passwords+`|pass|token|secret|api[_-]?key)[ =]|(?:^|\s)(?:-u|--user)[ =]?["']?[^\s:"']+:)["']?([^\s"'<>(){}\[\],;]{6,}\(?)`, "", secret)

// header is the value of an HTTP header that authenticates.
var header = form(`(?i)\b(?:bearer|basic|authorization: *token)\s+([A-Za-z0-9._~+/-]{16,}={0,2}\(?)`, "", secret)

// credentials is the password in an address.
var credentials = form(`\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s:/@"'<>]*:([^\s/?#"'<>]{3,})@`, "", nil)

// reference is what programs and manuals write in the place of a secret: a variable, a member, a
// call, a placeholder.
var reference = regexp.MustCompile(`(?i)^(?:[$%]|(?:os|process|env|config|self|this|settings|secrets|vault|ctx|req|request|args|options|opts|params)\.|your|my[_-]|example|changeme|x{3,}|\*{3,}|\.{3})|\.(?:com|org|net|io|go|py|js|ts|md|html)(?:/|$)`)

var (
	// mixed matches letters together with digits or signs.
	mixed = regexp.MustCompile(`[A-Za-z].*[0-9!@#%^&*?~+=$]|[0-9!@#%^&*?~+=$].*[A-Za-z]`)
	// changing matches three changes from a small letter to a capital.
	changing = regexp.MustCompile(`(?:[a-z][A-Z].*){3}`)
)

// secret reports whether a value looks like a secret and not like a word, a reference or a call.
func secret(value string) bool {
	call := strings.HasSuffix(value, "(")
	value = strings.TrimRight(value, ".,:!?)")
	return !call && len(value) >= 6 && !strings.HasPrefix(value, Mark) && !reference.MatchString(value) &&
		(mixed.MatchString(value) || len(value) >= 16 && changing.MatchString(value))
}
