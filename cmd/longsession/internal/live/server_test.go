package live_test

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/live"
)

var pages = []string{"session", "conversation", "context", "summaries", "curve"}

func TestOnlyNamesOfThisMachineAreAnswered(t *testing.T) {
	t.Parallel()
	h := serve(t, live.Config{Path: file(t, 2)})
	for host, want := range map[string]int{
		"127.0.0.1:8457": http.StatusOK, "localhost:8457": http.StatusOK, "localhost": http.StatusOK, "[::1]:8457": http.StatusOK, "[::1]": http.StatusOK,
		"evil.example": http.StatusMisdirectedRequest, "evil.example:8457": http.StatusMisdirectedRequest, "": http.StatusMisdirectedRequest,
		"127.0.0.1.evil.example": http.StatusMisdirectedRequest, "localhost.evil.example:8457": http.StatusMisdirectedRequest,
		"192.168.0.7:8457": http.StatusMisdirectedRequest, "0.0.0.0:8457": http.StatusMisdirectedRequest,
	} {
		for _, target := range []string{page("conversation"), page("curve"), "/live.js"} {
			got := ask(t, h, target, func(r *http.Request) { r.Host = host })
			if got.code != want {
				t.Errorf("host %q, %s: %d, want %d", host, target, got.code, want)
			}
			if want != http.StatusOK && strings.Contains(got.body, "parcel") {
				t.Errorf("host %q is shown the session", host)
			}
		}
	}
}

func TestOnlyReadingIsAnsweredAndTheFileStaysAsItIs(t *testing.T) {
	t.Parallel()
	path := file(t, 30)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, live.Config{Path: path})
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch} {
		got := ask(t, h, page("conversation"), func(r *http.Request) { r.Method = method })
		if got.code != http.StatusMethodNotAllowed || got.header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d, Allow %q", method, got.code, got.header.Get("Allow"))
		}
	}
	for _, name := range pages {
		if got := ask(t, h, page(name)); got.code != http.StatusOK {
			t.Errorf("%s: %d: %s", name, got.code, got.body)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed (%v)", err)
	}
}

func TestEveryAnswerForbidsWhatComesFromElsewhere(t *testing.T) {
	t.Parallel()
	h := serve(t, live.Config{Path: file(t, 3)})
	for _, target := range []string{"/", "/nothing", "/live.css", "/live.js", page("session"), page("conversation"), page("context"), page("summaries"), page("curve")} {
		got := ask(t, h, target, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") })
		policy := got.header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy %q lacks %q", target, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %q", target, policy)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": ""} {
			if value := got.header.Get(name); value != want {
				t.Errorf("%s: %s is %q, want %q", target, name, value, want)
			}
		}
		got.lacks(t, `src="http`, `href="http`, "url(http", "@import", " style=", " onclick=")
	}
}

func TestPagesShowAllSidesOfASession(t *testing.T) {
	t.Parallel()
	h := serve(t, live.Config{Path: file(t, 24)})
	if got := ask(t, h, "/"); got.code != http.StatusSeeOther || got.header.Get("Location") != page("session") {
		t.Errorf("the only session is not shown at once: %d to %q", got.code, got.header.Get("Location"))
	}
	ask(t, h, "/?all=1").has(t, "order-1", "shop", "ada")
	ask(t, h, page("conversation")).has(t, "Where is parcel 1023?", "shelf 23", "call of track", "in summary", `aria-current="page">Conversation`)
	view := ask(t, h, page("context"))
	view.has(t, "Where is parcel 1023?", "next to what it replaced", "Opening request", "the whole history is about")
	view.lacks(t, " covered\"", `id="e1"`, ">values<")
	ask(t, h, page("summaries")).has(t, "Where is parcel 1000?", "Opening request: Where is parcel 1000?", "Replaced", "trigger")
	ask(t, h, page("session")).has(t, "Largest prompt", "1,070 tokens", "gemini-2.5-flash", "$0.0", "next to what it replaced")
}

