package values

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// found is a value of a text.
type found struct {
	kind    string
	core    string // the value itself
	context string // the words before it
	field   string // its name, if it was named by a field
}

func (f *found) text() string {
	if f.context == "" {
		return f.core
	}
	return f.context + " " + f.core
}

// finder finds the values of texts. It is used for one window.
type finder struct {
	out    []found
	cue    bool // the text says that it corrects something
	secret bool // the last sentence announced a secret
	quoted int  // where the last quotation ended
	// fromTool: only identifiers, paths, links and errors.
	fromTool bool
}

// maxFound bounds the values of one text.
const maxFound = 400

// find returns the values of a text. The slice is used again by the next call.
func (f *finder) find(text string, fromTool bool) []found {
	f.out, f.cue, f.secret, f.quoted, f.fromTool = f.out[:0], !fromTool && corrects(text), false, 0, fromTool
	text = withoutCards(withoutKeyBlocks(text))
	eachSentence(text, func(s *sentence) {
		if len(f.out) >= maxFound {
			return
		}
		if strings.TrimSpace(s.text) == LeftOut { // what it stands for is gone
			f.secret = false
			return
		}
		near := secretNear(s.text)
		announced := f.secret
		f.secret = near && endsOpen(s.text)
		if near || announced {
			if strings.TrimSpace(s.text) == "" {
				f.secret = announced
			}
			return
		}
		if !fromTool {
			f.quotes(text, s)
		} else if isFailure(s.text) {
			f.add(kindFailure, "", clip(strings.TrimSpace(s.text), 100))
		}
		f.sentence(s)
	})
	return f.out
}

// field returns the value of a named field, unless it is a secret. The slice is used again by the next call.
func (f *finder) field(kind, name, core string) []found {
	f.out, f.cue = f.out[:0], false
	f.add(kind, name, core)
	if len(f.out) > 0 {
		f.out[0].field = name
	}
	return f.out
}

// endsOpen reports whether a sentence goes on in the next one: "My password is:".
func endsOpen(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") || strings.HasSuffix(s, "=") || strings.HasSuffix(s, " is") || len(s) < 40
}

func (f *finder) add(kind, context, core string) {
	core = strings.TrimSpace(core)
	if core == "" || len(core) > 4*maxToken || !utf8.ValidString(core) || len(f.out) >= maxFound {
		return
	}
	for word := range strings.FieldsSeq(core) {
		if isSecret(word) {
			return
		}
	}
	if isCard(core) {
		return
	}
	if f.cue {
		kind += markCue
	}
	f.out = append(f.out, found{kind: kind, core: core, context: context})
}

// quoteEnds are the closing signs of quotations.
var quoteEnds = map[rune]rune{'“': '”', '«': '»', '„': '“', '《': '》', '「': '」', '『': '』', '"': '"', '`': '`', '‘': '’', '\'': '\''}

