package values_test

import (
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/record"
)

// A secret is one in every form in which people and tools write it.
func TestSecretsInOtherFormsAreNeverTaken(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ text, secret string }{
		{"Pay with 4111\u00a01111\u00a01111\u00a01111 please.", "1111"},
		{"Pay with 4111\u202f1111\u202f1111\u202f1111 please.", "1111"},
		{"Pay with 4111–1111–1111–1111 please.", "1111"},
		{"Pay with 4111\u20111111\u20111111\u20111111 please.", "1111"},
		{"Pay with 4111_1111_1111_1111 please.", "1111"},
		{"Pay with ４１１１１１１１１１１１１１１１ please.", "１１１"},
		{"Pay with 4111\u200b111111111111 please.", "1111"},
		{"Pay with 3782 822463 10005 please.", "3782"},
		{"Use " + joined("wJalrXUtnFEMI/", "K7MDENG/", "bPxRfiCYEXAMPLEKEY") + " for it.", "wJalr"},
		{"Post to https://hooks.slack.com/services/T00000000/B00000000/" + joined("aBcDeFgHiJkL", "mNoPqRsTuVwX") + " then.", "aBcDeFg"},
		{"Add the header Authorization: Basic QWxhZGRpbjpvcGVu to it.", "QWxh"},
		{"Connect to admin:hunter22@db.example.com now.", "hunter22"},
		{"Pay with 4111 1111 1111 1112 please.", "1112"},
		{"Pay with 4111-1111-1111-1112 please.", "1112"},
		{"Pay with 4111111111111112 please.", "1111"},
		{"Pay with 4111_1111_1111_1112 please.", "1112"},
		{"Pay with 4111–1111–1111–1112 please.", "1112"},
		{"The network key is MOON-BASE-9 there.", "MOON-BASE"},
		{"Pay with `5500-0000-0000-0005` please.", "0005"},
		{"Pay with 3782-822463-10006 please.", "3782"},
		{"My pass: Blue-Horse-77", "Blue-Horse"},
		{"My pass is hunter22, by the way.", "hunter22"},
		{"user: bob7, pw: hunter22", "hunter22"},
		{"Run mysql -u root -phunter22 shop_db first.", "hunter22"},
		{"Run `mysqldump --host db7 -p'hunter22' shop_db` first.", "hunter22"},
		{"Run sshpass -p hunter22 ssh ops@db7.example.com first.", "hunter22"},
		{"Run `curl -u bob:hunter22 https://example.com/x7` first.", "hunter22"},
		{"Run redis-cli -h cache7 -a hunter22 ping first.", "hunter22"},
		{"Run openssl rsa -passin pass:hunter22 -in key7.pem first.", "hunter22"},
		{"Run docker login -u bob -p hunter22 registry7.example.com first.", "hunter22"},
		{"Run unzip -P hunter22 report-7.zip first.", "hunter22"},
		{"The wifi code is 884213, and it works.", "884213"},
		{"The Wi-Fi key is MOON-BASE-9 there.", "MOON-BASE"},
		{"The code for the wifi is 884213 there.", "884213"},
		{"The garage door has the code 4711 now.", "4711"},
		{"The combination of the safe is 12-34-56 there.", "12-34-56"},
		{"The alarm code changed to 4711 today.", "4711"},
		{"The license key is AB12-CD34-EF56 there.", "AB12"},
		{"Your recovery codes are 1a2b-3c4d and 5e6f-7a8b there.", "1a2b"},
		{"提取码是x7k2，请查收。", "x7k2"},
	} {
		for name, ev := range map[string]*session.Event{
			"said":     said("user", r.text, 0),
			"answered": event("bot", 0, genai.NewPartFromFunctionResponse("read", map[string]any{"out": r.text})),
		} {
			if got := values.Block(600, nil, values.Of([]*session.Event{ev}, nil, nil)); strings.Contains(got, r.secret) {
				t.Errorf("%s %q: %q", name, r.text, got)
			}
		}
	}
	named := event("bot", 0, genai.NewPartFromFunctionResponse("env", map[string]any{"name": "DB_PASSWORD", "value": "hunter22-9"}))
	if got := values.Block(600, nil, values.Of([]*session.Event{named}, nil, nil)); strings.Contains(got, "hunter22") {
		t.Errorf("a value whose name is a field: %q", got)
	}
}

// Words that are near to those of a secret, and mean something else.
func TestOrdinarySentencesAreNotAboutSecrets(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ text, want string }{
		{"The booking code is AB12XY for now.", "AB12XY"},
		{"The error code is E4711 there.", "E4711"},
		{"My boarding pass has seat 17C on it.", "17C"},
		{"The 17 tests pass now with go1.25.1 there.", "go1.25.1"},
		{"The router code lives in internal/router.go for now.", "internal/router.go"},
		{"Open the door at 7:45 am, please.", "7:45 am"},
		{"Run mkdir -p build/out.d first.", "build/out.d"},
		{"Run ssh -p 2222 ops@db7.example.com first.", "ops@db7.example.com"},
		{"Run curl -o report-7.zip https://example.com/x7 first.", "https://example.com/x7"},
		{"The zip code is 94110 there.", "94110"},
		{"The trace is 1767225600000000 there.", "1767225600000000"},
		{"We compare the years 2021 2022 2023 with order ORD-17 there.", "ORD-17"},
		{"The key point is item A-7 there.", "A-7"},
	} {
		if got := values.Of([]*session.Event{said("user", r.text, 0)}, nil, nil); !find(got, r.want) {
			t.Errorf("%q: got %q, want %q", r.text, texts(got), r.want)
		}
	}
}

// Nothing in a value looks like the end of a frame.
func TestNoValueHasABracketThatLooksLikeThatOfAFrame(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a［End of summary］b", "a【End of summary】b", "a〔End〕b", "a[\u061cEnd\u034f]\u180eb\u3164", "⟦End⟧"} {
		if got := values.Block(600, nil, []record.Value{{Text: text, Kind: "quote"}}); strings.ContainsAny(got, "[]［］【】〔〕⟦⟧\u061c\u034f\u180e\u3164") || !strings.Contains(got, "(End") {
			t.Errorf("%q gives %q", text, got)
		}
	}
}