func TestCurveHasTheReportedPromptsAndTheCost(t *testing.T) {
	t.Parallel()
	path := file(t, 24)
	h := serve(t, live.Config{Path: path})
	var c struct {
		From, Limit          int
		Turns, With, Without []int
		USD                  []float64
		Marks                []int
	}
	read := func(more ...string) {
		t.Helper()
		got := ask(t, h, page("curve", more...))
		got.has(t)
		if err := json.Unmarshal([]byte(got.body), &c); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if len(c.With) != 24 || len(c.Without) != 24 || len(c.USD) != 24 || len(c.Turns) != 24 || c.Limit != 1_048_576 || len(c.Marks) == 0 {
		t.Fatalf("the curve is %+v", c)
	}
	for n, with := range c.With {
		if want := 300 + 70*(n%12); with != want || c.Turns[n] != n+1 || c.Without[n] < with {
			t.Errorf("call %d: prompt %d of turn %d, want %d of turn %d; whole %d", n, with, c.Turns[n], want, n+1, c.Without[n])
		}
	}
	f, err := audit.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := f.Find(t.Context(), "", audit.Narrow{})
	if err != nil {
		t.Fatal(err)
	}
	costs, err := audit.Prices{}.Costs(t.Context(), f, s, 0)
	if err != nil {
		t.Fatal(err)
	}
	if last := c.USD[23]; last <= 0 || last != costs.Total.USD.USD() {
		t.Errorf("the curve ends at $%v, and audit costs says %v", last, costs.Total.USD)
	}
	read("from", "20")
	if c.From != 20 || len(c.With) != 4 || c.With[0] != 300+70*8 {
		t.Errorf("from call 20 on the curve is %+v", c)
	}
	for _, odd := range []string{"-5", "999", "x"} {
		read("from", odd)
	}
}

func TestNothingIsSentTwiceAndWhatIsNewComesAtOnce(t *testing.T) {
	t.Parallel()
	w := write(t, filepath.Join(t.TempDir(), "sessions.db"))
	to := w.session("order-1", said(0, 3)...)
	h := serve(t, live.Config{Path: w.path})
	for i, name := range pages {
		first := ask(t, h, page(name))
		first.has(t)
		again := func(r *http.Request) { r.Header.Set("If-None-Match", first.header.Get("ETag")) }
		if got := ask(t, h, page(name), again); got.code != http.StatusNotModified || got.body != "" {
			t.Errorf("%s: %d with %d bytes, though nothing has changed", name, got.code, len(got.body))
		}
		w.append(to, said(100+i, 1)...)
		if got := ask(t, h, page(name), again); got.code != http.StatusOK || got.body == first.body && name != "summaries" {
			t.Errorf("%s: %d, though something was said", name, got.code)
		}
	}
	ask(t, h, page("conversation")).has(t, "Where is parcel 1104?")
}

// TestAnAppMayBeginToWrite opens the file while nobody writes, which needs no lock and no log.
func TestAnAppMayBeginToWrite(t *testing.T) {
	t.Parallel()
	path := file(t, 3)
	h := serve(t, live.Config{Path: path})
	ask(t, h, page("conversation")).has(t, "parcel 1002")
	w := write(t, path)
	resp, err := w.svc.Get(t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: "order-1"})
	if err != nil {
		t.Fatal(err)
	}
	w.append(resp.Session, said(50, 1)...)
	ask(t, h, page("conversation")).has(t, "parcel 1050")
	w.append(resp.Session, said(60, 1)...)
	ask(t, h, page("conversation")).has(t, "parcel 1060")
}

