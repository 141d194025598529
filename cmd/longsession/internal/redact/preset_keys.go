package redact

import (
	"regexp"
	"strings"
)

// keyRules find keys by the forms of their issuers, and values by the names that people give them.
var keyRules = []rule{issued, assignment, password, option, header, credentials}

// issued finds keys with a form of their own, as their issuers document it.
var issued = form(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)|`+
	`\b(?:`+strings.Join([]string{
	`(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}`,                                     // AWS
	`gh[pousr]_[A-Za-z0-9]{36,}`,                                              // GitHub
	`github_pat_[A-Za-z0-9_]{22,}`,                                            //
	`gl(?:pat|dt|rt|soat|ptt|cbt|agent|ft)-[A-Za-z0-9_-]{20,}`,                // GitLab
	`xox[abeoprs]-[A-Za-z0-9-]{10,}`,                                          // Slack
	`xapp-\d-[A-Za-z0-9-]{10,}`,                                               //
	`sk-(?:ant-|proj-|svcacct-|or-)?[A-Za-z0-9_-]*[0-9A-Z][A-Za-z0-9_-]{18,}`, // OpenAI, Anthropic, OpenRouter
	`(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}`,                             // Stripe
	`whsec_[A-Za-z0-9+/=]{24,}`,                                               //
	`AIza[A-Za-z0-9_-]{35}`,                                                   // Google
	`ya29\.[A-Za-z0-9_-]{20,}`,                                                //
	`GOCSPX-[A-Za-z0-9_-]{20,}`,                                               //
	`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`,         // JSON Web Token
	`npm_[A-Za-z0-9]{36}`,
	`pypi-[A-Za-z0-9_-]{50,}`,
	`hf_[A-Za-z0-9]{30,}`,                        // Hugging Face
	`gsk_[A-Za-z0-9]{40,}`,                       // Groq
	`xai-[A-Za-z0-9]{60,}`,                       //
	`dop_v1_[a-f0-9]{64}`,                        // DigitalOcean
	`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, // SendGrid
	`shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`,         // Shopify
	`glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}`,           // Grafana
	`(?:AC|SK)[a-f0-9]{32}`,                      // Twilio
	`\d{8,10}:AA[A-Za-z0-9_-]{33}`,               // Telegram
	`AGE-SECRET-KEY-1[A-Z0-9]{58}`,               // age
	`hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]+`,
}, "|")+`)`, "", nil)

// assignment is a value under a name for secrets. The name may be quoted, as in JSON, or be the end
// of a longer name, as in AWS_SECRET_ACCESS_KEY.
var assignment = form(`(?i)(?:password|passwd|passphrase|passwort|kennwort|contraseña|mot de passe|secret|credentials?|pwd|`+
	`(?:api|access|account|auth|private|secret|signing|encryption|master|shared)[_ -]?key|token|apikey)`+
	announced+`([^\s"'<>(){}\[\],;]{6,}\(?)`, "", secret)

// announced is the text between the name of a value and the value.
const announced = `["'\]]*\s{0,3}(?:=>|->|:=|==?|:|\b(?:is|was|ist|war|lautet|est|es)\b:?)\s{0,3}["']{0,2}`

// password is a value under a name that is only used for passwords. It may be a number.
var password = form(`(?i)(?:password|passwd|passphrase|passcode|passwort|kennwort|contraseña|mot de passe|pwd)`+
	announced+`(\d{4,})(?:[^\w.:/-]|[.](?:\s|$)|$)`, "", nil)

// option is a secret on a command line, such as that of --password, or the password in -u
// NAME:PASSWORD.
var option = form(`(?i)(?:--?(?:password|passwd|passphrase|pass|token|secret|api[_-]?key)[ =]|(?:^|\s)(?:-u|--user)[ =]?["']?[^\s:"']+:)["']?([^\s"'<>(){}\[\],;]{6,}\(?)`, "", secret)

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
