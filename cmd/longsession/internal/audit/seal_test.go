package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
)

// threeSessions makes a file with sessions a, b and c of ten events each.
func threeSessions(t *testing.T) (path string) {
	t.Helper()
	return stored(t, func(t *testing.T, path string) {
		s := writing(t, path)
		for _, id := range []string{"a", "b", "c"} {
			var events []*session.Event
			for n := 1; n <= 10; n++ {
				events = append(events, text(fmt.Sprint(id, n), fmt.Sprint("says ", n)))
			}
			create(t, s, "u", id, events...)
		}
	})
}

// more appends events to session a, and makes session d.
func more(t *testing.T, path string) {
	t.Helper()
	s := writing(t, path)
	resp, err := s.Get(t.Context(), &session.GetRequest{AppName: app, UserID: "u", SessionID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range []*session.Event{text("new1", "more"), text("new2", "more")} {
		if err := s.AppendEvent(t.Context(), resp.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	create(t, s, "u", "d", text("d1", "another"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func sealOf(t *testing.T, path string, which audit.Which) (seal *audit.Seal, misfits []string) {
	t.Helper()
	sealed := 0
	seal, err := open(t, path).Seal(t.Context(), which, func(f audit.Finding) error {
		misfits = append(misfits, fmt.Sprint(f.Session, " ", f.Seq))
		return nil
	}, func(int64) { sealed++ })
	if err != nil {
		t.Fatal(err)
	}
	if sealed != len(seal.Sessions) {
		t.Errorf("%d sessions were said to be sealed, %d are", sealed, len(seal.Sessions))
	}
	return seal, misfits
}

// differences returns the findings of a comparison as "session seq event", and their texts.
func differences(t *testing.T, path string, seal *audit.Seal, which audit.Which) (found []string, texts string, c audit.Compared) {
	t.Helper()
	c, err := open(t, path).Against(t.Context(), seal, which, func(f audit.Finding) error {
		found = append(found, strings.TrimSpace(fmt.Sprint(f.Session, " ", f.Seq, " ", f.Event)))
		texts += f.Text + "\n"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Findings != len(found) {
		t.Errorf("%d findings were counted, %d told", c.Findings, len(found))
	}
	return found, texts, c
}

const (
	// forged recomputes nothing: it changes rows behind the service's back.
	renumber = "UPDATE events SET seq = -seq WHERE session = 1 AND seq > %d; UPDATE events SET seq = -seq + (%d) WHERE seq < 0; UPDATE sessions SET last_seq = last_seq + (%d) WHERE key = 1"
	insert   = "INSERT INTO events (session, seq, id, time, invocation_id, author, branch, content) SELECT 1, %d, 'x' || %d, time, '', 'user', '', '{}' FROM events WHERE id = 'a1'"
)

func TestASealTellsWhatWasDoneToTheFileSince(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		done  []string
		found []string
		says  string
	}{
		"nothing":                {nil, nil, ""},
		"an event's text":        {[]string{"UPDATE events SET content = replace(content, 'says', 'said') WHERE id = 'a3'"}, []string{"a 3 a3"}, "event 3 differs from the seal"},
		"an event's state delta": {[]string{"UPDATE events SET actions = '{}' WHERE id = 'b10'"}, []string{"b 10 b10"}, "changed"},
		"three events in a row":  {[]string{"UPDATE events SET author = 'eve' WHERE id IN ('a3', 'a4', 'a5', 'a8')"}, []string{"a 3", "a 8 a8"}, "events 3 to 5 differ"},
		"deleted":                {[]string{"DELETE FROM events WHERE id IN ('a3', 'a4')"}, []string{"a 3"}, "events 3 to 4 were deleted"},
		"deleted and renumbered": {[]string{"DELETE FROM events WHERE id = 'a3'", fmt.Sprintf(renumber, 3, -1, -1)}, []string{"a 3"}, "event 3 was deleted"},
		"the newest deleted":     {[]string{"DELETE FROM events WHERE id IN ('a9', 'a10')", "UPDATE sessions SET last_seq = 8 WHERE key = 1"}, []string{"a 9"}, "events 9 to 10 were deleted"},
		"all deleted":            {[]string{"DELETE FROM events WHERE session = 2"}, []string{"b 1"}, "events 1 to 10 were deleted"},
		"inserted":               {[]string{fmt.Sprintf(renumber, 4, 1, 1), fmt.Sprintf(insert, 5, 5)}, []string{"a 5 x5"}, "event 5 was inserted"},
		"exchanged":              {[]string{"UPDATE events SET seq = -seq WHERE id IN ('a3', 'a4')", "UPDATE events SET seq = 7 + seq WHERE seq < 0"}, []string{"a 3 a4"}, "event 3 was moved: it was sealed as event 4"},
		"moved to the end":       {[]string{"UPDATE events SET seq = 11 WHERE id = 'a2'"}, []string{"a 11 a2"}, "event 11 was moved: it was sealed as event 2"},
		"numbered anew":          {[]string{"UPDATE events SET seq = -seq WHERE session = 1", "UPDATE events SET seq = 1 - seq WHERE seq < 0"}, []string{"a 0"}, "the numbers of the events changed"},
		"replaced and forged":    {[]string{"DELETE FROM events WHERE id = 'a3'", fmt.Sprintf(insert, 3, 3)}, []string{"a 3 x3"}, "event 3 differs from the seal"},
		"a session renamed":      {[]string{"UPDATE sessions SET id = 'z' WHERE key = 1"}, []string{"a 0"}, "deleted, with its 10 events, or renamed"},
		"a session's events given to another": {[]string{"UPDATE events SET session = -1 WHERE session = 1", "UPDATE events SET session = 1 WHERE session = 2", "UPDATE events SET session = 2 WHERE session = -1"},
			[]string{"a 1", "b 1"}, "events 1 to 10 differ from the seal"},
		"the time of creation":     {[]string{"UPDATE sessions SET created_at = '2020-01-01T00:00:00.000000000Z' WHERE key = 1"}, []string{"a 0"}, "now claims 2020"},
		"another file":             {[]string{"UPDATE identity SET id = 'another'"}, []string{"0"}, "another session file"},
		"digests recomputed badly": {[]string{"UPDATE events SET digest = zeroblob(32)"}, nil, ""}, // the rows are what was sealed: the chain tells
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := threeSessions(t)
			seal, misfits := sealOf(t, path, audit.Which{})
			if len(seal.Sessions) != 3 || len(misfits) > 0 {
				t.Fatalf("sealed: %+v, %v", seal, misfits)
			}
			run(t, path, append([]string{"PRAGMA foreign_keys = OFF"}, c.done...)...)
			found, texts, compared := differences(t, path, seal, audit.Which{})
			if !slices.Equal(found, c.found) || !strings.Contains(texts, c.says) {
				t.Errorf("found %q, want %q saying %q:\n%s", found, c.found, c.says, texts)
			}
			if name == "nothing" && (compared.Sessions != 3 || compared.Events != 30 || compared.AddedSessions+int(compared.AddedEvents) != 0) {
				t.Errorf("compared: %+v", compared)
			}
		})
	}
}

// What an app does later is not tampering, and does not hide any.
func TestWhatIsAddedToASealedFileIsNoFinding(t *testing.T) {
	t.Parallel()
	path := threeSessions(t)
	seal, _ := sealOf(t, path, audit.Which{})
	more(t, path)
	found, texts, c := differences(t, path, seal, audit.Which{})
	if len(found) > 0 || c.AddedSessions != 1 || c.AddedEvents != 3 || c.Events != 30 {
		t.Errorf("%q %+v\n%s", found, c, texts)
	}
	run(t, path, "UPDATE events SET content = '{}' WHERE id IN ('a10', 'new1')", "DELETE FROM sessions WHERE id = 'c'")
	found, texts, c = differences(t, path, seal, audit.Which{})
	if want := []string{"a 10 a10", "c 0"}; !slices.Equal(found, want) || c.AddedEvents != 3 {
		t.Errorf("found %q, want %q; %+v\n%s", found, want, c, texts)
	}
	// A session of the name of one that was sealed is another one.
	s := writing(t, path)
	create(t, s, "u", "c", text("c1", "anew"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	found, texts, _ = differences(t, path, seal, audit.Which{Session: "c"})
	if want := []string{"c 0"}; !slices.Equal(found, want) || !strings.Contains(texts, "created under its name") {
		t.Errorf("found %q, want %q\n%s", found, want, texts)
	}
}

func TestASealOfOneSessionIsAboutThatOne(t *testing.T) {
	t.Parallel()
	path := threeSessions(t)
	seal, _ := sealOf(t, path, audit.Which{Session: app + "/u/b"})
	if len(seal.Sessions) != 1 || seal.Sessions[0].Session != "b" {
		t.Fatalf("sealed: %+v", seal)
	}
	run(t, path, "UPDATE events SET content = '{}' WHERE id IN ('a1', 'b1')")
	found, texts, c := differences(t, path, seal, audit.Which{})
	if want := []string{"b 1 b1"}; !slices.Equal(found, want) || c.AddedSessions != 2 {
		t.Errorf("found %q, want %q; %+v\n%s", found, want, c, texts)
	}
	if found, texts, c := differences(t, path, seal, audit.Which{Narrow: audit.Narrow{User: "nobody"}}); len(found) > 0 || c.Sessions > 0 {
		t.Errorf("of another user: %q %+v\n%s", found, c, texts)
	}
}

// Verify needs no seal to find a change by somebody who did not compute the digests anew.
func TestVerifyFindsRowsThatLeftTheChain(t *testing.T) {
	t.Parallel()
	path := threeSessions(t)
	run(t, path, "UPDATE events SET content = '{\"parts\":[{\"text\":\"forged\"}],\"role\":\"user\"}' WHERE id = 'a3'",
		"UPDATE events SET digest = NULL WHERE id = 'b2'", "UPDATE sessions SET created_at = '2020-01-01T00:00:00.000000000Z' WHERE id = 'c'")
	f := open(t, path)
	sessions, err := f.Sessions(t.Context(), audit.Narrow{})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	texts := ""
	_, err = f.Verify(t.Context(), sessions, 5, func(one audit.Finding) error {
		found = append(found, fmt.Sprint(one.Session, " ", one.Rule, " ", one.Seq))
		texts += one.Text + "\n"
		return nil
	}, func(*audit.Session) {})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a chain 3", "b chain 2", "c chain 1"}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q\n%s", found, want, texts)
	}
	for _, says := range []string{"the event was changed", "has no digest", "creation time"} {
		if !strings.Contains(texts, says) {
			t.Errorf("the findings do not say %q:\n%s", says, texts)
		}
	}
	if _, misfits := sealOf(t, path, audit.Which{}); !slices.Equal(misfits, []string{"a 3", "b 2", "c 1"}) {
		t.Errorf("making a seal reports %q", misfits)
	}
	run(t, path, "UPDATE events SET digest = NULL WHERE id = 'b1'", "UPDATE sessions SET undigested = 2 WHERE id = 'b'")
	if _, misfits := sealOf(t, path, audit.Which{Session: "b"}); len(misfits) > 0 {
		t.Errorf("events that are older than digests are reported: %q", misfits)
	}
}

// A session whose digests were all taken away looks like one that is older than digests, but for
// the events that were stored before its own and have some.
func TestDigestsThatWereTakenAwayAreMissed(t *testing.T) {
	t.Parallel()
	forge := "UPDATE events SET content = replace(content, 'says 3', 'forged') WHERE seq = 3 AND session = (SELECT key FROM sessions WHERE id = 'b')"
	strip := func(ids string) []string {
		return []string{"UPDATE events SET digest = NULL WHERE session IN (SELECT key FROM sessions WHERE id IN (" + ids + "))",
			"UPDATE sessions SET undigested = last_seq WHERE id IN (" + ids + ")"}
	}
	for name, c := range map[string]struct {
		damage     []string
		want       []string
		undigested int64
		says       string
	}{
		"one session":      {append(strip("'b'"), forge), []string{"b chain 1"}, 10, "its digest was removed"},
		"an old file":      {strip("'a', 'b', 'c'"), nil, 30, ""},
		"an old beginning": {strip("'a', 'b'"), nil, 20, ""},
		"said, not done":   {[]string{"UPDATE sessions SET undigested = 1 WHERE id = 'b'"}, []string{"b chain 1"}, 0, "the column undigested was changed"},
	} {
		path := threeSessions(t)
		run(t, path, c.damage...)
		f := open(t, path)
		sessions, err := f.Sessions(t.Context(), audit.Narrow{})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		texts := ""
		done, err := f.Verify(t.Context(), sessions, 5, func(one audit.Finding) error {
			found = append(found, fmt.Sprint(one.Session, " ", one.Rule, " ", one.Seq))
			texts += one.Text + "\n"
			return nil
		}, func(*audit.Session) {})
		if err != nil || !slices.Equal(found, c.want) || done.Undigested != c.undigested || !strings.Contains(texts, c.says) {
			t.Errorf("%s: found %q, want %q and %q; %d without a digest, want %d; %v\n%s", name, found, c.want, c.says, done.Undigested, c.undigested, err, texts)
		}
	}
}

// TestAFileWithoutItsIdentityIsFound: no seal can be made of it, and none is of it.
func TestAFileWithoutItsIdentityIsFound(t *testing.T) {
	t.Parallel()
	path := threeSessions(t)
	seal, _ := sealOf(t, path, audit.Which{})
	for damage, says := range map[string]string{
		"DELETE FROM identity":                       "has lost its identity",
		"UPDATE identity SET id = ''":                "has lost its identity",
		"INSERT INTO identity (id) VALUES ('other')": "",
	} {
		path := copied(t, path)
		run(t, path, damage)
		if found, texts, _ := verified(t, path, 5); !slices.Equal(found, []string{"schema 0"}) || !strings.Contains(texts, "table identity must have one row") {
			t.Errorf("%s: %q %s", damage, found, texts)
		}
		if says == "" {
			continue
		}
		if found, texts, _ := differences(t, path, seal, audit.Which{}); len(found) != 1 || !strings.Contains(texts, says) {
			t.Errorf("%s: %q %s", damage, found, texts)
		}
		_, err := open(t, path).Seal(t.Context(), audit.Which{}, func(audit.Finding) error { return nil }, func(int64) {})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: a seal was made: %v", damage, err)
		}
	}
}

func TestHealthyFilesFitTheirChains(t *testing.T) {
	t.Parallel()
	path := made(t, 40)
	if seal, misfits := sealOf(t, path, audit.Which{}); len(misfits) > 0 || seal.Sessions[0].Events < 160 {
		t.Errorf("%d events, misfits %v", seal.Sessions[0].Events, misfits)
	}
	path = built(t, (&ct.History{}).Turns(3, "bot").Compact("r", "e1"))
	if _, misfits := sealOf(t, path, audit.Which{}); len(misfits) > 0 {
		t.Errorf("misfits %v", misfits)
	}
}

func keyPair(t *testing.T) (ed25519.PrivateKey, ed25519.PublicKey, string, string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	publicDER, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return private, public, block("PRIVATE KEY", der), block("PUBLIC KEY", publicDER)
}

func TestASignatureIsOverAllOfTheSeal(t *testing.T) {
	t.Parallel()
	private, public, _, _ := keyPair(t)
	_, stranger, _, _ := keyPair(t)
	seal, _ := sealOf(t, threeSessions(t), audit.Which{})
	var signedFile, plainFile bytes.Buffer
	for _, err := range []error{audit.WriteSeal(&signedFile, seal, private), audit.WriteSeal(&plainFile, seal, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, signedFile.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	good := signedFile.String()
	for name, c := range map[string]struct {
		text string
		key  ed25519.PublicKey
		says string // "" for a good one
	}{
		"signed":             {good, public, ""},
		"indented":           {indented.String(), public, ""},
		"not checked":        {good, nil, ""},
		"plain":              {plainFile.String(), nil, ""},
		"plain with key":     {plainFile.String(), public, "not signed"},
		"other key":          {good, stranger, "another key"},
		"changed":            {strings.Replace(good, `"events":10`, `"events":11`, 1), public, "changed after it was signed"},
		"changed, unchecked": {strings.Replace(good, `"events":10`, `"events":11`, 1), nil, "damaged"},
		"two seals":          {strings.Replace(good, `{"seal":`, `{"seal":{},"seal":`, 1), public, ""}, // the last one counts, and is the signed one
		"algorithm":          {strings.Replace(good, "ed25519", "none", 1), public, `"none"`},
		"cut":                {good[:len(good)/2], nil, "cut short"},
		"two documents":      {good + good, nil, "not a seal"},
		"empty":              {"", nil, "not a seal"},
		"another thing":      {`{"a":1}`, nil, "not a seal"},
		"another format":     {strings.Replace(plainFile.String(), "longsession seal", "seal", 1), nil, "not a seal"},
		"newer":              {strings.Replace(plainFile.String(), `"version":1`, `"version":2`, 1), nil, "version is 2"},
		"a list":             {`[]`, nil, "not a seal"},
	} {
		read, signed, err := audit.ReadSeal([]byte(c.text), c.key)
		switch {
		case c.says == "" && (err != nil || len(read.Sessions) != 3 || signed == (name == "plain")):
			t.Errorf("%s: signed %v, %v", name, signed, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

func TestKeysAreReadOrRefused(t *testing.T) {
	t.Parallel()
	private, public, privateText, publicText := keyPair(t)
	if key, err := audit.ParsePrivateKey([]byte("# my key\n" + privateText)); err != nil || !key.Equal(private) {
		t.Errorf("private key: %v", err)
	}
	if key, err := audit.ParsePublicKey([]byte(publicText)); err != nil || !key.Equal(public) {
		t.Errorf("public key: %v", err)
	}
	for text, says := range map[string]string{
		"":         "not PEM",
		"nonsense": "not PEM",
		publicText: "BEGIN PUBLIC KEY",
		strings.ReplaceAll(privateText, "PRIVATE KEY", "ENCRYPTED PRIVATE KEY"):  "decrypt it",
		"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n":         "",
		strings.Replace(privateText, "BEGIN PRIVATE KEY", "BEGIN PUBLIC KEY", 1): "not PEM",
	} {
		if _, err := audit.ParsePrivateKey([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("private key %q: %v, want %q", text, err, says)
		}
	}
	if _, err := audit.ParsePublicKey([]byte(privateText)); err == nil || !strings.Contains(err.Error(), "BEGIN PRIVATE KEY") {
		t.Errorf("a private key for a public one: %v", err)
	}
}
