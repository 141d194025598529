package tools

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// flow is Markdown that is being written: a page, or one cell of a table. Marks, spaces and line ends wait until text
// follows, so that an element without text leaves nothing.
type flow struct {
	out     strings.Builder
	most    int  // bytes of out, about
	counted int  // bytes of out that the conversion knows of
	inCell  bool // no line may end, if it can be helped

	lists   []element
	over    int    // open elements that lists has no room for
	ends    int    // line ends that wait
	space   bool   // a space waits
	mark    string // of a heading, waits
	heading bool   // a heading goes on
	prefix  []byte // of the next line; its memory is used again

	bold, italic int      // open elements
	marks        []string // written, and not yet closed
	link         string   // the target of the open link, "" for none
	linked       bool     // its bracket is written

	code  *strings.Builder // the text of the open code element
	kind  string           // that element
	lang  string
	inPre bool
}

// element is an open list, item or quote.
type element struct {
	name   string
	next   int    // the number of the next item
	bullet string // waits for the text of an item
	prefix string // of each line within
}

// paragraph ends the line, and with 2 the paragraph.
func (f *flow) paragraph(ends int) {
	if f.code != nil && !f.inPre {
		f.endCode()
	}
	if f.linked {
		f.endLink()
	}
	f.endMarks()
	f.space = false
	if f.out.Len() > 0 && !f.fresh() {
		f.ends = max(f.ends, ends)
	}
}

// fresh reports whether an item has begun and has no text yet.
func (f *flow) fresh() bool {
	return len(f.lists) > 0 && f.lists[len(f.lists)-1].bullet != ""
}

// newline is a br.
func (f *flow) newline() {
	if f.inCell || f.heading || f.out.Len() == 0 {
		f.space = f.out.Len() > 0
		return
	}
	f.endMarks()
	f.space = false
	f.ends = min(f.ends+1, 2)
}

// Whether text may be bold, italic or part of a link.
const (
	marked = true
	plain  = false
)

// begin writes what waits in front of text.
func (f *flow) begin(may bool) {
	wanted := f.wanted(may)
	for i := range f.marks { // close those that are not wanted any more, and those within them
		if i >= len(wanted) || f.marks[i] != wanted[i] {
			f.closeMarks(i)
			break
		}
	}
	switch {
	case f.ends > 0:
		f.breakLine()
	case f.space && f.out.Len() > 0:
		f.out.WriteByte(' ')
	}
	f.space = false
	for i := range f.lists {
		f.out.WriteString(f.lists[i].bullet)
		f.lists[i].bullet = ""
	}
	f.out.WriteString(f.mark)
	f.mark = ""
	if may && f.link != "" && !f.linked {
		f.closeMarks(0)
		f.out.WriteByte('[')
		f.linked = true
	}
	for _, m := range wanted[len(f.marks):] {
		f.out.WriteString(m)
		f.marks = append(f.marks, m)
	}
}

var (
	boldMarks       = []string{"**"}
	italicMarks     = []string{"*"}
	boldItalicMarks = []string{"**", "*"}
	italicBoldMarks = []string{"*", "**"}
)

// wanted are the marks of the text to come. Those that are written stay as they are, if they can.
func (f *flow) wanted(may bool) []string {
	switch {
	case !may:
	case f.bold > 0 && f.italic > 0 && len(f.marks) > 0 && f.marks[0] == "*":
		return italicBoldMarks
	case f.bold > 0 && f.italic > 0:
		return boldItalicMarks
	case f.bold > 0:
		return boldMarks
	case f.italic > 0:
		return italicMarks
	}
	return nil
}

// breakLine writes the line ends that wait, and what each new line begins with.
func (f *flow) breakLine() {
	f.prefix = f.prefix[:0]
	for _, e := range f.lists {
		if e.bullet != "" {
			break // this element begins on the new line
		}
		if len(f.prefix)+len(e.prefix) <= maxPrefix {
			f.prefix = append(f.prefix, e.prefix...)
		}
	}
	for ; f.ends > 1; f.ends-- {
		f.out.WriteByte('\n')
		f.out.Write(bytes.TrimRight(f.prefix, " "))
	}
	f.out.WriteByte('\n')
	f.out.Write(f.prefix)
	f.ends = 0
}

