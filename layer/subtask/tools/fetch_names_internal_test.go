package tools

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// names is a DNS server: each question about a name gets its next address, the last one again and again.
func names(t *testing.T, table map[string][]string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		asked := map[string]int{}
		buf := make([]byte, 1_500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var msg dnsmessage.Message
			if msg.Unpack(buf[:n]) != nil || len(msg.Questions) != 1 {
				continue
			}
			q := msg.Questions[0]
			msg.Response, msg.Additionals = true, nil
			addresses := table[strings.TrimSuffix(q.Name.String(), ".")]
			if len(addresses) == 0 {
				msg.RCode = dnsmessage.RCodeNameError
			} else {
				turn := asked[q.Name.String()]
				addr := netip.MustParseAddr(addresses[min(turn, len(addresses)-1)])
				head := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
				switch {
				case addr.Is4() && q.Type == dnsmessage.TypeA:
					msg.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: addr.As4()}}}
					asked[q.Name.String()]++
				case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
					msg.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}}}
					asked[q.Name.String()]++
				}
			}
			out, err := msg.Pack()
			if err != nil {
				continue
			}
			if _, err := conn.WriteTo(out, from); err != nil {
				return
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// Names that lead to private addresses are refused when the connection is made, and so are names that led
// elsewhere when they were asked for first.
func TestNamesThatLeadToPrivateAddresses(t *testing.T) {
	t.Parallel()
	var port string
	var hits atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		if r.URL.Path == "/redirect" {
			http.Redirect(w, r, "http://"+r.Host+"/", http.StatusFound)
			return
		}
		fmt.Fprint(w, "reached")
	}))
	defer server.Close()
	_, port, _ = net.SplitHostPort(server.Listener.Addr().String())
	allowed := netip.MustParseAddrPort(server.Listener.Addr().String())
	resolver := names(t, map[string][]string{
		"loop.example.com": {"127.0.0.2"}, "ten.example.com": {"10.0.0.1"}, "meta.example.com": {"169.254.169.254"},
		"cgnat.example.com": {"100.64.0.1"}, "zero.example.com": {"0.0.0.0"}, "six.example.com": {"::1"},
		"ula.example.com": {"fd00::1"}, "nat64.example.com": {"64:ff9b::7f00:1"}, "sixtofour.example.com": {"2002:7f00:1::"},
		"mapped.example.com": {"::ffff:10.0.0.1"},
		"wiki.example.com":   {"127.0.0.1"}, "rebinds.example.com": {"127.0.0.1", "127.0.0.2"},
		"wiki.internal": {"127.0.0.1"}, "db.internal": {"127.0.0.2"},
		"xn--mnchen-3ya.example": {"127.0.0.2"},
	})
	cfg, err := FetchConfig{Ports: []uint16{allowed.Port()}, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	where := newAddresses(cfg)
	f := &fetcher{cfg: cfg, where: where, client: newClient(cfg, where, resolver)}
	for _, tt := range []struct{ host, path, want string }{
		{host: "loop.example.com", want: "leads to 127.0.0.2"},
		{host: "ten.example.com", want: "leads to 10.0.0.1"},
		{host: "meta.example.com", want: "leads to 169.254.169.254"},
		{host: "cgnat.example.com", want: "leads to 100.64.0.1"},
		{host: "zero.example.com", want: "leads to 0.0.0.0"},
		{host: "six.example.com", want: "leads to [::1]"},
		{host: "ula.example.com", want: "leads to [fd00::1]"},
		{host: "nat64.example.com", want: "leads to [64:ff9b::7f00:1]"},
		{host: "sixtofour.example.com", want: "leads to [2002:7f00:1::]"},
		{host: "mapped.example.com", want: "leads to 10.0.0.1"},
		{host: "MÜNCHEN.example", want: "leads to 127.0.0.2"},
		{host: "gone.example.com", want: `there is no host "gone.example.com"`},
		{host: "rebinds.example.com", path: "/redirect", want: "leads to 127.0.0.2"},
		{host: "wiki.example.com"},
		{host: "wiki.internal"},
		{host: "db.internal", want: "leads to 127.0.0.2"},
		{host: "wiki.example.com."},
	} {
		got, err := f.fetch(t.Context(), fetchArgs{URL: "http://" + tt.host + ":" + port + tt.path})
		switch {
		case tt.want == "":
			if err != nil || !strings.Contains(got.Content, "reached") {
				t.Errorf("%s: %v, %v", tt.host, got, err)
			}
		case err == nil || !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: error %v, want %q", tt.host, err, tt.want)
		}
	}
	if n := hits.Load(); n != 4 {
		t.Errorf("the server got %d requests, want three for its own names and the one before a name changed", n)
	}
}

// A proxy is used only if the config names one, and a request without a proxy is judged as without.
func TestProxy(t *testing.T) {
	t.Parallel()
	var asked atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.URL.String())
		fmt.Fprint(w, "by proxy")
	}))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	resolver := names(t, map[string][]string{"direct.example.com": {"127.0.0.1"}})
	cfg, err := FetchConfig{Proxy: func(r *http.Request) (*url.URL, error) {
		if strings.HasPrefix(r.URL.Host, "direct.") {
			return nil, nil
		}
		return address, nil
	}}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	where := newAddresses(cfg)
	f := &fetcher{cfg: cfg, where: where, client: newClient(cfg, where, resolver)}
	got, err := f.fetch(t.Context(), fetchArgs{URL: "http://intranet.example.com/page"})
	if err != nil || !strings.Contains(got.Content, "by proxy") || asked.Load() != "http://intranet.example.com/page" {
		t.Errorf("%v, %v; the proxy was asked for %v", got, err, asked.Load())
	}
	if _, err := f.fetch(t.Context(), fetchArgs{URL: "http://direct.example.com/"}); err == nil || !strings.Contains(err.Error(), "not a public address") {
		t.Errorf("without a proxy: %v", err)
	}
	if plain := newClient(FetchConfig{}, where, nil).Transport.(*http.Transport); plain.Proxy != nil {
		t.Error("the environment's proxy is used")
	}
}
