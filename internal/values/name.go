package values

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// name adds the name that begins at i, and returns how many tokens it has, 0 for none. The first word of a
// sentence is in capitals anyway, so it begins a name only if another such word follows, and says something.
func (f *finder) name(t []token, i int) int {
	isName := func(k int) bool {
		if t[k].class == classID {
			return isUpper(t[k].text[0]) && !strings.ContainsAny(t[k].text, "_:")
		}
		return t[k].class == classWord && unicode.IsUpper(first(t[k].text)) && !neverName[t[k].lower] && !months[t[k].lower] && !weekdays[t[k].lower]
	}
	if f.fromTool || !isName(i) {
		return 0
	}
	to := i + 1
	for to < len(t) && to-i < 6 {
		if t[to-1].end == t[to].begin || t[to].begin-t[to-1].end > 1 {
			break
		}
		if isName(to) {
			to++
			continue
		}
		if t[to].class == classNumber && to == i+1+(to-i-1) && isDigits(t[to].text) && len(t[to].text) <= 4 && t[to-1].class != classID { // Type 2
			to++
			continue
		}
		if (joins[t[to].lower] || t[to].text == "&") && !isNumbered(t[to-1]) && to+1 < len(t) && isName(to+1) {
			to += 2
			continue
		}
		break
	}
	from := i
	if begins(t, i) && (to == i+1 || stop[t[i].lower] || openers[t[i].lower]) {
		if from = i + 1; from >= to {
			return 0
		}
		if joins[t[from].lower] {
			from++
		}
	}
	if from >= to || to-from == 1 && t[from].class == classID {
		return to - i - 1 // the caller takes the identifier
	}
	if to-from > 1 && isNumbered(t[to-1]) { // Order A-17
		f.add(f.is(kindID, t, from), joined(t[from:to-1]), t[to-1].text)
		return to - i
	}
	core := joined(t[from:to])
	core = strings.TrimSuffix(strings.TrimSuffix(core, "'s"), "’s")
	if utf8.RuneCountInString(core) < 2 || !strings.ContainsFunc(core, unicode.IsLetter) || chatter[strings.ToLower(core)] || openers[strings.ToLower(core)] {
		return to - i
	}
	if to < len(t) && t[to].class == classPunct && strings.Contains(t[to].text, ":") && t[to-1].end == t[to].begin { // Reservation ID: EHGLP3
		return to - i
	}
	f.add(kindName, "", core)
	return to - i
}

// isNumbered reports whether a token is an identifier with a digit.
func isNumbered(t token) bool {
	return t.class == classID && strings.ContainsAny(t.text, "0123456789")
}

// joined returns tokens with a space between each two.
func joined(t []token) string {
	var b strings.Builder
	for i := range t {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t[i].text)
	}
	return b.String()
}

// begins reports whether the token at i is the first word of a sentence, a quotation or a list item.
func begins(t []token, i int) bool {
	for i--; i >= 0; i-- {
		if t[i].class != classPunct {
			return false
		}
		if strings.ContainsAny(t[i].text, ":\"*#>([-—") || strings.Contains(t[i].text, "“") {
			return true
		}
		if !strings.Contains(t[i].text, ",") {
			continue
		}
		return false
	}
	return true
}

var (
	joins     = set("of the de la van von der di du del and für und et")
	neverName = set("i i'm i've i'll i'd a an the and but or so if it it's that this my your our we you he she they is are was were not no yes ok okay mr mrs ms dr")
	openers   = set("hi hello hey dear thanks thank please sorry well oh great good sure absolutely certainly of course here there some many most also then now today " +
		"just maybe perhaps however though although while since because what when where who why how which whose have has had do does did can could would should will may might let " +
		"lately recently speaking one two three another each every all both either neither in on at by for from with without after before during until as to into over under between " +
		"first second third next last finally overall additionally moreover remember consider try use add make get keep take give look see yeah wow nice guess")
)