// quotes adds the quoted words that begin in a sentence.
func (f *finder) quotes(text string, s *sentence) {
	for i, r := range s.text {
		closing, found := quoteEnds[r]
		at := s.begin + i
		if !found || at < f.quoted {
			continue
		}
		if (r == '"' || r == '`' || r == '\'' || r == '‘') && at > 0 {
			if before, _ := utf8.DecodeLastRuneInString(text[:at]); unicode.IsLetter(before) && !isHan(before) || unicode.IsDigit(before) {
				continue
			}
		}
		rest := text[at+utf8.RuneLen(r):]
		limit := min(len(rest), 160)
		end := strings.IndexRune(rest[:limit], closing)
		for r == '\'' || r == '‘' { // an apostrophe does not end it
			if end < 0 {
				break
			}
			after, _ := utf8.DecodeRuneInString(rest[min(len(rest), end+utf8.RuneLen(closing)):])
			if !unicode.IsLetter(after) || after == utf8.RuneError {
				break
			}
			next := strings.IndexRune(rest[end+utf8.RuneLen(closing):limit], closing)
			if next < 0 {
				end = -1
				break
			}
			end += utf8.RuneLen(closing) + next
		}
		if end <= 0 {
			continue
		}
		inner := rest[:end]
		if strings.ContainsAny(inner, "\n\r") {
			continue
		}
		f.quoted = at + utf8.RuneLen(r) + end + utf8.RuneLen(closing)
		core := strings.TrimSpace(inner)
		if r != '`' {
			core = strings.TrimRight(core, ".,;:!?，。！？")
		}
		words := len(strings.Fields(core))
		if r == '\'' || r == '‘' {
			if words > 6 || core == "" || !unicode.IsUpper(first(core)) {
				continue
			}
		}
		if words <= 10 && utf8.RuneCountInString(core) <= 60 && utf8.RuneCountInString(core) > 1 && !chatter[strings.ToLower(core)] && !secretNear(core) {
			f.add(kindQuote, "", core)
		}
	}
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// sentence adds the values of a sentence.
func (f *finder) sentence(s *sentence) {
	t := s.tokens
	before := len(f.out)
	for i := 0; i < len(t); i++ {
		if len(f.out) >= maxFound {
			return
		}
		switch t[i].class {
		case classLink:
			f.add(kindLink, "", t[i].text)
		case classPath:
			if i == 0 || !strings.HasSuffix(t[i-1].text, "<") { // </tag>
				f.add(kindPath, "", t[i].text)
			}
		case classID:
			if n := f.name(t, i); n > 1 {
				i += n - 1
				continue
			}
			f.add(f.is(kindID, t, i), f.idContext(t, i), t[i].text)
		case classDate, classTime:
			if f.fromTool {
				continue
			}
			from, to := dateAround(t, i)
			f.addRange(f.is(kindDate, t, from), s, t, from, to)
			i = max(i, to-1)
		case classMoney:
			if f.fromTool {
				continue
			}
			to := i + 1
			if to < len(t) && scales[t[to].lower] {
				to++
			}
			f.addRange(f.is(kindMoney, t, i), s, t, i, to)
			i = to - 1
		case classNumber:
			i = f.number(s, i)
		case classHan:
			if !f.fromTool {
				f.han(t, i)
			}
		case classWord:
			if f.fromTool {
				continue
			}
			i = f.word(s, i)
		}
	}
	if !f.fromTool {
		f.own(s, f.out[before:])
	}
}

// is returns a kind, marked if a word such as "is" is before the value.
func (f *finder) is(kind string, t []token, at int) string {
	for i := at - 1; i >= 0 && i >= at-3; i-- {
		switch {
		case isWords[t[i].lower], t[i].class == classPunct && (strings.ContainsAny(t[i].text, ":=：")):
			return kind + markIs
		case t[i].class != classWord || !stop[t[i].lower]:
			return kind
		}
	}
	return kind
}

var (
	isWords = set("is are was were be becomes equals now to")
	isVerbs = set("is are was were be now actually")
)

var scales = set("thousand million billion trillion k m b bn dollars euros pounds yen yuan usd eur gbp per")

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

// number adds the number at i with the word behind it, and returns the last token that it took.
func (f *finder) number(s *sentence, i int) int {
	t := s.tokens
	if from, to := dateAround(t, i); to > from+1 || from == i && isYear(t, i) {
		if !f.fromTool {
			f.addRange(f.is(kindDate, t, from), s, t, from, to)
		}
		return max(i, to-1)
	}
	if spacedCard(t, i) {
		for i+1 < len(t) && isDigits(t[i+1].text) {
			i++
		}
		return i
	}
	if f.fromTool {
		return i
	}
	digits := strings.Count(t[i].text, "") - 1
	if isDigits(t[i].text) && digits > 6 { // a number of something, such as an order
		f.add(f.is(kindID, t, i), context(t, i), t[i].text)
		return i
	}
	to := i + 1
	if to < len(t) && t[to].class == classPunct && t[to].text == "%" {
		to++
	}
	for to+1 < len(t) && (t[to].lower == "x" || t[to].text == "×") && t[to+1].class == classNumber { // 170 x 240
		to += 2
	}
	if to < len(t) && (t[to].class == classWord && (!stop[t[to].lower] || len(t[to].text) == 1 && units[t[to].lower]) || t[to].class == classNumber && units[strings.ToLower(t[to].text)]) {
		to++
		if to < len(t) && t[to].class == classWord && t[to-1].class == classWord && (measured[t[to-1].lower] || strings.Contains(t[to-1].text, "-")) && !stop[t[to].lower] {
			to++
		}
	}
	if to == i+1 && (t[i].begin == 0 || i == 0) && to < len(t) && t[to].class == classPunct && strings.HasPrefix(t[to].text, ".") {
		return i // "1." of a list
	}
	before := context(t, i)
	if to == i+1 && before == "" {
		return i // a number alone means nothing
	}
	f.add(f.is(kindNumber, t, i), before, s.text[t[i].begin:t[to-1].end])
	return to - 1
}

// measured are words behind a number that need the next one: "38 square feet".
var measured = set("square cubic business working new different more full small large big other hot cold")

// isYear reports whether the number at i is a year.
func isYear(t []token, i int) bool {
	w := t[i].text
	if len(w) != 4 || !isDigits(w) || w < "1900" || w > "2099" || i == 0 {
		return false
	}
	return yearBefore[t[i-1].lower] || months[t[i-1].lower]
}

var (
	yearBefore = set("in since until by from of late early mid year during around before after between and")
	months     = set("january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec")
	weekdays   = set("monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays")
	dayWords   = set("today tomorrow tonight yesterday noon midnight")
	halves     = set("am pm a.m p.m o'clock")
)

// dateAround returns the tokens of the date or time at i: the month, the year and the time of day around it. It
// returns i, i+1 if there is nothing around.
func dateAround(t []token, i int) (from, to int) {
	from, to = i, i+1
	isDay := func(k int) bool {
		w := strings.TrimRight(strings.ToLower(t[k].text), "stndrh")
		return t[k].class == classNumber && len(w) <= 2 && isDigits(w)
	}
	month := func(k int) bool {
		return k >= 0 && k < len(t) && t[k].class == classWord && months[strings.TrimSuffix(t[k].lower, ".")]
	}
	comma := func(k int) int {
		if k < len(t) && t[k].class == classPunct && (t[k].text == "," || t[k].text == ".") {
			return k + 1
		}
		return k
	}
	year := func(k int) bool {
		return k < len(t) && t[k].class == classNumber && len(t[k].text) == 4 && isDigits(t[k].text) && (t[k].text[:2] == "19" || t[k].text[:2] == "20")
	}
	switch {
	case isDay(i) && month(i-1):
		from = i - 1
	case isDay(i) && i > 1 && t[i-1].class == classPunct && t[i-1].text == "." && month(i-2):
		from = i - 2
	case isDay(i) && month(i+1):
		to = i + 2
	case isDay(i) && i+2 < len(t) && t[i+1].lower == "of" && month(i+2):
		to = i + 3
	case isDay(i) && i+1 < len(t) && halves[t[i+1].lower]:
		return i, i + 2
	case year(i) && month(i-1):
		return i - 1, i + 1
	case t[i].class == classTime, t[i].class == classDate:
		if to < len(t) && halves[t[to].lower] {
			to++
		}
		return from, to
	default:
		return i, i + 1
	}
	if k := comma(to); year(k) {
		to = k + 1
	}
	return from, to
}

// word adds the name, the date or the counted thing that begins at i, and returns the last token that it took.
func (f *finder) word(s *sentence, i int) int {
	t := s.tokens
	w := t[i].lower
	switch {
	case months[w] && i+1 < len(t) && t[i+1].class == classNumber:
		return f.number(s, i+1)
	case months[w] && unicode.IsUpper(first(t[i].text)) && i > 0 && len(w) > 3 && (yearBefore[t[i-1].lower] || t[i-1].lower == "next" || t[i-1].lower == "last"):
		f.addRange(kindDate, s, t, i, i+1)
		return i
	case weekdays[w] && unicode.IsUpper(first(t[i].text)), dayWords[w] && i+2 < len(t) && t[i+1].lower == "at":
		to := i + 1
		if to+1 < len(t) && (t[to].lower == "at" || t[to].text == ",") && (t[to+1].class == classTime || t[to+1].class == classNumber) {
			to += 2
			if to < len(t) && halves[t[to].lower] {
				to++
			}
		}
		if to > i+1 || weekdays[w] && i > 0 && (t[i-1].lower == "on" || t[i-1].lower == "by" || t[i-1].lower == "every" || t[i-1].lower == "next" || t[i-1].lower == "until") {
			f.addRange(kindDate, s, t, i, to)
		}
		return to - 1
	case numberWords[w]:
		return f.count(s, i)
	case unicode.IsUpper(first(t[i].text)):
		if n := f.name(t, i); n > 0 {
			return i + n - 1
		}
	}
	return i
}

var numberWords = set("two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen " +
	"twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million dozen half-dozen twice")

// count adds a number in words with its noun: "ten years", "twenty-five guests".
func (f *finder) count(s *sentence, i int) int {
	t := s.tokens
	to := i + 1
	for to < len(t) && (numberWords[t[to].lower] || t[to].lower == "and" && to+1 < len(t) && numberWords[t[to+1].lower]) {
		to++
	}
	if to >= len(t) || t[to].class != classWord || stop[t[to].lower] || t[i].lower == "twice" {
		return to - 1
	}
	to++
	if to < len(t) && t[to].class == classWord && !stop[t[to].lower] && (!strings.HasSuffix(t[to-1].lower, "s") || measured[t[to-1].lower]) {
		to++
	}
	f.addRange(f.is(kindCount, t, i), s, t, i, to)
	return to - 1
}

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
		f.add(f.is(kindID, t, from), words(t[from:to-1]), t[to-1].text)
		return to - i
	}
	core := words(t[from:to])
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

