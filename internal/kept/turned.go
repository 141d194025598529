package kept

import (
	"strings"
	"unicode"
)

// A turn is what a text says is not so, and what is so instead: "not 4000 but 5000", "5000 instead of 4000". A summary
// turns it around if it names both the other way, and its source nowhere does. Only forms with both sides can tell.
type turn struct {
	wrong, right []uint64 // atoms
	text         string
}

// Bounds of what is kept of a source, and of what is looked at on each side of a sign such as "not".
const (
	maxTurns   = 1024
	maxChecked = 64 // turns of one summary
	sideWords  = 5
	betweenBut = 8 // words between "not" and "but"
)

// nots stand in front of what is not so, buts behind it and in front of what is so, and insteads between the two.
var (
	nots     = set("not nicht kein keine keinen no pas non não niet")
	buts     = set("but sondern sino mais ma bensì mas maar")
	insteads = map[string]string{ // with the word that follows
		"instead": "of", "rather": "than", "statt": "", "anstatt": "", "anstelle": "von", "lieu": "de", "plutôt": "que", "lugar": "de", "vez": "de", "invece": "di",
	}
)

// word is one of a sentence.
type word struct {
	text       string // folded, without the signs around it
	begin, end int
	stops      bool // a sign such as a comma is behind it
	after      bool // a sign such as a comma or a bracket is in front of it
}

// appendTurns adds what a text turns, as far as its forms tell.
func appendTurns(dst []turn, text string) []turn {
	var words []word
	flush := func() {
		for i := range words {
			if len(dst) >= maxTurns {
				break
			}
			if t, found := turnAt(text, words, i); found {
				dst = append(dst, t)
			}
		}
		words = words[:0]
	}
	for i := 0; i < len(text); {
		r := rune(text[i])
		if r == ' ' || r == '\t' {
			i++
			continue
		}
		if r == '\n' || r == '\r' {
			flush()
			i++
			continue
		}
		end := i
		for end < len(text) && text[end] > ' ' {
			end++
		}
		if end == i { // another control character
			i++
			continue
		}
		raw := text[i:end]
		bare := strings.Trim(raw, "\"'`*_()[]{}<>.,:;!?“”‘’«»„")
		w := word{text: strings.ToLower(bare), begin: i, end: end}
		w.after = strings.HasPrefix(raw, "(") || raw == "-" || raw == "–" || raw == "—"
		w.stops = strings.ContainsAny(raw[len(raw)-1:], ",;:)")
		if n := len(words); n > 0 && words[n-1].stops {
			w.after = true
		}
		switch {
		case bare != "":
			words = append(words, w)
		case len(words) > 0:
			words[len(words)-1].stops = true
		}
		i = end
		if last := raw[len(raw)-1]; last == '.' || last == '!' || last == '?' || len(words) == 128 {
			flush()
		}
	}
	flush()
	return appendHanTurns(dst, text)
}

// turnAt returns the turn whose sign is the word at i.
func turnAt(text string, words []word, i int) (turn, bool) {
	w := &words[i]
	switch next, isInstead := insteads[w.text]; {
	case nots[w.text]:
		for k := i + 2; k < len(words) && k <= i+betweenBut; k++ {
			if buts[words[k].text] {
				return newTurn(text, words, i+1, k, k+1, clauseEnd(words, k+1))
			}
		}
		if i > 0 && (w.after || words[i-1].text == "and" || words[i-1].text == "und") {
			to := i
			if words[i-1].text == "and" || words[i-1].text == "und" {
				to--
			}
			return newTurn(text, words, i+1, clauseEnd(words, i+1), clauseBegin(words, to), to)
		}
	case isInstead:
		from := i + 1
		if next != "" {
			if from >= len(words) || words[from].text != next && !(next == "de" && words[from].text == "del") {
				return turn{}, false
			}
			from++
		}
		to := clauseEnd(words, from)
		first := text[words[i].begin] >= 'A' && text[words[i].begin] <= 'Z'
		if i > 0 && !first && !connects[words[i-1].text] {
			return newTurn(text, words, from, to, clauseBegin(words, i), i)
		}
		if to < len(words) && words[to-1].stops { // "Instead of 4000, use 5000"
			return newTurn(text, words, from, to, to, clauseEnd(words, to))
		}
	}
	return turn{}, false
}

// connects are words in front of "instead of" that do not say what is so.
var connects = set("and but so then also en au in und aber")

