package tools

import (
	"bytes"
	"context"
	"fmt"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// toText turns the body into text that a model may be sent.
func (p *webPage) toText(ctx context.Context) error {
	decoded, err := p.decode()
	if err != nil {
		return err
	}
	if p.kind != "text/html" && p.kind != "application/xhtml+xml" {
		p.text, _ = legible(decoded)
		return nil
	}
	text, cut, err := markdown(ctx, decoded, p.url)
	if err != nil {
		return err
	}
	if cut {
		p.notes = append(p.notes, fmt.Sprintf("only the first %d bytes of the text are shown: as Markdown it is much longer than the page", len(text)))
	}
	p.text, _ = legible([]byte(text))
	return nil
}

// decode returns the body in UTF-8. The charset is that of the header, else that of the document, else UTF-8 if the
// bytes are that.
func (p *webPage) decode() ([]byte, error) {
	encoding, name, certain := charset.DetermineEncoding(p.body[:min(len(p.body), 1024)], p.header)
	if !certain && utf8.Valid(whole(p.body, p.cut)) {
		name = "utf-8"
	}
	text := p.body
	if name == "utf-8" {
		text = whole(text, p.cut)
	} else {
		decoded, err := encoding.NewDecoder().Bytes(p.body)
		if err != nil {
			return nil, fmt.Errorf("the page is not in %s, as it says: %w", name, err)
		}
		text = decoded
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	if bytes.IndexByte(text[:min(len(text), 8_000)], 0) >= 0 {
		return nil, fmt.Errorf("the page says that it is %s but is binary; only text is fetched", shown(p.kind))
	}
	return text, nil
}

// whole is a text without half a character where it was cut.
func whole(text []byte, cut bool) []byte {
	for i := 1; cut && i <= min(utf8.UTFMax, len(text)); i++ {
		if last := text[len(text)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}
