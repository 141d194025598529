package values

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/secrets"
)

// A secret in a ledger would be repeated in every prompt, so in doubt a value is left out: the message that has
// it stays in the session.

var secretPrefixes = func() []string {
	all := "bearer"
	for _, key := range secrets.Keys {
		all += " " + key.Begins
	}
	return strings.Fields(all)
}()

// isSecret reports whether a word looks like a key, a token, or a number of a card.
func isSecret(w string) bool {
	w = strings.Trim(w, ".,:;'\"`()[]{}<>*")
	if len(w) < 8 {
		return false
	}
	if slices.ContainsFunc(secretPrefixes, func(p string) bool { return len(w) >= len(p)+8 && strings.HasPrefix(w, p) }) {
		return true
	}
	if strings.Contains(w, "://") {
		return linkHasSecret(w)
	}
	if user, _, found := strings.Cut(w, "@"); found && !strings.HasPrefix(user, "mailto:") {
		if name, password, found := strings.Cut(user, ":"); found && name != "" && password != "" {
			return true
		}
	}
	if looksRandom(w) || isAccessKey(w) || isSSN(w) || isCard(w) {
		return true
	}
	if strings.ContainsAny(w, "/=:,;&?.\\") {
		for _, part := range strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("/=:,;&?.\\", r) }) {
			if len(part) < len(w) && isSecret(part) {
				return true
			}
		}
	}
	return false
}

// linkHasSecret reports whether a URL has a password, or a part that looks like a key.
func linkHasSecret(w string) bool {
	_, rest, _ := strings.Cut(w, "://")
	host, path, _ := strings.Cut(rest, "/")
	if user, _, found := strings.Cut(host, "@"); found && strings.Contains(user, ":") {
		return true
	}
	if lower := strings.ToLower(rest); strings.HasPrefix(lower, "hooks.") || strings.Contains(lower, "webhook") {
		return true // who knows the address may post to it
	}
	if _, query, found := strings.Cut(rest, "?"); found {
		for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == '#' }) {
			key, value, _ := strings.Cut(pair, "=")
			if value != "" && (isSecretKey(key) || strings.Contains(strings.ToLower(key), "sig") || strings.EqualFold(key, "key") || strings.EqualFold(key, "code")) {
				return true
			}
		}
	}
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return strings.ContainsRune("/=:,;&?#", r) }) {
		if isSecret(part) {
			return true
		}
	}
	return false
}

// looksRandom reports whether a word has the letters and digits of a key: long, mixed, and without order. UUIDs,
// hashes of commits and names in camel case are not.
func looksRandom(w string) bool {
	core := strings.Trim(w, "=+-_./")
	if len(core) < 16 || isUUID(core) {
		return false
	}
	var counts [128]int
	digits, uppers, lowers, changes := 0, 0, 0, 0
	last := 0
	for i := range len(core) {
		b := core[i]
		if b >= 128 {
			return false
		}
		now := 0
		switch {
		case isDigit(b):
			digits++
			now = 1
		case isUpper(b):
			uppers++
			now = 2
		case isLower(b):
			lowers++
			now = 3
		case b == '-' || b == '_' || b == '+' || b == '/' || b == '=' || b == '.' || b == '~' || b == '!' || b == '$' || b == '%' || b == '@' || b == '#' || b == '*':
			now = 4
		default:
			return false
		}
		if i > 0 && now != last {
			changes++
		}
		last = now
		counts[b]++
	}
	if digits == 0 || uppers+lowers == 0 {
		return digits == 0 && uppers > 3 && lowers > 3 && len(core) >= 32 && changes > len(core)/2
	}
	if hex := strings.Trim(strings.ToLower(core), "0123456789abcdef") == ""; hex {
		return len(core) >= 32 && len(core) != 40 // the hash of a commit
	}
	entropy := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(core))
			entropy -= p * math.Log2(p)
		}
	}
	separated := strings.ContainsAny(core, "-_./")
	if separated { // words with numbers, such as report-2026-03-02-final, change seldom
		longest := 0
		for part := range strings.FieldsFuncSeq(core, func(r rune) bool { return strings.ContainsRune("-_./", r) }) {
			if mixed(part) {
				longest = max(longest, len(part))
			}
		}
		return longest >= 16 && entropy >= 3.3
	}
	return entropy >= 3.3 && (uppers > 0 && lowers > 0 && changes >= 5 || len(core) >= 20 && changes >= 6)
}

// isAccessKey reports whether a word looks like a secret access key of AWS: 40 letters and digits in any order, with
// slashes. A path of that length has words.
func isAccessKey(w string) bool {
	const length, leastChanges = 40, 14
	if len(w) != length || !strings.ContainsAny(w, "0123456789") {
		return false
	}
	changes, last := 0, 0
	for i := range len(w) {
		now := 0
		switch b := w[i]; {
		case isDigit(b):
			now = 1
		case isUpper(b):
			now = 2
		case isLower(b):
			now = 3
		case b != '/' && b != '+':
			return false
		}
		if i > 0 && now != last {
			changes++
		}
		last = now
	}
	return changes >= leastChanges && strings.ToLower(w) != w && strings.ToUpper(w) != w
}