// clauseEnd is where the words from i on end: at a sign, or after a few.
func clauseEnd(words []word, i int) int {
	for k := i; k < len(words) && k < i+sideWords; k++ {
		if words[k].stops {
			return k + 1
		}
	}
	return min(len(words), i+sideWords)
}

// clauseBegin is where the words before i begin.
func clauseBegin(words []word, i int) int {
	k := i
	for k > 0 && k > i-sideWords && (k == i || !words[k-1].stops) {
		k--
	}
	return k
}

// newTurn makes a turn of words: those that are not so, and those that are.
func newTurn(text string, words []word, wrongFrom, wrongTo, rightFrom, rightTo int) (turn, bool) {
	if wrongFrom >= wrongTo || rightFrom >= rightTo {
		return turn{}, false
	}
	side := func(from, to int) []uint64 {
		var out []uint64
		for _, w := range words[from:to] {
			if !fillers[w.text] {
				eachAtom(text[w.begin:w.end], func(a atom) { out = append(out, a.hash) })
			}
		}
		return out
	}
	t := turn{wrong: side(wrongFrom, wrongTo), right: side(rightFrom, rightTo)}
	t.wrong, t.right = apart(t.wrong, t.right)
	from, to := words[min(wrongFrom, rightFrom)].begin, words[max(wrongTo, rightTo)-1].end
	if to-from < 160 {
		t.text = text[from:to]
	}
	return t, len(t.wrong) > 0 && len(t.right) > 0 && t.text != ""
}

// fillers say nothing about what is so.
var fillers = set("a an the to of on in at for by with from is are was were be been it its this that these those we i you he she they use uses used using set sets " +
	"make makes der die das den dem des ein eine ein auf für mit von zu ist sind war le la les un une des de du à est el los las una en es son por para il lo gli che di")

// apart returns two lists without what both have: "not on port 4000 but on port 5000" is about the numbers.
func apart(a, b []uint64) (onlyA, onlyB []uint64) {
	without := func(list, others []uint64) (out []uint64) {
		for _, one := range list {
			if !contains(others, one) {
				out = append(out, one)
			}
		}
		return out
	}
	return without(a, b), without(b, a)
}

func contains(list []uint64, one uint64) bool {
	for _, other := range list {
		if other == one {
			return true
		}
	}
	return false
}

// appendHanTurns adds those of Chinese: "不是X，而是Y".
func appendHanTurns(dst []turn, text string) []turn {
	const not, but, reach = "不是", "而是", 60
	for at := 0; len(dst) < maxTurns; {
		i := strings.Index(text[at:], not)
		if i < 0 {
			break
		}
		at += i + len(not)
		k := strings.Index(text[at:min(len(text), at+reach)], but)
		if k <= 0 {
			continue
		}
		rest := text[at+k+len(but):]
		end := strings.IndexFunc(rest, func(r rune) bool { return !inWord(r) && r != '-' && !unicode.IsSpace(r) })
		if end < 0 {
			end = len(rest)
		}
		if end = min(end, reach); end == 0 {
			continue
		}
		var t turn
		eachAtom(text[at:at+k], func(a atom) { t.wrong = append(t.wrong, a.hash) })
		eachAtom(rest[:end], func(a atom) { t.right = append(t.right, a.hash) })
		t.wrong, t.right = apart(t.wrong, t.right)
		t.text = strings.ToValidUTF8(text[at-len(not):at+k+len(but)+end], "")
		if len(t.wrong) > 0 && len(t.right) > 0 {
			dst = append(dst, t)
		}
	}
	return dst
}

// matches reports whether two lists are about the same: two thirds of the shorter one are in the other.
func matches(a, b []uint64) bool {
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	same := 0
	for _, one := range short {
		if contains(long, one) {
			same++
		}
	}
	return 3*same >= 2*len(short)
}

// turned returns the first thing in a sentence that its source says the other way around. It looks at left more at most, and
// takes them from it.
func (s *Source) turned(text string, left *int) (words string, is bool) {
	if len(s.turns) == 0 {
		return "", false
	}
	for _, t := range appendTurns(nil, text) {
		if *left--; *left < 0 {
			break
		}
		reversed := false
		for _, said := range s.turns {
			s.steps++
			if matches(said.wrong, t.wrong) && matches(said.right, t.right) {
				reversed = false
				break
			}
			reversed = reversed || matches(said.wrong, t.right) && matches(said.right, t.wrong)
		}
		if reversed {
			return t.text, true
		}
	}
	return "", false
}
