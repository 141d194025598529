package tools

import (
	"bytes"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// The bounds of a conversion. What lies deeper is shown, too, but at the level of the last element that counts.
const (
	maxElements  = 200     // open lists, items and quotes
	maxPrefix    = 32      // bytes in front of a line, as "> " and the indent of a list
	maxTables    = 8       // tables in cells of tables
	maxSpan      = 100     // columns or rows of a cell
	maxEmpty     = 4       // cells that only spans add, for each real one
	textPerPage  = 2       // how many times as long as the page its text may become
	leastText    = 4 << 10 // bytes of text that any page may have
	linksPerText = 6       // how many times as long as its text the addresses of a page may be
)

// markdown converts an HTML page in one pass over its tags. There is no tree: what is kept is bounded by the page, each
// step costs about as much as the tag behind it, and the context is looked at before each. The text ends early, and
// the result says so, where it becomes much longer than the page.
func markdown(ctx context.Context, page []byte, base *url.URL) (text string, cut bool, err error) {
	most := max(textPerPage*len(page), leastText)
	c := &conversion{base: base, at: &flow{most: most}, most: most}
	tokens := html.NewTokenizer(bytes.NewReader(bytes.ToValidUTF8(page, []byte("\uFFFD"))))
	for {
		if err := ctx.Err(); err != nil {
			return "", false, err
		}
		switch tokens.Next() {
		case html.ErrorToken: // the end: memory cannot fail to be read
			return c.end(), c.written > c.most, nil
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := tokens.TagName()
			c.start(string(name), attributes(tokens, more))
		case html.EndTagToken:
			name, _ := tokens.TagName()
			c.stop(string(name))
		case html.TextToken:
			c.words(string(tokens.Text()))
		}
		if c.written > c.most {
			return c.end(), true, nil
		}
	}
}

// attributes are those that a conversion reads. The first of a name counts, as in browsers.
func attributes(tokens *html.Tokenizer, more bool) map[string]string {
	var read map[string]string
	for more {
		var key, value []byte
		key, value, more = tokens.TagAttr()
		switch name := string(key); name {
		case "href", "src", "alt", "class", "start", "colspan", "rowspan":
			if read == nil {
				read = map[string]string{}
			}
			if _, twice := read[name]; !twice {
				read[name] = string(value)
			}
		}
	}
	return read
}

// conversion is one page on its way to Markdown.
type conversion struct {
	base    *url.URL
	at      *flow    // what is written now: the page, or a cell of a table
	tables  []*table // open, the innermost last
	deep    int      // open tables beyond maxTables
	hidden  string   // the element whose text is not shown, until its end
	written int      // bytes of text so far, with those of cells
	most    int

	resolved int // bytes of addresses so far, as they are in the page and as they are written, the page's own with each
}

// unseen are elements whose text is not part of the page.
var unseen = map[string]bool{
	"script": true, "style": true, "title": true, "noscript": true, "iframe": true, "textarea": true, "template": true,
	"noembed": true, "noframes": true,
}

// blocks are elements that begin and end a paragraph, and are nothing else.
var blocks = map[string]bool{
	"address": true, "article": true, "aside": true, "body": true, "caption": true, "center": true, "details": true,
	"dialog": true, "dir": true, "div": true, "dl": true, "fieldset": true, "figcaption": true, "figure": true,
	"footer": true, "form": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true,
	"header": true, "hgroup": true, "html": true, "main": true, "menu": true, "nav": true, "p": true,
	"section": true, "summary": true,
}

// breaks reports whether an element ends the line in which it begins.
func breaks(name string) bool {
	switch name {
	case "ul", "ol", "li", "blockquote", "hr", "dt", "dd", "pre", "table", "tr", "td", "th":
		return true
	}
	return blocks[name]
}

// start begins an element.
func (c *conversion) start(name string, attr map[string]string) {
	f := c.at
	if c.hidden != "" {
		return
	}
	if unseen[name] {
		c.hidden = name
		return
	}
	if f.literal(name, attr) {
		return
	}
	switch name {
	case "b", "strong":
		f.bold++
	case "i", "em":
		f.italic++
	case "a":
		f.endLink()
		f.link = c.address(attr["href"])
	case "img":
		c.picture(attr)
	case "br":
		f.newline()
	case "hr":
		f.paragraph(2)
		f.write("* * *", plain)
		f.paragraph(2)
	case "ul", "ol", "blockquote", "li":
		f.open(name, attr["start"])
	case "dt", "dd":
		f.paragraph(1)
	case "table", "caption", "tr", "td", "th":
		c.openTable(name, attr)
	default:
		if blocks[name] {
			f.paragraph(2)
		}
		if level, ok := heading(name); ok {
			f.mark, f.heading = strings.Repeat("#", level)+" ", true
		}
	}
	c.count(f)
}

// heading returns the level of h1 to h6.
func heading(name string) (int, bool) {
	if len(name) != 2 || name[0] != 'h' || name[1] < '1' || name[1] > '6' {
		return 0, false
	}
	return int(name[1] - '0'), true
}

// stop ends an element.
func (c *conversion) stop(name string) {
	f := c.at
	if c.hidden != "" {
		if name == c.hidden {
			c.hidden = ""
		}
		return
	}
	if f.code != nil {
		if name != f.kind && (f.inPre && !inTable(name) || !breaks(name)) {
			return
		}
		f.endCode()
	}
	switch name {
	case "b", "strong":
		f.bold = max(f.bold-1, 0)
	case "i", "em":
		f.italic = max(f.italic-1, 0)
	case "a":
		f.endLink()
	case "ul", "ol", "blockquote", "li":
		f.close(name)
	case "table", "tr", "td", "th":
		c.closeTable(name)
	default:
		if blocks[name] {
			f.paragraph(2)
			f.mark = ""
		}
	}
	c.count(f)
}

// words adds text.
func (c *conversion) words(text string) {
	if c.hidden == "" {
		c.at.text(text)
		c.count(c.at)
	}
}

// count keeps account of all text, also in the cells of tables that are still open.
func (c *conversion) count(f *flow) {
	c.written += f.out.Len() - f.counted
	f.counted = f.out.Len()
}

// end closes what the page left open.
func (c *conversion) end() string {
	for len(c.tables) > 0 {
		c.closeTable("table")
	}
	c.at.end()
	return c.at.out.String()
}

// address makes the target of a link whole. It is empty for one that leads nowhere outside of the page's own data.
func (c *conversion) address(href string) string {
	href = strings.TrimSpace(href)
	c.resolved += len(c.base.Path) + len(href)
	if href == "" || len(href) > maxURL || c.resolved > linksPerText*c.most {
		return ""
	}
	u, err := c.base.Parse(href)
	if err != nil || u.Scheme == "javascript" || u.Scheme == "data" {
		return ""
	}
	target := inAddress.Replace(u.String())
	c.resolved += len(target) // "#" takes over the page's query, too
	return target
}

// Characters that would end the address of a link, or its text.
var (
	inAddress  = strings.NewReplacer("(", "%28", ")", "%29")
	inBrackets = strings.NewReplacer("[", `\[`, "]", `\]`)
)

// picture shows an image by its description. An image that the page holds as data has no address.
func (c *conversion) picture(attr map[string]string) {
	alt := strings.Join(strings.Fields(attr["alt"]), " ")
	alt = inBrackets.Replace(alt)
	switch src := c.address(attr["src"]); {
	case src != "":
		c.at.write("!["+alt+"]("+src+")", marked)
	case alt != "":
		c.at.write("!["+alt+"]", marked)
	}
}

// table is one that is still open.
type table struct {
	around *flow
	rows   []row
	below  []int // for each column, how many further rows the cell above reaches into
	empty  int   // how many cells may still be added for spans
	open   bool  // whether the conversion writes a cell
	cell   flow  // that cell
	wide   int   // its columns
	tall   int   // its rows
}

type row struct {
	cells []string
	head  bool // one of them is a header
}

// inTable reports whether an element is a table or a part of one.
func inTable(name string) bool {
	return name == "table" || name == "tr" || name == "td" || name == "th"
}

func (c *conversion) openTable(name string, attr map[string]string) {
	if name == "table" {
		c.at.paragraph(2)
		if len(c.tables) == maxTables {
			c.deep++
			return
		}
		c.tables = append(c.tables, &table{around: c.at})
		return
	}
	if c.deep > 0 || len(c.tables) == 0 || name == "caption" {
		c.at.paragraph(2)
		return
	}
	t := c.tables[len(c.tables)-1]
	c.endCell(t)
	if name == "tr" || len(t.rows) == 0 {
		t.endRow()
		t.rows = append(t.rows, row{})
	}
	if name == "tr" {
		return
	}
	last := &t.rows[len(t.rows)-1]
	last.head = last.head || name == "th"
	t.empty += maxEmpty
	t.reach(last)
	t.wide, t.tall = span(attr["colspan"]), span(attr["rowspan"])
	t.open, t.cell = true, flow{inCell: true, most: c.most, lists: t.cell.lists[:0], prefix: t.cell.prefix}
	c.at = &t.cell
}

// endRow leaves the last columns of a row empty if cells from above reach into them.
func (t *table) endRow() {
	if len(t.rows) > 0 {
		t.reach(&t.rows[len(t.rows)-1])
	}
}

// reach leaves the next columns of a row empty if cells from above reach into them.
func (t *table) reach(r *row) {
	for i := len(r.cells); i < len(t.below) && t.below[i] > 0 && t.empty > 0; i++ {
		t.below[i]--
		t.empty--
		r.cells = append(r.cells, "")
	}
}

// span is the value of colspan or rowspan. A larger one than anybody lays out by hand counts as none.
func span(value string) int {
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || n < 1 || n > maxSpan {
		return 1
	}
	return n
}

func (c *conversion) closeTable(name string) {
	if c.deep > 0 {
		if name == "table" {
			c.deep--
		}
		c.at.paragraph(2)
		return
	}
	if len(c.tables) == 0 {
		return
	}
	t := c.tables[len(c.tables)-1]
	c.endCell(t)
	if name != "table" {
		return
	}
	c.tables = c.tables[:len(c.tables)-1]
	before := t.around.out.Len()
	t.show(t.around)
	// What the table adds to the text around it was counted in its cells. Only its frame is new.
	t.around.counted += min(t.around.out.Len()-before, t.length())
}

// length is how much text the cells have.
func (t *table) length() int {
	n := 0
	for _, r := range t.rows {
		for _, cell := range r.cells {
			n += len(cell)
		}
	}
	return n
}

// endCell adds the cell that was written to its row.
func (c *conversion) endCell(t *table) {
	if !t.open {
		return
	}
	t.cell.end()
	c.count(&t.cell)
	t.open, c.at = false, t.around
	r := &t.rows[len(t.rows)-1]
	first := len(r.cells)
	r.cells = append(r.cells, t.cell.out.String())
	for i := 1; i < t.wide && t.empty > 0; i++ {
		t.empty--
		r.cells = append(r.cells, "")
	}
	for i := first; t.tall > 1 && i < len(r.cells); i++ {
		for len(t.below) <= i {
			t.below = append(t.below, 0)
		}
		t.below[i] = t.tall - 1
	}
}

// show writes the table. One that lays out a page, with several lines in a cell, becomes one paragraph for each cell.
func (t *table) show(f *flow) {
	t.endRow()
	t.rows = slices.DeleteFunc(t.rows, func(r row) bool { return len(r.cells) == 0 })
	width, layout := 0, false
	for _, r := range t.rows {
		width = max(width, len(r.cells))
		for _, cell := range r.cells {
			layout = layout || strings.Contains(cell, "\n")
		}
	}
	switch {
	case width == 0:
		return
	case layout:
		t.paragraphs(f)
		return
	}
	if !t.rows[0].head {
		t.rows = slices.Insert(t.rows, 0, row{})
	}
	// The head names every column. Other rows may be shorter.
	t.rows[0].cells = append(t.rows[0].cells, make([]string, width-len(t.rows[0].cells))...)
	for i, r := range t.rows {
		f.write("| "+strings.Join(r.cells, " | ")+" |", plain)
		f.paragraph(1)
		if i == 0 {
			f.write("|"+strings.Repeat("---|", width), plain)
			f.paragraph(1)
		}
	}
	f.paragraph(2)
}

// paragraphs writes the cells one below the other.
func (t *table) paragraphs(f *flow) {
	for _, r := range t.rows {
		for _, cell := range r.cells {
			if cell != "" {
				f.lines(cell)
				f.paragraph(2)
			}
		}
	}
}