func mixed(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, unicode.IsLetter)
}

func isUUID(w string) bool {
	if len(w) != 36 {
		return false
	}
	for i := range len(w) {
		b := w[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if b != '-' {
				return false
			}
		} else if !isDigit(b) && (b|0x20 < 'a' || b|0x20 > 'f') {
			return false
		}
	}
	return true
}

// isSSN reports whether a word is a US social security number.
func isSSN(w string) bool {
	return len(w) == 11 && w[3] == '-' && w[6] == '-' && isDigits(w[:3]) && isDigits(w[4:6]) && isDigits(w[7:])
}

// secretWords say that a secret is near. A sentence that has one gives no values.
var secretWords = set(strings.Join(secrets.Passwords, " ") + " passwords psw passcodes passkey pin cvv cvc cvv2 otp totp apikey secret secrets credentials creds bearer ssn " +
	"zugangscode парол password's login logins pw mnemonic passwords' " +
	"contrasena contraseñas senhas passwörter passwörtern geheimzahl geheimnummer zugangsdaten identifiants wachtwoord wachtwoorden lösenord lösenordet " +
	"passord passordet kodeord kodeordet adgangskode adgangskoden salasana salasanani hasło hasła hasłem haslo hasla heslo hesla lozinka lozinku jelszó jelszavam " +
	"şifre şifrem şifresi şifreniz sifre sifrem parolam parolası пароля паролем пин пинкод סיסמה סיסמא הסיסמה")

// A code or a key is secret by what it opens: "the wifi code is 4711". The code of a booking is not, and "the router
// code is in main.go" is about a program.
var (
	places = set("wifi wlan hotspot door gate alarm garage entrance lock lockbox locker safe vault apartment flat keypad elevator intercom voicemail sim")
	coded  = set("access unlock entry sms 2fa mfa authenticator recovery backup security verification activation license licence wpa wpa2 wpa3")
	keyed  = set("network router encryption decryption signing product master root admin deploy webhook account guest")
	codes  = set("code codes combination combo")
	keys   = set("key keys pass pw")
	of     = set("of for to")
)

// A sentence may name a secret by a short label ("pass: ...", "pw is ..."), or be a command with a password. The words
// of the hints are cheap to look for, and no form matches without one.
var (
	labelHints = []string{"pass", "pw", "p/w", "mdp", "psk", "comb"}
	labels     = regexp.MustCompile(`(?i)(?:^|[^\pL\pN-])(?:` +
		`(?:pass|pw|p/w|mdp|psk)[ \t'"\x60*]*(?:[:=：＝]|is\b|was\b|→|->)` +
		`|(?:combination|combo)\s+(?:is|was|of the (?:lock|safe))\b)`)
	settingHints = []string{"_key", "_token", "_pass", "_pwd"}
	settings     = regexp.MustCompile(`[A-Z0-9]_(?:KEY|TOKEN|PASS|PWD)[ \t'"\x60*]*(?:[:=：＝]|(?:is|was|to|as)\b|→|->)`) // OPENAI_KEY is ...
	commandHints = []string{" -p", " -a", " -u", " -w", " --user", " --auth", " --proxy-user"}
	commands     = regexp.MustCompile(`(?i)(?:^|[^\pL\pN-])(?:` +
		`(?:mysql\w*|mariadb[\w-]*|sshpass|mongo\w*|7z\w?|rar|unrar|zip|unzip|sqlcmd|bcp|smbclient|(?:docker|podman|az|oc|helm)\s+(?:registry\s+)?login)(?:\.exe)?\b[^\n]*?\s-p[ =]?['"]?[^\s'"-]` +
		`|redis-cli\b[^\n]*?\s-a\s` +
		`|(?:curl|wget|https?|xh|lftp|ab)\b[^\n]*?\s(?:-[ua]|--user|--auth|--proxy-user)[ =]?['"]?[^\s:'"]+:\S` +
		`|ldap\w+\b[^\n]*?\s-w\s)`)
)

// names reports whether a form is in a sentence. lower is the sentence in lower case.
func names(form *regexp.Regexp, hints []string, s, lower string) bool {
	return slices.ContainsFunc(hints, func(hint string) bool { return strings.Contains(lower, hint) }) && form.MatchString(s)
}

