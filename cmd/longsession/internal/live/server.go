package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/internal/adk"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
)

// Config says what to serve.
type Config struct {
	// Path is the session file.
	Path string
	// Narrow selects the sessions that are served; the zero value selects all.
	Narrow audit.Narrow
	// Session is the session that the first page shows, as [audit.File.Find] takes it. If empty, the first page
	// lists the sessions, or shows the only one.
	Session string
	// Prices say what model calls cost. The zero value has the built-in prices.
	Prices audit.Prices
}

// Handler serves the pages of a session file. It is safe for concurrent use. Close it.
type Handler struct {
	cfg    Config
	source *source
	costs  *audit.Follower
	routes *http.ServeMux
	// incomplete says that the newest events are missing, see [audit.File.Incomplete].
	incomplete error
}

// New opens the file. Errors name the path, the cause and what to do; that of a session that does not exist is an
// [*audit.ErrWhich].
func New(ctx context.Context, cfg Config) (*Handler, error) {
	src, err := openSource(cfg.Path)
	if err != nil {
		return nil, err
	}
	if err := check(ctx, src.file, cfg); err != nil {
		return nil, errors.Join(err, src.close())
	}
	h := &Handler{cfg: cfg, source: src, costs: cfg.Prices.Follow(), routes: http.NewServeMux(), incomplete: src.file.Incomplete()}
	h.routes.HandleFunc("GET /{$}", h.answer(h.list))
	for path, page := range map[string]page{
		"/session": h.overview, "/conversation": h.conversation, "/event": h.event, "/context": h.context, "/summaries": h.summaries, "/curve": h.curve,
	} {
		h.routes.HandleFunc("GET "+path, h.answer(h.of(page)))
	}
	h.routes.HandleFunc("GET /live.css", static("text/css; charset=utf-8", styleSheet))
	h.routes.HandleFunc("GET /live.js", static("text/javascript; charset=utf-8", script))
	h.routes.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	h.routes.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		h.refuse(w, http.StatusNotFound, "There is no page "+r.URL.Path+".")
	})
	return h, nil
}

// check reads the list of sessions, which a damaged file may not have, and finds the session that was asked for.
func check(ctx context.Context, f *audit.File, cfg Config) error {
	if cfg.Session != "" {
		_, err := f.Find(ctx, cfg.Session, cfg.Narrow)
		return err
	}
	_, err := f.Sessions(ctx, cfg.Narrow)
	return err
}

// Incomplete returns an error if the newest events of the file are probably missing.
func (h *Handler) Incomplete() error { return h.incomplete }

// Close closes the file. No request may be running.
func (h *Handler) Close() error { return h.source.close() }

// policy lets a page load only what this server has, and no other page show it in a frame.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP answers requests for reading that name the local machine. Other names are refused: a page of another
// host, whose name was made to lead here, would otherwise read the file.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Security-Policy":      policy,
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Referrer-Policy":              "no-referrer",
		"X-Content-Type-Options":       "nosniff",
		"Cache-Control":                "no-store",
	} {
		w.Header().Set(name, value)
	}
	switch {
	case !local(r.Host):
		h.refuse(w, http.StatusMisdirectedRequest, "This server answers only under the names localhost, 127.0.0.1 and [::1].")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		h.refuse(w, http.StatusMethodNotAllowed, "This server only shows a session file. It takes GET and HEAD.")
	default:
		h.routes.ServeHTTP(w, r)
	}
}

// local reports whether a Host header names the local machine.
func local(host string) bool {
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	switch name {
	case "localhost", "127.0.0.1", "[::1]", "::1":
		return true
	}
	return false
}

func static(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte(text)) // the reader may be gone
	}
}

// content is the answer to a request: the name of a template and its data, a value for JSON, or a place to go.
type content struct {
	template string
	data     any
	json     any
	redirect string
	// unfinished says that the next answer has more, although nothing new was stored.
	unfinished bool
}

// missing is the error of an address that leads nowhere.
type missing struct{ text string }

func (m *missing) Error() string { return m.text }

// made is a page that can be made: state changes whenever its content may have changed.
type made struct {
	state string
	make  func() (*content, error)
}

// page makes a page of a session.
type page func(*http.Request, *audit.File, *audit.Session) (*content, error)

// of prepares a page of the session that the address names.
func (h *Handler) of(page page) func(*http.Request, *audit.File) (*made, error) {
	return func(r *http.Request, f *audit.File) (*made, error) {
		s, err := h.asked(r, f)
		if err != nil {
			return nil, err
		}
		return &made{s.State(), func() (*content, error) { return page(r, f, s) }}, nil
	}
}

// answer answers with what prepare returns. If nothing was stored since the answer that the reader has, it says so
// without making the page.
func (h *Handler) answer(prepare func(*http.Request, *audit.File) (*made, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var c *content
		same := false
		err := h.source.read(func(f *audit.File) error {
			m, err := prepare(r, f)
			if err != nil {
				return err
			}
			sum := sha256.Sum256([]byte(m.state + " " + r.URL.String()))
			tag := `"` + hex.EncodeToString(sum[:12]) + `"`
			if same = r.Header.Get("If-None-Match") == tag; !same {
				c, err = m.make()
			}
			if same || err == nil && !c.unfinished {
				w.Header().Set("ETag", tag)
			}
			return err
		})
		var lost *missing
		switch {
		case r.Context().Err() != nil:
		case errors.As(err, &lost):
			h.refuse(w, http.StatusNotFound, lost.text)
		case adk.IsNotFound(err):
			h.refuse(w, http.StatusNotFound, "The session was deleted.")
		case err != nil:
			h.refuse(w, http.StatusServiceUnavailable, "The session file cannot be read: "+err.Error())
		case same:
			w.WriteHeader(http.StatusNotModified)
		case c.redirect != "":
			http.Redirect(w, r, c.redirect, http.StatusSeeOther)
		case c.json != nil:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(terminal.Harmless(w)).Encode(c.json) // the reader may be gone
		default:
			h.write(w, http.StatusOK, c.template, c.data)
		}
	}
}

// write writes a page as a whole, so that an error of a template does not leave half of one.
func (h *Handler) write(w http.ResponseWriter, code int, name string, data any) {
	var page bytes.Buffer
	if err := templates.ExecuteTemplate(terminal.Harmless(&page), name, data); err != nil {
		http.Error(w, "The page cannot be shown: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(page.Bytes()) // the reader may be gone
}

// refuse answers with a page that has only a sentence.
func (h *Handler) refuse(w http.ResponseWriter, code int, text string) {
	w.Header().Del("ETag")
	h.write(w, code, "refused", frame{Title: http.StatusText(code), File: filepath.Base(h.cfg.Path), Problem: text})
}

// asked returns the session that the address names.
func (h *Handler) asked(r *http.Request, f *audit.File) (*audit.Session, error) {
	q := r.URL.Query()
	app, user, id := q.Get("app"), q.Get("user"), q.Get("id")
	s, err := audit.Named(r.Context(), f, app, user, id)
	if adk.IsNotFound(err) || err == nil && !h.cfg.Narrow.Has(s) {
		return nil, &missing{fmt.Sprintf("The file has no session %s of user %s in app %s.", id, user, app)}
	}
	return s, err
}

// link is the address of a page of a session. more are further names and values.
func link(page string, s *audit.Session, more ...string) string {
	q := url.Values{"app": {s.App}, "user": {s.User}, "id": {s.ID}}
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return page + "?" + q.Encode()
}

// number returns a number of the address, or instead if it has none or none that is one.
func number(r *http.Request, name string, instead int64) int64 {
	n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
	if err != nil {
		return instead
	}
	return n
}
