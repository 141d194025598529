package doctorcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

const secret = "sk-secret-of-this-test-0123456789"

// clean is an environment without settings and keys.
func clean(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "LONGSESSION_CONFIG": "", "LONGSESSION_API_KEY": "", "OPENAI_API_KEY": "",
		"OPENAI_BASE_URL": "", "GEMINI_API_KEY": "", "GOOGLE_API_KEY": "", "GOOGLE_GENAI_USE_VERTEXAI": "", "GOOGLE_GEMINI_BASE_URL": "",
	} {
		t.Setenv(name, value)
	}
	return home
}

// doctor runs the command, and returns its checks and its exit code.
func doctor(t *testing.T, args ...string) ([]check, int) {
	t.Helper()
	cmd := Command("longsession of a test")
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(append(args, "--json"))
	err := cmd.ExecuteContext(context.Background())
	if strings.Contains(out.String(), secret) || err != nil && strings.Contains(err.Error(), secret) {
		t.Errorf("the key is shown:\n%s\n%v", out.String(), err)
	}
	var all []check
	for dec := json.NewDecoder(&out); dec.More(); {
		var one check
		if err := dec.Decode(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all, exit.CodeOf(context.Background(), err)
}

// wants requires a check with a state and a part of its text.
func wants(t *testing.T, all []check, what, state, text string) {
	t.Helper()
	for _, one := range all {
		if one.Check == what && one.State == state && strings.Contains(one.Text, text) {
			return
		}
	}
	t.Errorf("no check %q is %s with %q:\n%+v", what, state, text, all)
}

func TestANewcomerIsFine(t *testing.T) {
	home := clean(t)
	all, code := doctor(t)
	if code != exit.CodeOK {
		t.Errorf("exit code %d", code)
	}
	wants(t, all, "version", ok, "longsession of a test")
	wants(t, all, "settings", ok, "no file")
	wants(t, all, "key", ok, "scripted:demo needs none")
	wants(t, all, "model", ok, "without a network")
	wants(t, all, "file", ok, "a chat makes it")
	wants(t, all, "disk", ok, home)
	if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
		t.Errorf("it has left %v (%v)", entries, err)
	}
}

func TestEachAnswerOfAServerIsTold(t *testing.T) {
	for _, c := range []struct {
		name        string
		answer      http.HandlerFunc
		state, text string
	}{
		{"has it", answer(200, "application/json", `{"data":[{"id":"house"},{"id":"other"}]}`), ok, "has house"},
		{"has it as its latest", answer(200, "application/json", `{"data":[{"id":"house:latest"}]}`), ok, "has house"},
		{"has others", answer(200, "application/json", `{"data":[{"id":"b"},{"id":"a"}]}`), bad, "does not have the model house; it has a, b"},
		{"has many others", answer(200, "application/json", `{"data":[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"},{"id":"e"},{"id":"f"}]}`), bad, "it has a, b, c, d, e and others"},
		{"wrong key", answer(401, "application/json", `{"error":"bad key `+secret+`"}`), bad, "refuses the key (401)"},
		{"forbidden", answer(403, "text/plain", ""), bad, "refuses the key (403)"},
		{"bad request", answer(400, "text/plain", ""), bad, "refuses the request (400)"},
		{"no list", answer(404, "text/plain", ""), note, "does not say which models it has"},
		{"another list", answer(200, "application/json", `{"models":[]}`), note, "does not say which models it has"},
		{"a page", answer(200, "text/html; charset=utf-8", "<html>"), bad, "a page for people"},
		{"down", answer(503, "text/plain", ""), bad, "answers with an error (503)"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
		}, bad, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			clean(t)
			t.Setenv("OPENAI_API_KEY", secret)
			authorized := make(chan string, 1)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				authorized <- r.URL.Path + " " + r.Header.Get("Authorization")
				c.answer(w, r)
			}))
			defer server.Close()
			all, code := doctor(t, "--base-url", server.URL+"/v1/", "--model", "house")
			wants(t, all, "key", ok, "OPENAI_API_KEY is set")
			wants(t, all, "model", c.state, c.text)
			if want := c.state == bad; (code == exit.CodeFindings) != want {
				t.Errorf("exit code %d for %s", code, c.state)
			}
			if got := <-authorized; got != "/v1/models Bearer "+secret {
				t.Errorf("the server was asked for %q", got)
			}
		})
	}
}

