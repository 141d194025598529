package kept

import (
	"strings"
	"unicode"

	"github.com/adk-go-ext/longsession/internal/values"
)

// terms are names with digits that everybody knows.
var terms = set("w3c utf8 utf16 base64 base32 sha1 sha256 sha512 md5 http2 http3 oauth2 i18n l10n a11y k8s es5 es6 es7 es2015 es2017 es2018 es2019 es2020 es2021 es2022 es2023 " +
	"x86 x64 arm64 amd64 int8 int16 int32 int64 uint8 uint32 uint64 float32 float64 mp3 mp4 s3 ec2 ipv4 ipv6 p50 p90 p95 p99 2d 3d v1 v2 v3 h1 h2 h3 h4 utf-8 utf-16 sha-1 sha-256 ed25519 aes256 " +
	"top-1 b2b b2c q1 q2 q3 q4 e2e iso8601 uuidv4 uuidv7 rfc3339 neo4j")

// codeCamels is how many words in camel case a source has that is about code.
const codeCamels = 50

// names are some in camel case that everybody knows.
var names = set("javascript typescript github gitlab postgresql mysql mongodb graphql youtube linkedin whatsapp facebook paypal openai chatgpt iphone ipad macos macbook ios " +
	"wordpress powerpoint onedrive icloud ebay tiktok fedex dropbox jetbrains webassembly opentelemetry websocket websockets latex")

func (c *checker) id(v values.Exact) bool {
	text := strings.TrimSuffix(strings.TrimSuffix(v.Text, "()"), "'s")
	if at := strings.LastIndexByte(text, '/'); at > 0 && len(text)-at <= 3 && isDigits(text[at+1:]) { // how many arguments a function has
		text = text[:at]
	}
	if at := strings.Index(c.unit, v.Text); at > 0 && c.unit[at-1] == '<' && strings.HasPrefix(c.unit[at+len(v.Text):], ">") {
		return false // a placeholder
	}
	if at := strings.LastIndexAny(text, "-–"); at > 0 && isDigit(text[at-1]) && isDigits(strings.TrimLeft(text[at:], "-–")) && c.has(text[:at]) { // "task.4-7"
		return false
	}
	if isDigits(strings.Map(func(r rune) rune {
		if strings.ContainsRune("lLC:-–", r) {
			return -1
		}
		return r
	}, text)) { // lines of a file: L10-L20
		return false
	}
	lower := strings.ToLower(strings.Trim(text, "-_#@."))
	if terms[lower] || c.has(text) || c.has(strings.TrimSuffix(text, "s")) {
		return false
	}
	missing, all := c.missing(text)
	switch {
	case strings.ContainsAny(text, "0123456789"):
		spaced := spaceDigits(text)
		return !c.has(spaced) && !c.has(strings.TrimPrefix(spaced, "v ")) && !numbersSmall(text)
	case strings.ToUpper(text) == text: // a word in capitals
		return false
	case strings.ContainsAny(text, "_:#@"), strings.HasPrefix(text, "--"), all >= 3:
		return missing > 0
	case names[lower] || c.camels < codeCamels: // such as LaGuardia
		return false
	}
	return missing == all && !c.foreign
}

// spaceDigits puts a space where letters and digits meet: "LH 441" for "LH441".
func spaceDigits(text string) string {
	var b strings.Builder
	var before rune
	for _, r := range text {
		if unicode.IsLetter(before) && unicode.IsDigit(r) || unicode.IsDigit(before) && unicode.IsLetter(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// numbersSmall reports whether a word is letters with a small number behind them, as in "phase2" and "T-5".
func numbersSmall(text string) bool {
	at := strings.IndexAny(text, "0123456789")
	return at > 0 && isDigits(text[at:]) && len(text)-at < 3 && atoi(text[at:]) < smallBelow &&
		!strings.ContainsFunc(strings.TrimRight(text[:at], "-_#"), func(r rune) bool { return !unicode.IsLetter(r) })
}

// path judges each of its components: a summary may write a path from where it is another one's.
func (c *checker) path(text string) bool {
	if at := strings.LastIndexAny(text, ":#"); at > 1 && at+1 < len(text) && (isDigit(text[at+1]) || text[at+1] == 'L') { // a line
		text = text[:at]
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '/' || r == '\\' }) {
		if c.has(part) {
			continue
		}
		base, extension := part, ""
		if at := strings.LastIndexByte(part, '.'); at > 0 {
			base, extension = part[:at], part[at+1:]
		}
		if !c.has(base) || !c.knows(extension) && len(extension) > 3 {
			return true
		}
	}
	return false
}

var ofLinks = set("http https www com org net io html htm pull issues issue blob tree main master index")

func (c *checker) link(text string) bool {
	if at := strings.Index(text, "://"); at >= 0 {
		text = text[at+3:]
	}
	text, _, _ = strings.Cut(text, "#")
	text = strings.TrimPrefix(text, "www.")
	host, rest, _ := strings.Cut(text, "/")
	if !c.has(host) {
		return true
	}
	unknown := false
	eachAtom(rest, func(a atom) {
		c.steps++
		unknown = unknown || !c.atoms[a.hash] && (a.joined == 0 || !c.atoms[a.joined]) && !ofLinks[strings.ToLower(rest[a.begin:a.end])]
	})
	return unknown
}

// quote judges words: at least half of several ones must be the source's. One or two may be a name that the summary gives.
func (c *checker) quote(text string) bool {
	missing, all := c.missing(text)
	return !c.foreign && all >= 3 && missing*2 >= all
}
