package toolresult_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/toolresult"
)

func newCutter(t testing.TB, cfg toolresult.Config) *toolresult.Cutter {
	t.Helper()
	c, err := toolresult.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// numbered returns a text of n lines.
func numbered(n int) string {
	var text strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func TestALongTextKeepsItsFirstAndLastLines(t *testing.T) {
	t.Parallel()
	c := newCutter(t, toolresult.Config{})
	got, cut, changed := c.Response("shell", map[string]any{"output": numbered(10_000)})
	if !changed {
		t.Fatal("10,000 lines are left whole")
	}
	lines := strings.Split(got["output"].(string), "\n")
	if len(lines) != 257 || lines[0] != "line 1" || lines[127] != "line 128" || lines[128] != "[... omitted 9,744 of 10,000 lines ...]" ||
		lines[129] != "line 9873" || lines[256] != "line 10000" {
		t.Errorf("%d lines:\n%s", len(lines), got["output"])
	}
	if cut.Kind != toolresult.Shortened || cut.LinesBefore != 10_000 || cut.LinesAfter != 257 || cut.BytesBefore != len(`{"output":""}`)+len(numbered(10_000))+9999 {
		t.Errorf("%+v", cut)
	}
}
