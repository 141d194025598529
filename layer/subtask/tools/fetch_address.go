package tools

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
	"golang.org/x/net/idna"
)

// errPrivate is why a connection is not made.
var errPrivate = errors.New("not a public address")

// addresses decides where fetch_url may connect to. It judges a URL for a clear answer, and each
// connection for certain: what a name means is known only then.
type addresses struct {
	guardian *ssrf.Guardian
	ports    []uint16
	local    bool // local names may lead to an address that is allowed
}

func newAddresses(cfg FetchConfig) *addresses {
	var four, six []netip.Prefix
	for _, p := range cfg.AllowPrivate {
		if p.Addr().Is4() {
			four = append(four, p)
		} else {
			six = append(six, p)
		}
	}
	return &addresses{ports: cfg.Ports, local: len(cfg.AllowPrivate) > 0, guardian: ssrf.New(
		ssrf.WithPorts(cfg.Ports...), ssrf.WithAllowedV4Prefixes(four...), ssrf.WithAllowedV6Prefixes(six...))}
}

// control judges the address of a connection before it is made.
func (a *addresses) control(network, address string, conn syscall.RawConn) error {
	if err := a.guardian.Safe(network, address, conn); err != nil {
		return fmt.Errorf("%w: %w", errPrivate, err)
	}
	return nil
}

// judge checks a URL and writes its host in the one form in which it is judged and asked for.
func (a *addresses) judge(u *url.URL) error {
	switch {
	case u.Scheme == "" && u.Host == "":
		return fmt.Errorf("%s has no scheme; write it in full, such as https://example.com/page", shown(u.String()))
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("only http and https are fetched, not %s", shown(u.Scheme))
	case u.User != nil:
		return errors.New("the URL has a user name or password in it; leave them out")
	case u.Hostname() == "":
		return fmt.Errorf("%s has no host; write it in full, such as https://example.com/page", shown(u.Redacted()))
	}
	port, err := portOf(u)
	if err != nil || !slices.Contains(a.ports, port) {
		return fmt.Errorf("port %s is not fetched; allowed are %v", shown(u.Port()), a.ports)
	}
	host, err := a.host(u.Hostname())
	if err != nil {
		return err
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Port() != "" {
		host += ":" + strconv.Itoa(int(port))
	}
	u.Host = host
	return nil
}

func portOf(u *url.URL) (uint16, error) {
	switch {
	case u.Port() != "":
		port, err := strconv.ParseUint(u.Port(), 10, 16)
		return uint16(port), err
	case u.Scheme == "http":
		return 80, nil
	}
	return 443, nil
}

// host returns the ASCII form of a host, without a dot at its end. Addresses are judged as they are written;
// names that can only be local are refused before they are looked up, unless some private network is allowed.
func (a *addresses) host(host string) (string, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.String(), a.ip(host, ip)
	}
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || ascii == "" || strings.HasPrefix(ascii, ".") || strings.Contains(ascii, "..") {
		return "", fmt.Errorf("%s is not a valid host name", shown(host))
	}
	ascii = strings.TrimSuffix(ascii, ".")
	if ip, err := netip.ParseAddr(ascii); err == nil { // 127.0.0.1. or in full-width digits
		return ip.String(), a.ip(host, ip)
	}
	labels := strings.Split(ascii, ".")
	last := labels[len(labels)-1]
	switch {
	case isNumber(last):
		return "", fmt.Errorf("%s is an address in an unusual form; write it as four numbers from 0 to 255, or use a name", shown(host))
	case !a.local && (last == "localhost" || last == "local" || last == "internal"):
		return "", fmt.Errorf("%s is a name of local machines; only public addresses are fetched", shown(host))
	}
	return ascii, nil
}

func (a *addresses) ip(host string, ip netip.Addr) error {
	if err := a.guardian.SafeAddr(ip); err != nil {
		return fmt.Errorf("%s is not a public address; only public addresses are fetched", shown(host))
	}
	return nil
}

// isNumber reports whether the system's resolver may read the last label of a host as a number: 2130706433,
// 0x7f000001 and 017700000001 are all 127.0.0.1 to some.
func isNumber(label string) bool {
	digits := strings.TrimLeft(label, "0123456789")
	if digits == "" {
		return true
	}
	hex, found := strings.CutPrefix(label, "0x")
	return found && strings.Trim(hex, "0123456789abcdef") == ""
}

// address writes a URL that a server may have chosen: what could be read as words or as the end of a frame is encoded.
// It leads to the same page.
func address(u *url.URL) string {
	whole := u.Redacted()
	host := len(u.Scheme) + len("://") + len(u.Host) // judge wrote it
	var b strings.Builder
	b.WriteString(whole[:min(host, len(whole))])
	for _, c := range []byte(whole[b.Len():]) {
		if c <= ' ' || c > '~' || strings.IndexByte("[]<>{}|`^\"\\", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// maxError is how many bytes an error may have. Those of the client quote what a server sent.
const maxError = 300

func bounded(err error) error {
	if text := err.Error(); len(text) > maxError {
		return errors.New(firstBytes(text, maxError) + "…")
	}
	return err
}

// explainConnect turns an error of the client into one for the model.
func explainConnect(err error) error {
	var refused *net.OpError
	if errors.Is(err, errPrivate) && errors.As(err, &refused) && refused.Addr != nil {
		return fmt.Errorf("the host leads to %s, which is not a public address; only public addresses are fetched", refused.Addr)
	}
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return fmt.Errorf("there is no host %s", shown(dns.Name))
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return err
}
