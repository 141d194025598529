package toolresult

import (
	"strings"

	"github.com/adk-go-ext/longsession/internal/canonical"
)

// importance is how long an entry of an object survives while the object is shortened.
type importance int

const (
	ordinary importance = iota
	identity            // says what the result is about: id, path, url, name
	outcome             // says how the call ended: status, exit_code, code
	failure             // says why it failed: error
)

// importanceOf ranks a key. Case and underscores make no difference: exitCode is exit_code.
func importanceOf(key string) importance {
	if len(key) > len("exit_status")+8 && !strings.HasSuffix(key, "_id") {
		return ordinary
	}
	switch strings.ReplaceAll(strings.ToLower(key), "_", "") {
	case "error", "iserror":
		return failure
	case "status", "exitcode", "exitstatus", "returncode", "code", "success", "ok":
		return outcome
	case "id", "path", "url", "uri", "name", "file", "title":
		return identity
	}
	if strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "Id") || strings.HasSuffix(key, "ID") {
		return identity
	}
	return ordinary
}

// callFailed reports whether a result says that the call failed: by an error, or an exit code other than 0.
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
			switch strings.ReplaceAll(strings.ToLower(key), "_", "") {
			case "exitcode", "exitstatus", "returncode":
				if code, ok := canonical.Level(value).(float64); ok && code != 0 {
					return true
				}
			}
		}
	}
	return false
}