// secretPhrases are secretWords of two words, and those of Chinese and Japanese.
var (
	secretPhrases = []string{"api key", "api-key", "access key", "access token", "auth token", "refresh token", "private key", "secret key", "security code", "verification code", "social security", "recovery code", "recovery phrase", "seed phrase",
		"pass phrase", "pass word", "one-time code", "one time code", "seed words", "security answer", "maiden name", "unlock pattern", "kata sandi",
		"clave es", "clave:", "clave secreta", "clave privada", "llave privada", "clave de acceso", "chave de api", "parola d'ordine", "parola d'accesso", "codice di verifica",
		"card number", "credit card", "debit card", "mot de passe", "authorization:", "token is", "token:", "token =", "token=", "sort code", "account password"}
	// secretForeign are those of other letters than a to z, in lower case. Some languages join words, or write none apart.
	secretForeign = []string{"código de verificación", "code de vérification", "clé api", "clé d'api", "clé secrète", "clé privée", "schlüssel:", "api-schlüssel", "bestätigungscode", "türcode", "code für die tür",
		"parola d’ordine", "parola d’accesso", "mật khẩu", "парол", "пин-код", "код доступа", "кодовое слово", "код подтверждения", "секретный ключ", "ключ api", "كلمة المرور", "كلمة السر", "الرقم السري", "رمز المرور",
		"पासवर्ड", "รหัสผ่าน", "κωδικός πρόσβασης", "κωδικό πρόσβασης", "비밀번호", "비번", "인증번호", "密碼", "驗證碼", "金鑰", "pin码", "pin碼", "api密钥", "apiキー", "秘密のコード", "合言葉"}
	secretHan = []string{"密码", "口令", "验证码", "密钥", "私钥", "令牌", "信用卡号", "银行卡号", "卡号", "身份证", "动态码", "安全码", "提取码", "パスワード", "暗証番号", "認証コード", "秘密鍵"}
)

// secretNear reports whether a sentence is about a secret.
func secretNear(s string) bool {
	lower := strings.ToLower(s)
	const far = 1 << 20
	place, code, last := far, far, "" // words since one of each, and the one before
	for word := range strings.FieldsFuncSeq(strings.ReplaceAll(lower, "wi-fi", "wifi"), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }) {
		word = strings.TrimSuffix(word, "'s")
		place, code = place+1, code+1
		opens := codes[word] || keys[word]
		switch {
		case secretWords[word], strings.HasSuffix(word, "password"), strings.HasSuffix(word, "passwort"), opens && (place <= nearPlace || coded[last]), keys[word] && keyed[last], places[word] && code <= nearPlace:
			return true
		case places[word]:
			place = 0
		case of[word] && codes[last]:
			code = 0 // the code of ...
		}
		last = word
	}
	for _, p := range secretPhrases {
		if strings.Contains(lower, p) {
			return true
		}
	}
	if strings.ContainsAny(lower, "_") && (strings.Contains(lower, "_key=") || strings.Contains(lower, "_token=") || strings.Contains(lower, "_secret") || strings.Contains(lower, "_key:") || strings.Contains(lower, "_password")) {
		return true
	}
	if strings.ContainsFunc(lower, func(r rune) bool { return r >= utf8.RuneSelf }) {
		for _, list := range [][]string{secretHan, secretForeign} {
			if slices.ContainsFunc(list, func(p string) bool { return strings.Contains(lower, p) }) {
				return true
			}
		}
	}
	return names(settings, settingHints, s, lower) || names(labels, labelHints, s, lower) || names(commands, commandHints, s, lower)
}

// nearPlace is how many words may be between a code and what it opens: "the garage has the code 4711".
const nearPlace = 3

// secretFields are further parts of the names of fields that hold secrets.
var secretFields = []string{"secret", "token", "credential", "authorization", "cookie", "cvv", "cvc", "cardnumber", "ssn", "otp", "signature", "sessionid", "motdepasse",
	"密钥", "验证码"}

// isSecretKey reports whether a field of an object holds a secret.
func isSecretKey(key string) bool {
	k := strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(strings.ToLower(key))
	has := func(w string) bool { return strings.Contains(k, w) }
	if slices.ContainsFunc(secrets.Passwords, has) || slices.ContainsFunc(secretFields, has) || slices.ContainsFunc(secrets.OfKeys, func(of string) bool { return has(of + "key") }) {
		return !strings.HasSuffix(k, "tokens") // how many
	}
	return k == "pin" || k == "auth"
}

// namesSecret reports whether an object is a setting that holds a secret: {"name": "DB_PASSWORD", "value": "..."}.
func namesSecret(object map[string]any) bool {
	for _, field := range []string{"name", "Name", "key", "Key"} {
		if name, ok := object[field].(string); ok && isSecretKey(name) {
			return true
		}
	}
	return false
}

// withoutKeyBlocks returns a text without what stands between the lines of a PEM block, to its end if the block
// has none.
func withoutKeyBlocks(text string) string {
	const begin, end = "-----BEGIN ", "-----END "
	if !strings.Contains(text, begin) {
		return text
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, begin)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, rest, found = strings.Cut(rest, end)
		if !found {
			return b.String()
		}
		b.WriteByte('\n')
		_, text, _ = strings.Cut(rest, "\n")
	}
}
