package values

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// classOf returns what a word looks like.
func classOf(w string) class {
	if len(w) > maxToken {
		if strings.Contains(w, "://") {
			return classLink
		}
		return classPunct
	}
	digits, uppers, lowers, others, inside := 0, 0, 0, 0, 0
	humps := 0
	for i := range len(w) {
		switch b := w[i]; {
		case isDigit(b):
			digits++
		case isUpper(b):
			uppers++
			if i > 0 && isLower(w[i-1]) {
				humps++
			}
		case isLower(b):
			lowers++
		case b >= utf8.RuneSelf:
			others++
		default:
			inside++
		}
	}
	switch {
	case strings.HasPrefix(w, "##"): // a heading, or a mark such as ###STOP###
		return classPunct
	case isLink(w):
		return classLink
	case digits > 0 && isDate(w):
		return classDate
	case digits > 0 && isTime(w):
		return classTime
	case digits > 0 && isMoney(w):
		return classMoney
	case digits > 0 && isNumber(w):
		return classNumber
	case isPath(w):
		return classPath
	case digits > 0 && uppers+lowers > 0:
		return classID
	case strings.Contains(w, "_") && uppers+lowers > 2, strings.Contains(w, "::") && inside == 2:
		return classID
	case humps > 0 && lowers > 1 && inside == 0 && !strings.HasPrefix(w, "Mc") && !strings.HasPrefix(w, "Mac") && !chatter[strings.ToLower(w)]:
		return classID
	case uppers >= 2 && lowers == 0 && others == 0 && digits == 0 && len(w) <= 12 && !chatter[strings.ToLower(w)]:
		return classID
	case digits > 0:
		return classNumber // such as +49-30/1234
	case w[0] == '#' && len(w) > 2, w[0] == '@' && len(w) > 2, strings.HasPrefix(w, "--") && len(w) > 3:
		return classID
	}
	return classWord
}

// chatter are words that people write in capitals though they name nothing.
var chatter = set("ok lol omg btw fyi asap ai tv usa uk am pm i a and the not no yes so very really all must never always imo wow diy faq " +
	"warning error info note todo done failed passed true false null none id ids url api json html css js sql xml http https get post put " +
	"delete ui ip utc cli sdk os cpu dob eta mmhg when where who what why how")

func isLink(w string) bool {
	if at := strings.Index(w, "://"); at > 1 {
		return len(w) > at+4
	}
	if strings.HasPrefix(w, "www.") && len(w) > 8 {
		return true
	}
	at := strings.IndexByte(w, '@')
	return at > 0 && strings.LastIndexByte(w, '.') > at+1 && strings.Count(w, "@") == 1 && !strings.Contains(w, "/")
}

