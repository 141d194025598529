package secrets_test

import (
	"testing"

	"github.com/adk-go-ext/longsession/internal/secrets"
)

func TestAddressesAreShownWithoutTheirPassword(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"http://u:hunter2@host/v1":        "http://[redacted]@host/v1",
		"HTTPS://hunter2@host:8080":       "HTTPS://[redacted]@host:8080",
		"http://u:p@ss/w@host":            "http://[redacted]@ss/w@host", // a slash ends the host of an address
		"u:hunter2@host":                  "[redacted]@host",
		"http://localhost:11434/v1":       "http://localhost:11434/v1",
		"http://host/v1?mail=someone@x.y": "http://host/v1?mail=someone@x.y",
		"someone@example.org":             "someone@example.org",
		"50% of it: a lot @ once":         "50% of it: a lot @ once",
		"":                                "",
	} {
		if got := secrets.Shown(address); got != want {
			t.Errorf("%q is shown as %q, want %q", address, got, want)
		}
	}
}
