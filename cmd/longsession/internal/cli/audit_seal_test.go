package cli

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"database/sql"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// keyFiles writes a private and a public key.
func keyFiles(t *testing.T) (private, public string) {
	t.Helper()
	publicKey, privateKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	privateDER, err := x509.MarshalPKCS8PrivateKey(privateKey)
	if err != nil {
		t.Fatal(err)
	}
	publicDER, err := x509.MarshalPKIXPublicKey(publicKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	private, public = filepath.Join(dir, "key.pem"), filepath.Join(dir, "public.pem")
	for name, block := range map[string]*pem.Block{private: {Type: "PRIVATE KEY", Bytes: privateDER}, public: {Type: "PUBLIC KEY", Bytes: publicDER}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return private, public
}

func damage(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func TestASignedSealFindsWhatWasDone(t *testing.T) {
	t.Parallel()
	path := storeSession(t, (&ct.History{}).Turns(4, "bot").Compact("r1", "e1", "e2"), "shop", "ada", "s1")
	private, public := keyFiles(t)
	seal := filepath.Join(t.TempDir(), "seal.json")
	want := func(code int, out, complaint string, args ...string) {
		t.Helper()
		gotCode, gotOut, gotComplaint := called(t.Context(), args...)
		if gotCode != code || !regexp.MustCompile("(?m)"+out).MatchString(gotOut) || !strings.Contains(gotComplaint, complaint) {
			t.Errorf("%v: exit code %d\n%s%s", args[1:], gotCode, gotOut, gotComplaint)
		}
	}
	want(exit.CodeOK, `^1 session, 9 events sealed in .*seal\.json, signed$`, "", "audit", "seal", path, "--key", private, "-o", seal)
	if info, err := os.Stat(seal); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the seal: %v, %v", info, err)
	}
	want(exit.CodeOK, `^fine: (?s:.*)\nas sealed at 20..-.* \(its signature is good\): 1 session, 9 events; added since then: 0 sessions and 0 events$`, "",
		"audit", "verify", path, "--against", seal, "--public-key", public)
	want(exit.CodeOK, `signature was not checked: give --public-key`, "", "audit", "verify", path, "s1", "--against", seal)
	want(exit.CodeOK, `^\{"type":"checked",.*"against":\{"made":"20.*","signed":true,"sessions":1,"events":9,"added_sessions":0,"added_events":0,"findings":0\}\}$`, "",
		"audit", "verify", path, "--against", seal, "--public-key", public, "--json")

	damage(t, path, "UPDATE events SET content = replace(content, 'e', 'E'), digest = NULL WHERE seq = 3", "UPDATE sessions SET undigested = 3")
	want(exit.CodeFindings, `^shop/ada/s1 event 3 \(e3\): seal: event 3 differs from the seal: it was changed, or replaced\n    also event 4 (?s:.*)\nshop/ada/s1 event 1 \(e1\): chain: has a digest, (?s:.*)\n1 difference from the seal at 20`, "2 findings",
		"audit", "verify", path, "--against", seal, "--public-key", public)
	want(exit.CodeFindings, `^1 event without a digest \(from older versions\): only a seal can reveal a change there$`, "finding", "audit", "verify", path)
	want(exit.CodeFindings, `"findings":1\}\}$`, "finding", "audit", "verify", path, "--against", seal, "--json")
	damage(t, path, "PRAGMA foreign_keys = ON", "DELETE FROM sessions")
	want(exit.CodeFindings, `^shop/ada/s1: seal: the session was deleted, with its 9 events`, "1 finding", "audit", "verify", path, "s1", "--against", seal)
	want(exit.CodeFindings, `was deleted`, "", "audit", "verify", path, "--app", "shop", "--against", seal)
	want(exit.CodeUsage, "", "has no session", "audit", "verify", path, "nope", "--against", seal)
	want(exit.CodeUsage, "", "has no session", "audit", "verify", path, "s1")
}

func TestASealIsNotMadeOfWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	path := storeSession(t, (&ct.History{}).Turns(4, "bot"), "shop", "ada", "s1", "UPDATE events SET author = 'eve' WHERE seq = 5")
	seal := filepath.Join(t.TempDir(), "seal.json")
	code, out, complaints := called(t.Context(), "audit", "seal", path, "-o", seal)
	if _, err := os.Stat(seal); code != exit.CodeFindings || out != "" || err == nil ||
		!strings.Contains(complaints, "shop/ada/s1 event 5 (e5): chain: ") || !strings.Contains(complaints, "1 finding: nothing was sealed") {
		t.Errorf("exit code %d, %v\n%s%s", code, err, out, complaints)
	}
	if code, out, complaints := called(t.Context(), "audit", "seal", path, "-o", seal, "--force", "--json"); code != exit.CodeOK || !strings.Contains(out, `"sessions":1,"events":8,"signed":false}`) {
		t.Errorf("exit code %d\n%s%s", code, out, complaints)
	}
	if code, out, _ := called(t.Context(), "audit", "verify", path, "--against", seal); code != exit.CodeFindings || !strings.Contains(out, "as sealed at") || !strings.Contains(out, "(it is not signed)") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestEveryFieldOfASealIsInTheHelp(t *testing.T) {
	t.Parallel()
	path := storeSession(t, (&ct.History{}).Turns(1, "bot"), "shop", "ada", "s1")
	private, _ := keyFiles(t)
	_, out, _ := called(t.Context(), "audit", "seal", path, "--key", private)
	if strings.Count(out, "\n") != 1 {
		t.Errorf("a seal is not one line:\n%s", out)
	}
	fields := 0
	var visit func(any)
	visit = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, inner := range value {
				fields++
				if !regexp.MustCompile(`\b` + name + `\b`).MatchString(helpOf("seal")) {
					t.Errorf("the help does not name the field %s", name)
				}
				visit(inner)
			}
		case []any:
			for _, inner := range value {
				visit(inner)
			}
		}
	}
	var object any
	if err := json.Unmarshal([]byte(out), &object); err != nil {
		t.Fatal(err)
	}
	visit(object)
	if fields != 17 {
		t.Errorf("a seal has %d fields", fields)
	}
}

