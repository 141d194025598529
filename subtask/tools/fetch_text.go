package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
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
	// The converter cannot be stopped. The call does not wait for it, and its input is bounded.
	done := make(chan func(), 1)
	go func() {
		text, plain := markdown(decoded, p.url.String())
		done <- func() {
			if p.text = text; plain {
				p.notes = append(p.notes, "the page is nested too deep for Markdown; its tags are left out")
			}
		}
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case store := <-done:
		store()
		return nil
	}
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

// pictures matches images that a page holds as data: thousands of characters of no use to a model.
var pictures = regexp.MustCompile(`!\[([^\]]*)\]\(data:[^)]*\)`)

// markdown converts HTML. Where the converter fails, as beyond 512 nested elements, the tags are left out.
func markdown(page []byte, address string) (text string, plain bool) {
	defer func() {
		if recover() != nil {
			text, plain = untagged(page), true
		}
	}()
	conv := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	out, err := conv.ConvertReader(bytes.NewReader(page), converter.WithDomain(address))
	if err != nil {
		return untagged(page), true
	}
	out = pictures.ReplaceAll(out, []byte("![$1]"))
	text, _ = legible(bytes.TrimSpace(out))
	return text, false
}

// untagged is the text of a page, one line for each piece between tags.
func untagged(page []byte) string {
	var out strings.Builder
	tokens := html.NewTokenizer(bytes.NewReader(page))
	hidden := ""
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			if !errors.Is(tokens.Err(), io.EOF) {
				out.WriteString("…")
			}
			text, _ := legible([]byte(strings.TrimSpace(out.String())))
			return text
		case html.StartTagToken:
			if name, _ := tokens.TagName(); hidden == "" && (string(name) == "script" || string(name) == "style") {
				hidden = string(name)
			}
		case html.EndTagToken:
			if name, _ := tokens.TagName(); string(name) == hidden {
				hidden = ""
			}
		case html.TextToken:
			if text := strings.Join(strings.Fields(string(tokens.Text())), " "); hidden == "" && text != "" {
				out.WriteString(text + "\n")
			}
		}
	}
}