// end closes what is open.
func (f *flow) end() {
	f.endCode()
	f.endLink()
	f.endMarks()
}

// endMarks closes bold and italic text.
func (f *flow) endMarks() { f.closeMarks(0) }

func (f *flow) closeMarks(from int) {
	for i := len(f.marks) - 1; i >= from; i-- {
		f.out.WriteString(f.marks[i])
	}
	f.marks = f.marks[:min(from, len(f.marks))]
}

// endLink writes the target of the open link. A link without text is left out.
func (f *flow) endLink() {
	if f.linked {
		f.endMarks()
		f.out.WriteString("](" + f.link + ")")
	}
	f.link, f.linked = "", false
}

// write adds Markdown to the line.
func (f *flow) write(markdown string, may bool) {
	f.begin(may)
	f.out.WriteString(markdown)
}

// lines adds Markdown of several lines.
func (f *flow) lines(markdown string) {
	for line := range strings.Lines(markdown) {
		if f.out.Len() > f.most {
			return
		}
		if text := strings.TrimRight(line, "\n"); text != "" {
			f.write(text, plain)
		}
		if strings.HasSuffix(line, "\n") {
			f.ends++
		}
	}
}

// text adds text of the page.
func (f *flow) text(text string) {
	if f.code != nil {
		f.code.WriteString(text)
		return
	}
	for text != "" {
		word := text
		if i := strings.IndexFunc(text, blank); i >= 0 {
			word = text[:i]
		}
		rest := text[len(word):]
		if word != "" {
			fresh := f.ends > 0 || f.out.Len() == 0 || f.fresh()
			f.begin(marked)
			f.word(word, rest, fresh)
		}
		text = strings.TrimLeftFunc(rest, blank)
		f.space = f.space || len(text) < len(rest)
	}
}

// blank are the characters that HTML shows as one space. A no-break space is not among them.
func blank(r rune) bool {
	return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\f'
}

// word writes one word so that no character of it is taken for Markdown. Each decision is made from the characters
// beside it.
func (f *flow) word(word, rest string, first bool) {
	if first && rest != "" && lineStart(word) {
		f.out.WriteByte('\\')
	}
	last := ' '
	for i, r := range word {
		next, size := utf8.DecodeRuneInString(word[i+utf8.RuneLen(r):])
		if size == 0 {
			next = ' '
		}
		if special(last, r, next, f.inCell) {
			f.out.WriteByte('\\')
		}
		f.out.WriteRune(r)
		last = r
	}
}

// lineStart reports whether a word would make its line a heading, a quote or an item.
func lineStart(word string) bool {
	switch strings.Trim(word, "#") {
	case "", ">", "-", "+":
		return len(word) <= 6
	}
	return false
}

// special reports whether a character between two others would be read as Markdown.
func special(last, r, next rune, inCell bool) bool {
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	switch r {
	case '*':
		return next != ' '
	case '_':
		return next != ' ' && !(letter(last) && letter(next))
	case '`':
		return true
	case ']':
		return next == '('
	case '<':
		return letter(next) || next == '/' || next == '!'
	case '|':
		return inCell
	}
	return false
}

// open begins a list, an item or a quote.
func (f *flow) open(name, start string) {
	if name == "li" {
		f.item()
		return
	}
	ends := 2
	if name != "blockquote" && len(f.lists) > 0 && f.lists[len(f.lists)-1].name == "li" {
		ends = 1 // a list in an item
	}
	f.paragraph(ends)
	e := element{name: name, next: 1}
	if n, err := strconv.Atoi(start); err == nil && n >= 0 && n < 1_000_000 {
		e.next = n
	}
	if name == "blockquote" {
		e.prefix, e.bullet = "> ", "> "
	}
	f.push(e)
}

