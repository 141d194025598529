package audit

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
)

//go:embed document.html
var documentText string

var documentTemplate = template.Must(template.New("document").Parse(documentText))

// document writes one self-contained HTML page. html/template escapes the text of events.
type document struct {
	to      io.Writer
	x       *redaction
	further int // sessions after the first, whose events have numbers of their own
}

func (w *document) begin(of *Session) error {
	t, err := titleOf(of, w.x)
	if err != nil {
		return err
	}
	return documentTemplate.ExecuteTemplate(w.to, "begin", t)
}

func (w *document) session(of *Session) error {
	w.further++
	t, err := titleOf(of, w.x)
	if err != nil {
		return err
	}
	return documentTemplate.ExecuteTemplate(w.to, "session", t)
}

func (w *document) event(row *sessionfile.Row) error {
	a, err := articleOf(row, w.x)
	if err != nil {
		return err
	}
	return documentTemplate.ExecuteTemplate(w.to, "event", struct {
		*Article
		Further int
	}{a, w.further})
}

func (w *document) end() error {
	return documentTemplate.ExecuteTemplate(w.to, "end", nil)
}
