package kept

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unit is what is cut out of a summary as a whole: a sentence, or a line of code, a table or a heading.
type unit struct {
	begin, end int
	line       int  // the block that it is in
	indent     int  // of its block
	item       bool // its block is an item of a list
	code       bool // in a code fence
	label      bool // it is the last of its block, and announces what follows: "Files:"
}

// unitsOf cuts a text into units. The text between two units is space, and marks of lists.
func unitsOf(text string) []unit {
	var out []unit
	block, fenced := -1, false
	var open unit // the block that is open, if it ends behind 0
	flush := func(end int) {
		if open.end == 0 {
			return
		}
		block++
		first := len(out)
		eachSentence(text[open.begin:end], func(from, to int) {
			out = append(out, unit{begin: open.begin + from, end: open.begin + to, line: block, indent: open.indent, item: open.item})
		})
		if n := len(out); n > first {
			out[n-1].label = strings.HasSuffix(strings.TrimRight(text[out[n-1].begin:out[n-1].end], " *_`\n"), ":")
		}
		open = unit{}
	}
	for at := 0; at < len(text); {
		next := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		line := text[at:next]
		trimmed := strings.TrimSpace(line)
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		mark := marker(trimmed)
		switch {
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			flush(at)
			fenced = !fenced
		case fenced:
			if trimmed != "" {
				block++
				out = append(out, unit{begin: at, end: next, line: block, code: true, indent: indent})
			}
		case trimmed == "":
			flush(at)
		case mark > 0 || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "|") || strings.HasPrefix(trimmed, ">") || open.end == 0 || !continues(text[open.begin:at], trimmed):
			flush(at)
			open = unit{begin: at + indent + mark, end: next, indent: indent, item: mark > 0}
			if strings.HasPrefix(trimmed, "#") { // a heading ends with its line
				flush(next)
			}
		}
		at = next
	}
	flush(len(text))
	return out
}

// marker is the length of the mark of a list in front of a line, 0 for none: "- ", "12. ", "(a) ".
func marker(line string) int {
	i := 0
	switch {
	case strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ "):
		return 2
	case strings.HasPrefix(line, "• "), strings.HasPrefix(line, "– "), strings.HasPrefix(line, "— "):
		_, size := utf8.DecodeRuneInString(line)
		return size + 1
	}
	if strings.HasPrefix(line, "(") {
		i++
	}
	from := i
	for i < len(line) && isDigit(line[i]) {
		i++
	}
	if i == from && i < len(line) && ('a' <= line[i] && line[i] <= 'z' || 'A' <= line[i] && line[i] <= 'Z') {
		i++
	}
	if i == from || i-from > 3 || i+1 >= len(line) || line[i] != '.' && line[i] != ')' || line[i+1] != ' ' {
		return 0
	}
	return i + 2
}

// continues reports whether a line goes on with the sentence before it, as where lines are broken at a width.
func continues(before, line string) bool {
	before = strings.TrimSpace(before)
	last, _ := utf8.DecodeLastRuneInString(before)
	if strings.ContainsRune(".!?:;。！？；：", last) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(line)
	lastLine := before[strings.LastIndexByte(before, '\n')+1:]
	return !unicode.IsUpper(first) || last == ',' || len(lastLine) > 60
}

// eachSentence calls f with where each sentence of a block begins and ends. In doubt, two sentences are one.
func eachSentence(block string, f func(from, to int)) {
	from := 0
	emit := func(to int) {
		if strings.TrimSpace(block[from:to]) != "" {
			f(from, to)
		}
		from = to
	}
	for i, r := range block {
		size := utf8.RuneLen(r)
		switch r {
		case '。', '！', '？', '；':
			emit(i + size)
		case '.', '!', '?':
			rest := strings.TrimLeft(block[i+1:], "\"')]*_`”’»")
			if end := len(block) - len(rest); rest != "" && endsHere(block[from:i], r, rest) {
				emit(end)
			}
		}
	}
	emit(len(block))
}

// endsHere reports whether a sign ends the sentence before it, so that rest is the next one.
func endsHere(before string, sign rune, rest string) bool {
	first, size := utf8.DecodeRuneInString(rest)
	if !unicode.IsSpace(first) {
		return isHan(first) && sign != '.'
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest[size:], " \n\t*_\"'(`“‘«„"))
	if unicode.IsLower(next) {
		return false
	}
	if sign != '.' {
		return true
	}
	word := before[strings.LastIndexAny(before, " \n\t(")+1:]
	return len(word) > 1 && !abbreviations[strings.ToLower(word)] && !(len(word) <= 3 && isDigits(word))
}

var abbreviations = set("mr mrs ms dr prof st no nr vs etc e.g i.e a.m p.m approx dept est inc ltd jr sr fig vol u.s z.b d.h bzw ca incl usw str tel art cf p pp ex")

// without returns the text without some of its units, given by their positions in order, and how many that were. With a
// label, what it announces is cut as well. Lines that are left empty go.
func without(text string, units []unit, gone map[int]bool) string {
	for i := range units {
		if gone[i] && units[i].label {
			for k := i + 1; k < len(units); k++ {
				u := &units[k]
				if u.indent <= units[i].indent && (units[i].item || !u.item) && !u.code {
					break
				}
				gone[k] = true
			}
		}
	}
	left := map[int]bool{} // the blocks that keep a unit
	for i := range units {
		if !gone[i] {
			left[units[i].line] = true
		}
	}
	var b strings.Builder
	at := 0
	for i := range units {
		if !gone[i] {
			continue
		}
		u := &units[i]
		if u.begin < at {
			continue
		}
		from, to := u.begin, u.end
		if !left[u.line] { // its mark, too
			from = max(at, strings.LastIndexByte(text[:from], '\n')+1)
			if to < len(text) && text[to-1] != '\n' {
				if n := strings.IndexByte(text[to:], '\n'); n >= 0 && strings.TrimSpace(text[to:to+n]) == "" {
					to += n + 1
				}
			}
		} else if strings.HasSuffix(text[from:to], "\n") {
			to--
		}
		b.WriteString(text[at:from])
		at = to
	}
	b.WriteString(text[at:])
	return strings.TrimSpace(b.String())
}
