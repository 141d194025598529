package redact_test

import (
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
)

// labeled are texts with what a preset must take out of them, "" for nothing.
var labeled = map[string][]struct{ text, private string }{
	"keys": {
		{"aws_access_key_id = AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"},
		{"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
		{"use ghp_16C7e42F292c6912E7710c838347Ae178B4a for the clone", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"},
		{"github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ", "github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ"},
		{"glpat-abcDEF123456_7890-xy", "glpat-abcDEF123456_7890-xy"},
		{"SLACK: " + "xoxb-" + "123456789012-abcdefABCDEF", "xoxb-" + "123456789012-abcdefABCDEF"},
		{"sk-ant-api03-AbCdEf0123456789_AbCdEf0123456789-xyz", "sk-ant-api03-AbCdEf0123456789_AbCdEf0123456789-xyz"},
		{"OPENAI_API_KEY=sk-proj-abcdefGHIJKL0123456789mnop", "sk-proj-abcdefGHIJKL0123456789mnop"},
		{"use sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF", "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF"},
		{"charge with " + "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc now", "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"},
		{"key=AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY", "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"},
		{"Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"},
		{"Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="},
		{"//registry/:_authToken=npm_abcdefghijklmnopqrstuvwxyz0123456789", "npm_abcdefghijklmnopqrstuvwxyz0123456789"},
		{"hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA PRIVATE KEY-----"},
		{"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk cut short", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk cut short"},
		{"with nvapi-" + "abcdefGHIJKL0123456789mnop", "nvapi-" + "abcdefGHIJKL0123456789mnop"},
		{"with lin_api_" + "abcdefGHIJKL0123456789mnopqrstuv", "lin_api_" + "abcdefGHIJKL0123456789mnopqrstuv"},
		{"with sq0atp-" + "abcdefGHIJKL0123456789", "sq0atp-" + "abcdefGHIJKL0123456789"},
		{"A senha: verao2024!", "verao2024!"},
		{"密码: hunter22", "hunter22"},
		{"passcode: blue-7-horse", "blue-7-horse"},
		{"postgres://app:s3cr3t!x@db.example.org/shop", "s3cr3t!x"},
		{"my password is hunter22, please log in", "hunter22"},
		{`{"db_password": "Tr0ub4dor&3"}`, "Tr0ub4dor&3"},
		{`client_secret: 'q7Xy-91kLm_zz'`, "q7Xy-91kLm_zz"},
		{"Das Passwort: Sommer2024!", "Sommer2024!"},
		{"export API_KEY=abcd1234efgh5678", "abcd1234efgh5678"},
		{"x-api-key: 0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef"},
		{"password: 123456", "123456"},
		{`db {"password": 12345678}`, "12345678"},
		{"the password is: hunter22", "hunter22"},
		{"my password was hunter22.", "hunter22."},
		{"Das Passwort lautet Sommer2024!", "Sommer2024!"},
		{"password -> hunter22", "hunter22"},
		{"mysql --password hunter22 shop", "hunter22"},
		{"curl -u ada:hunter22 https://example.org", "hunter22"},
		{"postgres://app:p@ssw0rd@db/shop", "p@ssw0rd"},
		{"bot 123456789:AAF1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q is ours", "123456789:AAF1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"},

		{"docker run -u 1000:1000 --token-threshold 4000", ""},
		{"a password is 8 to 20 characters long", ""},
		{"https://example.org:8080?to=a@b", ""},
		{"The token count is 128,000 and the key idea is simple.", ""},
		{"password: please enter it again", ""},
		{`password := os.Getenv("DB_PASSWORD_1")`, ""},
		{"api_key = config.api_key_v2", ""},
		{"token: $GITHUB_TOKEN1", ""},
		{"secret=<your-secret-1>", ""},
		{"API_KEY=your-api-key-1", ""},
		{`{"type": "string", "format": "password"}`, ""},
		{"max_tokens: 4096, prompt_token: 1234567", ""},
		{"commit 9fceb02d0ae598e95dc970b74767f19372d61af8", ""},
		{"id 550e8400-e29b-41d4-a716-446655440000", ""},
		{"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", ""},
		{"call_abc123DEF456ghi789JKL012 and toolu_01A09q90qw90lq917835lq9", ""},
		{"risk-averse-and-task-oriented-people-of-all-ages", ""},
		{"sk-learn-contrib is a project", ""},
		{"-----BEGIN PUBLIC KEY-----\nMFww\n-----END PUBLIC KEY-----", ""},
		{"basic understanding of the matter", ""},
		{"https://example.org:8080/a@b", ""},
		{"the secret is out: everybody knows", ""},
		{"token = Base.url_encode64(bytes)", ""},
		{"if token == nextToken { return }", ""},
	},
	"email": {
		{"write to ada@example.org, please", "ada@example.org"},
		{"Ada.Lovelace+shop@mail.example.co.uk.", "Ada.Lovelace+shop@mail.example.co.uk"},
		{"<o'neil@example.ie>", "o'neil@example.ie"},
		{"jürgen@müller.de", "jürgen@müller.de"},
		{"用户@例子.中国", "用户@例子.中国"},
		{"mailto:a_b-c@sub.example.com?subject=x", "a_b-c@sub.example.com"},
		{"x@xn--bcher-kva.xn--p1ai", "x@xn--bcher-kva.xn--p1ai"},
		{"1234@qq.com", "1234@qq.com"},
		{"files/ada@example.org.txt", "ada@example.org"},
		{"ada@example.org.tar.gz", "ada@example.org.tar"},

		{"git@github.com:owner/repo.git", ""},
		{"npm i @angular/core@12.0.1 lodash@4.17.21", ""},
		{"google.golang.org/adk@v1.7.0", ""},
		{"icon@2x.png and logo@3x.webp", ""},
		{"user@localhost", ""},
		{"ssh://git@github.com/owner/repo.git", ""},
		{"@app.route('/x')", ""},
		{"5 apples @ 3.50 each", ""},
		{"image@sha256:abcdef", ""},
		{"root@server:~# ls", ""},
		{"SELECT @@version.x", ""},
	},
	"card": {
		{"Visa 4111 1111 1111 1111 exp 12/27", "4111 1111 1111 1111"},
		{"4111-1111-1111-1111", "4111-1111-1111-1111"},
		{"card=4242424242424242&cvc=123", "4242424242424242"},
		{"5555 5555 5555 4444", "5555 5555 5555 4444"},
		{"2223003122003222", "2223003122003222"},
		{"Amex 3782 822463 10005.", "3782 822463 10005"},
		{"378282246310005", "378282246310005"},
		{"6011111111111117", "6011111111111117"},
		{"3530 1113 3330 0000", "3530 1113 3330 0000"},
		{"3056 930902 5904", "3056 930902 5904"},
		{"6240 0086 3140 1148", "6240 0086 3140 1148"},
		{"number: 4111111111111111, thanks", "4111111111111111"},
		{"4111 1111 1111 1111 12 27", "4111 1111 1111 1111"},
		{"/pay/4111111111111111/now", "4111111111111111"},
		{"4111 - 1111 - 1111 - 1111", "4111 - 1111 - 1111 - 1111"},

		{`\ud800378282246310005`, "378282246310005"},
		{"4111.1111.1111.1111", "4111.1111.1111.1111"},
		{"4111/1111/1111/1111", "4111/1111/1111/1111"},
		{"4111_1111_1111_1111", "4111_1111_1111_1111"},
		{"4111\n1111\n1111\n1111", "4111\n1111\n1111\n1111"},

		{"4111.1111 1111.1111", ""},
		{"4111/1111 1111/1111", ""},
		{"v4111.1111.1111.1111", ""},
		{"4111 1111 1111 1112", ""},
		{"1234567812345678", ""},
		{"4000000000000000", ""},
		{"1712345678901", ""},
		{"1712345678901234567", ""},
		{"id 41111111-1111-4111-8111-111111111111", ""},
		{"0.4111111111111111", ""},
		{"0x4111111111111111f", ""},
		{"order 4111111111111111AB", ""},
		{"7 4 12 55 1024 33 9 8 7 6 5 4 3 2 1", ""},
		{"2026-01-02 03:04:05 2026-01-02", ""},
		{"1111 1111 1111 1111", ""},
		{"+49 151 2345 6789", ""},
	},
	"iban": {
		{"DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00"},
		{"IBAN: DE89370400440532013000 BIC: COBADEFFXXX", "DE89370400440532013000"},
		{"GB82 WEST 1234 5698 7654 32", "GB82 WEST 1234 5698 7654 32"},
		{"FR14 2004 1010 0505 0001 3M02 606", "FR14 2004 1010 0505 0001 3M02 606"},
		{"nl91abna0417164300", "nl91abna0417164300"},
		{"CH93 0076 2011 6238 5295 7, please", "CH93 0076 2011 6238 5295 7"},
		{"AT611904300234573201", "AT611904300234573201"},
		{"ES91-2100-0418-4502-0005-1332", "ES91-2100-0418-4502-0005-1332"},
		{"NO9386011117947", "NO9386011117947"},
		{"MT84MALT011000012345MTLCAST001S", "MT84MALT011000012345MTLCAST001S"},
		{"PL61 1090 1014 0000 0712 1981 2874", "PL61 1090 1014 0000 0712 1981 2874"},
		{"IT60X0542811101000000123456", "IT60X0542811101000000123456"},
		{"BE68 5390 0754 7034 and more", "BE68 5390 0754 7034"},
		{"SA03 8000 0000 6080 1016 7519", "SA03 8000 0000 6080 1016 7519"},

		{"DE88 3704 0044 0532 0130 00", ""},
		{"DE8937040044053201300", ""},
		{"US89 3704 0044 0532 0130 00", ""},
		{"id 12 34 in 2026 the year", ""},
		{"commit de89370400440532013000aa", ""},
		{"At 10 people in 12 houses met 300 more", ""},
	},
	"phone": {
		{"call +49 151 23456789 now", "+49 151 23456789"},
		{"+1 (415) 555-2671", "+1 (415) 555-2671"},
		{"tel:+14155552671", "+14155552671"},
		{"+44 20 7946 0958", "+44 20 7946 0958"},
		{"+86 138 1234 5678", "+86 138 1234 5678"},
		{"+81-3-1234-5678", "+81-3-1234-5678"},
		{"+91 98765 43210", "+91 98765 43210"},
		{"+55 11 91234-5678", "+55 11 91234-5678"},
		{"0049 151 23456789", "0049 151 23456789"},
		{"(415) 555-2671", "(415) 555-2671"},
		{"415-555-2671", "415-555-2671"},
		{"+1-415-555-2671x123", "+1-415-555-2671x123"},
		{"8 (495) 123-45-67", "8 (495) 123-45-67"},
		{"415.555.2671 ext. 4", "415.555.2671"},
		{"030 12345678", "030 12345678"},
		{"0151/23456789", "0151/23456789"},
		{"020 7946 0958", "020 7946 0958"},
		{"(020) 7946 0958", "(020) 7946 0958"},
		{"06 12 34 56 78", "06 12 34 56 78"},
		{"06.12.34.56.78", "06.12.34.56.78"},
		{"0412 345 678", "0412 345 678"},
		{"090-1234-5678", "090-1234-5678"},
		{"044 668 18 00", "044 668 18 00"},
		{"(11) 91234-5678", "(11) 91234-5678"},
		{"138 1234 5678", "138 1234 5678"},
		{"phone: 5551234567", "5551234567"},
		{"my phone number is 612 345 678", "612 345 678"},
		{"Telefon 08912345", "08912345"},
		{"电话 13812345678", "13812345678"},
		{"call me at 555 0123 44", "555 0123 44"},

		{"2026-01-02 03:04:05", ""},
		{"01-02-2026 and 01/02/2026", ""},
		{"2026-01-02T03:04:05.123456789Z", ""},
		{"192.168.100.200", ""},
		{"550e8400-e29b-41d4-a716-446655440000", ""},
		{"order 1234567890", ""},
		{"1712345678", ""},
		{"+0100", ""},
		{"x += +1.23456789", ""},
		{"1e+12345678", ""},
		{"ISBN 978-3-16-148410-0", ""},
		{"paid 1,234,567.89 EUR for 12 345 678 items", ""},
		{"lines 100-200, 300-4000", ""},
		{"v1.20.300-400", ""},
		{"111-22-3333", ""},
		{"0001-01-01", ""},
		{"call 5 tools and 12 models", ""},
		{"go1.25.1 0755 0644", ""},
	},
}

// TestPresets: what each takes out of labeled texts of several countries, and what it leaves
// alone.
func TestPresets(t *testing.T) {
	t.Parallel()
	for name, samples := range labeled {
		r, err := redact.New(nil, []string{name})
		if err != nil {
			t.Fatal(err)
		}
		positive := 0
		for _, s := range samples {
			want := s.text
			if s.private != "" {
				positive++
				want = strings.Replace(s.text, s.private, redact.Mark, 1)
			}
			if got := r.Text(s.text); got != want {
				t.Errorf("%s: %q became %q, want %q", name, s.text, got, want)
			}
		}
		if positive < 8 || len(samples)-positive < 6 {
			t.Errorf("%s: %d samples, %d of them private", name, len(samples), positive)
		}
	}
	if len(labeled) != len(redact.Presets)-1 {
		t.Errorf("%d presets have samples, want %d", len(labeled), len(redact.Presets)-1)
	}
}

// TestAllPresetsTogether find what each of them finds.
func TestAllPresetsTogether(t *testing.T) {
	t.Parallel()
	r, err := redact.New(nil, []string{redact.All})
	if err != nil {
		t.Fatal(err)
	}
	for name, samples := range labeled {
		for _, s := range samples {
			if s.private != "" && strings.Contains(r.Text(s.text), s.private) {
				t.Errorf("%s: %q is left in %q", name, s.private, s.text)
			}
		}
	}
	if _, err := redact.New(nil, []string{"ssn"}); err == nil || !strings.Contains(err.Error(), "choose from keys, email, card, iban, phone, all") {
		t.Errorf("an unknown preset: %v", err)
	}
}
