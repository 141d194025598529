package tools

import (
	"cmp"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/adk-go-ext/longsession/internal/configerr"
)

// FetchConfig says what fetch_url may reach, and how much it takes. The zero value reaches public addresses on
// ports 80 and 443, without a proxy.
type FetchConfig struct {
	// Timeout bounds one call, with all of its redirects. 0 means 10 s.
	Timeout time.Duration
	// MaxBytes is how much of a page is read, after decompression; the rest is left out, and the result says so.
	// 0 means 2 MiB. Converting that much HTML takes less than a second.
	MaxBytes int64
	// ResultBytes bounds the text of one result. The model reads on with an offset. 0 means 64 KiB.
	ResultBytes int
	// Redirects is how many redirects are followed. Each is judged like the first address. 0 means 5. With
	// NoRedirects none is.
	Redirects int
	// Ports are the ports that may be reached. If nil, they are 80 and 443.
	Ports []uint16
	// AllowPrivate lists networks that may be reached although they are not public, such as that of a company's
	// wiki. Everybody who can make the agent fetch a page reaches them, too.
	AllowPrivate []netip.Prefix
	// Proxy returns the proxy for a request, as http.Transport.Proxy does, and nil for none. If Proxy is nil, no
	// proxy is used, whatever the environment says. Behind a proxy, this package sees the address of the proxy only:
	// it still refuses addresses that are written as numbers, but for names the proxy has to keep
	// private addresses out of reach.
	Proxy func(*http.Request) (*url.URL, error)
	// UserAgent is sent with each request. "" means longsession-fetch.
	UserAgent string
}

// NoRedirects as [FetchConfig].Redirects follows none.
const NoRedirects = -1

// The defaults of [FetchConfig].
const (
	defaultTimeout   = 10 * time.Second
	defaultMaxBytes  = 2 << 20
	defaultRedirects = 5
	defaultUserAgent = "longsession-fetch"
)

// withDefaults returns a checked copy.
func (c FetchConfig) withDefaults() (FetchConfig, error) {
	var p configerr.Problems
	if c.Timeout < 0 {
		p.Refuse("Timeout", c.Timeout, "it must not be negative; 0 is %v", defaultTimeout)
	}
	for _, n := range []number{
		{"MaxBytes", c.MaxBytes, defaultMaxBytes, 1},
		{"ResultBytes", int64(c.ResultBytes), defaultResultBytes, leastResultBytes},
	} {
		n.check(&p)
	}
	if c.Redirects < NoRedirects {
		p.Refuse("Redirects", c.Redirects, "it must not be negative; 0 is %d, and NoRedirects (%d) follows none", defaultRedirects, NoRedirects)
	}
	if c.Ports != nil && len(c.Ports) == 0 || slices.Contains(c.Ports, 0) {
		p.Refuse("Ports", c.Ports, "name ports from 1 to 65535, or leave it nil for 80 and 443")
	}
	for _, network := range c.AllowPrivate {
		if !network.IsValid() {
			p.Refuse("AllowPrivate", network, "use a network such as 10.1.0.0/16")
		}
	}
	if err := p.Join("tools config"); err != nil {
		return c, err
	}
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.MaxBytes = cmp.Or(c.MaxBytes, defaultMaxBytes)
	c.ResultBytes = cmp.Or(c.ResultBytes, defaultResultBytes)
	c.Redirects = max(cmp.Or(c.Redirects, defaultRedirects), 0)
	c.UserAgent = cmp.Or(c.UserAgent, defaultUserAgent)
	if c.Ports == nil {
		c.Ports = []uint16{80, 443}
	}
	c.Ports, c.AllowPrivate = slices.Clone(c.Ports), slices.Clone(c.AllowPrivate)
	return c, nil
}
