package audit

import (
	"bytes"
	"encoding/json"
)

// marshal returns a value as JSON on one line, without escapes for HTML and without a line break at
// the end.
func marshal(value any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}