func answer(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestAServerThatIsNotThereIsTold(t *testing.T) {
	clean(t)
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	all, code := doctor(t, "--base-url", server.URL, "--model", "house")
	wants(t, all, "key", ok, "house needs none")
	wants(t, all, "model", bad, "the server cannot be reached")
	if code != exit.CodeFindings {
		t.Errorf("exit code %d", code)
	}
	all, code = doctor(t, "--base-url", server.URL, "--model", "house", "--offline")
	wants(t, all, "model", note, "no server was asked")
	if code != exit.CodeOK {
		t.Errorf("offline: exit code %d", code)
	}
}

func TestAModelOfGeminiIsAskedFor(t *testing.T) {
	clean(t)
	t.Setenv("GEMINI_API_KEY", secret)
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1beta/models/gemini-3.1-flash-lite" || r.Header.Get("X-Goog-Api-Key") != secret || r.URL.RawQuery != "" {
			status = http.StatusTeapot
		}
		w.WriteHeader(status)
	}))
	defer server.Close()
	t.Setenv("GOOGLE_GEMINI_BASE_URL", server.URL)
	all, _ := doctor(t, "--model", "gemini-3.1-flash-lite")
	wants(t, all, "key", ok, "GEMINI_API_KEY is set")
	wants(t, all, "model", ok, "has gemini-3.1-flash-lite")
	status = http.StatusNotFound
	all, _ = doctor(t, "--model", "gemini-3.1-flash-lite")
	wants(t, all, "model", bad, "does not have the model gemini-3.1-flash-lite")
}

func TestWhatIsWrongHereIsTold(t *testing.T) {
	home := clean(t)
	damaged := filepath.Join(home, "damaged.db")
	if err := os.WriteFile(damaged, []byte("this is no database, and has never been one"), 0o644); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(home, "s.toml")
	if err := os.WriteFile(settings, []byte("[compaction]\nthresold = 0.5\nenabled = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LONGSESSION_THRESOLD", secret)
	all, code := doctor(t, "--file", damaged, "--config", settings)
	if code != exit.CodeFindings {
		t.Errorf("exit code %d", code)
	}
	wants(t, all, "settings", bad, "s.toml:2:1: compaction.thresold: there is no such key")
	wants(t, all, "settings", bad, "s.toml:3:1: compaction.enabled")
	wants(t, all, "variables", note, "LONGSESSION_THRESOLD is set, and nothing reads it (did you mean LONGSESSION_THRESHOLD?)")
	wants(t, all, "file", bad, "damaged.db cannot be opened")
	wants(t, all, "file", note, "can be read by others")
	wants(t, all, "lock", ok, "sessions can be locked")
	if got, err := filepath.Glob(filepath.Join(home, "*.lock")); err != nil || len(got) > 0 {
		t.Errorf("it has left %v (%v)", got, err)
	}

	all, _ = doctor(t, "--file", home)
	wants(t, all, "file", bad, "is a folder")
	all, code = doctor(t, "--model", "gemini-3.1-flash-lite")
	wants(t, all, "settings", bad, "no key is set")
	if code != exit.CodeFindings {
		t.Errorf("without a key: exit code %d", code)
	}
}

func TestALockThatIsThereIsTold(t *testing.T) {
	home := clean(t)
	file := filepath.Join(home, "odd[1]*.db")
	if err := os.WriteFile(file+".mine.lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all, _ := doctor(t, "--file", file)
	wants(t, all, "lock", note, ".mine.lock is there")
}

func TestAFullDiskIsTold(t *testing.T) {
	for free, state := range map[uint64]string{1 << 20: bad, 100 << 20: note, 2 << 30: ok} {
		c := &command{}
		c.room("/data", free, true)
		wants(t, c.checks, "disk", state, "/data has")
	}
	c := &command{}
	c.room("/data", 0, false)
	wants(t, c.checks, "disk", note, "not known")
}
