package tools

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// newClient returns a client that connects to allowed addresses only, remembers no cookies and keeps no
// connections.
func newClient(cfg FetchConfig, where *addresses, resolver *net.Resolver) *http.Client {
	direct := newTransport(cfg)
	direct.DialContext = (&net.Dialer{Timeout: cfg.Timeout, Control: where.control, Resolver: resolver}).DialContext
	var way http.RoundTripper = direct
	if cfg.Proxy != nil {
		proxied := newTransport(cfg)
		proxied.Proxy = func(req *http.Request) (*url.URL, error) {
			proxy, _ := req.Context().Value(proxyKey{}).(*url.URL)
			return proxy, nil
		}
		way = &chooser{proxy: cfg.Proxy, direct: direct, proxied: proxied}
	}
	return &http.Client{
		Transport: way,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > cfg.Redirects {
				return fmt.Errorf("more than %d redirects", cfg.Redirects)
			}
			// The address of a page may hold what the next host is not to know.
			req.Header.Del("Referer")
			if size := len(req.URL.String()); size > maxURL {
				return fmt.Errorf("the page redirects to an address of %d bytes, and %d are allowed", size, maxURL)
			}
			if err := where.judge(req.URL); err != nil {
				return fmt.Errorf("the page redirects: %w", err)
			}
			return nil
		},
	}
}

func newTransport(cfg FetchConfig) *http.Transport {
	return &http.Transport{
		DisableKeepAlives:      true,
		TLSHandshakeTimeout:    cfg.Timeout,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

type proxyKey struct{}

// chooser sends a request through the proxy if there is one for it. All others go the way on which
// addresses are judged.
type chooser struct {
	proxy           func(*http.Request) (*url.URL, error)
	direct, proxied *http.Transport
}

var _ http.RoundTripper = (*chooser)(nil)

// RoundTrip sends a request.
func (c *chooser) RoundTrip(req *http.Request) (*http.Response, error) {
	proxy, err := c.proxy(req)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	if proxy == nil {
		return c.direct.RoundTrip(req)
	}
	return c.proxied.RoundTrip(req.WithContext(context.WithValue(req.Context(), proxyKey{}, proxy)))
}
