package configerr_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/configerr"
)

type mode string

func TestAValueIsShownAsAPersonWouldWriteIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, "nil"}, {(*int)(nil), "nil"}, {"", `""`}, {"a\nb", `"a\nb"`}, {mode("fast"), `"fast"`}, {-2, "-2"}, {0.5, "0.5"},
		{time.Second, "1s"}, {[]uint16{0, 80}, "[0 80]"}, {netip.MustParsePrefix("10.0.0.0/8"), "10.0.0.0/8"},
		{new(int), "set"}, {func() {}, "set"}, {struct{ Key string }{"secret"}, "set"},
	} {
		err := configerr.Error{Field: "Field", Value: c.value, Reason: "why"}
		if got, want := err.Error(), "Field is "+c.want+": why"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestALongValueIsCutBetweenRunes(t *testing.T) {
	t.Parallel()
	err := configerr.Error{Field: "F", Value: "x" + strings.Repeat("é", 5_000), Reason: "why"}
	if got, want := err.Error(), `F is "x`+strings.Repeat("é", 99)+`": why`; got != want || !utf8.ValidString(got) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestEveryRefusedValueIsFoundUnderItsName(t *testing.T) {
	t.Parallel()
	var inner, outer configerr.Problems
	if err := inner.Join("inner config"); err != nil {
		t.Errorf("no problem is one: %v", err)
	}
	inner.Refuse("A", 1, "it is %s", "odd")
	inner.RefuseNilIn("B", (*strings.Builder)(nil))
	inner.RefuseNilIn("C", nil)
	outer.Within("Inner", inner.Join("inner config"))
	outer.Refuse("D", 2, "it is even")
	err := fmt.Errorf("new: %w", errors.Join(errors.New("other"), outer.Join("outer config")))
	var fields []string
	for _, e := range configerr.All(err) {
		fields = append(fields, e.Field)
	}
	if want := []string{"Inner.A", "Inner.B", "D"}; !slices.Equal(fields, want) {
		t.Errorf("%v, want %v", fields, want)
	}
	const want = "new: other\nouter config: Inner.A is 1: it is odd\n" +
		"Inner.B is nil: it holds a nil *strings.Builder, and every call would panic; leave the field out\nD is 2: it is even"
	if err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}
