package values

import "strings"

// addRange adds the tokens from..to with the words before them.
func (f *finder) addRange(kind string, s *sentence, t []token, from, to int) {
	f.add(kind, context(t, from), s.text[t[from].begin:t[to-1].end])
}

// context returns the two words before a value that say what it is.
func context(t []token, at int) string {
	var words []string
	for i := at - 1; i >= 0 && i >= at-8 && len(words) < 2; i-- {
		if t[i].class == classPunct {
			if strings.ContainsAny(t[i].text, ".;!?") || len(words) > 0 && strings.ContainsAny(t[i].text, ",:()：") {
				break
			}
			continue
		}
		if len(words) > 0 && (t[i].lower == "and" || clauses[t[i].lower]) {
			break
		}
		if numberWords[t[i].lower] || t[i].lower == "x" && i > 0 && t[i-1].class == classNumber { // 170 x 240
			continue
		}
		if t[i].class == classWord && len(t[i].text) <= 24 && !stop[strings.TrimSuffix(t[i].lower, "'s")] || t[i].class == classID && len(t[i].text) <= 24 && !isSecret(t[i].text) {
			words = append(words, t[i].text)
		}
	}
	if len(words) == 2 {
		return words[1] + " " + words[0]
	}
	return strings.Join(words, "")
}

// idContext returns the word before an identifier if it is directly before it, or before "is" and "number". In "the
// money back for A-17", no word says what A-17 is.
func (f *finder) idContext(t []token, at int) string {
	if f.fromTool || !strings.ContainsAny(t[at].text, "0123456789") || isLower(t[at].text[0]) && !isDigit(t[at].text[0]) {
		return ""
	}
	k := at - 1
	for k >= 0 && (isVerbs[t[k].lower] || t[k].class == classPunct && !strings.ContainsAny(t[k].text, ".,;!?")) {
		k--
	}
	if k < 0 || stop[t[k].lower] {
		return ""
	}
	before := context(t, at)
	if head, last, found := strings.Cut(before, " "); found && !vague[strings.ToLower(last)] {
		return last
	} else if found {
		return head + " " + last
	}
	return before
}

// vague are words before an identifier that need the one before them: "passport number X4829917".
var vague = set("number no code id ref reference key named called")

var clauses = set("because but and so which who when while if that although since")

// stop are words that say nothing about a value.
var stop = set("a an and are as at be been being but by can could d did do does doing don for from had has have having he her hers him his how i if in into is isn " +
	"it its itself just let ll m me my of on or our ours re s she should so some such t than that the their theirs them then there these they this those to too us ve " +
	"very was we were what when where which while who whom whose why will with would you your yours i'm i've i'll i'd it's that's about around only over under almost nearly " +
	"up out off no not also well really even still already now one ones per more most much many any all both each every other another between within after before during " +
	"until since through like get got gets go goes going went make made makes take took want wants need needs know think feel said say says yes ok please thanks here again back " +
	"don't didn't doesn't isn't wasn't can't won't you're we're they're he's she's there's let's approximately roughly least exactly every maybe actually")
