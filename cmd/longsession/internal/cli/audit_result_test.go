package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/persistence"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// responding returns a history with one tool result.
func responding(response map[string]any) *ct.History {
	h := (&ct.History{}).User("i", "q").Call("i", "bot", "login", "c1").Response("i", "bot", "login", "", "c1").Agent("i", "bot", "done")
	h.Events[2].Content.Parts[0].FunctionResponse.Response = response
	return h
}

// storeResult adds a result that no event has.
func storeResult(t *testing.T, path string, r store.Result) {
	t.Helper()
	s, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	owner := store.Owner{AppName: "shop", UserID: "ada", SessionID: "s1"}
	if err := persistence.Results(s).Put(t.Context(), owner, "cat", r); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAResultComesBackByteForByte(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		response map[string]any
		stored   bool
	}{
		"a text":                       {map[string]any{"output": "a\r\nb\tc \n\n"}, false},
		"no text":                      {map[string]any{"output": ""}, false},
		"JSON":                         {map[string]any{"b": []any{1.5, nil}, "a": "<&>\u2028"}, false},
		"a number that float64 rounds": {map[string]any{"id": json.Number("9007199254740993")}, false},
		"an empty object":              {map[string]any{}, false},
		"in no event":                  {map[string]any{"output": strings.Repeat("line of a large file\n", 20_000)}, true},
		"in no event, no UTF-8":        {map[string]any{"output": "a\xff\x00b"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, want := responding(r.response), store.ResultOf(r.response)
			if r.stored {
				h = responding(map[string]any{"output": "shortened", "ref_id": want.Ref})
			}
			path := storeSession(t, h, "shop", "ada", "s1")
			if r.stored {
				storeResult(t, path, want)
			}
			code, out, complaints := called(t.Context(), "audit", "result", path, "s1", want.Ref)
			if code != exit.CodeOK || out != want.Content || complaints != "" {
				t.Errorf("exit code %d, %d bytes, want %d\n%s", code, len(out), len(want.Content), complaints)
			}
			file := filepath.Join(t.TempDir(), "out")
			if code, _, _ := called(t.Context(), "audit", "result", path, want.Ref, "-o", file); code != exit.CodeOK {
				t.Errorf("-o: exit code %d", code)
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != want.Content {
				t.Errorf("the file has %d bytes, want %d (%v)", len(got), len(want.Content), err)
			}
			_, out, _ = called(t.Context(), "audit", "result", path, want.Ref, "--json")
			var line struct {
				Ref     string `json:"ref_id"`
				Content *string
				Base64  []byte
				Bytes   int
				Seq     int
				Tool    string
			}
			if err := json.Unmarshal([]byte(out), &line); err != nil {
				t.Fatal(err, out)
			}
			if line.Content != nil {
				line.Base64 = []byte(*line.Content)
			}
			if line.Ref != want.Ref || string(line.Base64) != want.Content || line.Bytes != len(want.Content) || (line.Seq == 0) != r.stored || (line.Tool == "cat") != r.stored {
				t.Errorf("%.300s", out)
			}
		})
	}
}

// The content of {"password": "…"} is the password alone, which has no form. The key gives it away, as it
// does in an export.
func TestARedactedResultLosesWhatAnExportLoses(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		response map[string]any
		args     []string
		want     string
	}{
		"a key and its value":    {map[string]any{"password": "hunter2-x"}, []string{"--redact-preset", "keys"}, "[redacted]"},
		"in a text":              {map[string]any{"output": "call +49 30 901820 now"}, []string{"--redact-preset", "phone"}, "call [redacted] now"},
		"in base64":              {map[string]any{"output": "see aHVudGVyMg=="}, []string{"--redact", "hunter2"}, "see [redacted]"},
		"in JSON":                {map[string]any{"a": "hunter2", "b": 1.0}, []string{"--redact", "hunter2"}, `{"a":"[redacted]","b":1}`},
		"in a key":               {map[string]any{"hunter2": "x", "b": 1.0}, []string{"--redact", "hunter2"}, `{"[redacted]":"x","b":1}`},
		"across a key and value": {map[string]any{"a": "x", "b": 1.0}, []string{"--redact", `"a":"x"`}, `{"[redacted]":"[redacted]","b":1}`},
		"without a match":        {map[string]any{"a": "x", "b": 1.0}, []string{"--redact", "hunter2"}, `{"a":"x","b":1}`},
	} {
		path := storeSession(t, responding(r.response), "shop", "ada", "s1")
		ref := store.ResultOf(r.response).Ref
		code, out, complaints := called(t.Context(), append([]string{"audit", "result", path, ref}, r.args...)...)
		if code != exit.CodeOK || out != r.want {
			t.Errorf("%s: exit code %d, %q, want %q\n%s", name, code, out, r.want, complaints)
		}
		_, exported, _ := called(t.Context(), append([]string{"audit", "export", path}, r.args...)...)
		for _, secret := range []string{"hunter2", "901820", "aHVudGVyMg"} {
			if strings.Contains(out, secret) && !strings.Contains(exported, secret) {
				t.Errorf("%s: an export does not have %q, the result does: %q", name, secret, out)
			}
		}
	}
	path := storeSession(t, responding(map[string]any{"output": "x"}), "shop", "ada", "s1")
	stored := store.ResultOf(map[string]any{"a": "hunter2", "b": 1.0})
	storeResult(t, path, stored)
	if code, out, _ := called(t.Context(), "audit", "result", path, stored.Ref, "--redact", "hunter2"); code != exit.CodeOK || out != `{"a":"[redacted]","b":1}` {
		t.Errorf("in no event: exit code %d, %q", code, out)
	}
}

