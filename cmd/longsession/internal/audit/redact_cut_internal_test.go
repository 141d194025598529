package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
	"github.com/adk-go-ext/longsession/internal/said"
)

// The search for what a cut has left of a value makes no copy for each byte that it looks at.
func TestTheRestOfAValueIsFoundInOneWay(t *testing.T) {
	r, err := redact.New([]string{`k[a-y]+z`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	value := "k" + strings.Repeat("abcdefghij", 700) + "z"
	var c cuts
	c.remember(r, value)
	for n := fewestCut; n < len(value); n += 97 {
		begun, ended := "said "+value[:n], value[len(value)-n:]+" said"
		if got := c.begun(begun); got != len("said ") {
			t.Fatalf("of the first %d bytes of a value, those from %d on are found", n, got)
		}
		if got := c.ended(ended); got != n {
			t.Fatalf("of the last %d bytes of a value, %d are found", n, got)
		}
	}
	long := strings.Repeat(value[1:len(value)-1], 4)
	if n := testing.AllocsPerRun(5, func() { c.begun(long); c.ended(long) }); n > 60 {
		t.Errorf("a text of %d bytes takes %.0f allocations", len(long), n)
	}
}

// Many values and many cuts multiply to more than anybody waits for.
func TestManyCutsAndManyValuesAreNoProduct(t *testing.T) {
	r, err := redact.New([]string{`k[a-z0-9]+z`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var c cuts
	for i := range 100_000 {
		c.remember(r, fmt.Sprintf("k%dz", 1_000_000+i))
	}
	text := strings.Repeat("It is k10002 at 00199z and no other."+said.CutMark+"0199z it is", 20_000)
	if got := c.said(text); !strings.Contains(got, said.CutMark+redact.Mark+" it is") || strings.Contains(got, "0199z it") {
		t.Errorf("%.200q", got)
	}
}
