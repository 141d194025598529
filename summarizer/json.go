package summarizer

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// jsonOf renders tool arguments and responses as JSON with sorted keys and without HTML escaping.
// It replaces a value that JSON cannot express (a channel, NaN, a cycle) by its type, and keeps the
// other values.
func jsonOf(m map[string]any) string {
	if len(m) == 0 {
		return "{}"
	}
	if text, err := encode(m); err == nil {
		return text
	}
	readable := make(map[string]any, len(m))
	for k, v := range m {
		if text, err := encode(v); err == nil {
			readable[k] = json.RawMessage(text)
		} else {
			readable[k] = fmt.Sprintf("(unreadable %T)", v)
		}
	}
	text, err := encode(readable)
	if err != nil {
		return "(unreadable)"
	}
	return text
}

// encode marshals a value. It turns a panic into an error, because values in memory may have their
// own marshalers.
func encode(v any) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("marshal %T: %v", v, p)
		}
	}()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}
