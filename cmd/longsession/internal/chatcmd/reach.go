package chatcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// DefaultFile is the session file of a person.
func DefaultFile() string { return defaultFile() }

// KeyOf is the variable that has the key of the model, "" if none is set. needed says whether the model cannot be called
// without one.
func (s *Setup) KeyOf() (variable string, needed bool) {
	names, needed := geminiKeys, true
	switch {
	case s.plays():
		return "", false
	case s.source.baseURL != "":
		names, needed = openAIKeys, false
	case isOpenAI(s.Model.Name()):
		names = openAIKeys
	case s.source.vertex():
		return "", false
	}
	for _, name := range names {
		if s.source.env(name) != "" {
			return name, needed
		}
	}
	return "", needed
}

func (s *Setup) plays() bool { return strings.HasPrefix(s.Model.Name(), scriptedPrefix) }

// How long and how much a server may answer when it is asked for its models.
const (
	reachTime  = 10 * time.Second
	reachBytes = 4 << 20
)

// ErrUnlisted is the error of a server that answers, and does not say which models it has.
var ErrUnlisted = errors.New("the server answers, and does not say which models it has")

// Reach asks the server of the model whether it has the model. It costs nothing, because the model itself is not called.
// where is the server, "" for a model that needs none. The error names no key.
func (s *Setup) Reach(ctx context.Context) (where string, err error) {
	name := s.Model.Name()
	key := ""
	if variable, _ := s.KeyOf(); variable != "" {
		key = s.source.env(variable)
	}
	base := s.address()
	switch {
	case s.plays():
		return "", nil
	case s.source.baseURL != "" || isOpenAI(name):
		header := http.Header{}
		if key != "" {
			header.Set("Authorization", "Bearer "+key)
		}
		body, err := ask(ctx, base+"/models", header)
		if err != nil {
			return host(base), err
		}
		return host(base), listed(body, name)
	case s.source.vertex():
		return s.Server(), ErrUnlisted
	}
	_, err = ask(ctx, base+"/v1beta/models/"+url.PathEscape(strings.TrimPrefix(name, "models/")), http.Header{"X-Goog-Api-Key": {key}})
	if errors.Is(err, ErrUnlisted) {
		err = fmt.Errorf("the server does not have the model %s", terminal.Printable(name))
	}
	return host(base), err
}

// Server is where the model is, "" for one that needs no server.
func (s *Setup) Server() string {
	switch {
	case s.plays():
		return ""
	case s.source.baseURL == "" && !isOpenAI(s.Model.Name()) && s.source.vertex():
		return "Vertex AI"
	}
	return host(s.address())
}

// address is that of the model's server, without a slash at its end. It has no meaning for a script and for Vertex AI.
func (s *Setup) address() string {
	address := cmp.Or(s.source.env(geminiAddress), "https://generativelanguage.googleapis.com")
	if s.source.baseURL != "" || isOpenAI(s.Model.Name()) {
		address = cmp.Or(s.source.baseURL, defaultOpenAI)
	}
	return strings.TrimSuffix(address, "/")
}

func host(base string) string {
	if u, err := url.Parse(base); err == nil && u.Host != "" {
		return u.Host
	}
	return terminal.Printable(base)
}

// ask gets a page. The error has neither the header nor what the server has written.
func ask(ctx context.Context, address string, header http.Header) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the address is not one of a server")
	}
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // the address may have a key in it
		}
		return nil, fmt.Errorf("the server cannot be reached: %w", err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("the server refuses the key (%d): check the variable that has it", resp.StatusCode)
	case http.StatusBadRequest:
		return nil, fmt.Errorf("the server refuses the request (%d): often that means a wrong key", resp.StatusCode)
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return nil, ErrUnlisted
	default:
		return nil, fmt.Errorf("the server answers with an error (%d): try again later", resp.StatusCode)
	}
	if kind := resp.Header.Get("Content-Type"); strings.Contains(kind, "html") {
		return nil, errors.New("the server answers with a page for people: is the address that of the API, with /v1 at its end?")
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, reachBytes))
	if err != nil {
		return nil, fmt.Errorf("the answer of the server cannot be read: %w", err)
	}
	return body, nil
}

// listed looks for a model in a list of models, in the form of OpenAI's API.
func listed(body []byte, name string) error {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &list); err != nil || len(list.Data) == 0 {
		return ErrUnlisted
	}
	var ids []string
	for _, one := range list.Data {
		if one.ID == name || one.ID == name+":latest" {
			return nil
		}
		ids = append(ids, one.ID)
	}
	slices.Sort(ids)
	const most = 5
	more := ""
	if len(ids) > most {
		ids, more = ids[:most], " and others"
	}
	return fmt.Errorf("the server does not have the model %s; it has %s%s", terminal.Printable(name), terminal.Printable(strings.Join(ids, ", ")), more)
}