// words returns tokens with a space between each two.
func words(t []token) string {
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

// own adds what a sentence says of what is the speaker's: "my X is Y". It adds nothing that holds one of
// the other values of the sentence.
func (f *finder) own(s *sentence, others []found) {
	t := s.tokens
	holds := func(text string) bool {
		return slices.ContainsFunc(others, func(o found) bool { return strings.Contains(text, o.core) })
	}
	for i := range t {
		if len(f.out) >= maxFound {
			return
		}
		if t[i].class != classWord {
			continue
		}
		w := t[i].lower
		if w == "my" || w == "our" {
			for k := i + 1; k < len(t) && k <= i+4 && t[k].class == classWord; k++ {
				if k == i+1 || t[k].lower != "is" && t[k].lower != "are" && t[k].lower != "was" {
					continue
				}
				if text := phrase(s, k+1, 4); text != "" && !holds(text) && !judging(text) {
					f.add(kindOwn+markIs, s.text[t[i+1].begin:t[k].end], text)
				}
				break
			}
		}
	}
}

// judging reports whether a text is what follows in "my boss is very demanding" and "my routine is working": an opinion,
// and no value.
func judging(text string) bool {
	word, _, _ := strings.Cut(strings.ToLower(text), " ")
	return judges[word] || strings.HasSuffix(word, "ing")
}

var judges = set("just really very pretty so too quite already always not still")

// phrase returns at most n words from the token at i on, up to a sign, and without stop words at the end.
func phrase(s *sentence, i, n int) string {
	t := s.tokens
	to := i
	for to < len(t) && to < i+n && t[to].class != classPunct && !clauses[t[to].lower] {
		to++
	}
	for to > i && stop[t[to-1].lower] {
		to--
	}
	if to <= i {
		return ""
	}
	return s.text[t[i].begin:t[to-1].end]
}

var clauses = set("because but and so which who when while if that although since")

// stop are words that say nothing about a value.
var stop = set("a an and are as at be been being but by can could d did do does doing don for from had has have having he her hers him his how i if in into is isn " +
	"it its itself just let ll m me my of on or our ours re s she should so some such t than that the their theirs them then there these they this those to too us ve " +
	"very was we were what when where which while who whom whose why will with would you your yours i'm i've i'll i'd it's that's about around only over under almost nearly " +
	"up out off no not also well really even still already now one ones per more most much many any all both each every other another between within after before during " +
	"until since through like get got gets go goes going went make made makes take took want wants need needs know think feel said say says yes ok please thanks here again back " +
	"don't didn't doesn't isn't wasn't can't won't you're we're they're he's she's there's let's approximately roughly least exactly every maybe actually")

// corrects reports whether a message says that something is not as it was said.
func corrects(text string) bool {
	if len(text) > 2000 {
		text = text[:2000]
	}
	lower := strings.ToLower(text)
	for _, cue := range cues {
		if at := strings.Index(lower, cue); at >= 0 {
			if cue[0] >= utf8.RuneSelf || (at == 0 || !isLower(lower[at-1])) && (at+len(cue) == len(lower) || !isLower(lower[at+len(cue)])) {
				return true
			}
		}
	}
	return false
}

var cues = []string{"actually", "no longer", "instead", "changed to", "has changed", "correction", "i meant", "not anymore", "rescheduled", "moved to", "postponed", "i was wrong", "my mistake", "updated to",
	"change it to", "make that", "更正", "改成", "改为", "改到", "不是", "其实", "说错", "记错", "纠正", "换成"}

// isFailure reports whether a line of a tool's answer is an error.
func isFailure(line string) bool {
	l := strings.ToLower(clip(strings.TrimSpace(line), 120))
	for _, w := range []string{"error:", "error ", "fatal:", "panic:", "exception:", "traceback", "failed:", "fail:", "--- fail", "cannot ", "permission denied", "no such file"} {
		if strings.HasPrefix(l, w) || strings.Contains(l, w) && strings.HasSuffix(w, ":") {
			return true
		}
	}
	return false
}

// clip returns the beginning of a text, in whole characters and at most n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// clipWords returns the beginning of a text, in whole words if it has several: a part of a number is another number.
func clipWords(s string, n int) string {
	short := clip(s, n)
	if len(short) == len(s) {
		return s
	}
	if at := strings.LastIndexFunc(short, unicode.IsSpace); at >= len(short)-maxToken {
		return short[:max(0, at)]
	}
	return short
}
