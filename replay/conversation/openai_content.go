package conversation

import (
	"encoding/base64"
	"net/url"
	"strings"

	"google.golang.org/genai"
)

// openaiContent reads the content of a message: a string, null, or a list of parts.
func openaiContent(v value) ([]*genai.Part, error) {
	switch {
	case v.missing():
		return nil, nil
	case v.is('"'):
		if text := unquote(v.json); text != "" {
			return []*genai.Part{{Text: text}}, nil
		}
		return nil, nil
	case !v.is('['):
		return nil, v.want("content", "a string, null or a list of parts")
	}
	list, err := v.list("content")
	if err != nil {
		return nil, err
	}
	var parts []*genai.Part
	for i, entry := range list {
		part, err := openaiPart(element("content", i), entry)
		if err != nil {
			return nil, err
		}
		if !nothing(part) {
			parts = append(parts, part)
		}
	}
	return parts, nil
}

func openaiPart(where string, v value) (*genai.Part, error) {
	if v.is('"') {
		return &genai.Part{Text: unquote(v.json)}, nil
	}
	if !v.is('{') {
		return nil, v.want(where, "an object with a type")
	}
	fields, err := v.object(where)
	if err != nil {
		return nil, err
	}
	kind, err := fields["type"].text(where + ".type")
	if err != nil {
		return nil, err
	}
	switch kind {
	case "text":
		text, err := fields["text"].text(where + ".text")
		return &genai.Part{Text: text}, err
	case "refusal":
		text, err := fields["refusal"].text(where + ".refusal")
		return &genai.Part{Text: text}, err
	case "image_url":
		return imagePart(where+".image_url", fields["imageurl"])
	case "input_audio":
		return audioPart(where+".input_audio", fields["inputaudio"])
	}
	return nil, v.fail("%s has the type %q; expected text, refusal, image_url or input_audio", where, kind)
}

// imagePart reads {url} or the URL itself.
func imagePart(where string, v value) (*genai.Part, error) {
	address := v
	if v.is('{') {
		fields, err := v.object(where)
		if err != nil {
			return nil, err
		}
		address = fields["url"]
	}
	text, err := address.text(where)
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, v.want(where, "{url}")
	}
	data, isData := strings.CutPrefix(text, "data:")
	if !isData {
		// The provider loads the picture itself, so its exact type is not needed here.
		return &genai.Part{FileData: &genai.FileData{FileURI: text, MIMEType: "image/*"}}, nil
	}
	head, body, found := strings.Cut(data, ",")
	mime, encoded := strings.CutSuffix(head, ";base64")
	var blob []byte
	if encoded {
		blob, err = fromBase64(body)
	} else {
		body, err = url.PathUnescape(body)
		blob = []byte(body)
	}
	if !found || err != nil {
		return nil, address.fail("%s is a damaged data URL; expected data:TYPE;base64,DATA", where)
	}
	if mime == "" {
		mime = "text/plain" // the default of RFC 2397
	}
	return &genai.Part{InlineData: &genai.Blob{Data: blob, MIMEType: mime}}, nil
}

func audioPart(where string, v value) (*genai.Part, error) {
	if !v.is('{') {
		return nil, v.want(where, "{data, format}")
	}
	fields, err := v.object(where)
	if err != nil {
		return nil, err
	}
	format, err := fields["format"].text(where + ".format")
	if err != nil {
		return nil, err
	}
	if format == "" {
		format = "wav"
	}
	data, err := bytesIn(where+".data", fields["data"])
	return &genai.Part{InlineData: &genai.Blob{Data: data, MIMEType: "audio/" + format}}, err
}

// bytesIn reads base64.
func bytesIn(name string, v value) ([]byte, error) {
	text, err := v.text(name)
	if err != nil {
		return nil, err
	}
	data, err := fromBase64(text)
	if err != nil {
		return nil, v.fail("%s is not base64: %v; expected base64", name, err)
	}
	return data, nil
}

// fromBase64 reads both alphabets, with and without padding. Go writes one, Python's genai the
// other.
func fromBase64(text string) ([]byte, error) {
	text = strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "").Replace(text)
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
}

// joined is the text of parts, one line for each, without thoughts.
func joined(parts []*genai.Part) string {
	var texts []string
	for _, p := range parts {
		if p.Text != "" && !p.Thought {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
