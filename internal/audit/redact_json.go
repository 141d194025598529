package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// asJSON decodes a text that is a JSON object, list or string.
func asJSON(text string) (any, bool) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !strings.ContainsRune(`{["`, rune(trimmed[0])) {
		return nil, false
	}
	value, err := unmarshal([]byte(trimmed))
	return value, err == nil
}

func unmarshal(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // a long number keeps its digits
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("more than one value")
	}
	return value, nil
}

func marshal(value any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return buf.Bytes(), err
}

// plain returns a value as JSON knows it.
func plain(value any) any {
	switch value.(type) {
	case string, float64, bool, map[string]any, []any:
		return value
	}
	text, err := marshal(value)
	if err != nil {
		return redacted
	}
	out, err := unmarshal(text)
	if err != nil {
		return redacted
	}
	return out
}