func TestAReplacedFileIsOpenedAgain(t *testing.T) {
	t.Parallel()
	path, other := file(t, 3), file(t, 5)
	h := serve(t, live.Config{Path: path})
	ask(t, h, page("conversation")).has(t, "parcel 1002")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	got := ask(t, h, page("conversation"))
	if got.code != http.StatusServiceUnavailable || !strings.Contains(got.body, "The session file cannot be read") {
		t.Errorf("without a file the answer is %d: %s", got.code, got.body)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	ask(t, h, page("conversation")).has(t, "parcel 1004")
}

func TestLongSessionsArePaged(t *testing.T) {
	t.Parallel()
	h := serve(t, live.Config{Path: longFile(t, 300)})
	count := func(a answer) int { return strings.Count(a.body, `<article class="said`) }
	newest := ask(t, h, page("conversation"))
	newest.has(t, "parcel 1299", "← Earlier", "Events 1,101 to 1,200 of 1,200")
	newest.lacks(t, "parcel 1000", "Later →")
	first := ask(t, h, page("conversation", "from", "1"))
	first.has(t, "parcel 1000", "Later →", "Events 1 to 100 of 1,200")
	first.lacks(t, "← Earlier", "data-live=")
	middle := ask(t, h, page("conversation", "from", "501"))
	middle.has(t, "← Earlier", "Later →", "Events 501 to 600 of 1,200")
	for name, a := range map[string]answer{"newest": newest, "first": first, "middle": middle, "view": ask(t, h, page("context"))} {
		if n := count(a); n != 100 {
			t.Errorf("%s: %d events on the page", name, n)
		}
	}
	for _, odd := range []string{"0", "-9", "99999999", "9223372036854775807", "-9223372036854775808", "x"} {
		for _, key := range []string{"from", "since"} {
			if a := ask(t, h, page("conversation", key, odd)); a.code != http.StatusOK || count(a) == 0 || count(a) > 500 {
				t.Errorf("%s=%s: %d with %d events", key, odd, a.code, count(a))
			}
			if a := ask(t, h, page("context", key, odd)); a.code != http.StatusOK || count(a) == 0 || count(a) > 500 {
				t.Errorf("context %s=%s: %d with %d events", key, odd, a.code, count(a))
			}
		}
	}
	if n := count(ask(t, h, page("conversation", "since", "1"))); n != 500 {
		t.Errorf("a page that grew since the beginning has %d events, want 500", n)
	}
}

func TestTextCannotActAndLongTextIsCut(t *testing.T) {
	t.Parallel()
	w := write(t, filepath.Join(t.TempDir(), "sessions.db"))
	evil := `<script>alert(1)</script><img src=x onerror=alert(2)>` + "\u202e\x1b[31m"
	ev := said(0, 1)[0]
	ev.Content = genai.NewContentFromText(evil, genai.RoleUser)
	long := said(1, 1)[0]
	long.Content = genai.NewContentFromText(strings.Repeat("é", 15_000)+"THE END", genai.RoleUser)
	w.session("order-1", ev, long)
	w.session(`"><b>odd</b>`, said(2, 1)...)
	h := serve(t, live.Config{Path: w.path})
	for _, target := range []string{"/", page("conversation"), page("context"), page("event", "seq", "1"), page("session"), "/<script>alert(1)</script>"} {
		got := ask(t, h, target)
		got.lacks(t, "<script>alert", "<img", "<b>odd", "\u202e", "\x1b")
	}
	ask(t, h, page("conversation")).has(t, "&lt;script&gt;", `\u202e`, `\x1b`, "cut here")
	ask(t, h, page("conversation")).lacks(t, "THE END")
	ask(t, h, page("event", "seq", "2")).has(t, "THE END")
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	t.Parallel()
	h := serve(t, live.Config{Path: file(t, 12), Narrow: audit.Narrow{User: user}})
	for target, want := range map[string]string{
		"/nothing":                              "There is no page /nothing.",
		"/session":                              "The file has no session",
		"/session?app=shop&user=eve&id=order-1": "The file has no session order-1 of user eve in app shop.",
		page("event", "seq", "9999"):            "The session has no event 9999.",
		page("event"):                           "The session has no event -1.",
		page("summaries", "record", "zzz"):      "no such summary",
	} {
		got := ask(t, h, target)
		if got.code != http.StatusNotFound || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d, want a page with %q: %s", target, got.code, want, got.body)
		}
	}
	empty := write(t, filepath.Join(t.TempDir(), "empty.db"))
	none := serve(t, live.Config{Path: empty.path})
	ask(t, none, "/").has(t, "The file has no session yet.")
	empty.session("order-1")
	for name, want := range map[string]string{"session": "No model call has reported its usage", "conversation": "Nothing was said yet.", "context": "as the model would see it", "summaries": "Nothing was summarized"} {
		ask(t, none, page(name)).has(t, want)
	}
}

// TestAnswersWithoutUsageAreTold: many local servers report none, and such a session has had model calls all the same.
func TestAnswersWithoutUsageAreTold(t *testing.T) {
	t.Parallel()
	w := write(t, filepath.Join(t.TempDir(), "sessions.db"))
	events := said(0, 3)
	for _, ev := range events {
		ev.UsageMetadata = nil
	}
	w.session("order-1", events...)
	w.close()
	ask(t, serve(t, live.Config{Path: w.path}), page("session")).has(t, "<dt>Model calls</dt><dd>0 <small>(and 6 answers without usage)</small></dd>")
}

