package audit

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/adk-go-ext/longsession/persistence"
)

//go:embed document.html
var documentText string

var documentTemplate = template.Must(template.New("document").Parse(documentText))

// document writes one HTML page that needs nothing else. html/template escapes what was said.
type document struct {
	to io.Writer
}

func (w *document) begin(of *Session) error {
	return documentTemplate.ExecuteTemplate(w.to, "begin", of)
}

func (w *document) event(row *persistence.Row) error {
	e := EntryOf(row)
	return documentTemplate.ExecuteTemplate(w.to, "event", struct {
		Entry
		Blocks []Block
	}{e, Blocks(&e)})
}

func (w *document) end() error {
	return documentTemplate.ExecuteTemplate(w.to, "end", nil)
}
