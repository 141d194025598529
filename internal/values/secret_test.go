package values_test

import (
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/values"
)

// joined are parts of a made-up key: a scanner of this repository must not take it for a real one.
func joined(parts ...string) string { return strings.Join(parts, "") }

// Nothing that looks like a secret is taken: from what is said, from calls and from responses.
func TestSecretsAreNeverTaken(t *testing.T) {
	t.Parallel()
	random := joined("wJalrXUtnFEMI", "K7MDENGbPxRfi", "CYEXAMPLEKEY9")
	for _, r := range []struct{ text, secret string }{
		{"Use " + joined("sk-", "proj-abcDEF1234567890abcdef") + " for it.", "abcDEF1234567890"},
		{"The token " + joined("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a") + " works.", "16C7e42F"},
		{"It is " + joined("AKIA", "IOSFODNN7EXAMPLE") + ", I think.", "IOSFODNN7"},
		{"Send " + joined("eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".dozjgNryP4J3jVmNHl0w5N") + " along.", "eyJ"},
		{"Use " + joined("gld", "t-ABCDEFGH") + " for it.", "ABCDEFGH"},
		{"Use " + joined("GOC", "SPX-abcdefgh") + " for it.", "abcdefgh"},
		{"Use " + joined("gls", "a_abcdefgh") + " for it.", "abcdefgh"},
		{"Use " + joined("AB", "IAIOSFODNN") + " for it.", "IOSFODNN"},
		{"Pay with 8171 9999 2766 0000 please.", "8171"},
		{"Try " + random + " instead.", random},
		{"Header `Authorization: Bearer " + random + "` is set.", random},
		{"Pay with 4111 1111 1111 1111 please.", "1111"},
		{"Pay with 4111-1111-1111-1111 please.", "1111"},
		{"Pay with 4111111111111111 please.", "4111"},
		{"Her number is 078-05-1120 there.", "078-05-1120"},
		{"My password is hunter22, by the way.", "hunter22"},
		{"My password: \"Blue Horse 77\"", "Blue Horse"},
		{"The password for the guest network is:\nMoon-Base-9", "Moon-Base-9"},
		{"hunter22 is the password of the box.", "hunter22"},
		{"The PIN of the card is 4711 now.", "4711"},
		{"My api key is A1B2C3 today.", "A1B2C3"},
		{"Your verification code is 992-113 for now.", "992"},
		{"我的密码是hunter22，别告诉别人。", "hunter22"},
		{"验证码是884213。", "884213"},
		{"DB_PASSWORD=Tr0ub4dor", "Tr0ub4dor"},
		{"See https://ann:s3cretPW@example.com/x for that.", "s3cretPW"},
		{"See https://example.com/x?access_token=abc123def for that.", "abc123def"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq98\nORD-17 XYZ-99\n-----END RSA PRIVATE KEY-----", "ORD-17"},
		{"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA1 KEY-17", "KEY-17"},
		{"The digest is " + strings.Repeat("0a1b2c3d", 8) + " here.", "0a1b2c3d"},
	} {
		for name, ev := range map[string]*session.Event{
			"said":     said("user", r.text, 0),
			"called":   event("bot", 0, genai.NewPartFromFunctionCall("send", map[string]any{"body": r.text})),
			"answered": event("bot", 0, genai.NewPartFromFunctionResponse("read", map[string]any{"output": []any{r.text}})),
		} {
			if got := values.Of([]*session.Event{ev}, nil, nil); find(got, r.secret) {
				t.Errorf("%s: %q gives %q", name, r.text, texts(got))
			}
		}
	}
	for _, key := range []string{"password", "api_key", "apiKey", "X-Auth-Token", "client_secret", "card_number", "cvv", "cookie", "pin", "db_pwd", "Kennwort", "signing_key", "パスワード"} {
		ev := event("bot", 0, genai.NewPartFromFunctionResponse("read", map[string]any{key: "ORD-17", "nested": map[string]any{key: []any{"ORD-18"}}, "json": `{"` + key + `": "ORD-19"}`}))
		if got := values.Of([]*session.Event{ev}, nil, nil); len(got) > 0 {
			t.Errorf("field %s gives %q", key, texts(got))
		}
	}
}

// What only looks a little like a secret is taken.
func TestOrdinaryValuesAreNoSecrets(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ text, want string }{
		{"The session is 3f2504e0-4f89-41d3-9a0c-0305e82c3301 there.", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"},
		{"It broke with commit 9fceb02d0ae598e95dc970b74767f19372d61af8 there.", "9fceb02d"},
		{"Run TestUnknownFieldsAreIgnoredByOlderReaders again.", "TestUnknownFieldsAreIgnoredByOlderReaders"},
		{"The file report-2026-03-02-final-v2.pdf is done.", "report-2026-03-02-final-v2.pdf"},
		{"My order is 1234567890123 there.", "1234567890123"},
		{"See https://example.com/docs/setup?page=2 for that.", "https://example.com/docs/setup?page=2"},
		{"The limit is 4096 tokens for now.", "4096 tokens"},
	} {
		if got := values.Of([]*session.Event{said("user", r.text, 0)}, nil, nil); !find(got, r.want) {
			t.Errorf("%q: got %q, want %q", r.text, texts(got), r.want)
		}
	}
}

// The app's function sees each text before values are taken from it, and each value.
func TestRedact(t *testing.T) {
	t.Parallel()
	redact := func(text string) string {
		text = strings.ReplaceAll(text, "ORD-17", "[REDACTED-1]")
		return strings.ReplaceAll(text, "Lee Smith", "Lee S***")
	}
	got := values.Of([]*session.Event{said("user", "Cancel ORD-17 and ORD-18 for Lee Smith please.", 0)}, nil, redact)
	if find(got, "ORD-17") || find(got, "REDACTED") || find(got, "Smith") || !find(got, "ORD-18") {
		t.Errorf("got %q", texts(got))
	}
	// A function that looks at a value alone: the words before it go, and the value stays.
	alone := func(text string) string { return strings.Replace(text, "patient P-77", "*** P-77", 1) }
	if got := values.Of([]*session.Event{said("user", "See patient P-77 please.", 0)}, nil, alone); find(got, "patient") {
		t.Errorf("got %q", texts(got))
	}
	if got := values.Of([]*session.Event{said("user", "See patient P-77 please.", 0)}, nil, func(string) string { return "" }); len(got) > 0 {
		t.Errorf("got %q", texts(got))
	}
}