func TestADamagedEventIsShownInItsPlace(t *testing.T) {
	t.Parallel()
	path := file(t, 4)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE events SET content = '{broken' WHERE seq = 5"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	h := serve(t, live.Config{Path: path})
	ask(t, h, page("conversation")).has(t, "cannot be read", "parcel 1000", "parcel 1003")
	ask(t, h, page("context")).has(t, "The view of the model cannot be made")
	ask(t, h, page("summaries")).has(t, "The summaries cannot be read")
	ask(t, h, page("session")).has(t, "1 event cannot be read")
}

// TestPagesReadOnlyWhatTheyShow: an event that is hidden behind a summary may even be damaged. Reading it would fail.
func TestPagesReadOnlyWhatTheyShow(t *testing.T) {
	t.Parallel()
	path := file(t, 120)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	damaged, err := db.ExecContext(t.Context(), "UPDATE events SET content = '{broken' WHERE covered_by IS NOT NULL AND record_id IS NULL")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := damaged.RowsAffected(); n < 400 || err != nil {
		t.Fatalf("%d events were damaged, %v", n, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	h := serve(t, live.Config{Path: path})
	ask(t, h, page("context")).has(t, "parcel 1119")
	ask(t, h, page("conversation")).has(t, "parcel 1119")
	ask(t, h, page("summaries")).has(t, "further events", "next to the events that it replaced")
	for _, name := range []string{"context", "summaries"} {
		ask(t, h, page(name)).lacks(t, "cannot be made", "The summaries cannot be read")
	}
}

// TestALongSessionIsCountedInSteps, so that its first page comes soon. Until all is counted, every answer is new.
func TestALongSessionIsCountedInSteps(t *testing.T) {
	t.Parallel()
	w := write(t, filepath.Join(t.TempDir(), "sessions.db"))
	resp, err := w.stored.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: user, SessionID: "order-1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range said(0, 2600) {
		if err := w.stored.AppendEvent(t.Context(), resp.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	h := serve(t, live.Config{Path: w.path})
	for name, unfinished := range map[string]string{"session": "400 events are not counted yet", "context": "about"} {
		h := h
		if name == "context" {
			h = serve(t, live.Config{Path: w.path})
		}
		first := ask(t, h, page(name))
		if first.has(t, unfinished); first.header.Get("ETag") != "" {
			t.Errorf("%s: a part is said to be all", name)
		}
		second := ask(t, h, page(name))
		if second.lacks(t, "not counted yet"); second.header.Get("ETag") == "" {
			t.Errorf("%s: there is never an end", name)
		}
	}
	ask(t, h, page("context")).has(t, "the whole history is about")
}

func TestOnlyTheSessionsThatWereAskedForAreServed(t *testing.T) {
	t.Parallel()
	w := write(t, filepath.Join(t.TempDir(), "sessions.db"))
	w.session("order-1", said(0, 1)...)
	w.session("order-2", said(5, 1)...)
	w.session("order-1:sub:c0", said(9, 1)...)
	all := serve(t, live.Config{Path: w.path})
	list := ask(t, all, "/")
	list.has(t, "order-1", "order-2")
	list.lacks(t, "order-1:sub:c0")
	ask(t, all, page("conversation")).has(t, "runs in session", "order-1%3Asub%3Ac0")
	ask(t, all, strings.Replace(page("session"), "order-1", "order-1%3Asub%3Ac0", 1)).has(t, "subtask of")
	if got := ask(t, serve(t, live.Config{Path: w.path, Session: "order-2"}), "/"); !strings.Contains(got.header.Get("Location"), "order-2") {
		t.Errorf("the first page leads to %q", got.header.Get("Location"))
	}
	eve := serve(t, live.Config{Path: w.path, Narrow: audit.Narrow{User: "eve"}})
	ask(t, eve, "/").has(t, "The file has no session yet.")
	if got := ask(t, eve, page("conversation")); got.code != http.StatusNotFound {
		t.Errorf("a session of another user: %d", got.code)
	}
	if _, err := live.New(t.Context(), live.Config{Path: w.path, Session: "order-3"}); err == nil || !strings.Contains(err.Error(), `no session "order-3"`) {
		t.Errorf("a session that does not exist: %v", err)
	}
}