// An event that cannot be read does not hide the results of the others.
func TestResultsOfADamagedSession(t *testing.T) {
	t.Parallel()
	h := responding(map[string]any{"output": "fine"})
	path := storeSession(t, h, "shop", "ada", "s1", "UPDATE events SET content = '{' WHERE seq = 1")
	ref := store.ResultOf(map[string]any{"output": "fine"}).Ref
	if code, out, _ := called(t.Context(), "audit", "result", path, ref); code != exit.CodeOK || out != "fine" {
		t.Errorf("exit code %d, %q", code, out)
	}
	code, out, complaints := called(t.Context(), "audit", "result", path)
	if code != exit.CodeFailed || !strings.HasPrefix(out, ref) || !strings.Contains(complaints, "1 event cannot be read: see 'longsession audit verify'") {
		t.Errorf("list: exit code %d, %q, %q", code, out, complaints)
	}
	code, _, complaints = called(t.Context(), "audit", "result", path, "r-0123456789abcdef")
	if code != exit.CodeUsage || !strings.Contains(complaints, "in the events that can be read (1 cannot: see 'longsession audit verify')") {
		t.Errorf("unknown: exit code %d, %q", code, complaints)
	}
}

// An app may keep whole results elsewhere, such as in a folder.
func TestAResultThatIsKeptElsewhere(t *testing.T) {
	t.Parallel()
	cutter, err := toolresult.New(toolresult.Config{Readable: true})
	if err != nil {
		t.Fatal(err)
	}
	whole := map[string]any{"output": strings.Repeat("line\n", 5000)}
	shortened, _, changed := cutter.Response("login", whole)
	path := storeSession(t, responding(shortened), "shop", "ada", "s1")
	code, _, complaints := called(t.Context(), "audit", "result", path, store.ResultOf(whole).Ref)
	if code != exit.CodeUsage || !changed || !strings.Contains(complaints, "only shortened, in event 3: the app keeps the whole result elsewhere") {
		t.Errorf("exit code %d, %q", code, complaints)
	}
}

// A file from before there were stored results has those of its events.
func TestResultsOfAnOlderFile(t *testing.T) {
	t.Parallel()
	path := storeSession(t, responding(map[string]any{"output": "fine"}), "shop", "ada", "s1",
		testkit.DropSearch, testkit.FirstCompactions(t), "DROP TABLE tool_result_chunks", "DROP TABLE tool_result_blobs", "PRAGMA user_version = 2")
	code, out, complaints := called(t.Context(), "audit", "result", path)
	if code != exit.CodeOK || !strings.Contains(out, "#3  login  4 bytes") {
		t.Errorf("exit code %d\n%s%s", code, out, complaints)
	}
	if code, _, _ := called(t.Context(), "audit", "result", path, "r-0123456789abcdef"); code != exit.CodeUsage {
		t.Errorf("unknown: exit code %d", code)
	}
	if code, out, _ := called(t.Context(), "audit", "verify", path); code != exit.CodeOK {
		t.Errorf("verify: exit code %d\n%s", code, out)
	}
}
