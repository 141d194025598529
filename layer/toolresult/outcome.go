package toolresult

import (
	"strings"

	"github.com/adk-go-ext/longsession/internal/canonical"
)

// importance is how long an entry of an object survives while the object is shortened.
type importance int

const (
	ordinary importance = iota
	identity            // names the subject of the result: id, path, url, name
	outcome             // how the call ended: status, exit_code, code
	failure             // why it failed: error
)

// maxRankedKey is the length of the longest key that has an importance of its own.
const maxRankedKey = 16

// importanceOf ranks a key. Case and underscores make no difference: exitCode is exit_code.
func importanceOf(key string) importance {
	if len(key) <= maxRankedKey {
		var plain [maxRankedKey]byte
		switch string(withoutCase(plain[:0], key)) {
		case "error", "iserror":
			return failure
		case "status", "exitcode", "exitstatus", "returncode", "code", "success", "ok":
			return outcome
		case "id", "path", "url", "uri", "name", "file", "title":
			return identity
		}
	}
	if strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "Id") || strings.HasSuffix(key, "ID") {
		return identity
	}
	return ordinary
}

// withoutCase appends a key without underscores and in lower case.
func withoutCase(out []byte, key string) []byte {
	for i := range len(key) {
		b := key[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != '_' {
			out = append(out, b)
		}
	}
	return out
}

// errorKey is where ADK and most tools put an error.
const errorKey = "error"

// hasError reports whether a response has an error that a mask has to keep. A mask shows the entry under
// [errorKey] only, so other signs of a failure do not count. See callFailed for all of them.
func hasError(response map[string]any) bool {
	value, found := response[errorKey]
	return found && value != nil && value != "" && value != false
}

// callFailed reports whether a result shows that the call failed: by an error under any key that importanceOf
// knows, an exit code other than 0, or success false.
func callFailed(response map[string]any) bool {
	for key, value := range response {
		switch importanceOf(key) {
		case failure:
			switch v := canonical.Level(value).(type) {
			case nil:
			case bool:
				if v {
					return true
				}
			case string:
				if v != "" {
					return true
				}
			case float64:
				if v != 0 {
					return true
				}
			case map[string]any:
				if len(v) > 0 {
					return true
				}
			case []any:
				if len(v) > 0 {
					return true
				}
			}
		case outcome:
			switch string(withoutCase(nil, key)) {
			case "exitcode", "exitstatus", "returncode":
				if code, ok := canonical.Level(value).(float64); ok && code != 0 {
					return true
				}
			case "success", "ok":
				if value == false {
					return true
				}
			}
		}
	}
	return false
}