// isPath reports whether a word is the path or the name of a file. "and/or" and "24/7" are not.
func isPath(w string) bool {
	slashes := strings.Count(w, "/") + strings.Count(w, `\`)
	ext := extension(w)
	switch {
	case len(w) < 4:
		return false
	case strings.HasPrefix(w, "./") || strings.HasPrefix(w, "../") || strings.HasPrefix(w, "~/"):
		return true
	case w[0] == '/' && (slashes > 1 || len(w) > 4):
		return true
	case len(w) > 3 && w[1] == ':' && w[2] == '\\':
		return true
	case slashes >= 2 && strings.ContainsAny(w, "._-"), slashes >= 1 && ext != "":
		return true
	}
	return ext != "" && knownExtension[ext]
}

func extension(w string) string {
	if at := strings.LastIndexByte(w, ':'); at > 1 && len(w) > at+1 && isDigit(w[at+1]) { // main.go:17
		w = w[:at]
	}
	at := strings.LastIndexByte(w, '.')
	if at < 1 || at+1 == len(w) || len(w)-at > 9 {
		return ""
	}
	for _, r := range w[at+1:] {
		if r >= utf8.RuneSelf || !isLower(byte(r)) && !isDigit(byte(r)) {
			return ""
		}
	}
	return w[at+1:]
}

var knownExtension = set("go mod sum py js ts tsx jsx mjs java kt rs c h cc cpp hpp cs rb php swift scala sh bash zsh ps1 sql md rst txt log csv tsv " +
	"json jsonl yaml yml toml ini cfg conf env xml html htm css scss less vue svelte proto lock pdf doc docx xls xlsx ppt pptx odt png jpg jpeg gif svg webp " +
	"mp3 mp4 mov wav zip tar gz tgz 7z exe dll so bin db sqlite parquet ipynb dart lua pl r tf gradle cmake ics eml")

// isTime reports whether a word is a time of day: 7:30, 7:30am, 7pm, 19h30.
func isTime(w string) bool {
	l := strings.ToLower(w)
	for _, half := range []string{"am", "pm", "a.m", "p.m", "h"} {
		if cut, found := strings.CutSuffix(l, half); found {
			l = cut
			if isDigits(l) && len(l) <= 2 {
				return half != "h"
			}
			break
		}
	}
	first, rest, found := strings.Cut(l, ":")
	if !found {
		first, rest, found = strings.Cut(l, "-")
		return found && len(first) <= 2 && isDigits(first) && (strings.HasSuffix(l, "am") || strings.HasSuffix(l, "pm")) && isDigits(strings.TrimRight(rest, "apm"))
	}
	if len(first) > 2 || !isDigits(first) {
		return false
	}
	from, to, isRange := strings.Cut(strings.ReplaceAll(rest, "–", "-"), "-")
	if isRange && !isTime(to) && !isDigits(to) {
		return false
	}
	min, sec, _ := strings.Cut(from, ":")
	return len(min) == 2 && isDigits(min) && (sec == "" || isDigits(strings.ReplaceAll(sec, ".", "")))
}

func isDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// isDate reports whether a word is a date in digits: 2026-03-02, 2026-03-02T10:00Z, 3/14/2026, 14.03.2026.
func isDate(w string) bool {
	if at := strings.IndexAny(w, "T"); at == 10 {
		w = w[:at]
	}
	for _, sep := range []string{"-", "/", "."} {
		p := strings.Split(w, sep)
		if len(p) == 3 && isDigits(p[0]) && isDigits(p[1]) && isDigits(p[2]) {
			return len(p[0]) == 4 && len(p[1]) <= 2 && len(p[2]) <= 2 || len(p[0]) <= 2 && len(p[1]) <= 2 && (len(p[2]) == 4 || len(p[2]) == 2 && sep == "/")
		}
	}
	return false
}

func isMoney(w string) bool {
	if !strings.ContainsFunc(w, func(r rune) bool { return unicode.Is(unicode.Sc, r) }) {
		return false
	}
	return isNumber(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Sc, r) {
			return -1
		}
		return r
	}, w))
}

// isNumber reports whether a word is a number: with separators, a sign, a percent sign, a range, an ordinal
// ending or a short unit.
func isNumber(w string) bool {
	w = strings.TrimLeft(w, "+-~#±")
	i := 0
	for i < len(w) && (isDigit(w[i]) || i > 0 && i+1 < len(w) && isDigit(w[i+1]) && strings.IndexByte(",./-x:", w[i]) >= 0 || strings.HasPrefix(w[i:], "–") && i > 0) {
		if strings.HasPrefix(w[i:], "–") {
			i += len("–")
			continue
		}
		i++
	}
	if i == 0 {
		return false
	}
	unit := strings.ToLower(strings.TrimLeft(w[i:], "-"))
	return unit == "" || units[unit] || strings.HasPrefix(w[i:], "-") && onlyLetters(unit)
}

func onlyLetters(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
}

var units = set("% k m b bn mm cm km kg g mg ml l lb lbs oz ft in mi mph kmh hz khz mhz ghz kb mb gb tb kib mib gib w kw kwh v s ms us ns h hr hrs min mins d wk " +
	"yr yrs x st nd rd th °c °f ° px pt am pm + c f usd eur gbp")