func (f *flow) push(e element) {
	if len(f.lists) == maxElements {
		f.over++
		return
	}
	f.lists = append(f.lists, e)
}

// item begins an item, and ends the one before.
func (f *flow) item() {
	if i := f.within("li", "ul", "ol"); i >= 0 {
		f.pop(i)
	}
	f.paragraph(1)
	bullet := "- "
	if i := f.within("ol", "ul"); i >= 0 {
		bullet = strconv.Itoa(f.lists[i].next) + ". "
		f.lists[i].next++
	}
	f.push(element{name: "li", bullet: bullet, prefix: strings.Repeat(" ", len(bullet))})
}

// within finds the innermost open element of a name that is not outside one of the others.
func (f *flow) within(name string, others ...string) int {
	for i := len(f.lists) - 1; i >= 0; i-- {
		if f.lists[i].name == name {
			return i
		}
		for _, o := range others {
			if f.lists[i].name == o {
				return -1
			}
		}
	}
	return -1
}

// close ends a list, an item or a quote, and all within it.
func (f *flow) close(name string) {
	if f.over > 0 {
		f.over--
		return
	}
	i := -1
	if name == "li" {
		i = f.within(name, "ul", "ol")
	} else {
		i = f.within(name)
	}
	if i < 0 {
		return
	}
	ends := 2
	if name == "li" || name != "blockquote" && i > 0 && f.lists[i-1].name == "li" {
		ends = 1
	}
	f.pop(i)
	f.paragraph(ends)
}

func (f *flow) pop(to int) { f.endMarks(); f.lists = f.lists[:to] }

// literal begins or goes on with text that is shown as it is. It reports whether the element needs nothing else.
func (f *flow) literal(name string, attr map[string]string) bool {
	switch {
	case f.code == nil:
	case f.inPre && inTable(name):
		return false // a table around an element that is never closed goes on
	case !f.inPre && breaks(name):
		f.endCode()
	default:
		if name == "br" || name == "div" && f.code.Len() > 0 {
			f.code.WriteByte('\n')
		}
		if f.inPre && name == "code" && f.lang == "" {
			f.lang = language(attr["class"])
		}
		return true
	}
	switch name {
	case "pre":
		f.paragraph(2)
		f.inPre, f.lang = true, language(attr["class"])
	case "code", "kbd", "samp", "tt", "var":
	default:
		return false
	}
	f.code, f.kind = &strings.Builder{}, name
	return true
}

// language is the one that a class names, as "language-go" does.
func language(class string) string {
	for _, part := range strings.Fields(class) {
		for _, before := range []string{"language-", "lang-"} {
			if name, ok := strings.CutPrefix(part, before); ok && len(name) < 20 && !strings.Contains(name, "`") {
				return name
			}
		}
	}
	return ""
}

// endCode writes the text of the code element that is open, if there is one.
func (f *flow) endCode() {
	if f.code == nil {
		return
	}
	text := f.code.String()
	f.code = nil
	if !f.inPre {
		if text = strings.Join(strings.Fields(text), " "); text != "" {
			f.inline(text)
		}
		return
	}
	f.inPre = false
	if text = strings.Trim(text, "\r\n"); strings.TrimSpace(text) == "" {
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	f.write(fence+f.lang, plain)
	f.ends = 1
	f.lines(strings.ReplaceAll(text, "\r", ""))
	f.ends++
	f.write(fence, plain)
	f.paragraph(2)
}

// inline writes code within a line.
func (f *flow) inline(text string) {
	fence := strings.Repeat("`", longestRun(text)+1)
	if f.inCell {
		text = strings.ReplaceAll(text, "|", `\|`)
	}
	if text[0] == '`' || text[len(text)-1] == '`' {
		text = " " + text + " "
	}
	f.write(fence+text+fence, marked)
}

// longestRun is how many backticks follow each other in a text.
func longestRun(text string) int {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