func TestSealAndVerifyRefuseWhatCannotBeMeant(t *testing.T) {
	t.Parallel()
	path := storeSession(t, (&ct.History{}).Turns(1, "bot"), "shop", "ada", "s1")
	private, public := keyFiles(t)
	dir := t.TempDir()
	seal, missing, text := filepath.Join(dir, "seal.json"), filepath.Join(dir, "missing"), filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, complaints := called(t.Context(), "audit", "seal", path, "-o", seal); code != exit.CodeOK {
		t.Fatal(complaints)
	}
	for _, c := range []struct {
		says string
		args []string
	}{
		{"--key", []string{"seal", path, "--key", missing}},
		{"--key", []string{"seal", path, "--key", ""}},
		{"BEGIN PUBLIC KEY", []string{"seal", path, "--key", public}},
		{"session file itself", []string{"seal", path, "-o", path}},
		{"belongs to the session file", []string{"seal", path, "-o", path + "-wal"}},
		{"is the key", []string{"seal", path, "--key", private, "-o", private}},
		{"is a folder", []string{"seal", path, "-o", dir}},
		{"is empty", []string{"seal", path, "-o", ""}},
		{"nope", []string{"seal", path, "nope"}},
		{"without --against", []string{"verify", path, "--public-key", public}},
		{"cannot be read", []string{"verify", path, "--against", missing}},
		{"--against is empty", []string{"verify", path, "--against", ""}},
		{"it is not a seal", []string{"verify", path, "--against", text}},
		{"it is not a seal", []string{"verify", path, "--against", path}},
		{"not signed", []string{"verify", path, "--against", seal, "--public-key", public}},
		{"BEGIN PRIVATE KEY", []string{"verify", path, "--against", seal, "--public-key", private}},
	} {
		code, out, complaints := called(t.Context(), append([]string{"audit"}, c.args...)...)
		if code != exit.CodeUsage || out != "" || !strings.Contains(complaints, c.says) {
			t.Errorf("%v: exit code %d, want %q\n%s%s", c.args, code, c.says, out, complaints)
		}
	}
	if text, err := os.ReadFile(private); err != nil || !strings.Contains(string(text), "PRIVATE KEY") {
		t.Errorf("the key: %v", err)
	}
}
