package summarizer

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// answering returns the sentences that are about the conversation, and their words. It drops
// sentences about the task: markers such as "N/A", announcements ("Here is the summary"), offers,
// refusals, and requests for the text to summarize. evades reports whether the text begins with a
// refusal or such a request. answering stops as soon as no further sentence can make the text
// worthless.
func answering(said []string, w *window) (kept []string, words *vocabulary, evades bool) {
	all, words := newVocabulary(), newVocabulary()
	for _, s := range said {
		all.add(s)
	}
	for _, s := range said {
		k := kindOf(s, w)
		if k == report {
			kept = append(kept, s)
			if words.add(s); !evades && words.suffices(all.total) {
				break
			}
		} else if k == evasion && len(kept) == 0 {
			evades = true
		}
	}
	return kept, words, evades
}

// kind classifies a sentence of an answer.
type kind int

const (
	report  kind = iota // about the conversation: "Order A-17 was refunded."
	filler              // an introduction, apology, offer or empty marker: "Here is the summary:"
	evasion             // refuses the task or asks for its input: "I can't help with that."
)

// longestEvasion is the maximum length of an evasion, in runes. Refusals are short: a longer
// sentence that begins like a refusal goes on to report something.
const longestEvasion = 300

func kindOf(sentence string, w *window) kind {
	s := fold(sentence)
	if utf8.RuneCountInString(s) > longestEvasion {
		return report
	}
	s, labeled := withoutLabel(withoutQuotes(s))
	k := patterns().kindOf(s)
	if k == report {
		return report
	}
	if k == evasion && labeled && w.said(strings.Trim(s, quotationMarks+".!。！ ")) {
		return report // "assistant: I can't help with that" quotes the window
	}
	if w.keeps(sentence) > 0 {
		return report
	}
	return k
}

// fold normalizes a sentence for the patterns: lower case, plain apostrophes and spaces, no
// invisible characters.
func fold(s string) string {
	s = strings.Map(visible, strings.ToLower(s))
	s = foldMarks.Replace(s)
	return strings.Join(strings.Fields(s), " ")
}

var foldMarks = strings.NewReplacer("’", "'", "‘", "'", "`", "'", "´", "'", "ʼ", "'", "！", "!", "，", ",", "：", ":", "؛", ";", "،", ",", "**", "", "__", "")

const quotationMarks = `"“”„«»「」『』'`

// withoutQuotes strips quotation marks around the whole sentence. It keeps the marks if only part
// of the sentence is quoted, because the rest then reports the quotation:
//
//	"I can't help with that."               stripped: the model refuses
//	"I can't help," the assistant replied.  kept: a report
func withoutQuotes(s string) string {
	trimmed := strings.Trim(s, quotationMarks+" ")
	if !strings.ContainsAny(trimmed, `"“”„«»「」『』`) {
		return trimmed
	}
	return s
}

// withoutLabel strips labels such as "summary:". It also strips a speaker's name for the model
// itself ("assistant:"), and then returns speaker = true.
func withoutLabel(s string) (rest string, speaker bool) {
	for _, l := range []*regexp.Regexp{summaryLabel, speakerLabel} {
		if at := l.FindStringIndex(s); at != nil {
			speaker = speaker || l == speakerLabel
			s = withoutQuotes(strings.TrimSpace(s[at[1]:]))
		}
	}
	return s, speaker
}

// patternSet holds the patterns of all languages, compiled once.
type patternSet struct {
	opener, apology, refusal, afterApology, request, introduction *regexp.Regexp
	markers                                                       map[string]bool
}

func (p *patternSet) kindOf(s string) kind {
	if p.isMarker(s) || p.introduction.MatchString(s) {
		return filler
	}
	if p.request.MatchString(s) {
		return evasion
	}
	rest, sorry := p.withoutOpeners(s)
	switch {
	case rest == "", p.isMarker(rest):
		return filler
	case p.introduction.MatchString(rest):
		return filler
	case p.refusal.MatchString(rest) && !namesTheUser.MatchString(rest), p.request.MatchString(rest):
		return evasion
	case sorry && p.afterApology.MatchString(rest):
		return evasion
	default:
		return report
	}
}

// withoutOpeners strips leading apologies and courtesies: "I'm sorry, but I can't help" becomes "i
// can't help". sorry reports whether it stripped an apology.
func (p *patternSet) withoutOpeners(s string) (rest string, sorry bool) {
	for {
		s = strings.TrimLeft(s, " ,.;:!¡¿?—–-…。、،।")
		end := wordsIn(p.opener, s)
		if end == 0 {
			return s, sorry
		}
		sorry = sorry || wordsIn(p.apology, s) > 0
		s = s[end:]
	}
}

// wordsIn returns the length of the longest match at the beginning of s that ends at a word
// boundary, or 0. In scripts without spaces, every character is a boundary.
func wordsIn(re *regexp.Regexp, s string) int {
	at := re.FindStringIndex(s)
	if at == nil || at[1] == 0 {
		return 0
	}
	last, _ := utf8.DecodeLastRuneInString(s[:at[1]])
	next, _ := utf8.DecodeRuneInString(s[at[1]:])
	if !setApart(last) || !setApart(next) {
		return at[1]
	}
	return 0
}

// setApart reports whether r belongs to a script with spaces between words.
func setApart(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) &&
		!unicode.In(r, denseScripts...) && !unicode.In(r, sparseScripts...)
}

func (p *patternSet) isMarker(s string) bool {
	s = strings.ReplaceAll(s, "_", " ")
	if _, value, ok := strings.Cut(s, ": "); ok && len(s) < 60 { // "Open questions: none"
		s = value
	}
	s = strings.Trim(s, quotationMarks+` .,;:!?()[]{}<>-–—…。、！？#*/\|`)
	return s == "" || p.markers[s]
}

var patterns = sync.OnceValue(func() *patternSet {
	var openers, apologies, refusals, after []string
	for _, l := range languages {
		openers = append(openers, l.openers, l.apologies)
		apologies = append(apologies, l.apologies)
		refusals = append(refusals, l.refusals)
		after = append(after, l.afterApology)
	}
	p := &patternSet{
		opener:       anchored(openers),
		apology:      anchored(apologies),
		refusal:      anchored(refusals),
		afterApology: anchored(after),
		request:      anchored(requests),
		introduction: anchored(introductions),
		markers:      map[string]bool{},
	}
	for _, m := range strings.Split(markers, ",") {
		p.markers[strings.TrimSpace(m)] = true
	}
	p.opener.Longest()
	p.apology.Longest()
	return p
})

// anchored returns a pattern that matches any of the alternatives at the beginning of a text.
func anchored(alternatives []string) *regexp.Regexp {
	alternatives = slices.DeleteFunc(slices.Clone(alternatives), func(s string) bool { return s == "" })
	return regexp.MustCompile(`^(?:` + strings.Join(alternatives, "|") + `)`)
}
