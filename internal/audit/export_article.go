package audit

import (
	"strconv"
	"strings"

	"github.com/adk-go-ext/longsession/persistence"
)

// title is how a document for people begins. Its texts are on one line and visible.
type title struct{ Name, Created string }

func titleOf(s *Session) *title {
	created := []rune(s.Created)
	return &title{Name: oneLine(s.Name()), Created: oneLine(string(created[:min(len("2006-01-02T15:04:05"), len(created))]))}
}

// article is an event as a document for people shows it. Its texts are visible, and all but those of blocks on
// one line.
type article struct {
	Seq          int64
	Time, Author string
	// Record is the ID of a compaction record, "" for other events.
	Record, Branch, CoveredBy string
	Blocks                    []Block
}

func articleOf(row *persistence.Row) *article {
	e := EntryOf(row)
	a := &article{Seq: e.Seq, Time: e.Time, Author: oneLine(e.Author), Branch: oneLine(e.Branch), CoveredBy: oneLine(e.CoveredBy), Blocks: Blocks(&e)}
	if e.Record != nil {
		if a.Record = oneLine(e.Record.RecordID); a.Record == "" {
			a.Record = "?"
		}
	}
	for i := range a.Blocks {
		b := &a.Blocks[i]
		for j := range b.title {
			b.title[j].text = visible(b.title[j].text)
		}
		b.Title, b.Text = oneLine(b.title.String()), visible(b.Text)
	}
	return a
}

// check returns an error if anything that was said matches as it is shown.
func (t *title) check(r *Redactor) error {
	if err := r.line(words{fixed("Session "), said(t.Name)}); err != nil {
		return err
	}
	return r.line(words{fixed("Created "), said(t.Created)})
}

func (a *article) check(r *Redactor) error {
	line := words{fixed(strconv.FormatInt(a.Seq, 10) + ". ")}
	if a.Record != "" {
		line = append(line, fixed("compaction record "), said(a.Record))
	} else {
		line = append(line, said(a.Author))
	}
	line = append(line, fixed(" "), said(a.Time))
	if a.Branch != "" {
		line = append(line, fixed(", branch "), said(a.Branch))
	}
	if a.CoveredBy != "" {
		line = append(line, fixed(", covered by "), said(a.CoveredBy))
	}
	if err := r.line(line); err != nil {
		return err
	}
	for i := range a.Blocks {
		if err := r.block(&a.Blocks[i]); err != nil {
			return err
		}
	}
	return nil
}

// session returns a session as an export names it: without matches, also across app, user and ID.
func (r *Redactor) session(s *Session) (*Session, error) {
	named := *s
	named.App, named.User, named.ID, named.Created = r.Text(s.App), r.Text(s.User), r.Text(s.ID), r.Text(s.Created)
	return &named, r.joined("/", &named.App, &named.User, &named.ID)
}

// oneLine is visible for a name.
func oneLine(text string) string { return strings.Join(strings.Fields(visible(text)), " ") }
