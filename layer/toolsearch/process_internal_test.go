package toolsearch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// digestVar has a process of this test print the digest of a request.
const digestVar = "TOOLSEARCH_DIGEST"

// digest is that of the same request in both modes.
func digest(t *testing.T) string {
	text := ""
	for _, mode := range []Mode{Bridge, Promote} {
		d := newDeferral(t, Config{Category: mcp, Mode: mode, ContextWindow: 40_000})
		text += asJSON(t, d.pass(request(append(fromServers(), takes("own", weatherSchema))...)))
	}
	return fmt.Sprintf("digest %x", sha256.Sum256([]byte(text)))
}

func TestTwoProcessesSendTheSameBytes(t *testing.T) {
	t.Parallel()
	want := digest(t)
	if os.Getenv(digestVar) != "" {
		fmt.Println(want)
		return
	}
	for range 2 {
		other := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestTwoProcessesSendTheSameBytes$")
		other.Env = append(os.Environ(), digestVar+"=1")
		out, err := other.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("another process prints %s, want %s: %v", out, want, err)
		}
	}
}

func TestTheObserverHearsOfSetsAndSearches(t *testing.T) {
	t.Parallel()
	var seen []Observation
	d := newDeferral(t, Config{Category: mcp, Observer: func(_ context.Context, o Observation) { seen = append(seen, o) }})
	for range 3 {
		req := d.pass(request(append(fromServers(), takes("own", ""))...))
		if _, err := req.Tools[SearchToolName].(*searchTool).Run(nil, map[string]any{"query": "select:git_status"}); err != nil {
			t.Fatal(err)
		}
	}
	d.pass(request(append(fromServers()[:190], takes("own", ""))...))
	if err := d.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	var kinds []Kind
	for _, o := range seen {
		kinds = append(kinds, o.Kind)
	}
	if diff := cmp.Diff([]Kind{Deferred, Searched, Searched, Searched, Deferred}, kinds); diff != "" {
		t.Fatal(diff)
	}
	first, search := seen[0], seen[1]
	if first.Agent != "bot" || first.Tools != 201 || first.Deferred != 200 || first.TokensAfter*5 > first.TokensBefore || seen[4].Deferred != 190 {
		t.Errorf("%+v", first)
	}
	if !slices.Equal(search.Hits, []string{"git_status"}) || search.QueryBytes != len("select:git_status") {
		t.Errorf("%+v", search)
	}
}
