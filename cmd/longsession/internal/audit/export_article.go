package audit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
)

// title is the beginning of a document for people. Each text is on one line and visible.
type title struct{ Name, Created string }

func titleOf(s *Session, x *redaction) (*title, error) {
	created := []rune(s.Created)
	t := &title{Name: oneLine(s.Name()), Created: oneLine(string(created[:min(len("2006-01-02T15:04:05"), len(created))]))}
	x.Joined("", shown("Session "), &t.Name)
	x.Joined("", shown("Created "), &t.Created)
	return t, x.clean("the title", t.Name, t.Created)
}

// Article is an event in a document for people. All texts are visible, and all except those of
// blocks are on one line.
type Article struct {
	Seq          int64
	Time, Author string
	// Record is the ID of a compaction record; empty for other events.
	Record, Branch, Scope, CoveredBy string
	Blocks                           []Block
}

// ArticleOf returns an entry as documents show it.
func ArticleOf(e *Entry) *Article {
	a := &Article{Seq: e.Seq, Time: e.Time, Author: oneLine(e.Author), Branch: oneLine(e.Branch), Scope: oneLine(e.Scope), CoveredBy: oneLine(e.CoveredBy), Blocks: Blocks(e)}
	if e.Record != nil {
		if a.Record = oneLine(e.Record.RecordID); a.Record == "" {
			a.Record = "?"
		}
	}
	for i := range a.Blocks {
		b := &a.Blocks[i]
		b.Title, b.Text = oneLine(b.Title), visible(b.Text)
	}
	return a
}

// articleOf returns an event as documents show it, without the matches in that text.
func articleOf(row *sessionfile.Row, named *Names, x *redaction) (*Article, error) {
	e := EntryOf(row)
	named.Entry(&e)
	a := ArticleOf(&e)
	who, said := "", &a.Author
	if a.Record != "" {
		who, said = "compaction record ", &a.Record
	}
	line := []*string{shown(strconv.FormatInt(a.Seq, 10) + ". " + who), said, shown(" "), &a.Time}
	for _, fact := range []struct {
		name string
		text *string
	}{{", branch ", &a.Branch}, {", scope ", &a.Scope}, {", covered by ", &a.CoveredBy}} {
		if *fact.text != "" {
			line = append(line, shown(fact.name), fact.text)
		}
	}
	x.Joined("", line...)
	if err := x.clean("the heading", a.Author, a.Record, a.Time, a.Branch, a.Scope, a.CoveredBy); err != nil {
		return nil, err
	}
	for i := range a.Blocks {
		b := &a.Blocks[i]
		b.Title, b.Text = x.Text(b.Title), x.Text(b.Text)
		if err := x.clean(b.Kind, b.Title, b.Text); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// shown is a word of the format. It may be part of a match, but it is written all the same.
func shown(text string) *string { return &text }

// clean checks texts again before they are written.
func (x *redaction) clean(field string, texts ...string) error {
	for _, text := range texts {
		if x.Matches(text) {
			return fmt.Errorf("field %q: %w", field, ErrRedact)
		}
	}
	return nil
}

// oneLine is visible for a name.
func oneLine(text string) string { return strings.Join(strings.Fields(visible(text)), " ") }

// visible escapes invisible characters that affect how a text is shown: control characters except
// line breaks and tabs, marks that change the direction of text, invisible tags. It drops a
// carriage return at the end of a line, and escapes any other, which would begin a line in
// Markdown.
func visible(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for rest := strings.ReplaceAll(text, "\r\n", "\n"); rest != ""; {
		char, size := utf8.DecodeRuneInString(rest)
		switch {
		case char == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(rest[0]), 16))
		case hidden(char):
			quoted := strconv.QuoteRune(char)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(char)
		}
		rest = rest[size:]
	}
	return b.String()
}

func hidden(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u200c', '\u200d': // joiners, without which some scripts and emoji fall apart
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf)
}
